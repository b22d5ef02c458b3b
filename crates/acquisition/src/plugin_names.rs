//! Which plug-in a process itself names for its message queues.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use target::Target;

/// Longest path that is read from the target.
const MAX_PATH: u64 = 4096;

/// The plug-in that the target's variable `MPIR_dll_name` names, `None` where it names none. It is only a suggestion.
pub fn named_plugin(target: &dyn Target) -> Option<PathBuf> {
    let symbol = target.symbol("MPIR_dll_name").ok().flatten()?;
    let room = symbol.size.filter(|size| *size > 0).map_or(MAX_PATH, |size| size.min(MAX_PATH));
    let bytes = target.read_c_string(symbol.addr, usize::try_from(room).ok()?).ok()?;
    (!bytes.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(&bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use target::TargetAbi;
    use target::address::TargetAddr;
    use target::mock::MockTarget;

    fn named(bytes: Option<&[u8]>) -> Option<PathBuf> {
        let mut target = MockTarget::new(TargetAbi::LITTLE_64);
        if let Some(bytes) = bytes {
            target.add_segment(TargetAddr::new(0x1000), bytes.to_vec());
            target.add_symbol("MPIR_dll_name", TargetAddr::new(0x1000), Some(bytes.len() as u64));
        }
        named_plugin(&target)
    }

    #[test]
    fn a_name_without_its_nul_is_bounded_by_its_symbol() {
        assert_eq!(named(Some(b"/a/b.so")), Some(PathBuf::from("/a/b.so")));
        assert_eq!(named(Some(b"\0junk")), None);
        assert_eq!(named(None), None);
    }
}
