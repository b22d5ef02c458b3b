//! What is packed with zlib (RFC 1950), read piece by piece up to a length: nobody keeps what is longer.

use std::io::{self, Read};

use flate2::{Decompress, FlushDecompress, Status};

/// What some bytes unpack to.
pub struct Unpacked<'a> {
    stream: Decompress,
    rest: &'a [u8],
    is_over: bool,
    left: u64,
    longest: u64,
}

impl<'a> Unpacked<'a> {
    /// Of at most `longest` bytes.
    pub fn new(packed: &'a [u8], longest: u64) -> Self {
        Self { stream: Decompress::new(true), rest: packed, is_over: false, left: longest, longest }
    }
}

impl Read for Unpacked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.is_over && !buffer.is_empty() {
            let before = (self.stream.total_in(), self.stream.total_out());
            let status = self.stream.decompress(self.rest, buffer, FlushDecompress::None)?;
            let taken = usize::try_from(self.stream.total_in() - before.0).unwrap_or(usize::MAX);
            let count = self.stream.total_out() - before.1;
            self.rest = self.rest.get(taken..).unwrap_or_default();
            self.is_over = status == Status::StreamEnd;
            let longer = || io::Error::other(format!("it is longer than {} MiB", self.longest >> 20));
            self.left = self.left.checked_sub(count).ok_or_else(longer)?;
            if count > 0 {
                return usize::try_from(count).map_err(io::Error::other);
            }
            if !self.is_over && self.rest.is_empty() {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "its end is missing"));
            }
        }
        Ok(0)
    }
}
