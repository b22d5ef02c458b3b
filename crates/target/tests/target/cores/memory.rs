//! Memory that a core file holds, and words for what it does not.

use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use made_up::core_file::{
    DATA, Directory, EXECUTE, Elf, HEAP, OTHER, PAGE, PROGRAM, READ, STACK, WRITE, program, whole,
};
use target::TargetError;
use target::cores::{CoreFile, Unread};

struct Made {
    directory: Directory,
    program: PathBuf,
    core: CoreFile,
}

fn made() -> Made {
    let directory = Directory::new();
    let program = directory.file("program", &program(b"12345678"));
    let path = directory.file("core", &whole(program.as_os_str().as_bytes(), b"/nowhere/lib.so").bytes());
    Made { core: CoreFile::open(&path).unwrap(), program, directory }
}

fn missing(core: &CoreFile, address: u64, len: u64) -> String {
    match core.read_bytes(address, len) {
        Err(error @ Unread::LeftOut(_)) => error.to_string(),
        other => panic!("{other:x?}"),
    }
}

#[test]
fn memory_of_segments_that_touch_is_one() {
    let mut elf = Elf::core();
    elf.memory(0x2000, b"5678", READ).memory(0x1ffc, b"1234", READ | WRITE);
    let directory = Directory::new();
    let core = CoreFile::open(&directory.file("core", &elf.bytes())).unwrap();
    assert_eq!(core.read_bytes(0x1ffd, 6).unwrap(), b"234567");
    assert_eq!(core.read_held_bytes(0x1ffc, 8).unwrap(), b"12345678");
    assert_eq!(core.read_bytes(0x1ffc, 0).unwrap(), b"");
    let Err(Unread::LeftOut(error)) = core.read_bytes(0x1ffc, 100) else { panic!() };
    assert_eq!((error.addr.get(), error.len), (0x2004, 92));
    let Err(Unread::LeftOut(error)) = core.read_bytes(u64::MAX - 1, u64::MAX) else { panic!() };
    assert_eq!((error.addr.get(), error.len), (u64::MAX - 1, u64::MAX));
    assert!(!core.holds_stacks(), "it tells of no thread");
}

#[test]
fn what_is_missing_is_named() {
    let made = made();
    let full = "to have everything in the next one, type: gcore PID, or before the crash: echo 0x7f > \
                /proc/PID/coredump_filter";
    let program = made.program.display();
    assert_eq!(
        missing(&made.core, 0x1234, 8),
        format!("8 bytes at 0x1234 are not in the core file: memory that it does not describe; {full}")
    );
    assert!(missing(&made.core, OTHER + 100, 8).contains("core file: anonymous memory; "));
    fs::remove_file(&made.program).unwrap();
    let code = missing(&made.core, PROGRAM + PAGE, 8);
    assert!(code.contains(&format!("core file: memory of {program}; ")), "{code}");
    let error = TargetError::from(made.core.read_bytes(OTHER + 96, 8).unwrap_err());
    assert!(matches!(error, TargetError::NotInCore { addr, len: 4, .. } if addr.get() == OTHER + 100));
}

#[test]
fn the_heap_and_the_stack_are_known() {
    let made = made();
    let regions = made.core.regions();
    let name = |start| regions.iter().find(|region| region.start == start).unwrap().name.to_str().unwrap().to_owned();
    assert_eq!((name(HEAP), name(STACK), name(OTHER)), ("[heap]".into(), "[stack]".into(), String::new()));
    assert_eq!(name(DATA), made.program.to_str().unwrap());
    assert!(!regions.iter().any(|region| region.start == PROGRAM + PAGE), "it is not held");
    let other = regions.iter().find(|region| region.start == OTHER).unwrap();
    assert_eq!((other.end, other.readable, other.writable), (OTHER + 100, true, true));
    let mut bytes = fs::read(made.core.path()).unwrap();
    // p_filesz of heap and stack.
    for segment in [3, 5] {
        bytes[64 + 56 * segment + 32..][..8].fill(0);
    }
    let core = CoreFile::open(&made.directory.file("without", &bytes)).unwrap();
    assert!(missing(&core, HEAP, 8).contains(": the heap; "));
    assert!(missing(&core, STACK, 8).contains(": the stack; "));
    assert!(made.core.holds_stacks() && !core.holds_stacks());
    assert_eq!(core.environment(b"HOME"), None);
}

