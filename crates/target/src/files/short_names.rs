//! Bytes of an ELF file in memory for `object`, which looks for the ends of names: thousands of names may be one long text.

use std::ops::Range;

use object::ReadRef;

/// The name of a section is not longer (bytes).
const LONGEST: u64 = 4096;

/// The bytes of a file.
#[derive(Debug, Clone, Copy)]
pub struct ShortNames<'a>(pub &'a [u8]);

impl<'a> ReadRef<'a> for ShortNames<'a> {
    fn len(self) -> Result<u64, ()> {
        ReadRef::len(self.0)
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'a [u8], ()> {
        ReadRef::read_bytes_at(self.0, offset, size)
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'a [u8], ()> {
        let end = range.end.min(range.start.saturating_add(LONGEST)).min(self.0.len() as u64);
        ReadRef::read_bytes_at_until(self.0, range.start..end, delimiter)
    }
}
