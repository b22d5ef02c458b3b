//! The dynamic linker's list of images.

use target::address::TargetAddr;
use target::{Image, Symbol, Target, TargetAbi, TargetError, images_from_link_map, r_debug_from_program_headers};

use made_up::memory::Memory;
use made_up::process::ABIS;
use made_up::rng::Rng;

/// A list of images with these names; returns its memory, the address of `_r_debug`, and the entries.
fn list(abi: target::TargetAbi, names: &[&[u8]]) -> (Memory, TargetAddr, Vec<TargetAddr>) {
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

/// A core file that lacks some addresses.
struct Core<'a> {
    memory: &'a dyn Target,
    left_out: std::ops::Range<u64>,
}

impl Target for Core<'_> {
    fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        if self.left_out.contains(&addr.get()) {
            return Err(TargetError::NotInCore { addr, len: buf.len() as u64, text: "the heap".to_owned() });
        }
        self.memory.read(addr, buf)
    }
    fn abi(&self) -> TargetAbi {
        self.memory.abi()
    }
    fn symbol(&self, name: &str) -> Result<Option<Symbol>, TargetError> {
        self.memory.symbol(name)
    }
    fn images(&self) -> Result<Vec<Image>, TargetError> {
        self.memory.images()
    }
}

#[test]
fn what_a_core_file_lacks_is_an_error_and_not_the_end_of_the_list() {
    for abi in ABIS {
        let (memory, head, entries) = list(abi, &[b"", b"/lib/libmpi.so.40"]);
        let memory = memory.target();
        let second = entries[1].get();
        let core = Core { memory: &memory, left_out: second..second + 8 };
        let error = images_from_link_map(&core, head, None).unwrap_err();
        assert!(matches!(error, TargetError::NotInCore { .. }), "{error}");
        let whole = Core { memory: &memory, left_out: 0..0 };
        assert_eq!(images_from_link_map(&whole, head, None).unwrap().len(), 2);
    }
}

#[test]
fn program_headers_that_cannot_be_read_are_an_error() {
    for abi in ABIS {
        let (memory, head, _) = list(abi, &[b""]);
        assert!(r_debug_from_program_headers(&memory.target(), TargetAddr::new(64), 3).is_err());
        // Zeros: no dynamic section.
        assert_eq!(r_debug_from_program_headers(&memory.target(), head, 0), Ok(None));
    }
}
