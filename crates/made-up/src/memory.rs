//! Target memory that is built by hand: objects at scattered addresses on 4096-byte pages, known by labels.

use std::collections::BTreeMap;

use target::address::TargetAddr;
use target::mock::MockTarget;
use target::{ByteOrder, PointerWidth, TargetAbi};

use super::rng::Rng;

pub const PAGE: u64 = 4096;

/// Memory, and what stands where in it.
#[derive(Debug, Clone)]
pub struct Memory {
    pub abi: TargetAbi,
    pub pages: BTreeMap<u64, Vec<u8>>,
    pub labels: BTreeMap<String, TargetAddr>,
    /// Everything that was allocated: address and size.
    pub objects: Vec<(TargetAddr, u64)>,
    rng: Rng,
    at: u64,
}

impl Memory {
    pub fn new(abi: TargetAbi, seed: u64) -> Self {
        let mut memory = Self {
            abi,
            pages: BTreeMap::new(),
            labels: BTreeMap::new(),
            objects: Vec::new(),
            rng: Rng::new(seed),
            at: 0,
        };
        memory.jump();
        memory
    }

    /// Goes on somewhere else.
    fn jump(&mut self) {
        let (base, spread) = match self.abi.pointer_width {
            PointerWidth::Four => (0x0804_8000, 0xe_0000),
            PointerWidth::Eight => (0x5555_5555_0000, 0x2_0000_0000),
        };
        self.at = base + self.rng.below(spread) * PAGE;
    }

    /// `size` zeroed bytes at an address that nothing else has.
    pub fn alloc(&mut self, size: u64, alignment: u64) -> TargetAddr {
        let at = self.reserve(size, alignment);
        self.back(at, size);
        at
    }

    /// Makes a part of what was reserved readable.
    pub fn back(&mut self, at: TargetAddr, size: u64) {
        let at = at.get();
        for page in at / PAGE..=(at + size.max(1) - 1) / PAGE {
            self.pages.entry(page * PAGE).or_insert_with(|| vec![0; PAGE as usize]);
        }
    }

    /// `size` bytes at an address that nothing else has, which cannot be read.
    pub fn reserve(&mut self, size: u64, alignment: u64) -> TargetAddr {
        loop {
            if self.rng.chance(10) {
                self.jump();
            }
            let at = (self.at + self.rng.below(48)).next_multiple_of(alignment);
            let free = |(other, len): &(TargetAddr, u64)| other.get() > at + size || other.get() + len < at;
            if self.objects.iter().all(free) {
                self.at = at + size;
                self.objects.push((TargetAddr::new(at), size));
                return TargetAddr::new(at);
            }
            self.jump();
        }
    }

    pub fn label(&mut self, name: &str, at: TargetAddr) {
        self.labels.insert(name.to_owned(), at);
    }

    /// The address of a label.
    pub fn at(&self, label: &str) -> TargetAddr {
        *self.labels.get(label).unwrap_or_else(|| panic!("no label {label}"))
    }

    pub fn put(&mut self, at: TargetAddr, bytes: &[u8]) {
        for (offset, byte) in bytes.iter().enumerate() {
            let at = at.get() + offset as u64;
            let page = self.pages.get_mut(&(at / PAGE * PAGE)).unwrap_or_else(|| panic!("nothing at {at:#x}"));
            page[(at % PAGE) as usize] = *byte;
        }
    }

    pub fn get(&self, at: TargetAddr, len: u64) -> Vec<u8> {
        (at.get()..at.get() + len).map(|at| self.pages[&(at / PAGE * PAGE)][(at % PAGE) as usize]).collect()
    }

    pub fn put_int(&mut self, at: TargetAddr, size: u64, value: i64) {
        let mut bytes = value.to_le_bytes()[..size as usize].to_vec();
        if self.abi.byte_order == ByteOrder::Big {
            bytes.reverse();
        }
        self.put(at, &bytes);
    }

    pub fn get_uint(&self, at: TargetAddr, size: u64) -> u64 {
        self.abi.uint(&self.get(at, size))
    }

    pub fn put_pointer(&mut self, at: TargetAddr, to: TargetAddr) {
        self.put_int(at, self.abi.pointer_width.bytes(), to.get() as i64);
    }

    pub fn get_pointer(&self, at: TargetAddr) -> TargetAddr {
        TargetAddr::new(self.get_uint(at, self.abi.pointer_width.bytes()))
    }

    /// Memory as a target; symbols are the caller's to add.
    pub fn target(&self) -> MockTarget {
        let mut target = MockTarget::new(self.abi);
        for (at, bytes) in &self.pages {
            target.add_segment(TargetAddr::new(*at), bytes.clone());
        }
        target
    }
}
