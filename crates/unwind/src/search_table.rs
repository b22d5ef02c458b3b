//! The table in `.eh_frame_hdr` by which a program finds entries of `.eh_frame` (Linux Standard Base, 10.6.2).

use gimli::Reader;

use crate::Section;

/// Four bytes, signed, from the beginning of the section on: what every linker writes.
const ENTRIES: u8 = gimli::DW_EH_PE_datarel.0 | gimli::DW_EH_PE_sdata4.0;
const NUMBER: u8 = gimli::DW_EH_PE_udata4.0;
/// A pointer from where it stands, in four bytes.
const POINTER: u8 = gimli::DW_EH_PE_pcrel.0 | gimli::DW_EH_PE_sdata4.0;

/// Bytes before the entries, and those of one.
const HEADER: usize = 12;
const ENTRY: usize = 8;

/// The section with its address in the file.
#[derive(Debug)]
pub(crate) struct SearchTable {
    address: u64,
    bytes: Section,
    count: usize,
}

impl SearchTable {
    /// `None` where it is written in another way than linkers do.
    pub fn new(address: u64, bytes: Section) -> Option<Self> {
        let header = bytes.bytes().first_chunk::<HEADER>()?;
        let [1, POINTER, NUMBER, ENTRIES, _, _, _, _, count @ ..] = *header else { return None };
        let most = (bytes.len() - HEADER) / ENTRY;
        let count = usize::try_from(u32::from_le_bytes(count)).ok()?;
        (0 < count && count <= most).then_some(Self { address, bytes, count })
    }

    /// The address in the file to which the header points: that of `.eh_frame`.
    pub fn eh_frame(&self) -> Option<u64> {
        Some(self.address.wrapping_add(4).wrapping_add(self.number(4)?))
    }

    /// The address in the file of the entry that may be for an address.
    pub fn find(&self, address: u64) -> Option<u64> {
        let (mut begin, mut end) = (0, self.count);
        while begin < end {
            let middle = begin + (end - begin) / 2;
            if self.place(HEADER + middle * ENTRY)? <= address {
                begin = middle + 1;
            } else {
                end = middle;
            }
        }
        self.place(HEADER + begin.checked_sub(1)? * ENTRY + 4)
    }

    fn place(&self, offset: usize) -> Option<u64> {
        Some(self.address.wrapping_add(self.number(offset)?))
    }

    fn number(&self, offset: usize) -> Option<u64> {
        let bytes = self.bytes.bytes().get(offset..)?.first_chunk()?;
        Some(i64::from(i32::from_le_bytes(*bytes)) as u64)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::section;

    fn table(entries: &[(i32, i32)], count: u32) -> Vec<u8> {
        let mut bytes = vec![1, POINTER, NUMBER, ENTRIES];
        bytes.extend(0x40i32.to_le_bytes());
        bytes.extend(count.to_le_bytes());
        bytes.extend(entries.iter().flat_map(|(begin, entry)| [begin.to_le_bytes(), entry.to_le_bytes()]).flatten());
        bytes
    }

    #[test]
    fn entries_are_found_by_their_addresses() {
        let table =
            SearchTable::new(0x1000, section(&table(&[(-0x800, 0x50), (-0x700, 0x60), (0x100, 0x70)], 3))).unwrap();
        assert_eq!(table.eh_frame(), Some(0x1044));
        assert_eq!(table.find(0x7ff), None);
        assert_eq!(table.find(0x800), Some(0x1050));
        assert_eq!(table.find(0x8ff), Some(0x1050));
        assert_eq!(table.find(0x900), Some(0x1060));
        assert_eq!(table.find(u64::MAX), Some(0x1070));
    }

    #[test]
    fn other_tables_are_not_searched() {
        let new = |bytes: &[u8]| SearchTable::new(0, section(bytes)).is_some();
        assert!(!new(&[]));
        assert!(!new(&table(&[], 0)));
        assert!(!new(&table(&[(0, 0)], 2)), "more entries than there are bytes");
        assert!(!new(&table(&[(0, 0)], u32::MAX)));
        let mut other = table(&[(0, 0)], 1);
        assert!(new(&other));
        other[3] = 0x1b;
        assert!(!new(&other));
    }
}
