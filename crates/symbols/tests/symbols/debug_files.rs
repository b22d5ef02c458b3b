//! Debug information that lies elsewhere.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use symbols::{DebugPlaces, How, ObjectError, ObjectFile};

use super::compiled::Directory;
use super::gdb::{ask, differences};

/// A program with debug information, and the address of its function `main`.
fn program(directory: &Directory, options: &str) -> (PathBuf, u64) {
    let path = directory.compile("plain.c", options, "program");
    let file = ObjectFile::open(&path, &DebugPlaces::none()).unwrap();
    assert!(file.debug_file().is_none() && file.missing_debug().is_none() == options.contains("-g"));
    let main = (file.text_address()..).find(|at| file.function_starting_at(*at).as_deref() == Some("main"));
    (path, main.unwrap())
}

/// Strips the program; its debug information is in `debug` then.
fn split(directory: &Directory, debug: &Path, link: bool) {
    fs::create_dir_all(debug.parent().unwrap()).unwrap();
    let debug = debug.display();
    directory.run(&format!("objcopy --only-keep-debug program {debug}"));
    directory.run("strip program");
    if link {
        directory.run(&format!("objcopy --add-gnu-debuglink={debug} program"));
    }
}

fn places(directory: &Directory) -> DebugPlaces {
    DebugPlaces { directories: vec!["debug".into()], roots: vec![directory.0.clone()], ..DebugPlaces::none() }
}

/// What gdb is told of the same places.
fn settings(directory: &Directory) -> Vec<String> {
    vec![format!("set debug-file-directory {}", directory.path("debug").display())]
}

fn compare(directory: &Directory, file: &ObjectFile) {
    let answers = ask(directory, file.path(), &settings(directory));
    let found = differences(&answers, file);
    assert!(found.is_empty(), "{}", found[..found.len().min(8)].join("\n"));
}

#[test]
#[ignore = "needs gdb"]
fn a_debug_file_is_found_by_its_build_id() {
    let directory = Directory::new();
    let (path, main) = program(&directory, "-g -O2 -Wl,--build-id");
    let build_id = ObjectFile::open(&path, &DebugPlaces::none()).unwrap().build_id().unwrap().to_owned();
    let debug = directory.path(&format!("debug/.build-id/{}/{}.debug", &build_id[..2], &build_id[2..]));
    split(&directory, &debug, false);
    let file = ObjectFile::open(&path, &DebugPlaces::none()).unwrap();
    assert_eq!(file.missing_debug(), Some(format!("program (build-id {build_id})")));
    assert!(file.dwarf().is_none() && file.frames_at(main).is_empty());
    let file = ObjectFile::open(&path, &places(&directory)).unwrap();
    assert_eq!(file.debug_file_found(), Some(How::BuildId));
    assert_eq!(file.debug_file().unwrap().path(), debug);
    assert_eq!(file.frames_at(main)[0].function.as_deref(), Some("main"));
    assert!(file.dwarf().is_some() && file.missing_debug().is_none());
    compare(&directory, &file);
    // In what debuginfod-find keeps.
    let cache = directory.path(&format!("cache/{build_id}"));
    fs::create_dir_all(&cache).unwrap();
    fs::rename(&debug, cache.join("debuginfo")).unwrap();
    let cached = DebugPlaces { caches: vec![directory.path("cache")], ..DebugPlaces::none() };
    let file = ObjectFile::open(&path, &cached).unwrap();
    assert_eq!(file.frames_at(main)[0].function.as_deref(), Some("main"));
    // Another program's is not taken.
    let other = directory.compile("grid.cpp", "-g -O0 -Wl,--build-id", "other");
    fs::rename(other, cache.join("debuginfo")).unwrap();
    assert!(ObjectFile::open(&path, &cached).unwrap().debug_file().is_none());
}

#[test]
#[ignore = "needs gdb"]
fn a_debug_file_is_found_by_its_link() {
    for place in ["program.debug", ".debug/program.debug", "debug/ROOT/program.debug"] {
        let directory = Directory::new();
        let (path, main) = program(&directory, "-g -O1 -Wl,--build-id=none");
        // The directory of the program in that of the debug files. Ours begins in the file system, gdb's at the root.
        let debug = directory.path(&place.replace("ROOT/", ""));
        split(&directory, &debug, true);
        let file = ObjectFile::open(&path, &places(&directory)).unwrap();
        assert_eq!(file.debug_file_found(), Some(How::DebugLink), "{place}");
        assert_eq!(file.frames_at(main)[0].function.as_deref(), Some("main"));
        if place != "debug/ROOT/program.debug" {
            compare(&directory, &file);
        }
        // One that was changed has another checksum.
        let mut bytes = fs::read(&debug).unwrap();
        bytes.push(0);
        fs::write(&debug, bytes).unwrap();
        let file = ObjectFile::open(&path, &places(&directory)).unwrap();
        assert!(file.debug_file().is_none());
        assert_eq!(file.missing_debug().as_deref(), Some("program.debug"));
    }
}

