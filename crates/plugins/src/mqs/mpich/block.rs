//! A structure of the target, read whole.

use layouts::{Field, FieldKind, Layouts};
use target::address::TargetAddr;
use target::{Reason, Target, TargetAbi};

/// Structures are smaller than this, in bytes: a layout that says more is wrong.
const MAX_SIZE: u64 = 1 << 16;

/// The bytes of one structure.
pub struct Block {
    bytes: Vec<u8>,
    abi: TargetAbi,
}

impl Block {
    /// Reads `size` bytes at `at`.
    pub fn read(target: &dyn Target, at: u64, size: u64) -> Result<Self, Reason> {
        if size > MAX_SIZE {
            return Err(Reason::new(format!(
                "a structure of {size} bytes at {at:#x} is too large to be one of MPICH's"
            )));
        }
        let bytes = target.read_bytes(TargetAddr::new(at), size as usize)?;
        Ok(Self { bytes, abi: target.abi() })
    }

    fn slice(&self, field: &Field) -> Option<&[u8]> {
        let start = usize::try_from(field.offset).ok()?;
        let end = start.checked_add(usize::try_from(field.size).ok()?)?;
        self.bytes.get(start..end).filter(|bytes| (1..=8).contains(&bytes.len()))
    }

    /// The value of a field without a sign; `None` where there is none of a number's size.
    pub fn uint(&self, field: &Field) -> Option<u64> {
        self.slice(field).map(|bytes| self.abi.uint(bytes))
    }

    /// The value of a field, with its sign where its type has one.
    pub fn int(&self, field: &Field) -> Option<i64> {
        let bytes = self.slice(field)?;
        match field.kind {
            FieldKind::Unsigned => i64::try_from(self.abi.uint(bytes)).ok(),
            _ => Some(self.abi.int(bytes)),
        }
    }
}

/// A field that some releases have; `None` for the others.
pub fn optional(layouts: &Layouts, type_name: &str, names: &[&str]) -> Option<Field> {
    names.iter().find_map(|name| layouts.field(type_name, name).ok())
}
