//! What can be said about a plug-in's file before it is loaded.

use std::path::{Path, PathBuf};
use std::time::Duration;

use object::read::{Object, ObjectKind, ObjectSymbol};
use object::{Architecture, Endianness, FileKind};

use super::error::PluginError;
use target::files::{Contents, open_regular};

/// The path as `dlopen` must get it: with a slash, or it would search for the name elsewhere.
pub fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The functions of an interface that the library exports, sorted: of those whose names `is_wanted` takes.
///
/// # Errors
/// Where it is no shared library that this process could load.
pub fn exported_functions(path: &Path, is_wanted: impl Fn(&str) -> bool) -> Result<Vec<String>, PluginError> {
    let fail = |reason: String| PluginError::File { path: path.to_owned(), reason };
    // A FIFO would keep us waiting.
    let contents = Contents::new(open_regular(path).map_err(|error| fail(error.to_string()))?);
    let kind = FileKind::parse(&contents).map_err(|_| fail("it is not an ELF file".to_owned()))?;
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
    let file = object::File::parse(&contents).map_err(|error| fail(format!("it is a damaged ELF file: {error}")))?;
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
        .filter(|name| is_wanted(name))
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

/// The version in an Open MPI plug-in's version text, where its series (major and minor number) is another than that
/// of the library. Within a series the structures are the same; a plug-in of another one reads garbage and does
/// not notice (4.1.4's on 5.0.11 lists one communicator with a binary name).
pub fn other_series(text: &str, library: &str) -> Option<String> {
    let series = |version: &str| -> Option<(u64, u64)> {
        let mut numbers = version.split('.').map(|number| number.parse().ok());
        Some((numbers.next()??, numbers.next()??))
    };
    // open-mpi/ompi, ompi/debuggers/ompi_msgq_dll.c, `mqs_version_string`, 4.1.4: the first number of the text is the
    // version.
    if !text.contains("Open MPI") {
        return None;
    }
    let number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    let word = text.split_whitespace().find(number)?;
    let found = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    let ours = series(library)?;
    (series(found)? != ours).then(|| found.to_owned())
}

/// A time in seconds, with one decimal where it matters.
pub fn seconds(time: Duration) -> String {
    if time.subsec_millis() == 0 { time.as_secs().to_string() } else { format!("{:.1}", time.as_secs_f64()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_another_series_of_open_mpi_is_refused() {
        let text = "Open MPI message queue support for parallel debuggers 4.1.4 v4.1.4, package: Debian, May 26, 2022";
        assert_eq!(other_series(text, "4.1.8"), None);
        assert_eq!(other_series(text, "5.0.7"), Some("4.1.4".to_owned()));
        assert_eq!(other_series(text, "unknown"), None);
        assert_eq!(other_series("Open MPI 6.0.0rc2, x", "5.0.7"), Some("6.0.0rc2".to_owned()));
        assert_eq!(other_series("another MPI, compiled 2020.1", "4.1.4"), None);
        assert_eq!(other_series("Open MPI", "4.1.4"), None);
    }

    #[test]
    fn seconds_are_short() {
        assert_eq!(seconds(Duration::from_secs(60)), "60");
        assert_eq!(seconds(Duration::from_millis(700)), "0.7");
    }
}
