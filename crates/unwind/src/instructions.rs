//! The few instructions by which code without tables is understood: calls, the jumps of a procedure linkage table, and the
//! setting up of a frame.

use crate::machine::Machine;
use crate::process::Process;

/// A call, as it stands before the address that it returns to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    /// Of this address.
    Direct(u64),
    /// Of what a register or memory held.
    Indirect,
}

/// The call that returns to an address; `None` where no code stands there, or no call.
pub(crate) fn call_before(machine: Machine, process: Process<'_>, address: u64) -> Option<Call> {
    if !process.may_stand(address.checked_sub(1)?) {
        return None;
    }
    match machine {
        Machine::X86_64 => {
            let bytes: [u8; 8] = process.bytes(address.checked_sub(8)?)?;
            let [_, _, _, opcode, distance @ ..] = bytes;
            if opcode == 0xe8 {
                let distance = i64::from(i32::from_le_bytes(distance));
                let target = address.wrapping_add_signed(distance);
                if process.may_stand(target) {
                    return Some(Call::Direct(target));
                }
            }
            (2..=7).any(|length| is_indirect_call(&bytes, length)).then_some(Call::Indirect)
        }
        Machine::Aarch64 => {
            let at = address.checked_sub(4).filter(|at| at % 4 == 0)?;
            let instruction = u32::from_le_bytes(process.bytes(at)?);
            if instruction & 0xfc00_0000 == 0x9400_0000 {
                // The lower 26 bits are a distance in instructions.
                let distance = i64::from((instruction << 6) as i32 >> 6) * 4;
                return Some(Call::Direct(at.wrapping_add_signed(distance)));
            }
            // blr, and those that check a signature: blraa, blrab, blraaz, blrabz.
            let plain = instruction & 0xffff_fc1f == 0xd63f_0000;
            let signed = instruction & 0xfeff_f800 == 0xd63f_0800;
            (plain || signed).then_some(Call::Indirect)
        }
    }
}

/// Whether the last `length` bytes are `call r/m64` (FF /2; Intel's manual, volume 2, CALL), without a prefix but REX.
fn is_indirect_call(bytes: &[u8; 8], length: usize) -> bool {
    let Some([0xff, modes, rest @ ..]) = bytes.len().checked_sub(length).and_then(|from| bytes.get(from..)) else {
        return false;
    };
    if (modes >> 3) & 7 != 2 {
        return false;
    }
    let (mode, place) = (modes >> 6, modes & 7);
    let scaled = if mode != 3 && place == 4 { rest.first() } else { None };
    let distance = match mode {
        3 => 0,
        1 => 1,
        2 => 4,
        _ if place == 5 || scaled.is_some_and(|scaled| scaled & 7 == 5) => 4,
        _ => 0,
    };
    rest.len() == distance + usize::from(scaled.is_some())
}

/// Where code jumps that stands for a function of another library; `None` where it does not do that.
pub(crate) fn jump_target(machine: Machine, process: Process<'_>, address: u64) -> Option<u64> {
    match machine {
        Machine::X86_64 => {
            let mut at = after_mark(process, address);
            if process.bytes(at) == Some([0xf2]) {
                at = at.checked_add(1)?;
            }
            let [0xff, 0x25, distance @ ..] = process.bytes::<6>(at)? else { return None };
            process.word(at.wrapping_add(6).wrapping_add_signed(i64::from(i32::from_le_bytes(distance))))
        }
        Machine::Aarch64 => {
            let at = after_mark(process, address);
            let bytes: [u8; 16] = process.bytes(at)?;
            let mut words = bytes.chunks_exact(4).map(|bytes| bytes.iter().rfold(0, |sum, b| sum << 8 | u32::from(*b)));
            // adrp x16, page; ldr x17, [x16, offset]; add x16, x16, offset; br x17
            let (page, load, _, jump) = (words.next()?, words.next()?, words.next()?, words.next()?);
            if page & 0x9f00_001f != 0x9000_0010 || load & 0xffc0_03ff != 0xf940_0211 || jump != 0xd61f_0220 {
                return None;
            }
            let pages = ((page >> 5 & 0x7_ffff) << 2 | page >> 29 & 3) << 11;
            let distance = i64::from(pages as i32 >> 11) << 12;
            process.word((at & !0xfff).wrapping_add_signed(distance).wrapping_add(u64::from(load >> 10 & 0xfff) * 8))
        }
    }
}

