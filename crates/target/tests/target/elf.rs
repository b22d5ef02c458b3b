//! Symbols from files: those of this very process, and of files that are not what is mapped.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use target::address::TargetAddr;
use target::mock::MockTarget;
use target::{ElfImage, ElfSymbols, Image, Symbol, Target, TargetAbi, TargetError, images_from_link_map};

use made_up::rng::Rng;

/// This process, read through the kernel.
struct Myself(File);

impl Target for Myself {
    fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        self.0.read_exact_at(buf, addr.get()).map_err(|_| TargetError::Fault { addr, len: buf.len() as u64 })
    }
    fn abi(&self) -> TargetAbi {
        TargetAbi::LITTLE_64
    }
    fn symbol(&self, _: &str) -> Result<Option<Symbol>, TargetError> {
        Ok(None)
    }
    fn images(&self) -> Result<Vec<Image>, TargetError> {
        Ok(Vec::new())
    }
}

fn myself() -> Myself {
    Myself(File::open("/proc/self/mem").unwrap())
}

/// The files that are mapped from their beginning, with where; ours first.
fn images() -> Vec<Image> {
    let own = fs::read_link("/proc/self/exe").unwrap();
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let mut images = Vec::new();
    for line in maps.lines() {
        let mut words = line.split_whitespace();
        let (range, offset, path) = (words.next().unwrap(), words.nth(1).unwrap(), words.nth(2).unwrap_or_default());
        // A file that is mapped a second time (the standard library reads its own for backtraces) lies further up.
        let known = images.iter().any(|image: &Image| image.path == path);
        if path.starts_with('/') && !known && u64::from_str_radix(offset, 16) == Ok(0) {
            // The tests' executable and all libraries are position-independent and linked at 0.
            let bias = TargetAddr::new(u64::from_str_radix(range.split('-').next().unwrap(), 16).unwrap());
            let is_executable = own.as_path() == std::path::Path::new(path);
            images.push(Image { path: path.to_owned(), bias, build_id: None, is_executable });
        }
    }
    assert!(images.iter().any(|image| image.is_executable));
    images
}

fn library(name: &str) -> Image {
    images().into_iter().find(|image| image.file_name().starts_with(name)).unwrap()
}

fn roots() -> Vec<PathBuf> {
    vec![PathBuf::from("/")]
}

/// A directory of this test, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("mpi-queues-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

#[test]
fn functions_of_libc_are_where_the_linker_put_them() {
    let symbols = ElfSymbols::new(images(), roots());
    let found = symbols.lookup("getpid", &myself()).unwrap();
    assert_eq!(found.addr.get(), libc::getpid as *const () as u64);
    assert!(found.size.is_some_and(|size| size > 0));
    assert_eq!(symbols.lookup("no_such_symbol_anywhere", &myself()), None);
    assert!(symbols.is_complete(&myself()));
}

#[test]
fn what_is_not_exported_stands_in_the_full_table_of_the_executable() {
    let images = images();
    let own = images.iter().find(|image| image.is_executable).unwrap().bias;
    let symbols = ElfSymbols::new(images, roots());
    let main = symbols.lookup("main", &myself()).unwrap();
    assert!(main.addr > own && main.addr.get() < own.get() + (1 << 32));
    let index = symbols.images().iter().position(|image| image.is_executable).unwrap();
    assert_eq!(symbols.file(index, &myself()).unwrap().dynamic_symbol("no_such_symbol_anywhere"), None);
}

#[test]
fn the_list_of_the_linker_is_that_of_the_kernel() {
    let all = images();
    let symbols = ElfSymbols::new(all.clone(), roots());
    let r_debug = symbols.lookup("_r_debug", &myself()).unwrap();
    let listed = images_from_link_map(&myself(), r_debug.addr, Some("/the/executable")).unwrap();
    assert_eq!(listed[0].path, "/the/executable");
    for image in all {
        let same = |other: &&Image| other.bias == image.bias;
        assert!(listed.iter().any(|other| same(&other)), "{image:?} is not in {listed:?}");
    }
}

