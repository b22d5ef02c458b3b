//! Which MPICH a library is: the version and the device that it was built with.
//!
//! Releases until 4.0 export the strings; later ones have them as constants beside one another, all from one source
//! file (pmodels/mpich, src/util/version.c, v3.4 and v4.2), in the order device, configure options, …, version.

use crate::ReaderError;
use target::{Range, Segments, Target, TargetError, printable};

/// What Intel's library is called.
pub const INTEL_MPI: &str = "Intel MPI";

/// What a library says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Library {
    /// `MPICH`, or what was made from it: `Intel MPI`.
    pub implementation: String,
    /// Such as `4.0.2`; `None` where it was not found.
    pub version: Option<String>,
    /// Such as `ch4:ofi,ucx` (its networks, the preferred one first); `None` where it was not found.
    pub device: Option<String>,
    /// Whether it keeps lists for debuggers (`--enable-debuginfo`; src/mpi/debugger/dbginit.c).
    pub debug_lists: bool,
}

impl Library {
    /// Major and minor number of the version.
    pub fn series(&self) -> Option<(u64, u64)> {
        let mut numbers = self.version.as_deref()?.split('.').map(|part| {
            let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().ok()
        });
        Some((numbers.next()??, numbers.next()??))
    }
}

/// Longest of these strings in bytes.
const MAX_TEXT: usize = 128;

/// The version stands within this many bytes after the device: the configure options of Intel's library have 6 KiB.
const NEAR: usize = 16 << 10;

/// Bytes of constants that are looked through at most; libraries have a few MiB.
const MAX_LOOKED_AT: u64 = 64 << 20;

/// Bytes that are read together.
const CHUNK: usize = 256 << 10;

/// Reads what a library says of itself.
///
/// # Errors
/// Where the process is gone. What was not found is `None`.
pub fn identify(target: &dyn Target, segments: &Segments) -> Result<Library, ReaderError> {
    let mut library = Library { implementation: "MPICH".to_owned(), ..Library::default() };
    let text = |name: &str| -> Result<Option<String>, TargetError> {
        let Some(symbol) = target.symbol(name)? else { return Ok(None) };
        let bytes = match target.read_c_string(symbol.addr, MAX_TEXT) {
            Err(TargetError::Gone) => return Err(TargetError::Gone),
            other => other.unwrap_or_default(),
        };
        Ok(Some(printable(&bytes)).filter(|text| !text.is_empty()))
    };
    library.version = text("MPII_Version_string")?;
    library.device = text("MPII_Version_device")?.map(|device| normal_device(&device));
    if library.version.is_none() || library.device.is_none() {
        for range in &segments.constants {
            if let Some((device, version)) = search(target, range)? {
                library.device = library.device.or(Some(normal_device(&device)));
                library.version = library.version.or(version);
                break;
            }
        }
    }
    library.debug_lists = target.symbol("MPIR_Sendq_head")?.is_some();
    // Intel's library exports functions that no other has.
    if target.symbol("I_MPI_Check_image_status")?.is_some() {
        library.implementation = INTEL_MPI.to_owned();
        // What was found is the version of MPICH that it was made from.
        library.version = intel_version(target, segments)?;
    }
    Ok(library)
}

/// The version of Intel's library, such as `2021.18.1`; `None` where several texts could be it.
fn intel_version(target: &dyn Target, segments: &Segments) -> Result<Option<String>, TargetError> {
    let mut found: Option<String> = None;
    for range in &segments.constants {
        for_each_chunk(target, range, |bytes| {
            for (_, text) in texts(bytes).filter(|(_, text)| is_intel_version(text)) {
                match &found {
                    Some(other) if other != text => found = Some(String::new()),
                    Some(_) => {}
                    None => found = Some(text.to_owned()),
                }
            }
            false
        })?;
    }
    Ok(found.filter(|version| !version.is_empty()))
}

