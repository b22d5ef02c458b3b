//! Lines by instruction, as three generations of CPython write them down.

/// The line of the instruction at `offset`, in bytes from the beginning of the code, by a `co_lnotab`: pairs of how many bytes
/// further on so many lines further on begin. (PyCode_Addr2Line, Objects/codeobject.c of 3.9.)
pub(crate) fn in_lnotab(table: &[u8], first: i64, offset: i64) -> i64 {
    let (mut line, mut begins) = (first, 0);
    for pair in table.chunks_exact(2) {
        begins += i64::from(pair[0]);
        if begins > offset {
            break;
        }
        line += i64::from(pair[1].cast_signed());
    }
    line
}

/// By a `co_linetable` of PEP 626: pairs of how many bytes a part has, and how many lines further on it is; -128: it has none.
pub(crate) fn in_ranges(table: &[u8], first: i64, offset: i64) -> Option<i64> {
    let (mut line, mut ends) = (first, 0);
    for pair in table.chunks_exact(2) {
        ends += i64::from(pair[0]);
        let delta = pair[1].cast_signed();
        if delta != -128 {
            line += i64::from(delta);
        }
        if offset < ends {
            return (delta != -128).then_some(line);
        }
    }
    None
}

/// By a location table of PEP 657. An entry begins with a byte whose first bit is set: four bits say what follows, three how
/// many instructions it is for, each of two bytes.
pub(crate) fn in_locations(table: &[u8], first: i64, offset: i64) -> Option<i64> {
    const NONE: u8 = 15;
    let (mut line, mut ends, mut at) = (first, 0, 0);
    while let Some(&head) = table.get(at) {
        let kind = (head >> 3) & 15;
        ends += 2 * (i64::from(head & 7) + 1);
        let delta = match kind {
            // With columns, and without.
            14 | 13 => signed(table.get(at + 1..)?)?,
            10..=12 => i64::from(kind) - 10,
            _ => 0,
        };
        line = line.checked_add(delta)?;
        if offset < ends {
            return (kind != NONE).then_some(line);
        }
        at += 1;
        while table.get(at).is_some_and(|byte| byte & 0x80 == 0) {
            at += 1;
        }
    }
    None
}

/// A number with a sign: six bits a byte, the lowest first, with a bit that says whether more follow; its lowest bit is the sign.
fn signed(bytes: &[u8]) -> Option<i64> {
    let mut value: u64 = 0;
    for (place, byte) in bytes.iter().enumerate().take(6) {
        value |= u64::from(byte & 63) << (6 * place);
        if byte & 64 == 0 {
            let size = i64::try_from(value >> 1).ok()?;
            return Some(if value & 1 == 0 { size } else { -size });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lnotab_counts_bytes_and_lines() {
        // Line 5 from 0, 6 from 8, 4 from 12.
        let table = [8, 1, 4, 0xfe];
        assert_eq!([-1, 0, 7, 8, 11, 12, 400].map(|at| in_lnotab(&table, 5, at)), [5, 5, 5, 6, 6, 4, 4]);
        assert_eq!(in_lnotab(&[], 5, 0), 5);
    }

    #[test]
    fn parts_may_have_no_line() {
        let table = [8, 1, 4, 0x80, 2, 0xff];
        assert_eq!([0, 7, 8, 12, 14].map(|at| in_ranges(&table, 5, at)), [Some(6), Some(6), None, Some(5), None]);
    }

    #[test]
    fn locations_are_of_all_kinds() {
        // Short (two columns), one line further on, long with five numbers, none, without columns two lines back.
        let table = [
            0x80 | 1,
            3,
            0x80 | (11 << 3),
            4,
            9,
            0x80 | (14 << 3),
            2 << 1,
            0,
            1,
            2,
            0x80 | (15 << 3) | 7,
            0x80 | (13 << 3),
            5,
        ];
        let lines = [0, 2, 4, 6, 8, 22, 24, 26].map(|at| in_locations(&table, 10, at));
        assert_eq!(lines, [Some(10), Some(10), Some(11), Some(13), None, None, Some(11), None]);
    }

    #[test]
    fn numbers_that_never_end_are_none() {
        assert_eq!(signed(&[0x7f; 100]), None);
        assert_eq!(signed(&[]), None);
        assert_eq!(signed(&[0x41, 1]), Some(-32));
        assert_eq!(in_locations(&[0x80 | (14 << 3)], 1, 0), None);
    }
}
