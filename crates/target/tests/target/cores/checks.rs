//! What is looked at before a debugger opens a core file.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use made_up::core_file::{AT_PHDR, Directory, Elf, PROGRAM, READ, program, whole};
use target::cores::{CoreError, CoreFile, checked, named_libraries};

fn made(directory: &Directory, library: &[u8]) -> (PathBuf, CoreFile) {
    let program = directory.file("program", &program(b"12345678"));
    let core = whole(program.as_os_str().as_bytes(), library).bytes();
    (program, CoreFile::open(&directory.file("core", &core)).unwrap())
}

fn fifo(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn the_program_that_dumped_it() {
    let directory = Directory::new();
    let (own, core) = made(&directory, b"/nowhere/lib.so");
    assert_eq!(checked(&core, None).unwrap(), own);
    let copy = directory.0.join("copy");
    fs::copy(&own, &copy).unwrap();
    assert_eq!(checked(&core, Some(&copy)).unwrap(), copy);
    let anew = directory.file("anew", &program(b"87654321"));
    let error = checked(&core, Some(&anew)).unwrap_err();
    let said = format!(
        "{}: was not dumped by {}, or that was recompiled since (the core file names {})",
        core.path().display(),
        anew.display(),
        own.display()
    );
    assert_eq!((error.to_string(), error.kind()), (said, "wrong_exe"));
    assert_eq!(error.help(), format!("name the one that dumped it: --core {} --exe EXE", core.path().display()));
    let text = directory.file("text", b"no program");
    assert!(matches!(checked(&core, Some(&text)), Err(CoreError::OtherProgram { .. })));
    for (at, value) in [(24, 1), (54, 32), (56, 5)] {
        // Its entry, the size of its headers, their number.
        let mut other = program(b"12345678");
        other[at] = value;
        let other = directory.file("other", &other);
        assert!(!core.is_program(&other).unwrap(), "{at}");
    }
}

#[test]
fn a_program_that_cannot_be_read() {
    let directory = Directory::new();
    let (own, core) = made(&directory, b"");
    let (path, nix) = (core.path().display(), directory.0.join("nix"));
    let error = checked(&core, Some(&nix)).unwrap_err();
    let reason = "cannot be read: No such file or directory";
    let told = format!("{path}: {} (the core file names {}) {reason}", nix.display(), own.display());
    assert_eq!((error.to_string(), error.kind()), (told, "no_exe"));
    fs::remove_file(&own).unwrap();
    let error = checked(&core, None).unwrap_err();
    assert_eq!(error.to_string(), format!("{path}: {}, the program that dumped it, {reason}", own.display()));
    assert_eq!(error.help(), format!("name the program where it is now: --core {path} --exe EXE"));
}

#[test]
fn a_core_that_tells_of_no_program() {
    let directory = Directory::new();
    let path = directory.file("core", &Elf::core().memory(0x1000, b"1234", READ).bytes());
    let core = CoreFile::open(&path).unwrap();
    let error = checked(&core, None).unwrap_err();
    assert_eq!(error.to_string(), format!("{}: does not say which program dumped it", path.display()));
    assert_eq!((error.kind(), error.help()), ("no_exe", "name it: --exe EXE".to_owned()));
    // Without a vector nothing says that it is another one.
    let own = directory.file("program", &program(b"12345678"));
    assert_eq!(checked(&core, Some(&own)).unwrap(), own);
    assert_eq!(named_libraries(&core, &own), [""; 0]);
}

#[test]
fn what_tells_of_the_process_may_be_cut_off() {
    let directory = Directory::new();
    let (_, core) = made(&directory, b"");
    let path = core.path().to_owned();
    fs::File::options().write(true).open(&path).unwrap().set_len(4096 * 3).unwrap();
    let core = CoreFile::open(&path).unwrap();
    let error = checked(&core, None).unwrap_err();
    let missing = core.truncated();
    let said = format!("the core file is truncated: {missing} bytes that describe the process are missing");
    assert_eq!(error.to_string(), format!("{}: {said}", path.display()));
    assert!(error.help().starts_with("dump it again; see that there is space"));
}

#[test]
fn fifos_keep_nobody_waiting() {
    let directory = Directory::new();
    let pipe = directory.0.join("a pipe");
    fifo(&pipe);
    let (_, core) = made(&directory, pipe.as_os_str().as_bytes());
    let error = checked(&core, None).unwrap_err();
    assert!(error.to_string().contains("a pipe as a library, which is a FIFO: a debugger could wait"), "{error}");
    assert_eq!(
        (error.kind(), error.help()),
        ("irregular", format!("to see what is there, type: ls -l '{}'", pipe.display()))
    );
    let path = directory.file("core", &whole(pipe.as_os_str().as_bytes(), b"").bytes());
    let error = checked(&CoreFile::open(&path).unwrap(), None).unwrap_err();
    assert!(error.to_string().ends_with("a file that was mapped, which is a FIFO: a debugger would wait there"));
    assert!(error.help().ends_with(&format!("type the same again: rm '{}'", pipe.display())));
    let error = CoreFile::open(&pipe).unwrap_err();
    assert!(error.to_string().ends_with("a pipe: not a core file, but a FIFO"));
}

#[test]
fn libraries_by_the_list_in_memory() {
    let directory = Directory::new();
    let long = vec![b'x'; 1000];
    for name in [&b"/nowhere/\xfflib.so"[..], &long] {
        let (program, core) = made(&directory, name);
        let found = named_libraries(&core, &program);
        assert_eq!(found.iter().map(|name| name.as_bytes()).collect::<Vec<_>>(), [name]);
        assert!(named_libraries(&core, Path::new("/nowhere")).is_empty());
    }
    // A list that leads back to itself ends.
    let (program, core) = made(&directory, b"/nowhere/lib.so");
    let mut bytes = fs::read(core.path()).unwrap();
    let (own, first) = ((PROGRAM + 2 * 4096 + 0x300).to_le_bytes(), (PROGRAM + 2 * 4096 + 0x200).to_le_bytes());
    let next = bytes.windows(8).position(|bytes| bytes == own).unwrap();
    let second = next - 24 + 0x100;
    bytes[second + 24..second + 32].copy_from_slice(&first);
    let core = CoreFile::open(&directory.file("circle", &bytes)).unwrap();
    assert_eq!(named_libraries(&core, &program).len(), 1);
    let nowhere = Elf::core().memory(1, b"1", 4).auxiliary(&[(AT_PHDR, 64), (5, 6)]).bytes();
    let core = CoreFile::open(&directory.file("empty", &nowhere)).unwrap();
    assert!(named_libraries(&core, &program).is_empty());
}