#[test]
fn build_ids_are_known_once_a_file_is_open() {
    let all = images();
    let index = all.iter().position(|image| image.file_name().starts_with("libc.so")).unwrap();
    let symbols = ElfSymbols::new(all, roots());
    assert_eq!(symbols.images()[index].build_id, None);
    let id = symbols.file(index, &myself()).unwrap().build_id.clone().unwrap();
    assert!(id.len() >= 16 && id.chars().all(|digit| digit.is_ascii_hexdigit()));
    assert_eq!(symbols.images()[index].build_id, Some(id));
}

#[test]
fn a_file_that_is_not_what_is_mapped_is_refused() {
    let scratch = Scratch::new("differs");
    let image = library("libc.so");
    let mut bytes = fs::read(&image.path).unwrap();
    let open = |path: PathBuf| ElfImage::open(path, &image, &myself(), None).map(|_| ());
    assert_eq!(open(scratch.file("same", &bytes)), Ok(()));
    bytes[0x3f0] ^= 1;
    let path = scratch.file("other", &bytes);
    let error = open(path.clone()).unwrap_err().to_string();
    assert!(error.contains("another file than the one that runs") && error.contains("other"), "{error}");
    // A copy that was made of memory has other headers, and is known by its build-id.
    assert!(ElfImage::open_copy(path.clone(), &image, &myself(), None).is_ok());
    let id = id_of(&image);
    let at = bytes.windows(id.len()).position(|window| window == id).unwrap();
    bytes[at] ^= 1;
    assert!(ElfImage::open_copy(scratch.file("third", &bytes), &image, &myself(), None).is_err());
    // Where memory cannot be read there is nothing to compare.
    let nothing = MockTarget::new(TargetAbi::LITTLE_64);
    assert!(ElfImage::open(path, &image, &nothing, None).is_ok());
}

