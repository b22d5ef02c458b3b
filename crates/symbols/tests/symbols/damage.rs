//! Files that are damaged: nothing is said of them, or something wrong, but nothing else happens.

use made_up::rng::Rng;
use made_up::share::rounds;
use std::fs;
use std::time::{Duration, Instant};

use symbols::{DebugPlaces, ObjectFile};

use super::compiled::Directory;

/// Asks everything there is.
fn ask_all(bytes: Vec<u8>, addresses: &[u64]) {
    let Ok(file) = ObjectFile::from_bytes("damaged", bytes) else { return };
    let _ = (file.path(), file.build_id(), file.architecture(), file.is_64(), file.endian(), file.entry());
    let _ = (
        file.segments(),
        file.text_address(),
        file.debug_file().is_some(),
        file.missing_debug(),
        file.dwarf().is_some(),
    );
    for address in addresses {
        let _ = file.symbol_at(*address).map(|symbol| (symbol.name(), symbol.symbol()));
        let _ = file.function_starting_at(*address);
        let _ = file.frames_at(*address);
        let _ = (file.call_before(*address), file.jumps_of(*address), file.function_begin(*address));
    }
    let _ = (file.exported("main"), file.own_symbol("main"));
}

/// Ranges of the file that matter most.
fn parts(bytes: &[u8], names: &[&str]) -> Vec<(usize, usize)> {
    let file = ObjectFile::from_bytes("whole", bytes.to_vec()).unwrap();
    let find = |name: &&str| {
        let (section, _) = file.section(name)?;
        let section = section.bytes();
        let at = bytes.windows(section.len()).position(|window| window == section)?;
        Some((at, section.len()))
    };
    let mut found: Vec<(usize, usize)> = names.iter().filter_map(find).collect();
    // The headers, at the beginning and the end.
    found.extend([(0, 0x400.min(bytes.len())), (bytes.len().saturating_sub(0xa00), 0xa00.min(bytes.len()))]);
    found
}

fn damage(bytes: &[u8], names: &[&str], seeds: std::ops::Range<u64>) {
    let parts = parts(bytes, names);
    let whole = ObjectFile::from_bytes("whole", bytes.to_vec()).unwrap();
    let text = whole.text_address();
    let length = whole.section(".text").unwrap().0.bytes().len() as u64;
    let mut addresses: Vec<u64> = (text..text + length).step_by(29).collect();
    addresses.extend([0, 1, text - 1, u64::MAX, u64::MAX / 2]);
    for seed in seeds {
        let started = Instant::now();
        let mut random = Rng::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut damaged = bytes.to_vec();
        if random.index(8) == 0 {
            damaged.truncate(random.index(bytes.len()));
        }
        for _ in 0..=random.index(40) {
            let (start, length) = parts[random.index(parts.len())];
            let at = start + random.index(length);
            let value = match random.index(4) {
                0 => 0,
                1 => 0xff,
                _ => random.next() as u8,
            };
            if let Some(byte) = damaged.get_mut(at) {
                *byte = value;
            }
        }
        ask_all(damaged, &addresses);
        let took = started.elapsed();
        assert!(took < Duration::from_secs(60), "seed {seed} took {took:?}");
    }
}

const DEBUG: [&str; 14] = [
    ".debug_info",
    ".debug_abbrev",
    ".debug_line",
    ".debug_str",
    ".debug_line_str",
    ".debug_ranges",
    ".debug_rnglists",
    ".debug_addr",
    ".symtab",
    ".strtab",
    ".dynsym",
    ".dynstr",
    ".rela.plt",
    ".plt",
];

#[test]
fn debug_information_is_damaged() {
    let directory = Directory::new();
    for (source, options) in [("plain.c", "-g -O2"), ("grid.cpp", "-gdwarf-4 -O2"), ("field.f90", "-g -O1 -gz")] {
        let path = directory.compile(source, options, "program");
        damage(&fs::read(path).unwrap(), &DEBUG, 0..rounds(30, 300));
    }
}

#[test]
fn packed_symbols_are_damaged() {
    let directory = Directory::new();
    let path = directory.compile("plain.c", "-O1", "program");
    directory.run("cp program mini.debug");
    directory.run("xz -k mini.debug");
    directory.run("strip program");
    directory.run("objcopy --add-section .gnu_debugdata=mini.debug.xz program");
    let bytes = fs::read(&path).unwrap();
    damage(&bytes, &[".gnu_debugdata"], 0..rounds(100, 300));
}

#[test]
fn sections_that_say_too_much_are_not_read() {
    let directory = Directory::new();
    let path = directory.compile("plain.c", "-g -O1 -gz", "program");
    let bytes = fs::read(&path).unwrap();
    let file = ObjectFile::open(&path, &DebugPlaces::none()).unwrap();
    assert!(file.section(".debug_info").is_some());
    // Each compressed section says that it has 2^40 bytes (Elf64_Chdr: type 1, size, alignment).
    let mut damaged = bytes.clone();
    for at in 0..bytes.len() - 24 {
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        if word(at) == 1 && word(at + 8) < 1 << 24 && word(at + 16) <= 8 && bytes[at + 24] == 0x78 {
            damaged[at + 8..at + 16].copy_from_slice(&(1_u64 << 40).to_le_bytes());
        }
    }
    let file = ObjectFile::from_bytes("damaged", damaged).unwrap();
    assert!(file.section(".debug_info").is_none() && file.dwarf().is_none());
}