#[test]
#[ignore = "needs gdb"]
fn symbols_in_gnu_debugdata_are_found() {
    let directory = Directory::new();
    let (path, _) = program(&directory, "-O1 -g");
    directory.run("objcopy --strip-debug --remove-section=.comment program mini");
    // As distributions do it: all that is no symbol goes.
    directory.run("objcopy --only-keep-debug mini mini.debug");
    directory.run("xz -k mini.debug");
    directory.run("strip program");
    directory.run("objcopy --add-section .gnu_debugdata=mini.debug.xz program");
    let file = ObjectFile::open(&path, &places(&directory)).unwrap();
    let names: Vec<_> = (0..0x2000).filter_map(|at| file.function_starting_at(at)).collect();
    assert!(names.iter().any(|name| name == "not_inlined"), "{names:?}");
    compare(&directory, &file);
    // What is damaged there has no symbols.
    fs::write(directory.path("bad.xz"), vec![0xfd; 5000]).unwrap();
    directory.run("objcopy --update-section .gnu_debugdata=bad.xz program");
    let file = ObjectFile::open(&path, &places(&directory)).unwrap();
    assert!((0..0x2000).all(|at| file.function_starting_at(at).as_deref() != Some("not_inlined")));
}

#[test]
fn gnu_debugdata_is_unpacked_up_to_a_limit() {
    let directory = Directory::new();
    let (path, _) = program(&directory, "-O1");
    fs::File::create(directory.path("large")).unwrap().set_len(200 << 20).unwrap();
    directory.run("xz -0 -k large");
    directory.run("strip program");
    directory.run("objcopy --add-section .gnu_debugdata=large.xz program");
    let file = ObjectFile::open(&path, &DebugPlaces::none()).unwrap();
    assert!(file.symbol_at(file.text_address()).is_none_or(|symbol| symbol.symbol() != "main"));
}

#[test]
#[ignore = "needs gdb"]
fn what_dwz_moved_is_read() {
    let directory = Directory::new();
    for name in ["one", "two"] {
        directory.compile("grid.cpp", "-gdwarf-4 -O1 -Wl,--build-id", name);
    }
    directory.run("dwz -m common -M common one two");
    let file = ObjectFile::open(&directory.path("one"), &places(&directory)).unwrap();
    assert!(file.dwarf().unwrap().sup().is_some());
    let answers = ask(&directory, file.path(), &[]);
    let found = differences(&answers, &file);
    assert!(found.is_empty(), "{}", found[..found.len().min(8)].join("\n"));
    // Without it, names are missing, and nothing else happens.
    fs::remove_file(directory.path("common")).unwrap();
    let file = ObjectFile::open(&directory.path("one"), &places(&directory)).unwrap();
    for answer in answers {
        let _ = file.frames_at(answer.address);
    }
}

#[test]
#[ignore = "needs gdb"]
fn split_debug_information_is_read() {
    for options in ["-g -O2 -gsplit-dwarf", "-gdwarf-4 -O2 -gsplit-dwarf"] {
        for packed in [false, true] {
            let directory = Directory::new();
            let path = directory.compile("grid.cpp", options, "program");
            if packed {
                // Debian's binutils pack DWARF 4 alone.
                if !options.contains("dwarf-4") {
                    continue;
                }
                directory.run("dwp -e program -o program.dwp");
                for entry in fs::read_dir(&directory.0).unwrap() {
                    let path = entry.unwrap().path();
                    if path.extension().is_some_and(|extension| extension == "dwo") {
                        fs::remove_file(path).unwrap();
                    }
                }
            }
            let file = ObjectFile::open(&path, &places(&directory)).unwrap();
            let answers = ask(&directory, &path, &[]);
            let found = differences(&answers, &file);
            assert!(found.is_empty(), "{options} {packed}\n{}", found[..found.len().min(8)].join("\n"));
        }
    }
}

#[test]
fn what_is_no_elf_file_is_an_error() {
    let directory = Directory::new();
    let text = directory.path("text");
    fs::write(&text, "text").unwrap();
    let open = |path: &Path| ObjectFile::open(path, &DebugPlaces::none()).err().unwrap();
    assert!(matches!(open(&text), ObjectError::Format { .. }));
    assert!(matches!(open(&directory.path("nowhere")), ObjectError::File { .. }));
    assert!(matches!(open(&directory.0), ObjectError::File { .. }));
    assert!(open(Path::new("/dev/null")).to_string().contains("a device"));
    fs::File::create(&text).unwrap().set_len(1 << 40).unwrap();
    assert!(matches!(open(&text), ObjectError::File { .. }));
}