/// A year and one or two numbers.
fn is_intel_version(text: &str) -> bool {
    let parts: Vec<&str> = text.split('.').collect();
    let number = |part: &&str| (1..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    matches!(parts.len(), 2 | 3)
        && parts.iter().all(number)
        && parts[0].len() == 4
        && parts[0].starts_with("20")
        && parts[1].len() <= 2
}

/// The networks are separated by blanks or commas, depending on the release.
fn normal_device(device: &str) -> String {
    device.split([' ', ',']).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(",")
}

/// The device string in a range of constants and the version that stands near.
fn search(target: &dyn Target, range: &Range) -> Result<Option<(String, Option<String>)>, TargetError> {
    let mut found = None;
    for_each_chunk(target, range, |bytes| {
        if let Some((at, device)) = device_in(bytes) {
            let end = bytes.len().min(at + NEAR);
            found = Some((device, version_in(&bytes[at..end])));
        }
        found.is_some()
    })?;
    Ok(found)
}

/// Gives the bytes of a range to `look`, in pieces that overlap, until it says that it has seen enough.
fn for_each_chunk(target: &dyn Target, range: &Range, mut look: impl FnMut(&[u8]) -> bool) -> Result<(), TargetError> {
    let mut buffer = vec![0; CHUNK + NEAR];
    let mut offset = 0;
    while offset < range.len.min(MAX_LOOKED_AT) {
        let left = usize::try_from(range.len - offset).unwrap_or(usize::MAX);
        let bytes = &mut buffer[..left.min(CHUNK + NEAR)];
        match target.read_once(range.start.wrapping_add(offset), bytes) {
            Ok(()) if look(bytes) => return Ok(()),
            Ok(()) => {}
            Err(TargetError::Gone) => return Err(TargetError::Gone),
            Err(_) => {}
        }
        offset += left.min(CHUNK) as u64;
    }
    Ok(())
}

/// The texts between NUL bytes, with their offsets.
fn texts(bytes: &[u8]) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    bytes.split(|byte| *byte == 0).filter_map(move |text| {
        let start = at;
        at += text.len() + 1;
        (3..=MAX_TEXT).contains(&text.len()).then(|| std::str::from_utf8(text).ok().map(|text| (start, text)))?
    })
}

fn device_in(bytes: &[u8]) -> Option<(usize, String)> {
    let is_device = |text: &str| {
        let known = text.starts_with("ch4:") || text.starts_with("ch3:");
        known && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b":, ".contains(&byte))
    };
    texts(bytes).find(|(_, text)| is_device(text)).map(|(at, text)| (at, text.to_owned()))
}

fn version_in(bytes: &[u8]) -> Option<String> {
    let is_version = |text: &&str| {
        let mut parts = text.split('.');
        let number = |part: Option<&str>| part.is_some_and(|part| !part.is_empty() && part.len() <= 4);
        // 4.1.3, 4.3.0rc2, 5.0
        number(parts.next())
            && number(parts.next())
            && parts.all(|part| part.starts_with(|c: char| c.is_ascii_digit()))
            && text.starts_with(|c: char| c.is_ascii_digit())
            && text.bytes().all(|byte| byte.is_ascii_digit() || b".abrcp".contains(&byte))
    };
    texts(bytes).map(|(_, text)| text).find(is_version).map(ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn strings_are_found_between_others() {
        let bytes = b"\0ch4:%s\0x\0ch4:ucx ofi\0\0--with-device=ch4:ucx,ofi\0cc\0\x005.0.2\x004.9\0";
        let (at, device) = device_in(bytes).unwrap();
        assert_eq!(normal_device(&device), "ch4:ucx,ofi");
        assert_eq!(version_in(&bytes[at..]).as_deref(), Some("5.0.2"));
        assert_eq!(version_in(b"\0cc\x004.3.0rc2\0").as_deref(), Some("4.3.0rc2"));
        assert_eq!(version_in(b"\x00.5\0abc\0a.b\x004..1\0"), None);
    }

    #[test]
    fn versions_of_intel() {
        assert!(is_intel_version("2021.18.1") && is_intel_version("2021.9"));
        assert!(
            ["2021", "3.4a2", "2021.18.1.2", "20211.1", "2021.x", "1999.1", "2021.1234"]
                .iter()
                .all(|text| !is_intel_version(text))
        );
    }

    #[test]
    fn series() {
        let of = |version: &str| Library { version: Some(version.to_owned()), ..Library::default() }.series();
        assert_eq!(of("4.3.0rc2"), Some((4, 3)));
        assert_eq!(of("5.0"), Some((5, 0)));
        assert_eq!(of("five"), None);
    }
}