#[test]
fn code_comes_from_the_file_that_was_mapped() {
    let made = made();
    // Over the end of what the core holds, and on into what it holds again.
    let read = made.core.read_bytes(PROGRAM + PAGE - 8, PAGE + 16).unwrap();
    assert_eq!(read[..8], [0; 8]);
    assert_eq!(read[8..PAGE as usize + 8], [0xcc; PAGE as usize]);
    assert_eq!(read[PAGE as usize + 8..], [1, 0, 0, 0, 0, 0, 0, 0]);
    assert!(made.core.read_held_bytes(PROGRAM + PAGE, 8).is_err());
    assert!(made.core.is_code(PROGRAM + PAGE) && !made.core.is_code(PROGRAM) && !made.core.is_code(1));
    // Another file at its place stands for nothing.
    fs::write(&made.program, program(b"12345678")).unwrap();
    fs::File::options().write(true).open(&made.program).unwrap().set_len(PAGE * 4).unwrap();
    assert!(missing(&made.core, PROGRAM + PAGE, 8).contains("memory of "));
}

#[test]
fn a_file_that_is_another_one_stands_for_nothing() {
    for (build_id, first_page) in [(b"12345679", true), (b"12345678", false)] {
        let directory = Directory::new();
        let program = directory.file("program", &program(build_id));
        let mut bytes = whole(program.as_os_str().as_bytes(), b"").bytes();
        if !first_page {
            bytes[64 + 32..][..8].fill(0);
        }
        let core = CoreFile::open(&directory.file("core", &bytes)).unwrap();
        assert!(missing(&core, PROGRAM + PAGE, 8).contains("memory of "));
    }
}

#[test]
fn writable_segments_of_a_file_stand_for_nothing() {
    let directory = Directory::new();
    let program = directory.file("program", &program(b"12345678"));
    let mut bytes = whole(program.as_os_str().as_bytes(), b"").bytes();
    bytes[64 + 2 * 56 + 32..][..8].fill(0);
    let core = CoreFile::open(&directory.file("core", &bytes)).unwrap();
    assert!(core.read_bytes(PROGRAM + PAGE, PAGE).is_ok());
    assert!(missing(&core, PROGRAM + PAGE, PAGE + 1).contains("1 bytes at "));
    assert!(missing(&core, DATA, 8).contains("memory of "));
}

#[test]
fn a_truncated_core_answers_what_it_has() {
    let made = made();
    let path = made.core.path().to_owned();
    let len = fs::metadata(&path).unwrap().len();
    assert_eq!(made.core.truncated(), 0);
    let heap_at = made.core.regions().iter().position(|region| region.start == HEAP).unwrap() as u64;
    // Headers, and the pages before the heap; half of it.
    let cut = PAGE * (1 + heap_at) + PAGE / 2;
    File::options().write(true).open(&path).unwrap().set_len(cut).unwrap();
    let core = CoreFile::open(&path).unwrap();
    assert!(core.truncated() > 0 && core.truncated() <= len - cut);
    assert_eq!(core.read_bytes(DATA, 4).unwrap(), [1, 0, 0, 0]);
    assert_eq!(core.read_bytes(HEAP, 8).unwrap(), b"hhhhhhhh");
    let said = missing(&core, HEAP + PAGE / 2 - 4, 8);
    assert!(said.starts_with("4 bytes at "), "{said}");
    assert!(
        said.contains(&format!(" is truncated: {} bytes are missing at its end; see ", core.truncated())),
        "{said}"
    );
    assert!(core.regions().iter().all(|region| region.start != HEAP), "it is not whole");
}

#[test]
fn segments_at_the_end_of_the_address_space() {
    let mut elf = Elf::core();
    elf.memory(u64::MAX - 7, b"12345678", READ | EXECUTE).partly(0x1000, b"1234", u64::MAX, READ);
    let directory = Directory::new();
    let core = CoreFile::open(&directory.file("core", &elf.bytes())).unwrap();
    assert!(core.read_bytes(u64::MAX - 7, 16).is_err());
    assert_eq!(core.read_bytes(0x1000, 4).unwrap(), b"1234");
    assert!(missing(&core, 0x1004, 4).contains("anonymous memory"));
}
