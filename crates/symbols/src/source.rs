//! The bytes of a file or of memory, pieces of which are read when they are wanted.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use object::CompressionFormat;
use object::read::{CompressedData, CompressedFileRange};

/// What a zlib stream can become at most: a run of equal bytes, 1032 times as long.
const MAX_ZLIB: u64 = 1100;

pub(crate) enum Source {
    /// Stays open: what runs is this file, whatever its name means later.
    File {
        file: File,
        size: u64,
    },
    Memory(Arc<[u8]>),
}

impl Source {
    /// `size` bytes at `offset`, at most `most`.
    pub(crate) fn read(&self, offset: u64, size: u64, most: u64) -> Option<Vec<u8>> {
        let end = offset.checked_add(size)?;
        if size > most || end > self.size() {
            return None;
        }
        let length = usize::try_from(size).ok()?;
        match self {
            Self::File { file, .. } => {
                let mut bytes = Vec::new();
                bytes.try_reserve_exact(length).ok()?;
                bytes.resize(length, 0);
                file.read_exact_at(&mut bytes, offset).ok()?;
                Some(bytes)
            }
            Self::Memory(bytes) => {
                let start = usize::try_from(offset).ok()?;
                Some(bytes.get(start..start.checked_add(length)?)?.to_vec())
            }
        }
    }

    /// A section as it was before it was compressed, of at most `most` bytes.
    pub(crate) fn unpacked(&self, range: CompressedFileRange, most: u64) -> Option<Vec<u8>> {
        let CompressedFileRange { format, offset, compressed_size, uncompressed_size } = range;
        let bytes = self.read(offset, compressed_size, most)?;
        if format == CompressionFormat::None {
            return Some(bytes);
        }
        let possible = format != CompressionFormat::Zlib
            || uncompressed_size <= compressed_size.saturating_add(64).saturating_mul(MAX_ZLIB);
        if uncompressed_size > most || !possible {
            return None;
        }
        let data = CompressedData { format, data: &bytes, uncompressed_size };
        data.decompress().ok().map(std::borrow::Cow::into_owned)
    }

    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::File { size, .. } => *size,
            Self::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// The checksum of the whole, as `.gnu_debuglink` has it.
    pub(crate) fn checksum(&self) -> Option<u32> {
        const PIECE: u64 = 1 << 20;
        let mut hasher = crc32fast::Hasher::new();
        let mut at = 0;
        while at < self.size() {
            let size = PIECE.min(self.size() - at);
            hasher.update(&self.read(at, size, PIECE)?);
            at += size;
        }
        Some(hasher.finalize())
    }
}
