//! MPI objects in made-up memory, on a shipped layout: what a test sets is there, everything else is zero.

use layouts::{FieldKind, Layouts, shipped_named};
use model::{Handle, HandleKind};
use readers::openmpi::handles::{Depth, HandleReader};
use readers::openmpi::pml::Pml;
use readers::openmpi::shapes::Shapes;
use target::address::TargetAddr;
use target::mock::MockTarget;
use target::{Target, TargetAbi};

/// Where the memory begins, and how much there is.
const START: u64 = 0x10_0000;
const BYTES: usize = 0x1_0000;

/// A process whose objects a test writes one by one.
pub struct Objects {
    pub layouts: Layouts,
    bytes: Vec<u8>,
    pub symbols: Vec<(String, TargetAddr)>,
    /// What moves its messages.
    pub pml: Pml,
    /// What has been allocated: address and size.
    pub blocks: Vec<(TargetAddr, usize)>,
    used: usize,
}

impl Objects {
    /// An empty process of the release of that profile.
    pub fn new(profile: &str) -> Self {
        Self::with_room(profile, BYTES)
    }

    /// The same with so much memory.
    pub fn with_room(profile: &str, bytes: usize) -> Self {
        let layouts = Layouts::new(vec![Box::new(shipped_named(profile).unwrap().profile().unwrap())]);
        let (symbols, blocks) = (Vec::new(), Vec::new());
        Self { layouts, bytes: vec![0; bytes], symbols, pml: Pml::Ob1, blocks, used: 0 }
    }

    /// Zeroed memory.
    pub fn alloc(&mut self, size: usize) -> TargetAddr {
        let at = TargetAddr::new(START + self.used as u64);
        self.blocks.push((at, size));
        // A gap, so that nothing touches.
        self.used += size.next_multiple_of(16) + 16;
        assert!(self.used <= self.bytes.len());
        at
    }

    /// A zeroed structure.
    pub fn structure(&mut self, type_name: &str) -> TargetAddr {
        let size = self.layouts.size_of(type_name).unwrap();
        self.alloc(size as usize)
    }

    /// Gives a place a name.
    pub fn symbol(&mut self, name: &str, at: TargetAddr) -> TargetAddr {
        self.symbols.push((name.to_owned(), at));
        at
    }

    pub fn at_symbol(&self, name: &str) -> TargetAddr {
        self.symbols.iter().find(|(known, _)| known == name).unwrap().1
    }

    /// The class of objects of a type, made when it is first asked for.
    pub fn class(&mut self, type_name: &str) -> TargetAddr {
        let symbol = format!("{type_name}_class");
        if let Some((_, at)) = self.symbols.iter().find(|(known, _)| *known == symbol) {
            return *at;
        }
        let class = self.structure("opal_class_t");
        let name = self.text(type_name);
        self.set(class, "opal_class_t", "cls_name", name.get());
        self.symbol(&symbol, class)
    }

    /// A text that ends in a zero.
    pub fn text(&mut self, text: &str) -> TargetAddr {
        let at = self.alloc(text.len() + 1);
        self.put(at, text.as_bytes());
        at
    }

    /// An object with its class, in use once.
    pub fn object(&mut self, type_name: &str) -> TargetAddr {
        let at = self.structure(type_name);
        self.make_object(at, type_name);
        at
    }

    pub fn make_object(&mut self, at: TargetAddr, type_name: &str) {
        let class = self.class(type_name);
        self.set(at, "opal_object_t", "obj_class", class.get());
        self.set(at, "opal_object_t", "obj_reference_count", 1);
    }

    /// A table from Fortran integers to these objects, whose own numbers stand in `index`.
    pub fn table(&mut self, symbol: &str, objects: &[TargetAddr], type_name: &str, index: &str) {
        let table = self.structure("opal_pointer_array_t");
        let slots = self.pointers(objects);
        self.set(table, "opal_pointer_array_t", "size", objects.len() as u64);
        self.set(table, "opal_pointer_array_t", "addr", slots.get());
        self.symbol(symbol, table);
        for (number, object) in objects.iter().enumerate() {
            self.set(*object, type_name, index, number as u64);
        }
    }

    pub fn pointers(&mut self, pointers: &[TargetAddr]) -> TargetAddr {
        let at = self.alloc(pointers.len() * 8);
        for (number, pointer) in pointers.iter().enumerate() {
            self.put(at.wrapping_add(8 * number as u64), &pointer.get().to_le_bytes());
        }
        at
    }

    pub fn put(&mut self, at: TargetAddr, bytes: &[u8]) {
        let start = (at.get() - START) as usize;
        self.bytes[start..start + bytes.len()].copy_from_slice(bytes);
    }

    /// The eight bytes at a place.
    pub fn get(&self, at: TargetAddr) -> [u8; 8] {
        let start = (at.get() - START) as usize;
        self.bytes[start..start + 8].try_into().unwrap()
    }

    pub fn place(&self, at: TargetAddr, type_name: &str, field: &str) -> TargetAddr {
        at.wrapping_add(self.layouts.field(type_name, field).unwrap().offset)
    }

    pub fn set(&mut self, at: TargetAddr, type_name: &str, field: &str, value: u64) {
        let size = self.layouts.field(type_name, field).unwrap().size as usize;
        self.put(self.place(at, type_name, field), &value.to_le_bytes()[..size]);
    }

    /// A text in a character array, or behind a pointer.
    pub fn set_text(&mut self, at: TargetAddr, type_name: &str, field: &str, text: &str) {
        if self.layouts.field(type_name, field).unwrap().kind == FieldKind::Pointer {
            let text = self.text(text);
            self.set(at, type_name, field, text.get());
        } else {
            self.put(self.place(at, type_name, field), text.as_bytes());
        }
    }

    pub fn constant(&self, name: &str) -> u64 {
        self.layouts.constant(name).unwrap() as u64
    }

    /// The process as a target.
    pub fn target(&self) -> MockTarget {
        let mut target = MockTarget::new(TargetAbi::LITTLE_64);
        target.add_segment(TargetAddr::new(START), self.bytes.clone());
        for (name, at) in &self.symbols {
            target.add_symbol(name, *at, None);
        }
        target
    }

    pub fn describe(&self, kind: HandleKind, addr: TargetAddr) -> Handle {
        self.describe_on(&self.target(), kind, addr)
    }

    pub fn describe_on(&self, target: &dyn Target, kind: HandleKind, addr: TargetAddr) -> Handle {
        self.reading(target, |reader| reader.describe(kind, addr.get(), Depth::Full))
    }

    pub fn reading<R>(&self, target: &dyn Target, read: impl FnOnce(&HandleReader<'_>) -> R) -> R {
        let shapes = Shapes::resolve(&self.layouts).unwrap();
        read(&HandleReader::new(target, &self.layouts, &shapes, &self.pml))
    }
}
