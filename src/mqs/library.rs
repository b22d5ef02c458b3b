//! What can be said about a plug-in's file before it is loaded.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use object::read::{Object, ObjectKind, ObjectSymbol, ReadCache};
use object::{Architecture, Endianness, FileKind};

use super::error::PluginError;

/// The functions of the mqs interface (all names that begin with `mqs_`) that the library exports, sorted.
///
/// # Errors
/// Where it is no shared library that this process could load.
pub fn exported_functions(path: &Path) -> Result<Vec<String>, PluginError> {
    let fail = |reason: String| PluginError::File { path: path.to_owned(), reason };
    let metadata = std::fs::metadata(path).map_err(|error| fail(error.to_string()))?;
    if !metadata.is_file() {
        // A FIFO would keep us waiting.
        return Err(fail("it is not a regular file".to_owned()));
    }
    let cache = ReadCache::new(File::open(path).map_err(|error| fail(error.to_string()))?);
    let kind = FileKind::parse(&cache).map_err(|_| fail("it is not an ELF file".to_owned()))?;
    let found = match kind {
        FileKind::Elf64 => None,
        FileKind::Elf32 => Some("an ELF file of 32 bits".to_owned()),
        _ => return Err(fail("it is not an ELF file".to_owned())),
    };
    let wrong = |found: String| PluginError::WrongMachine {
        path: path.to_owned(),
        found,
        expected: format!("an ELF file of 64 bits for {}", std::env::consts::ARCH),
    };
    if let Some(found) = found {
        return Err(wrong(found));
    }
    let file = object::File::parse(&cache).map_err(|error| fail(format!("it is a damaged ELF file: {error}")))?;
    let order = if cfg!(target_endian = "little") { Endianness::Little } else { Endianness::Big };
    if host_architecture().is_some_and(|host| host != file.architecture()) || file.endianness() != order {
        return Err(wrong(format!("an ELF file of 64 bits for {:?}", file.architecture()).to_lowercase()));
    }
    if file.kind() != ObjectKind::Dynamic {
        return Err(fail("it is an ELF file, but not a shared library".to_owned()));
    }
    let mut names: Vec<String> = file
        .dynamic_symbols()
        .filter(|symbol| symbol.is_definition() && symbol.kind() == object::SymbolKind::Text)
        .filter_map(|symbol| symbol.name().ok().map(str::to_owned))
        .filter(|name| name.starts_with("mqs_") || name == super::abi::NEXT_NEW_PROCESS_ALIAS)
        .collect();
    names.sort();
    names.dedup();
    Ok(names)
}

fn host_architecture() -> Option<Architecture> {
    match std::env::consts::ARCH {
        "x86_64" => Some(Architecture::X86_64),
        "aarch64" => Some(Architecture::Aarch64),
        "riscv64" => Some(Architecture::Riscv64),
        "powerpc64" => Some(Architecture::PowerPc64),
        "s390x" => Some(Architecture::S390x),
        _ => None,
    }
}

/// A time in seconds, with one decimal where it matters.
pub fn seconds(time: Duration) -> String {
    if time.subsec_millis() == 0 { time.as_secs().to_string() } else { format!("{:.1}", time.as_secs_f64()) }
}