/// The bytes of an image's build-id.
fn id_of(image: &Image) -> Vec<u8> {
    let id = ElfImage::open(PathBuf::from(&image.path), image, &myself(), None).unwrap().build_id.unwrap();
    (0..id.len()).step_by(2).map(|at| u8::from_str_radix(&id[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn a_file_that_was_deleted_or_replaced_is_looked_for_where_else_it_may_be() {
    let scratch = Scratch::new("replaced");
    let image = library("libc.so");
    let right = scratch.file("right", &fs::read(&image.path).unwrap());
    let wrong = scratch.file("wrong", &fs::read(std::env::current_exe().unwrap()).unwrap());
    let moved = Image { path: wrong.display().to_string(), ..image };
    assert!(ElfSymbols::new(vec![moved.clone()], roots()).file(0, &myself()).is_err());
    let others = move |_: &Image| vec![wrong.clone(), right.clone()];
    let symbols = ElfSymbols::new(vec![moved], roots()).or_at(Box::new(others));
    let found = symbols.lookup("getpid", &myself()).unwrap();
    assert_eq!(found.addr.get(), libc::getpid as *const () as u64);
}

#[test]
fn files_that_are_missing_cut_or_no_elf_are_errors() {
    let scratch = Scratch::new("broken");
    let image = library("libc.so");
    let bytes = fs::read(&image.path).unwrap();
    for (name, content) in [("cut", &bytes[..100]), ("empty", &[]), ("text", b"#!/bin/sh\necho no\n".as_slice())] {
        let error = ElfImage::open(scratch.file(name, content), &image, &myself(), None).map(|_| ()).unwrap_err();
        assert!(matches!(&error, TargetError::File { path, .. } if path.ends_with(name)), "{error}");
    }
    assert!(ElfImage::open(scratch.0.join("missing"), &image, &myself(), None).is_err());
    assert!(ElfImage::open(scratch.0.clone(), &image, &myself(), None).is_err(), "a directory");
    let named = |path: &str| Image { path: path.to_owned(), is_executable: true, ..image.clone() };
    let symbols = ElfSymbols::new(vec![named("linux-vdso.so.1"), named("/no/such/file")], roots());
    assert!(symbols.file(0, &myself()).is_err() && symbols.file(1, &myself()).is_err());
    assert_eq!((symbols.lookup("getpid", &myself()), symbols.is_complete(&myself())), (None, false));
    let (path, why) = symbols.missing(&myself()).unwrap();
    assert_eq!((path, why.as_str()), ("linux-vdso.so.1", "it has no file"));
    let symbols = ElfSymbols::new(vec![image.clone(), named("/no/such/file")], roots());
    let (path, why) = symbols.missing(&myself()).unwrap();
    assert!(path == "/no/such/file" && why.contains("No such file"), "{path}: {why}");
    assert!(!ElfSymbols::new(Vec::new(), roots()).is_complete(&myself()));
}

#[test]
fn a_file_is_looked_for_under_each_root() {
    let scratch = Scratch::new("roots");
    let image = library("libc.so");
    let bytes = fs::read(&image.path).unwrap();
    fs::create_dir_all(scratch.0.join("lib")).unwrap();
    scratch.file("lib/libmpi.so", &bytes);
    let moved = Image { path: "/lib/libmpi.so".to_owned(), ..image.clone() };
    let symbols = ElfSymbols::new(vec![moved], vec![PathBuf::from("/no/such/root"), scratch.0.clone()]);
    assert!(symbols.lookup("getpid", &myself()).is_some());
}

#[test]
fn the_executable_comes_before_the_mpi_and_that_before_the_rest() {
    // A copy relocation moves an object of a library into the executable, which then defines it as well.
    let scratch = Scratch::new("order");
    let bytes = fs::read(library("libc.so").path).unwrap();
    let nothing = MockTarget::new(TargetAbi::LITTLE_64);
    let image = |name: &str, bias: u64, is_executable| {
        let path = scratch.file(name, &bytes).display().to_string();
        Image { path, bias: TargetAddr::new(bias), build_id: None, is_executable }
    };
    let all = [image("libz.so", 1 << 40, false), image("libmpi.so.40", 2 << 40, false), image("a.out", 3 << 40, true)];
    for (used, base) in [(&all[..], 3), (&all[..2], 2), (&all[..1], 1)] {
        let found = ElfSymbols::new(used.to_vec(), roots()).lookup("getpid", &nothing).unwrap();
        assert_eq!(found.addr.get() >> 40, base);
    }
}

#[test]
fn damaged_files_are_survived() {
    let scratch = Scratch::new("damaged");
    // Not what valgrind maps of its own, which has less than is damaged at the end.
    let size = |image: &Image| fs::metadata(&image.path).map_or(0, |file| file.len());
    let library = |image: &Image| !image.is_executable && size(image) > 0x2000;
    let image = images().into_iter().filter(library).min_by_key(size).unwrap();
    let bytes = fs::read(&image.path).unwrap();
    let nothing = MockTarget::new(TargetAbi::LITTLE_64);
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let mut bytes = bytes.clone();
        for _ in 0..20 {
            // The headers decide what is read: most of the damage goes there.
            let most = if rng.chance(60) { 0x400 } else { bytes.len() as u64 };
            let at = if rng.chance(20) { bytes.len() as u64 - 1 - rng.below(0x800) } else { rng.below(most) };
            bytes[at as usize] = rng.next() as u8;
        }
        if let Ok(file) = ElfImage::open(scratch.file("file", &bytes), &image, &nothing, None) {
            let _ = (file.dynamic_symbol("malloc"), file.full_symbol("malloc"));
        }
    }
}

#[test]
fn functions_are_known_by_their_address() {
    let symbols = ElfSymbols::new(images(), roots());
    let main = symbols.lookup("main", &myself()).unwrap();
    assert_eq!(symbols.function_at(main.addr, &myself()).as_deref(), Some("main"));
    assert_eq!(symbols.function_at(main.addr.wrapping_add(1), &myself()), None);
    // Of `__getpid` and `getpid` it is the last in the order of their bytes.
    let libc = TargetAddr::new(libc::getpid as *const () as u64);
    assert_eq!(symbols.function_at(libc, &myself()).as_deref(), Some("getpid"));
    assert_eq!(symbols.function_at(TargetAddr::new(1), &myself()), None);
    assert_eq!(ElfSymbols::new(Vec::new(), roots()).function_at(main.addr, &myself()), None);
}
