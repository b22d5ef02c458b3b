//! Where entries are found: by the table for searching, by an index, and in a file without section headers.

use object::read::{Object, ObjectSection};
use unwind::{Machine, Module, Sections, Unusable};

/// The program that runs.
fn program() -> Vec<u8> {
    std::fs::read(std::env::current_exe().unwrap()).unwrap()
}

fn sections(file: &object::File<'_>) -> Sections {
    let placed = |name| {
        let section = file.section_by_name(name)?;
        Some((section.address(), unwind::section(section.data().ok()?)))
    };
    let address = |name| file.section_by_name(name).map(|section| section.address());
    Sections {
        budget: target::file_budget::FileBudget::default(),
        eh_frame: placed(".eh_frame"),
        eh_frame_hdr: placed(".eh_frame_hdr"),
        debug_frame: None,
        text: address(".text"),
        got: address(".got"),
    }
}

#[test]
fn all_ways_find_the_same_entries() {
    let mut bytes = program();
    let file = object::File::parse(bytes.as_slice()).unwrap();
    let text = file.section_by_name(".text").unwrap();
    let places: Vec<u64> = (text.address()..text.address() + text.size()).step_by(97).take(20_000).collect();
    let machine = if file.architecture() == object::Architecture::X86_64 { Machine::X86_64 } else { Machine::Aarch64 };
    let own = sections(&file);
    assert!(own.eh_frame_hdr.is_some());
    let searched = Module::from_elf_bytes(&bytes).unwrap();
    let indexed = Module::new(machine, Sections { eh_frame_hdr: None, ..own });
    // No section headers: e_shoff, and the numbers of them.
    bytes[40..48].fill(0);
    bytes[60..64].fill(0);
    let by_segments = Module::from_elf_bytes(&bytes).unwrap();
    let covered = |module: &Module| places.iter().map(|place| module.covers(*place)).collect::<Vec<_>>();
    let expected = covered(&searched);
    assert!(expected.iter().filter(|covered| **covered).count() > places.len() / 2);
    assert!(covered(&indexed) == expected);
    assert!(covered(&by_segments) == expected);
    assert!(!searched.covers(0) && !searched.covers(u64::MAX));
    assert_eq!(searched.machine(), machine);
}

#[test]
fn what_is_no_program_of_a_known_machine_is_refused() {
    assert_eq!(Module::from_elf_bytes(b"nothing").unwrap_err(), Unusable::Format);
    let mut bytes = program();
    bytes[18..20].copy_from_slice(&243u16.to_le_bytes());
    assert_eq!(Module::from_elf_bytes(&bytes).unwrap_err(), Unusable::Machine);
    assert_eq!(Unusable::Format.to_string(), "it is not a 64-bit ELF file");
}

#[test]
fn modules_can_be_shared() {
    fn shared<T: Send + Sync>() {}
    shared::<Module>();
}
