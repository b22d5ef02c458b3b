//! Files with code of x86-64, whose calls are looked at.

use std::ops::Range;
use std::path::Path;

use gimli::RunTimeEndian;
use object::Architecture;
use symbols::{DebugPlaces, ObjectFile};

/// The file with that build-id (hexadecimal digits), and the addresses of its `.text`. `None` where there is another one, or
/// its code is for another machine.
pub(crate) fn code_file(path: &Path, build_id: Option<&str>) -> Option<(ObjectFile, Range<u64>)> {
    let file = ObjectFile::open(path, &DebugPlaces::none()).ok()?;
    if file.architecture() != Architecture::X86_64 || !file.is_64() || file.endian() != RunTimeEndian::Little {
        return None;
    }
    if let (Some(wanted), Some(own)) = (build_id, file.build_id())
        && !wanted.eq_ignore_ascii_case(own)
    {
        return None;
    }
    let (_, text) = file.section_addresses().find(|(name, _)| *name == b".text")?;
    Some((file, text))
}
