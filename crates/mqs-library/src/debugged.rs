//! The process that a debugger holds, as a target for our readers.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use target::address::TargetAddr;
use target::libraries::is_mpi_library;
use target::{
    Exports, Image, PageCache, Reason, Symbol, Target, TargetAbi, TargetError, build_id_in_memory, images_of,
    is_before_mpi, search_order,
};

use crate::debugger::Debuggee;
use crate::loaded::{Loaded, loaded};
use crate::memory::Memory;

/// Bytes at the beginning of a file that are looked through for its build-id.
const HEAD: usize = 4096;

/// A process that a debugger holds. Its memory is read in pages, each once until the process has run.
pub struct Debugged {
    memory: PageCache<Memory>,
    images: RefCell<Option<Rc<Images>>>,
    lacks_stacks: Cell<bool>,
}

/// What is loaded, and what it exports.
struct Images {
    images: Vec<Image>,
    modules: Vec<target::Module>,
    exports: Vec<OnceCell<Option<Exports>>>,
    order: Vec<usize>,
    known: RefCell<HashMap<String, Option<Symbol>>>,
}

impl Debugged {
    /// Nothing is read yet.
    pub fn new(debuggee: Debuggee) -> Self {
        Self {
            memory: PageCache::new(Memory::new(debuggee)),
            images: RefCell::default(),
            lacks_stacks: Cell::default(),
        }
    }

    /// Whom to ask.
    pub fn debuggee(&self) -> &Debuggee {
        &self.memory.inner().debuggee
    }

    /// Whether something was looked for on the stacks of threads since the process has run.
    pub fn lacks_stacks(&self) -> bool {
        self.lacks_stacks.get()
    }

    /// The process may have run.
    pub fn forget_memory(&self) {
        self.lacks_stacks.set(false);
        self.memory.drop_memory();
    }

    /// It may have loaded something.
    pub fn forget_images(&self) {
        self.memory.drop_symbols();
        self.memory.inner().forget();
        self.images.borrow_mut().take();
    }

    fn loaded(&self) -> Rc<Images> {
        if let Some(known) = self.images.borrow().as_ref() {
            return Rc::clone(known);
        }
        let found = Rc::new(Images::new(loaded(&self.memory, &|name| {
            self.debuggee().find_function(name).map(TargetAddr::new)
        })));
        *self.images.borrow_mut() = Some(Rc::clone(&found));
        found
    }
}

impl Images {
    fn new(loaded: Loaded) -> Self {
        let mut images = images_of(&loaded.modules, Some(&loaded.executable));
        if !loaded.begins_with_executable {
            let names = loaded.modules.iter().map(|module| target::printable(&module.name));
            images.iter_mut().zip(names).for_each(|(image, name)| {
                image.is_executable = name.is_empty();
                image.path = name;
            });
        }
        if images.is_empty() {
            // Nothing leads to what is loaded; the debugger may know the MPI's variables all the same.
            let (path, bias) = (loaded.executable, TargetAddr::NULL);
            images.push(Image { path, bias, build_id: None, is_executable: true });
        }
        let exports = loaded.modules.iter().map(|_| OnceCell::new()).collect();
        let order = search_order(&images);
        Self { images, modules: loaded.modules, exports, order, known: RefCell::default() }
    }

    /// By the tables of the dynamic linker, in the order in which it looks.
    fn symbol(&self, target: &dyn Target, name: &str) -> Option<Symbol> {
        if let Some(known) = self.known.borrow().get(name) {
            return *known;
        }
        let found = self.order.iter().filter(|index| !is_before_mpi(&self.images[**index], name)).find_map(|index| {
            let module = self.modules.get(*index)?;
            self.exports[*index].get_or_init(|| Exports::of(target, module)).as_ref()?.find(target, name)
        });
        self.known.borrow_mut().insert(name.to_owned(), found);
        found
    }
}

impl Target for Debugged {
    fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        self.memory.read(addr, buf)
    }

    fn read_once(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        self.memory.read_once(addr, buf)
    }

    fn abi(&self) -> TargetAbi {
        self.memory.abi()
    }

    /// What is exported is found as the dynamic linker finds it; of what is not, the debugger may have a symbol table.
    fn symbol(&self, name: &str) -> Result<Option<Symbol>, TargetError> {
        match self.loaded().symbol(&self.memory, name) {
            Some(found) => Ok(Some(found)),
            None => self.memory.inner().symbol(name),
        }
    }

    fn images(&self) -> Result<Vec<Image>, TargetError> {
        let loaded = self.loaded();
        let mut images = loaded.images.clone();
        for image in images.iter_mut().filter(|image| image.is_executable || is_mpi_library(image.file_name())) {
            let mut head = [0; HEAD];
            let read = !image.bias.is_null() && self.memory.read(image.bias, &mut head).is_ok();
            image.build_id = if read { build_id_in_memory(&head) } else { None };
        }
        Ok(images)
    }

    fn stack_pointers(&self) -> Result<Vec<TargetAddr>, Reason> {
        self.lacks_stacks.set(true);
        Err("the interface for message queues does not tell where threads stand".into())
    }
}
