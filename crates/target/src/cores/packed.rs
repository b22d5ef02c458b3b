//! Core files that are compressed, as systemd-coredump keeps them (systemd, src/coredump/coredump.c: `.zst`, `.lz4`, `.xz`) or
//! their owner has done: they are unpacked into a file without a name, which goes with us.
//!
//! RFC 8878 (zstd); lz4, doc/lz4_Frame_format.md; <https://tukaani.org/xz/xz-file-format.txt>; RFC 1952 (gzip).

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::rc::Rc;

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::elf::{HEADER, Pieces};
use super::error::{CoreError, shown};
use crate::files::{self, FileError};

/// More than this is not unpacked: a rank's memory is smaller (bytes).
const MAX_UNPACKED: u64 = 1 << 40;
/// So much stays free where it is unpacked: this part of all, within these bounds (bytes).
const PART_FREE: u64 = 20;
const LEAST_FREE: u64 = 128 << 20;
const MOST_FREE: u64 = 1 << 30;
/// The memory for unpacking: zstd of that many bytes (as its own program), xz of that many KiB.
const ZSTD_WINDOW: u64 = 128 << 20;
const XZ_MEMORY: u32 = 256 << 10;

/// So much is unpacked between two looks at what is free, and whether to go on.
const PIECE: usize = 1 << 20;
/// Pages of zeros take no space.
const PAGE: usize = 4096;

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// `.zst`
    Zstd,
    /// `.lz4`
    Lz4,
    /// `.xz`
    Xz,
    /// `.gz`
    Gzip,
}

impl Packing {
    /// By the first bytes of a file.
    pub(super) fn of(first: &[u8]) -> Option<Self> {
        let kinds: [(&[u8], Self); 4] = [
            (b"\x28\xb5\x2f\xfd", Self::Zstd),
            (b"\x04\x22\x4d\x18", Self::Lz4),
            (b"\xfd7zXZ\0", Self::Xz),
            (b"\x1f\x8b\x08", Self::Gzip),
        ];
        kinds.into_iter().find(|(magic, _)| first.starts_with(magic)).map(|(_, kind)| kind)
    }

    /// Its program.
    pub const fn program(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Lz4 => "lz4",
            Self::Xz => "xz",
            Self::Gzip => "gzip",
        }
    }

    fn reader<'r>(self, source: impl BufRead + 'r) -> Box<dyn Read + 'r> {
        match self {
            Self::Zstd => Box::new(Frames::new(source)),
            Self::Lz4 => Box::new(Lz4(lz4_flex::frame::FrameDecoder::new(source))),
            Self::Xz => Box::new(lzma_rust2::XzReader::new_mem_limit(source, true, XZ_MEMORY)),
            Self::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(source)),
        }
    }
}

/// How the file at a path is compressed, if it is.
pub fn packing(path: &Path) -> Option<Packing> {
    Packing::of(&Pieces::named(path).ok()?.read(0, HEADER).ok()?)
}

/// The file as it was before it was compressed; one that is cut short as far as it goes.
pub(super) fn unpacked(
    path: &Path,
    packed: &Pieces,
    packing: Packing,
    go_on: &dyn Fn() -> bool,
) -> Result<Pieces, CoreError> {
    let fail = |error: io::Error| CoreError::NotUnpacked {
        path: shown(path),
        packing,
        reason: FileError::from(error).reason(),
    };
    let directory = std::env::temp_dir();
    let no_file = |error: io::Error| CoreError::NoPlace {
        path: shown(path),
        directory: shown(&directory),
        reason: FileError::from(error).reason(),
    };
    let no_room = |free: u64| CoreError::NoRoom { path: shown(path), directory: shown(&directory), free };
    let to = files::without_name(&directory).map_err(no_file)?;
    let ended = Rc::new(Cell::new(false));
    let source = Source { packed, at: 0, ended: Rc::clone(&ended) };
    let mut reader = packing.reader(BufReader::with_capacity(1 << 16, source));
    let mut piece = vec![0; PIECE];
    let mut length = 0_u64;
    loop {
        if !go_on() {
            return Err(CoreError::Interrupted { path: shown(path) });
        }
        let (free, all) = files::space(&to).map_err(no_file)?;
        if free < (all / PART_FREE).clamp(LEAST_FREE, MOST_FREE) {
            return Err(no_room(free));
        }
        let (read, error) = fill(reader.as_mut(), &mut piece);
        if length.saturating_add(read as u64) > MAX_UNPACKED {
            return Err(CoreError::TooLong { path: shown(path), packing, most: MAX_UNPACKED });
        }
        for (number, page) in piece[..read].chunks(PAGE).enumerate() {
            if page.iter().any(|byte| *byte != 0) {
                let written = to.write_all_at(page, length + (number * PAGE) as u64);
                written.map_err(
                    |error| if error.kind() == ErrorKind::StorageFull { no_room(0) } else { no_file(error) },
                )?;
            }
        }
        length += read as u64;
        match error {
            // Whoever wrote it was stopped: what is there may be enough.
            Some(_) if ended.get() && length > 0 => break,
            Some(error) => return Err(fail(error)),
            None if read < PIECE => break,
            None => {}
        }
    }
    to.set_len(length).map_err(no_file)?;
    Ok(packed.replaced(to, length))
}

/// Reads until all is full or nothing more comes.
fn fill(from: &mut dyn Read, to: &mut [u8]) -> (usize, Option<io::Error>) {
    let mut done = 0;
    while done < to.len() {
        // What comes before an error is lost where both are in one piece.
        let end = to.len().min(done + PAGE);
        match from.read(&mut to[done..end]) {
            Ok(0) => break,
            Ok(read) => done += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return (done, Some(error)),
        }
    }
    (done, None)
}

/// The bytes of a file, and whether all were read.
struct Source<'p> {
    packed: &'p Pieces,
    at: u64,
    ended: Rc<Cell<bool>>,
}

impl Read for Source<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.packed.read_into(self.at, to)?;
        self.at += read as u64;
        self.ended.set(self.ended.get() || read < to.len());
        Ok(read)
    }
}

/// What one frame of lz4 after the other has.
struct Lz4<R: Read>(lz4_flex::frame::FrameDecoder<R>);

impl<R: BufRead> Read for Lz4<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.0.read(to)?;
            // A frame may be empty.
            if read > 0 || to.is_empty() || self.0.get_mut().fill_buf()?.is_empty() {
                return Ok(read);
            }
        }
    }
}

/// What one frame of zstd after the other has.
struct Frames<R> {
    source: R,
    decoder: FrameDecoder,
    in_frame: bool,
}

impl<R: BufRead> Frames<R> {
    fn new(source: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(ZSTD_WINDOW);
        Self { source, decoder, in_frame: false }
    }

    /// Whether there is one more.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => return Ok(true),
                // One with something else in it.
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    io::copy(&mut (&mut self.source).take(u64::from(length)), &mut io::sink())?;
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        Ok(false)
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.in_frame {
                if !self.begin()? {
                    return Ok(0);
                }
                self.in_frame = true;
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let strategy = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.source, strategy).map_err(io::Error::other)?;
            }
            let read = self.decoder.read(to)?;
            if read > 0 || to.is_empty() {
                return Ok(read);
            }
            self.in_frame = !self.decoder.is_finished();
        }
    }
}
