//! What a frame has called, by the instruction before its return address.

/// So many bytes of a process at an address; `None` where they cannot be read.
pub type Read<'r> = &'r dyn Fn(u64, usize) -> Option<Vec<u8>>;

/// Longest of the instructions that are looked at, with what may stand before them.
const CALL: u64 = 6;
const STUB: usize = 16;

/// Where the call before the address `after` led to, `None` where that is not known; through the stub of a linkage table to
/// what stands in that. `code` also knows what is in no memory. Only code of x86-64 is read.
pub fn call_target(after: u64, code: Read<'_>, memory: Read<'_>) -> Option<u64> {
    let call = code(after.checked_sub(CALL)?, CALL as usize)?;
    match call.as_slice() {
        // call rel32
        [_, 0xe8, distance @ ..] => through_stub(relative(distance, after)?, code, memory),
        // call *rel32(%rip), as -fno-plt has it
        [0xff, 0x15, distance @ ..] => pointer(relative(distance, after)?, memory),
        _ => None,
    }
}

/// What a stub jumps to: `[endbr64] [bnd] jmp *rel32(%rip)`; else the address itself.
fn through_stub(begin: u64, code: Read<'_>, memory: Read<'_>) -> Option<u64> {
    let stub = code(begin, STUB)?;
    let rest = stub.strip_prefix(b"\xf3\x0f\x1e\xfa").unwrap_or(&stub);
    let rest = rest.strip_prefix(b"\xf2").unwrap_or(rest);
    let Some(rest) = rest.strip_prefix(b"\xff\x25") else { return Some(begin) };
    let (distance, rest) = rest.split_at_checked(4)?;
    let length = (stub.len() - rest.len()) as u64;
    pointer(relative(distance, begin.wrapping_add(length))?, memory)
}

fn relative(distance: &[u8], after: u64) -> Option<u64> {
    let distance = i32::from_le_bytes(distance.try_into().ok()?);
    Some(after.wrapping_add_signed(i64::from(distance)))
}

fn pointer(address: u64, memory: Read<'_>) -> Option<u64> {
    Some(u64::from_le_bytes(memory(address, 8)?.try_into().ok()?))
}
