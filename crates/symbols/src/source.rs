//! The bytes of a file or of memory, pieces of which are read when they are wanted.

use std::sync::Arc;

use object::CompressionFormat;
use object::read::CompressedFileRange;
use target::file_budget::FileBudget;
use target::files::RegularFile;
use target::{zeroed, zeroed_shared};

/// What a zlib stream can become at most: a run of equal bytes, 1032 times as long.
const MAX_ZLIB: u64 = 1100;

/// Unpacking zstd takes a window besides (bytes): as long as the section, and no longer than this, which ruzstd takes at most.
const MAX_WINDOW: u64 = 100 << 20;

/// So many bytes are unpacked in the time of one step of a budget.
const BYTES_A_STEP: u64 = 8;

pub(crate) enum Source {
    /// Stays open: what runs is this file, whatever its name means later.
    File(RegularFile),
    Memory(Arc<[u8]>),
}

impl Source {
    /// `size` bytes at `offset`.
    pub(crate) fn read(&self, offset: u64, size: u64) -> Option<Vec<u8>> {
        let length = self.within(offset, size)?;
        let mut bytes = zeroed(length).ok()?;
        self.fill(offset, &mut bytes)?;
        Some(bytes)
    }

    /// The same, to be shared.
    pub(crate) fn read_shared(&self, offset: u64, size: u64) -> Option<Arc<[u8]>> {
        let mut bytes = zeroed_shared(self.within(offset, size)?).ok()?;
        self.fill(offset, Arc::get_mut(&mut bytes)?)?;
        Some(bytes)
    }

    /// The length, where there are so many bytes.
    fn within(&self, offset: u64, size: u64) -> Option<usize> {
        let end = offset.checked_add(size)?;
        if end <= self.size() { usize::try_from(size).ok() } else { None }
    }

    fn fill(&self, offset: u64, to: &mut [u8]) -> Option<()> {
        match self {
            Self::File(file) => file.read_exact_at(to, offset).ok(),
            Self::Memory(bytes) => {
                let start = usize::try_from(offset).ok()?;
                to.copy_from_slice(bytes.get(start..start.checked_add(to.len())?)?);
                Some(())
            }
        }
    }

    /// A section as it was before it was compressed. Its bytes are claimed from the budget, which tells where they are too many.
    pub(crate) fn unpacked(&self, range: CompressedFileRange, name: &str, budget: &FileBudget) -> Option<Arc<[u8]>> {
        let CompressedFileRange { format, offset, compressed_size, uncompressed_size } = range;
        self.within(offset, compressed_size)?;
        if format == CompressionFormat::None {
            budget.claim(name, compressed_size).ok()?;
            return self.read_shared(offset, compressed_size);
        }
        let possible = format != CompressionFormat::Zlib
            || uncompressed_size <= compressed_size.saturating_add(64).saturating_mul(MAX_ZLIB);
        if !possible {
            return None;
        }
        let window = if format == CompressionFormat::Zstandard { uncompressed_size.min(MAX_WINDOW) } else { 0 };
        let meanwhile = compressed_size.saturating_add(window);
        budget.claim(name, uncompressed_size).ok()?;
        budget.claim(name, meanwhile).ok()?;
        let unpacked = budget.steps(name, uncompressed_size / BYTES_A_STEP).ok().and_then(|()| {
            let packed = self.read(offset, compressed_size)?;
            let mut bytes = zeroed_shared(usize::try_from(uncompressed_size).ok()?).ok()?;
            unpack(format, &packed, Arc::get_mut(&mut bytes)?)?;
            Some(bytes)
        });
        budget.give_back(meanwhile);
        unpacked
    }

    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::File(file) => file.len(),
            Self::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// The checksum of the whole, as `.gnu_debuglink` has it.
    pub(crate) fn checksum(&self, budget: &FileBudget) -> Option<u32> {
        const PIECE: u64 = 1 << 20;
        let mut hasher = crc32fast::Hasher::new();
        let mut at = 0;
        while at < self.size() {
            let size = PIECE.min(self.size() - at);
            budget.steps("whole content", size / BYTES_A_STEP).ok()?;
            hasher.update(&self.read(at, size)?);
            at += size;
        }
        Some(hasher.finalize())
    }
}

/// Unpacks to a slice, which it must fill.
fn unpack(format: CompressionFormat, packed: &[u8], to: &mut [u8]) -> Option<()> {
    let length = match format {
        CompressionFormat::Zlib => {
            let mut stream = flate2::Decompress::new(true);
            let status = stream.decompress(packed, to, flate2::FlushDecompress::Finish).ok()?;
            let written = usize::try_from(stream.total_out()).ok()?;
            (status == flate2::Status::StreamEnd).then_some(written)?
        }
        CompressionFormat::Zstandard => ruzstd::decoding::FrameDecoder::new().decode_all(packed, to).ok()?,
        _ => return None,
    };
    (length == to.len()).then_some(())
}
