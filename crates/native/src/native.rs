//! A process without a debugger, as sessions have it.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use calls::KeptFiles;
use layouts::Wanted;
use model::Facts;
use target::address::TargetAddr;
use target::files::unanswered;
use target::{CacheStatistics, CodePlace, Image, Mapping, PageCache, Reason, Symbol, Target, TargetAbi, TargetError};

use crate::ending::Ending;
use crate::images::Images;
use crate::live::Live;
use crate::process::{Process, Thread};
use crate::stacks::{Messages, Stacks, cxx, note_messages, prefetch_stacks, stacks};
use crate::types::MpiTypes;

static KEPT: KeptFiles = KeptFiles::new();

/// A process whose memory is kept as it was read, and its stacks.
pub struct Native<P: Process> {
    memory: Rc<PageCache<P>>,
    stacks: RefCell<Option<Rc<Stacks>>>,
    images: RefCell<Option<Rc<Images<P>>>>,
    messages: Rc<Messages>,
    /// Where each thread has its exceptions of C++.
    exceptions: RefCell<Rc<OnceCell<Option<cxx::Place>>>>,
}

impl<P: Process + 'static> Native<P> {
    /// Nothing is read yet. `messages` is one for all processes that stand together.
    pub fn new(process: P, messages: Rc<Messages>) -> Self {
        Self {
            memory: Rc::new(PageCache::new(process)),
            stacks: RefCell::default(),
            images: RefCell::default(),
            messages,
            exceptions: RefCell::default(),
        }
    }

    /// Its memory, which others may hold as well.
    pub fn memory(&self) -> &Rc<PageCache<P>> {
        &self.memory
    }

    /// The types of its MPI library that are `wanted`, where that has debug information.
    pub fn types(&self, wanted: &'static [&'static Wanted]) -> Rc<MpiTypes<P>> {
        Rc::new(MpiTypes::new(Rc::clone(&self.memory), wanted))
    }

    /// What is known besides memory, with the stacks of its threads, which are read once; `variables` are those of the
    /// environment.
    pub fn facts(&self, variables: &[&str]) -> Facts {
        let mut facts = self.memory.inner().facts(variables);
        facts.tcp = self.memory.inner().here().map(|pid| self.messages.connections(pid));
        let executable = facts.executable.clone().unwrap_or_default();
        let known = self.stacks.borrow().clone();
        let found = known.unwrap_or_else(|| {
            let found = Rc::new(stacks(&self.memory, &executable, &KEPT, &self.messages, &self.exceptions.borrow()));
            *self.stacks.borrow_mut() = Some(Rc::clone(&found));
            found
        });
        facts.all_threads = found.all && found.stacks.iter().all(|stack| stack.complete);
        facts.stacks.clone_from(&found.stacks);
        facts.problems.extend(found.remarks.iter().cloned());
        facts.problems.extend(unanswered());
        facts
    }

    /// What it has mapped, by address.
    pub fn mappings(&self) -> Rc<[Mapping]> {
        self.memory.inner().mappings()
    }

    /// What the page cache has done.
    pub fn statistics(&self) -> CacheStatistics {
        self.memory.statistics()
    }

    /// It has run, and its memory was read anew.
    pub fn ran(&self) {
        self.stacks.borrow_mut().take();
    }

    /// Forgets memory: nothing of a process that stands changes but by us. With `images` also what follows from their list.
    pub fn forget(&self, images: bool) {
        self.memory.drop_memory();
        self.memory.inner().forget();
        self.messages.forget();
        self.ran();
        if images {
            self.images.borrow_mut().take();
            self.exceptions.take();
            self.memory.drop_symbols();
        }
    }
}

impl Native<Live> {
    /// It was stopped again after it has run: what was read before is read anew, by as few system calls as can be. False where it
    /// has mapped other files since, so that nothing that was found out about it holds.
    pub fn stands_again(&self, threads: &[Thread], ending: Ending) -> bool {
        if !self.memory.inner().stands_again(threads, ending) {
            return false;
        }
        self.ran();
        self.memory.stands_for_target(false);
        self.memory.read_again();
        prefetch_stacks(&self.memory);
        // Of threads that were left alone before it was not known where theirs are.
        if let Some(place) = self.exceptions.borrow().get().copied().flatten() {
            cxx::prefetch(&self.memory, place);
        }
        true
    }

    /// What was read of it stands for it from now on: it goes on.
    pub fn is_copied(&self) {
        note_messages(&self.memory, &self.messages);
        self.memory.stands_for_target(true);
        self.memory.inner().is_copied();
    }

    /// Whether a copy lacks something that was asked for: what was told since is not true.
    pub fn has_missed(&self) -> bool {
        self.memory.inner().has_missed()
    }

    /// It goes on: nothing of it is read any more.
    pub fn goes_on(&self) {
        self.memory.inner().goes_on();
    }
}

impl<P: Process> Target for Native<P> {
    fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        self.memory.read(addr, buf)
    }
    fn read_once(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        self.memory.read_once(addr, buf)
    }
    fn read_c_string(&self, addr: TargetAddr, max: usize) -> Result<Vec<u8>, TargetError> {
        self.memory.read_c_string(addr, max)
    }
    fn stack_pointers(&self) -> Result<Vec<TargetAddr>, Reason> {
        self.memory.stack_pointers()
    }
    fn abi(&self) -> TargetAbi {
        self.memory.abi()
    }
    fn symbol(&self, name: &str) -> Result<Option<Symbol>, TargetError> {
        self.memory.symbol(name)
    }
    fn symbols(&self) -> Result<Option<Vec<(String, Symbol)>>, TargetError> {
        self.memory.symbols()
    }
    fn function_at(&self, addr: TargetAddr) -> Result<Option<String>, TargetError> {
        self.memory.function_at(addr)
    }
    fn place_of(&self, addr: TargetAddr) -> Result<Option<CodePlace>, TargetError> {
        let new = || Rc::new(Images::new(Rc::clone(&self.memory)));
        let images = Rc::clone(self.images.borrow_mut().get_or_insert_with(new));
        Ok(images.place_of(addr.get()))
    }
    fn images(&self) -> Result<Vec<Image>, TargetError> {
        self.memory.images()
    }
}
