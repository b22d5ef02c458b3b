//! The frames that a recording consists of.
//!
//! A recording begins with one line of text that names the format and its version. Frames follow: a header of 32
//! bytes (integers are little-endian), then a compressed body. Both have a checksum of their own, so that damage is found
//! before anything is believed, and costs no more than the frames that it hit.
//!
//! ```text
//! 0  kind         4 ASCII letters
//! 4  reserved     u32, 0
//! 8  body length  u64, bytes in the file
//! 16 raw length   u64, bytes after decompression (zlib)
//! 24 body crc32   u32
//! 28 header crc32 u32, of the 28 bytes before
//! ```

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::bufread::ZlibDecoder;
use flate2::write::ZlibEncoder;

/// The first line of a recording, without the version's digits.
pub const MAGIC: &str = "mpi-queues recording ";

/// The version that we write. Readers refuse higher ones and go on reading all lower ones.
pub const VERSION: u32 = 1;

/// Length of a frame's header in bytes.
pub const HEADER: usize = 32;

/// The most bytes that one frame may hold after decompression (32 MiB); what a frame claims is allocated at most once.
pub const MAX_RAW: u64 = 32 << 20;

/// What a frame holds. A kind that a reader does not know is skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// JSON about the file: who made it, when.
    Info,
    /// JSON about a process; it begins one.
    Process,
    /// JSON: stacks of the process, an array.
    Stacks,
    /// Text: symbols of the process, one a line.
    Symbols,
    /// JSON: structure layouts from debug information, by type name.
    Types,
    /// JSON: the layout profile that was used.
    Profile,
    /// Pairs of u64: address and length of each range of memory in the next frame of bytes.
    Ranges,
    /// The bytes of these ranges, one after the other.
    Bytes,
    /// Pairs of u64: address and length of reads that failed.
    Faults,
    /// JSON: the process is complete.
    ProcessEnd,
    /// JSON: the file is complete.
    FileEnd,
}

const KINDS: [(Kind, [u8; 4]); 11] = [
    (Kind::Info, *b"INFO"),
    (Kind::Process, *b"PROC"),
    (Kind::Stacks, *b"STAK"),
    (Kind::Symbols, *b"SYMS"),
    (Kind::Types, *b"TYPE"),
    (Kind::Profile, *b"PROF"),
    (Kind::Ranges, *b"RNGS"),
    (Kind::Bytes, *b"MEMO"),
    (Kind::Faults, *b"FALT"),
    (Kind::ProcessEnd, *b"PEND"),
    (Kind::FileEnd, *b"DONE"),
];

/// Where a frame lies in the file and what its header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// `None` for a kind that this version does not know.
    pub kind: Option<Kind>,
    /// Where its body begins, in bytes from the start of the file.
    pub body_at: u64,
    /// Length of the body in the file.
    pub body_len: u64,
    /// Length after decompression.
    pub raw_len: u64,
    /// Checksum of the body.
    pub body_crc: u32,
}

impl Frame {
    /// Takes apart the header whose body begins at `body_at`; `None` where its checksum is wrong.
    pub fn parse(header: &[u8; HEADER], body_at: u64) -> Option<Self> {
        let (covered, crc) = header.split_at(HEADER - 4);
        let u32_at = |at: usize| covered.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes);
        let u64_at = |at: usize| covered.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes);
        if crc32(covered) != u32::from_le_bytes(crc.try_into().ok()?) {
            return None;
        }
        let kind = KINDS.iter().find(|(_, code)| code == &covered[..4]).map(|(kind, _)| *kind);
        Some(Self { kind, body_at, body_len: u64_at(8)?, raw_len: u64_at(16)?, body_crc: u32_at(24)? })
    }

    /// Decompresses a body that was read from the file.
    ///
    /// # Errors
    /// Where it is damaged, or does not have the length that the header says.
    pub fn decompress(&self, body: &[u8]) -> io::Result<Vec<u8>> {
        let damaged = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
        if crc32(body) != self.body_crc {
            return Err(damaged("a checksum is wrong"));
        }
        if self.raw_len > MAX_RAW {
            return Err(damaged("a part is larger than any that mpi-queues writes"));
        }
        let mut raw = Vec::new();
        // One byte more than it may have tells a body that is too long.
        ZlibDecoder::new(body).take(self.raw_len + 1).read_to_end(&mut raw)?;
        if raw.len() as u64 == self.raw_len { Ok(raw) } else { Err(damaged("a part does not have its length")) }
    }
}

/// Writes the first line.
///
/// # Errors
/// Those of `out`.
pub fn write_start(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{MAGIC}{VERSION}")
}

/// Writes one frame. `raw` must not be longer than [`MAX_RAW`].
///
/// # Errors
/// Those of `out`; also where `raw` is too long.
pub fn write_frame(out: &mut dyn Write, kind: Kind, raw: &[u8]) -> io::Result<()> {
    if raw.len() as u64 > MAX_RAW {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a part of the recording is too large"));
    }
    // Memory may be much: it compresses well at any level, and somebody waits. Texts are small, and most of a small
    // recording: a third less for 10 ms.
    let level = if kind == Kind::Bytes { Compression::fast() } else { Compression::best() };
    let mut encoder = ZlibEncoder::new(Vec::new(), level);
    encoder.write_all(raw)?;
    let body = encoder.finish()?;
    let code = KINDS.iter().find(|(known, _)| *known == kind).map_or(*b"????", |(_, code)| *code);
    let mut header = [0; HEADER];
    header[..4].copy_from_slice(&code);
    header[8..16].copy_from_slice(&(body.len() as u64).to_le_bytes());
    header[16..24].copy_from_slice(&(raw.len() as u64).to_le_bytes());
    header[24..28].copy_from_slice(&crc32(&body).to_le_bytes());
    let crc = crc32(&header[..HEADER - 4]);
    header[28..].copy_from_slice(&crc.to_le_bytes());
    out.write_all(&header)?;
    out.write_all(&body)
}

/// The checksum of frames: CRC-32 as in zlib.
pub fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}
