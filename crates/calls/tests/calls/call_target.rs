//! Which function a call instruction leads to, where the code is cut off or memory is not there.

use calls::call_target;

/// The caller's code ends with the call at this address; a stub and a table lie elsewhere.
const AFTER: u64 = 0x40_1200;
const STUB: u64 = 0x40_1020;
const TABLE: u64 = 0x40_4018;

fn found(pieces: &[(u64, Vec<u8>)]) -> Option<u64> {
    let read = |address: u64, length: usize| {
        pieces.iter().find_map(|(start, bytes)| {
            let at = usize::try_from(address.checked_sub(*start)?).ok()?;
            bytes.get(at..at.checked_add(length)?).map(<[u8]>::to_vec)
        })
    };
    call_target(AFTER, &read, &read)
}

fn distance(to: u64, after: u64) -> [u8; 4] {
    i32::try_from(to.wrapping_sub(after) as i64).unwrap().to_le_bytes()
}

#[test]
fn through_stubs_and_tables() {
    let call = [b"\x90\xe8".as_slice(), &distance(STUB, AFTER)].concat();
    let indirect = [b"\xff\x15".as_slice(), &distance(TABLE, AFTER)].concat();
    let table = (TABLE, 0x7f00_0000_1000_u64.to_le_bytes().to_vec());
    assert_eq!(found(&[(AFTER - 6, indirect), table.clone()]), Some(0x7f00_0000_1000));
    for before in [b"".as_slice(), b"\xf3\x0f\x1e\xfa", b"\xf3\x0f\x1e\xfa\xf2", b"\xf2"] {
        let mut stub = [before, b"\xff\x25", &distance(TABLE, STUB + before.len() as u64 + 6)].concat();
        stub.resize(16, 0x90);
        let pieces = [(AFTER - 6, call.clone()), (STUB, stub), table.clone()];
        assert_eq!(found(&pieces), Some(0x7f00_0000_1000));
    }
    // What is no stub is the function itself.
    assert_eq!(found(&[(AFTER - 6, call.clone()), (STUB, vec![0x55; 16])]), Some(STUB));
    assert_eq!(found(&[(AFTER - 6, call), (STUB, vec![0x55; 15])]), None);
}

#[test]
fn what_leads_nowhere() {
    for code in [b"".to_vec(), vec![0x90; 6], b"\x90\xe8\xff\xff\xff\x7f".to_vec(), vec![0xff, 0x15, 0, 0, 0, 0]] {
        assert_eq!(found(&[(AFTER - 6, code)]), None);
    }
    assert_eq!(call_target(3, &|_, _| Some(vec![0x90; 6]), &|_, _| None), None);
    // A debugger that gives another length than it was asked for.
    assert_eq!(call_target(AFTER, &|_, _| Some(vec![0x90, 0xe8]), &|_, _| Some(vec![1])), None);
}
