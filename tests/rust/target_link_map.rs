//! The dynamic linker's list of images.

use mpi_queues::address::TargetAddr;
use mpi_queues::target::images_from_link_map;

use super::support::memory::Memory;
use super::support::process::ABIS;
use super::support::rng::Rng;

/// A list of images with these names; returns its memory, the address of `_r_debug`, and the entries.
fn list(abi: mpi_queues::target::TargetAbi, names: &[&[u8]]) -> (Memory, TargetAddr, Vec<TargetAddr>) {
    let mut memory = Memory::new(abi, 7);
    let width = abi.pointer_width.bytes();
    let head = memory.alloc(4 * width, 8);
    let entries: Vec<TargetAddr> = names.iter().map(|_| memory.alloc(5 * width, 8)).collect();
    for (index, (entry, name)) in entries.iter().zip(names).enumerate() {
        let text = memory.alloc(name.len() as u64 + 1, 1);
        memory.put(text, name);
        memory.put_int(*entry, width, 0x1000 * (index as i64 + 1));
        memory.put_pointer(entry.wrapping_add(width), text);
        if let Some(next) = entries.get(index + 1) {
            memory.put_pointer(entry.wrapping_add(3 * width), *next);
        }
    }
    memory.put_int(head, 4, 1);
    memory.put_pointer(head.wrapping_add(width), entries[0]);
    (memory, head, entries)
}

#[test]
fn names_and_load_addresses_in_order() {
    for abi in ABIS {
        let (memory, head, _) = list(abi, &[b"", b"/lib/libmpi.so.40", b"bad\n\xff"]);
        let images = images_from_link_map(&memory.target(), head, Some("/bin/a.out")).unwrap();
        let facts: Vec<_> = images.iter().map(|image| (image.path.as_str(), image.bias.get())).collect();
        assert_eq!(facts, [("/bin/a.out", 0x1000), ("/lib/libmpi.so.40", 0x2000), ("bad\\x0a\\xff", 0x3000)]);
        let executables: Vec<bool> = images.iter().map(|image| image.is_executable).collect();
        assert_eq!(executables, [true, false, false]);
        assert_eq!(images_from_link_map(&memory.target(), head, None).unwrap()[0].path, "");
    }
}

#[test]
fn a_circle_a_fault_and_a_null_end_the_list() {
    for abi in ABIS {
        let width = abi.pointer_width.bytes();
        let (mut memory, head, entries) = list(abi, &[b"", b"/a", b"/b"]);
        for (target, len) in [(entries[0], 3), (entries[2], 3), (TargetAddr::new(16), 3)] {
            memory.put_pointer(entries[2].wrapping_add(3 * width), target);
            assert_eq!(images_from_link_map(&memory.target(), head, None).unwrap().len(), len);
        }
        // Names that cannot be read are empty.
        memory.put_pointer(entries[1].wrapping_add(width), TargetAddr::new(3));
        assert_eq!(images_from_link_map(&memory.target(), head, None).unwrap()[1].path, "");
        memory.put_pointer(head.wrapping_add(width), TargetAddr::NULL);
        assert!(images_from_link_map(&memory.target(), head, None).unwrap().is_empty());
        assert!(images_from_link_map(&memory.target(), TargetAddr::new(64), None).is_err());
    }
}

#[test]
fn garbage_is_survived() {
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let (mut memory, head, entries) = list(ABIS[seed as usize % 4], &[b"", b"/a", b"/b", b"/c"]);
        for _ in 0..3 {
            let entry = entries[rng.below(4) as usize];
            let value = if rng.chance(50) { entries[rng.below(4) as usize].get() } else { rng.next() };
            let width = memory.abi.pointer_width.bytes();
            memory.put_int(entry.wrapping_add(rng.below(4) * width), width, value as i64);
        }
        assert!(images_from_link_map(&memory.target(), head, None).unwrap().len() <= 4 + 4);
    }
}
