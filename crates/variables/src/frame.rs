//! What is known of a frame and of memory, and what follows from it.

use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use calls::Unknown;
use target::zeroed;

use crate::die::{Die, File};
use crate::info::DebugInfo;
use crate::limits::{DEEPEST, MOST_EXPRESSIONS, TIME_LIMIT};

/// One frame of a function, without those that were inlined into it.
#[derive(Clone)]
pub struct FrameFacts {
    /// An address of the instruction that it is in: its program counter for the innermost frame (and for one that a signal
    /// interrupted), the byte before the return address for one that has called another.
    pub pc: u64,
    /// What is added to the addresses of its file.
    pub bias: u64,
    /// The registers that it still has, by DWARF's numbers.
    pub registers: BTreeMap<u16, u64>,
    /// The canonical frame address.
    pub cfa: Option<u64>,
    /// The frame that called it; asked for only where something depends on it.
    pub outer: Option<Outer>,
}

/// Finds the frame that called another; `None` where there is none, or it is not known.
pub type Outer = Rc<dyn Fn() -> Option<OuterFrame>>;

/// A frame that called another.
#[derive(Clone)]
pub struct OuterFrame {
    /// The debug information of its file, where it has any.
    pub info: Option<Arc<DebugInfo>>,
    /// What is known of it.
    pub facts: Rc<FrameFacts>,
}

/// The memory of a stopped process.
pub trait Memory {
    /// Fills all of `into` with what lies at an address; false where a part of it cannot be read.
    fn read(&self, address: u64, into: &mut [u8]) -> bool;

    /// Where the thread has the variable with that offset in the thread-local storage of the file that is loaded with `bias`.
    fn tls(&self, _bias: u64, _offset: u64) -> Option<u64> {
        None
    }

    /// The address of a symbol of a function or a variable (but of none that each thread has its own of), as the dynamic
    /// linker binds it.
    fn symbol(&self, _name: &str) -> Option<u64> {
        None
    }

    /// Where the file that is loaded with `bias` has the variable that its units know by a symbol; none that each thread has
    /// its own of.
    fn defined(&self, _bias: u64, _name: &str) -> Option<u64> {
        None
    }

    /// Where the program has a variable that other files know, such as its copy of a library's (R_X86_64_COPY and the like): the
    /// dynamic linker has all files use that one.
    fn copied(&self, _name: &str) -> Option<u64> {
        None
    }
}

/// All that the value of an expression may depend on.
pub(crate) struct Context {
    pub facts: Rc<FrameFacts>,
    pub memory: Rc<dyn Memory>,
    /// The file of the frame first.
    pub files: Rc<Vec<Rc<File>>>,
    pub fortran: bool,
    /// The function of the frame, which the frame base belongs to.
    pub function: Option<Die>,
    caller: OnceCell<Option<Rc<Context>>>,
    effort: Rc<Effort>,
}

/// What one question has cost so far.
struct Effort {
    end: Cell<Instant>,
    depth: Cell<usize>,
    expressions: Cell<u32>,
}

impl Context {
    pub fn new(
        facts: Rc<FrameFacts>,
        memory: Rc<dyn Memory>,
        files: Rc<Vec<Rc<File>>>,
        fortran: bool,
        function: Option<Die>,
    ) -> Self {
        let effort =
            Effort { end: Cell::new(Instant::now()), depth: Cell::new(0), expressions: Cell::new(MOST_EXPRESSIONS) };
        Self { facts, memory, files, fortran, function, caller: OnceCell::new(), effort: Rc::new(effort) }
    }

    /// A question begins: it has so much time.
    pub fn begin(&self) {
        if self.effort.depth.get() == 0 {
            self.effort.end.set(Instant::now() + TIME_LIMIT);
            self.effort.expressions.set(MOST_EXPRESSIONS);
        }
    }

    /// When the question must be answered.
    pub fn end(&self) -> Instant {
        self.effort.end.get()
    }

    /// Works something out that may lead to more of its kind, which has an end.
    pub fn deeper<R>(&self, work: impl FnOnce() -> Result<R, Unknown>) -> Result<R, Unknown> {
        let depth = self.effort.depth.get();
        if depth >= DEEPEST {
            return Err(damaged());
        }
        if Instant::now() > self.end() {
            return Err(Unknown::new("it takes too long to find out"));
        }
        self.effort.depth.set(depth + 1);
        let found = work();
        self.effort.depth.set(depth);
        found
    }

    /// One more expression is worked out.
    pub fn count_expression(&self) -> Result<(), Unknown> {
        let left = self.effort.expressions.get().checked_sub(1).ok_or_else(damaged)?;
        self.effort.expressions.set(left);
        Ok(())
    }

    /// The frame that called this one.
    pub fn caller(&self) -> Option<Rc<Self>> {
        let make = || {
            let outer = self.facts.outer.as_ref()?()?;
            let file = outer.info.map(|info| Rc::new(File { info, bias: outer.facts.bias }));
            let function = file.as_ref().and_then(|file| function_at(file, outer.facts.pc));
            let mut files = Vec::new();
            files.extend(file);
            let known = |one: &Rc<File>| files.iter().any(|file| Arc::ptr_eq(&file.info, &one.info));
            let others: Vec<_> = self.files.iter().filter(|one| !known(one)).cloned().collect();
            files.extend(others);
            Some(Rc::new(Self {
                facts: outer.facts,
                memory: self.memory.clone(),
                files: Rc::new(files),
                fortran: self.fortran,
                function,
                caller: OnceCell::new(),
                effort: self.effort.clone(),
            }))
        };
        self.caller.get_or_init(make).clone()
    }

    /// The same without a frame: for what lies at fixed addresses.
    pub fn without_frame(&self) -> Rc<Self> {
        let facts = FrameFacts { registers: BTreeMap::new(), cfa: None, outer: None, ..(*self.facts).clone() };
        Rc::new(Self {
            facts: Rc::new(facts),
            memory: self.memory.clone(),
            files: self.files.clone(),
            fortran: self.fortran,
            function: None,
            caller: OnceCell::new(),
            effort: self.effort.clone(),
        })
    }

    /// So many bytes of memory.
    pub fn read(&self, address: u64, length: usize) -> Result<Vec<u8>, Unknown> {
        let mut found = zeroed(length).map_err(|error| Unknown::new(error.to_string()))?;
        if self.memory.read(address, &mut found) {
            return Ok(found);
        }
        Err(Unknown::new(format!("Cannot access memory at address {address:#x}")))
    }
}

/// The function of a file that has an address of memory.
pub(crate) fn function_at(file: &Rc<File>, address: u64) -> Option<Die> {
    let found = file.info.function_at(address.wrapping_sub(file.bias))?;
    Some(Die::new(file, found))
}

pub(crate) fn damaged() -> Unknown {
    Unknown::new("its debug information is damaged")
}

pub(crate) fn gone() -> Unknown {
    Unknown::new("optimised away")
}
