//! A core of this very process, without its code: what is told of it is what the live process tells.

use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use made_up::core_file::{AUXV, Directory, Elf, FILES, PAGE};
use target::address::TargetAddr;
use target::cores::{CoreFile, CoreProcess, checked};
use target::{LiveProcess, Target};

static MARK: [u64; 3] = [0x1122_3344_5566_7788, 7, 9];

/// First address, first one after it, what is allowed as `rwx`, offset, path.
fn mappings() -> Vec<(u64, u64, String, u64, String)> {
    let number = |text: &str| u64::from_str_radix(text, 16).unwrap();
    let line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (start, end) = words[0].split_once('-').unwrap();
        let name = words.get(5).map_or("", |name| *name).to_owned();
        (number(start), number(end), words[1].to_owned(), number(words[2]), name)
    };
    fs::read_to_string("/proc/self/maps").unwrap().lines().map(line).collect()
}

/// What a kernel dumps by its usual filter, which is what may have been written to and the first page of each file; here
/// it is all that is no code of a file.
fn dumped() -> Elf {
    let memory = File::open("/proc/self/mem").unwrap();
    let mut elf = Elf::core();
    let mut files = Vec::new();
    for (start, end, allowed, offset, name) in mappings() {
        let is_file = name.starts_with('/');
        let (writable, code) = (allowed.contains('w'), allowed.contains('x'));
        let first = is_file && offset == 0 && !writable;
        let wanted = if first { PAGE } else { (end - start) * u64::from(!(code && is_file)) };
        let mut bytes = vec![0; wanted.min(64 << 20) as usize];
        if memory.read_exact_at(&mut bytes, start).is_err() {
            bytes.clear();
        }
        elf.partly(start, &bytes, end - start, 4 | (u32::from(writable) << 1) | u32::from(code));
        if is_file {
            files.push((start, end, offset / PAGE, name));
        }
    }
    let mut content: Vec<u8> = [files.len() as u64, PAGE].map(u64::to_le_bytes).concat();
    content.extend(files.iter().flat_map(|file| [file.0, file.1, file.2]).flat_map(u64::to_le_bytes));
    content.extend(files.iter().flat_map(|file| [file.3.as_bytes(), b"\0"].concat()));
    elf.note(FILES, &content).note(AUXV, &fs::read("/proc/self/auxv").unwrap());
    elf
}

#[test]
fn what_a_core_tells_is_what_the_process_tells() {
    let directory = Directory::new();
    let core = Arc::new(CoreFile::open(&directory.file("core", &dumped().bytes())).unwrap());
    let own = fs::read_link("/proc/self/exe").unwrap();
    assert_eq!(checked(&core, None).unwrap(), own);
    let live = LiveProcess::open(std::process::id()).unwrap();
    let process = CoreProcess::new(Arc::clone(&core), own.clone());
    assert_eq!(process.executable(), own);

    let (images, of_live) = (process.images().unwrap(), live.images().unwrap());
    assert!(images.len() > 2);
    let place = |image: &target::Image| (image.path.clone(), image.bias, image.is_executable);
    assert_eq!(images.iter().map(place).collect::<Vec<_>>(), of_live.iter().map(place).collect::<Vec<_>>());
    let libc = images.iter().find(|image| image.file_name().starts_with("libc.so")).unwrap();
    assert_eq!(libc.build_id.as_ref().map(String::len), Some(40), "{libc:?}");

    for name in ["main", "environ", "no_such_symbol_here"] {
        assert_eq!(process.symbol(name).unwrap(), live.symbol(name).unwrap(), "{name}");
    }
    assert!(process.symbol("main").unwrap().is_some());
    assert!(process.symbols().unwrap().is_some_and(|all| !all.is_empty()));
    // Its code is in no segment of the core.
    let code = process.symbol("main").unwrap().unwrap().addr;
    assert_eq!(process.function_at(code).unwrap().as_deref(), Some("main"));
    assert!(core.read_held_bytes(code.get(), 16).is_err());
    assert_eq!(process.read_bytes(code, 16).unwrap(), live.read_bytes(code, 16).unwrap());
    let mark = TargetAddr::new(std::ptr::from_ref(&MARK) as u64);
    assert_eq!(process.read_uint(mark, 8).unwrap(), MARK[0]);
    let path = std::env::var_os("PATH").unwrap();
    assert_eq!(core.environment(b"PATH"), Some(path.as_bytes()));
    assert_eq!(core.environment(b"NO_SUCH_VARIABLE"), None);
}

#[test]
fn without_its_headers_the_list_of_images_is_found_by_the_programs_file() {
    let directory = Directory::new();
    let mut bytes = dumped().bytes();
    // p_filesz of what begins as the program does.
    let own = fs::read_link("/proc/self/exe").unwrap();
    let first = mappings().into_iter().find(|mapping| Path::new(&mapping.4) == own).unwrap().0;
    let count = u16::from_le_bytes([bytes[56], bytes[57]]) as usize;
    let is_first = |header: &usize| bytes[header + 16..header + 24] == first.to_le_bytes();
    let header = (0..count).map(|index| 64 + 56 * index).find(is_first).unwrap();
    bytes[header + 32..header + 40].fill(0);
    let core = Arc::new(CoreFile::open(&directory.file("core", &bytes)).unwrap());
    let process = CoreProcess::new(core, own);
    assert!(process.read_uint(TargetAddr::new(first), 4).is_err());
    let images = process.images().unwrap();
    assert!(images.len() > 2 && images[0].is_executable);
    assert!(images.iter().any(|image| Path::new(&image.path).exists() && !image.is_executable));
}