#[test]
fn a_file_is_shared_by_threads() {
    let directory = Directory::new();
    let path = directory.compile("grid.cpp", "-g -O2", "program");
    let file = Arc::new(ObjectFile::open(&path, &DebugPlaces::none()).unwrap());
    let text = file.text_address();
    let threads = (0..4).map(|_| {
        let file = file.clone();
        thread::spawn(move || (text..text + 500).map(|at| file.frames_at(at)).collect::<Vec<_>>())
    });
    let found: Vec<_> = threads.collect::<Vec<_>>().into_iter().map(|thread| thread.join().unwrap()).collect();
    assert!(found.iter().all(|answers| *answers == found[0]));
}

#[test]
fn headers_are_told() {
    let directory = Directory::new();
    let (path, _) = program(&directory, "-O1");
    let file = ObjectFile::open(&path, &DebugPlaces::none()).unwrap();
    assert_eq!(file.path(), path);
    assert!(file.entry() >= file.text_address() && file.is_64());
    assert!(file.segments().iter().any(|segment| segment.flags & 1 != 0 && segment.offset == segment.address));
    let (text, address) = file.section(".text").unwrap();
    assert_eq!(address, file.text_address());
    assert!(!text.bytes().is_empty() && file.section(".bss").is_none() && file.section(".nothing").is_none());
    let memory = ObjectFile::from_bytes("[vdso]", fs::read(&path).unwrap()).unwrap();
    assert_eq!(memory.build_id(), file.build_id());
    assert_eq!(memory.function_starting_at(file.entry()).as_deref(), Some("_start"));
}

/// A program of three units. `first`: what is done to the object file of the first.
fn of_three_units(directory: &Directory, first: &str, name: &str) -> ObjectFile {
    let source = |text: &str, name: &str| fs::write(directory.path(name), text).unwrap();
    source(
        "int one(int a) { return a * 3 + 1; } int only_one; static int hidden; int *of_one(void) { return &hidden; }",
        "one.c",
    );
    source(
        "int one(int); _Thread_local int own; static int hidden = 7; int two(int a) { return one(a) - hidden; }",
        "two.c",
    );
    source("int two(int); int set = 4; int main(void) { return two(set); }", "main.c");
    directory.run("gcc -g -O1 -c one.c two.c main.c");
    directory.run(&format!("{first} one.o"));
    directory.run(&format!("gcc one.o two.o main.o -o {name}"));
    ObjectFile::open(&directory.path(name), &DebugPlaces::none()).unwrap()
}

#[test]
fn units_are_found_with_and_without_the_table_of_addresses() {
    let directory = Directory::new();
    let whole = of_three_units(&directory, "objcopy", "whole");
    let part = of_three_units(&directory, "objcopy --remove-section=.debug_aranges", "part");
    directory.run("objcopy --remove-section=.debug_aranges whole none");
    let none = ObjectFile::open(&directory.path("none"), &DebugPlaces::none()).unwrap();
    let (text, start) = whole.section(".text").unwrap();
    let mut named = std::collections::BTreeSet::new();
    for address in start..start + text.bytes().len() as u64 {
        let frames = whole.frames_at(address);
        assert_eq!(frames, none.frames_at(address));
        assert_eq!(frames, part.frames_at(address));
        named.extend(frames.into_iter().filter_map(|frame| frame.line.and(frame.function)));
    }
    let functions = ["main", "of_one", "one", "two"];
    assert!(named.iter().eq(functions.iter()), "{named:?}");
}

#[test]
fn variables_are_found_by_their_symbols() {
    let directory = Directory::new();
    let file = of_three_units(&directory, "objcopy", "program");
    let set = file.variable("set").unwrap();
    let data = file.section(".data").unwrap();
    let at = usize::try_from(set - data.1).unwrap();
    assert_eq!(data.0.bytes()[at..at + 4], 4_i32.to_le_bytes());
    assert!(file.variable("only_one").is_some() && file.exported_variable("set").is_none());
    // Those of one unit alone, of threads, and functions.
    assert!(["hidden", "own", "main", "nothing"].iter().all(|name| file.variable(name).is_none()));
    directory.run("gcc -rdynamic one.o two.o main.o -o exporting");
    let file = ObjectFile::open(&directory.path("exporting"), &DebugPlaces::none()).unwrap();
    assert_eq!(file.exported_variable("set"), file.variable("set"));
    // The debug file knows what was stripped.
    let debug = directory.path("debug/program.debug");
    split(&directory, &debug, true);
    let file = ObjectFile::open(&directory.path("program"), &places(&directory)).unwrap();
    assert!(file.debug_file().is_some());
    assert_eq!(file.variable("set"), Some(set));
}
