//! Files that are made of memory: they say what the file itself says of its exports and of its stack.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use made_up::rng::Rng;
use object::read::{Object, ObjectSection, ObjectSegment, ObjectSymbol};
use target::memory_image;

const SOURCE: &str = "int counter = 3; static int hidden(int a) { return a + counter; }
int exported(int a) { return hidden(a) * 2; }
int other(int a) { return exported(a) - 1; }
";

/// Where the library is loaded.
const START: u64 = 0x7f00_0000_0000;

fn compiled(flags: &[&str]) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("memory_image");
    std::fs::create_dir_all(&directory).unwrap();
    let (source, output) = (directory.join("lib.c"), directory.join(format!("lib{}.so", flags.join(""))));
    std::fs::write(&source, SOURCE).unwrap();
    let mut gcc = Command::new("gcc");
    gcc.args(["-shared", "-fPIC", "-g", "-O1", "-o"]).arg(&output).arg(&source).args(flags);
    assert!(gcc.status().unwrap().success());
    output
}

/// The memory of a library that is loaded, from its first byte on. The dynamic linker has not worked on it yet.
fn loaded(file: &object::File<'_>) -> Vec<u8> {
    let end = file.segments().map(|segment| segment.address() + segment.size()).max().unwrap();
    let mut memory = vec![0; usize::try_from(end).unwrap()];
    for segment in file.segments() {
        let (at, data) = (usize::try_from(segment.address()).unwrap(), segment.data().unwrap());
        memory[at..at + data.len()].copy_from_slice(data);
    }
    memory
}

fn made(memory: &[u8]) -> Option<Vec<u8>> {
    let read = |at: u64, into: &mut [u8]| {
        let found = usize::try_from(at).ok().and_then(|at| memory.get(at..)?.get(..into.len()));
        found.is_some_and(|found| {
            into.copy_from_slice(found);
            true
        })
    };
    memory_image(&read, START)
}

fn exports(file: &object::File<'_>) -> BTreeMap<String, (u64, u64)> {
    let defined = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
    defined.map(|symbol| (symbol.name().unwrap().to_owned(), (symbol.address(), symbol.size()))).collect()
}

#[test]
fn exports_code_and_frames_are_those_of_the_file() {
    for hash in ["-Wl,--hash-style=gnu", "-Wl,--hash-style=sysv"] {
        let bytes = std::fs::read(compiled(&[hash, "-Wl,--build-id"])).unwrap();
        let file = object::File::parse(bytes.as_slice()).unwrap();
        let image = made(&loaded(&file)).unwrap();
        let copy = object::File::parse(image.as_slice()).unwrap();
        let found = exports(&copy);
        assert_eq!(found, exports(&file));
        assert!(found.contains_key("exported") && found.contains_key("counter") && !found.contains_key("hidden"));
        assert_eq!(copy.build_id().unwrap(), file.build_id().unwrap());
        for name in [".eh_frame", ".eh_frame_hdr"] {
            let section = |file: &object::File<'_>| {
                let section = file.section_by_name(name).unwrap();
                (section.address(), section.uncompressed_data().unwrap().into_owned())
            };
            let (ours, whole) = (section(&copy), section(&file));
            assert_eq!(ours.0, whole.0);
            assert!(ours.1.starts_with(&whole.1) || whole.1.starts_with(&ours.1), "{name}");
        }
        let (address, size) = found["exported"];
        let code = |file: &object::File<'_>| {
            let text = file.sections().find(|one| one.name() == Ok(".text") && one.address() <= address).unwrap();
            text.data_range(address, size).unwrap().unwrap().to_vec()
        };
        assert_eq!(code(&copy), code(&file));
    }
}

#[test]
fn damage_makes_another_file_or_none() {
    let bytes = std::fs::read(compiled(&["-Wl,--hash-style=both"])).unwrap();
    let memory = loaded(&object::File::parse(bytes.as_slice()).unwrap());
    let mut rng = Rng::new(1);
    for round in 0..400 {
        let mut damaged = memory.clone();
        for _ in 0..20 {
            // Every other time the headers.
            let most = if round % 2 == 0 { 0x1000 } else { damaged.len() };
            let at = rng.index(most);
            damaged[at] = rng.next() as u8;
        }
        damaged.truncate(if round % 5 == 0 { damaged.len() * (round + 1) / 400 } else { damaged.len() });
        if let Some(image) = made(&damaged) {
            let _ = object::File::parse(image.as_slice()).map(|file| file.dynamic_symbols().count());
        }
    }
    assert_eq!(made(&[]), None);
    assert_eq!(made(&[0; 4096]), None);
}