/// Where the instructions end by which a function that begins at an address sets up its frame pointer; `None` where it does
/// not begin with that.
pub(crate) fn set_up(machine: Machine, process: Process<'_>, begin: u64) -> Option<u64> {
    let at = after_mark(process, begin);
    match machine {
        // push %rbp; mov %rsp, %rbp, in both ways of writing it
        Machine::X86_64 => {
            let sets_up = matches!(process.bytes(at), Some([0x55, 0x48, 0x89, 0xe5] | [0x55, 0x48, 0x8b, 0xec]));
            if sets_up { at.checked_add(4) } else { None }
        }
        Machine::Aarch64 => pushed_record(process, at).and_then(|_| at.checked_add(8)),
    }
}

/// The size of the frame that AArch64's `stp x29, x30, [sp, -size]!; mov x29, sp` makes, where these stand at an address.
pub(crate) fn pushed_record(process: Process<'_>, address: u64) -> Option<u64> {
    let [a, b, c, d, rest @ ..] = process.bytes::<8>(address)?;
    let store = u32::from_le_bytes([a, b, c, d]);
    // Seven bits count words, downwards.
    let words = 128 - u64::from(store >> 15 & 0x7f);
    (store & 0xffe0_7fff == 0xa9a0_7bfd && u32::from_le_bytes(rest) == 0x9100_03fd).then_some(words * 8)
}

/// Whether the stack, or the link register, is as it was when the function was called: it returns with the next instruction, or
/// begins to set up its frame.
pub(crate) fn is_untouched(machine: Machine, process: Process<'_>, pc: u64) -> bool {
    returns(machine, process, pc) || set_up(machine, process, pc).is_some()
}

fn returns(machine: Machine, process: Process<'_>, pc: u64) -> bool {
    match machine {
        Machine::X86_64 => {
            let prefixed = matches!(process.bytes(pc), Some([0xf2 | 0xf3, 0xc3]));
            prefixed || matches!(process.bytes(pc), Some([0xc2 | 0xc3]))
        }
        // ret; retaa, retab
        Machine::Aarch64 => process.bytes(pc).is_some_and(|bytes| {
            let instruction = u32::from_le_bytes(bytes);
            instruction == 0xd65f_03c0 || instruction & 0xffff_fbff == 0xd65f_0bff
        }),
    }
}

/// How many bytes a procedure linkage table has pushed on top of the return address, where the next instruction is one behind
/// such a push: what the table does when a function is called for the first time (System V ABI for AMD64, figure 5.2).
pub(crate) fn pushed_by_linkage(machine: Machine, process: Process<'_>, pc: u64) -> Option<u64> {
    if machine != Machine::X86_64 {
        return None;
    }
    let before = |len| process.bytes::<6>(pc.checked_sub(len)?);
    // push $number; jmp first entry
    if matches!(before(5), Some([0x68, .., 0xe9 | 0xf2])) {
        return Some(8);
    }
    // push 8(GOT); jmp *16(GOT)
    if matches!(process.bytes::<8>(pc), Some([0xff, 0x35, .., 0xff | 0xf2, 0x25 | 0xff])) {
        return Some(8);
    }
    let jumps =
        matches!(process.bytes(pc), Some([0xff, 0x25])) || matches!(process.bytes(pc), Some([0xf2, 0xff, 0x25]));
    (jumps && matches!(before(6), Some([0xff, 0x35, ..]))).then_some(16)
}

/// Behind what only marks a place to which jumps may lead, or signs the return address.
fn after_mark(process: Process<'_>, address: u64) -> u64 {
    // endbr64; bti c, paciasp
    let marks = [[0xf3, 0x0f, 0x1e, 0xfa], [0x5f, 0x24, 0x03, 0xd5], [0x3f, 0x23, 0x03, 0xd5]];
    if process.bytes(address).is_some_and(|bytes| marks.contains(&bytes)) { address.wrapping_add(4) } else { address }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indirect_calls_are_recognised() {
        let calls: [&[u8]; 9] = [
            &[0xff, 0xd0],
            &[0x41, 0xff, 0xd3],
            &[0xff, 0x10],
            &[0xff, 0x14, 0xc8],
            &[0xff, 0x50, 0x08],
            &[0xff, 0x54, 0x24, 0x08],
            &[0xff, 0x15, 1, 2, 3, 4],
            &[0xff, 0x94, 0xc3, 1, 2, 3, 4],
            &[0xff, 0x14, 0x25, 1, 2, 3, 4],
        ];
        for call in calls {
            assert!(found(call), "{call:x?}");
        }
        let others: [&[u8]; 5] = [&[0xff, 0xe0], &[0xff, 0x15, 1, 2, 3], &[0x0f, 0xd0], &[0xff, 0x50], &[0xc3]];
        for other in others {
            assert!(!found(other), "{other:x?}");
        }
    }

    fn found(end: &[u8]) -> bool {
        let mut bytes = [0x90; 8];
        bytes[8 - end.len()..].copy_from_slice(end);
        (2..=7).any(|length| is_indirect_call(&bytes, length))
    }
}
