//! Whether a program is the one that dumped a core file.

use std::path::Path;

use super::elf::{self, HEADER, Header, PROGRAM_HEADER, PT_LOAD, PT_NOTE, Pieces};
use super::error::Unread;
use super::file::CoreFile;
use super::notes::{AT_ENTRY, MAX_NOTES};
use crate::budget::zeroed;
use crate::files::FileError;

impl CoreFile {
    /// Whether the executable file at `path` is the one that dumped this, as far as both tell.
    ///
    /// # Errors
    /// Where it, or the core file, cannot be read.
    pub fn is_program(&self, path: &Path) -> Result<bool, FileError> {
        let file = Pieces::open(path)?;
        let Some(header) = Header::parse(&file.read(0, HEADER)?) else { return Ok(false) };
        let Some((headers, count)) = self.program_headers() else { return Ok(true) };
        if u64::from(header.entry_size) != PROGRAM_HEADER || u64::from(header.count) != count {
            return Ok(false);
        }
        let segments = elf::segments(&file.read(header.table_at, count * PROGRAM_HEADER)?);
        let first = segments.iter().find(|segment| segment.kind == PT_LOAD);
        let first = first.map_or(0, |segment| segment.address.wrapping_sub(segment.offset));
        // Where the headers lie by the file's own addresses.
        let own = first.wrapping_add(header.table_at);
        if header.entry.wrapping_sub(own) != self.auxiliary(AT_ENTRY).wrapping_sub(headers) {
            return Ok(false);
        }
        // The notes hold the build-id.
        let mut left = MAX_NOTES;
        for segment in segments.iter().filter(|segment| segment.kind == PT_NOTE) {
            let Some(rest) = left.checked_sub(segment.held) else { continue };
            left = rest;
            let expected = file.read(segment.offset, segment.held)?;
            let mut mapped = zeroed(usize::try_from(segment.held).unwrap_or(usize::MAX))
                .map_err(|error| FileError::Io(std::io::Error::other(error.to_string())))?;
            match self.read_held(headers.wrapping_sub(own).wrapping_add(segment.address), &mut mapped) {
                Ok(()) if mapped != expected => return Ok(false),
                Ok(()) | Err(Unread::LeftOut(_)) => {}
                Err(Unread::File { reason, .. }) => return Err(FileError::Io(std::io::Error::other(reason))),
            }
        }
        Ok(true)
    }
}
