//! Byte order and pointer width of a target, and the decoding of its integers.

use reason::Reason;
use serde::{Deserialize, Serialize};

/// Byte order of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

/// Width of the target's pointers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub enum PointerWidth {
    /// Four bytes.
    Four,
    /// Eight bytes.
    Eight,
}

impl PointerWidth {
    /// The width in bytes.
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Four => 4,
            Self::Eight => 8,
        }
    }
}

impl TryFrom<u64> for PointerWidth {
    type Error = Reason;
    fn try_from(bytes: u64) -> Result<Self, Reason> {
        match bytes {
            4 => Ok(Self::Four),
            8 => Ok(Self::Eight),
            other => Err(Reason::new(format!("a pointer width of {other} bytes is not supported (4 or 8)"))),
        }
    }
}

impl From<PointerWidth> for u64 {
    fn from(width: PointerWidth) -> u64 {
        width.bytes()
    }
}

/// What is needed to decode a target's integers and pointers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetAbi {
    /// Byte order of integers.
    pub byte_order: ByteOrder,
    /// Width of a pointer, in bytes in its serialised form.
    pub pointer_width: PointerWidth,
}

impl TargetAbi {
    /// x86-64, aarch64, riscv64, ppc64le.
    pub const LITTLE_64: Self = Self { byte_order: ByteOrder::Little, pointer_width: PointerWidth::Eight };

    /// The unsigned integer in `bytes` (at most 8 of them count).
    // The readers call it for each member of each structure.
    #[inline]
    pub fn uint(self, bytes: &[u8]) -> u64 {
        if let (ByteOrder::Little, Ok(word)) = (self.byte_order, <[u8; 8]>::try_from(bytes)) {
            return u64::from_le_bytes(word);
        }
        if let (ByteOrder::Little, Ok(word)) = (self.byte_order, <[u8; 4]>::try_from(bytes)) {
            return u64::from(u32::from_le_bytes(word));
        }
        let fold = |value: u64, byte: &u8| (value << 8) | u64::from(*byte);
        let bytes = &bytes[..bytes.len().min(8)];
        match self.byte_order {
            ByteOrder::Little => bytes.iter().rev().fold(0, fold),
            ByteOrder::Big => bytes.iter().fold(0, fold),
        }
    }

    /// The words of 4 bytes that `bytes` holds, in place of what was in `words`.
    pub fn words(self, bytes: &[u8], words: &mut Vec<u32>) {
        words.clear();
        words.extend(bytes.chunks_exact(4).map(|word| self.uint(word) as u32));
    }

    /// The signed integer in `bytes` (at most 8 of them count), sign-extended.
    #[inline]
    pub fn int(self, bytes: &[u8]) -> i64 {
        let len = bytes.len().min(8);
        if len == 0 {
            return 0;
        }
        let unused = 64 - 8 * len as u32;
        // Shift the value's top bit up and back down: an arithmetic shift extends the sign.
        ((self.uint(bytes) << unused) as i64) >> unused
    }
}
