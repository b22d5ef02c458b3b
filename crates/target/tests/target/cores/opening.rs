//! What is no core file of this machine says so.

use std::fs::File;
use std::path::Path;

use made_up::core_file::{Directory, Elf, READ, program, whole};
use target::cores::{CoreError, CoreFile};

fn refused(bytes: &[u8]) -> CoreError {
    let directory = Directory::new();
    CoreFile::open(&directory.file("core", bytes)).unwrap_err()
}

#[test]
fn files_that_are_no_core() {
    let directory = Directory::new();
    let error = CoreFile::open(&directory.0).unwrap_err();
    assert_eq!(error.to_string(), format!("{}: not a core file, but a directory", directory.0.display()));
    assert_eq!((error.kind(), error.help()), ("not_core", String::new()));
    let error = CoreFile::open(&directory.0.join("nix")).unwrap_err();
    assert!(error.to_string().ends_with("nix: the core file cannot be read: No such file or directory"), "{error}");
    assert_eq!(error.kind(), "no_core");
    assert!(error.help().ends_with("type: cat /proc/sys/kernel/core_pattern"));
    assert!(matches!(refused(b"no core\n"), CoreError::NotElf { .. }));
    assert!(matches!(refused(b"\x7fELF\x02\x01"), CoreError::NotElf { .. }), "too short for a header");
    let error = refused(&program(b"12345678"));
    assert!(error.to_string().ends_with(": a program or library, not a core file"), "{error}");
    let error = refused(&Elf::core().bytes());
    assert!(error.to_string().ends_with(": a damaged core file: it has no memory segments"), "{error}");
}

#[test]
fn core_files_of_other_machines() {
    let mut elf = Elf::core();
    elf.memory(0x1000, b"1234", READ);
    let here = std::env::consts::ARCH;
    for (machine, name) in [(2, "machine 2"), (if here == "x86_64" { 183 } else { 62 }, other())] {
        elf.machine = machine;
        let error = refused(&elf.bytes());
        assert!(error.to_string().ends_with(&format!(": a file of {name}, and this machine is {here}")), "{error}");
        assert_eq!(error.help(), "read it on a machine of its own kind");
    }
    for (at, value) in [(4, 1), (5, 2)] {
        let mut bytes = elf.bytes();
        bytes[at] = value;
        assert!(refused(&bytes).to_string().contains("a file of another architecture"));
    }
}

fn other() -> &'static str {
    if std::env::consts::ARCH == "x86_64" { "aarch64" } else { "x86_64" }
}

#[test]
fn headers_that_cannot_be() {
    let mut bytes = whole(b"/nowhere", b"").bytes();
    // e_phentsize.
    bytes[54] = 32;
    assert!(matches!(refused(&bytes), CoreError::NoSegments { .. }));
    // More than e_phnum can tell: the number stands nowhere, for there are no sections.
    bytes[54] = 56;
    bytes[56..58].copy_from_slice(&[0xff, 0xff]);
    bytes[40..48].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(matches!(refused(&bytes), CoreError::NoSegments { .. }));
    // In the first section header.
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    let sections = bytes.len() as u64;
    bytes[40..48].copy_from_slice(&sections.to_le_bytes());
    bytes.extend([0; 64]);
    bytes[sections as usize + 44] = 10;
    let directory = Directory::new();
    let core = CoreFile::open(&directory.file("core", &bytes)).unwrap();
    assert_eq!(core.pid(), Some(4711));
    bytes[sections as usize + 47] = 0xff;
    assert!(matches!(refused(&bytes), CoreError::NoSegments { .. }), "four milliards");
}

#[test]
fn a_sparse_file_claims_much_and_costs_nothing() {
    let directory = Directory::new();
    let mut bytes = whole(b"/nowhere", b"").bytes();
    // p_filesz of all segments.
    for segment in 0..10 {
        bytes[64 + 56 * segment + 32..][..8].copy_from_slice(&(1u64 << 39).to_le_bytes());
    }
    let path = directory.file("core", &bytes);
    File::options().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
    let core = CoreFile::open(Path::new(&path)).unwrap();
    assert!(core.threads().len() <= 1);
    assert!(core.read_bytes(0x1000, 1 << 62).is_err());
}
