//! A live process of this machine that stands still.

use std::cell::{Cell, RefCell};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use model::Facts;
use target::address::TargetAddr;
use target::files::Reader;
use target::{Image as Listed, LiveProcess, Mapping, Reason, Symbol, Target, TargetAbi, TargetError, processes};

use crate::ending::{Ending, Looks};
use crate::images::Image;
use crate::process::{Process, Thread};
use crate::stop::{Memory, Piece};

/// A live process of this machine. Whoever has stopped it sees to it that it stands as long as it is read.
pub struct Live {
    process: LiveProcess,
    memory: Memory,
    threads: RefCell<Option<Rc<[Thread]>>>,
    mappings: RefCell<Rc<[Mapping]>>,
    /// Tells of the threads at each stop of a process that a debugger holds.
    held: Option<Held>,
    looks: Looks,
    state: Cell<State>,
    missed: Cell<bool>,
}

/// The threads of a process that a debugger holds, where they stand now.
pub type Held = Box<dyn Fn() -> Result<Vec<Thread>, TargetError>>;

/// Where its memory comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// From the process.
    Read,
    /// From a copy that somebody has: it may run.
    Copied,
    /// It was let go, and nothing of it is read any more.
    Gone,
}

impl Live {
    /// A process with its threads where they stand.
    ///
    /// # Errors
    /// As [`LiveProcess::open`].
    pub fn new(pid: u32, threads: &[Thread], ending: Ending) -> Result<Self, TargetError> {
        Self::opened(pid, Some(threads.into()), None, ending)
    }

    /// A process that a debugger holds, which knows how its threads stand.
    ///
    /// # Errors
    /// As [`LiveProcess::open`].
    pub fn held(pid: u32, held: Held, ending: Ending) -> Result<Self, TargetError> {
        Self::opened(pid, None, Some(held), ending)
    }

    fn opened(
        pid: u32,
        threads: Option<Rc<[Thread]>>,
        held: Option<Held>,
        ending: Ending,
    ) -> Result<Self, TargetError> {
        let process = LiveProcess::open(pid)?;
        let path = || format!("/proc/{pid}/mem");
        let memory = Memory::open(pid).map_err(|_| TargetError::Denied { path: path() })?;
        let mappings = process.mappings()?;
        Ok(Self {
            process,
            memory,
            threads: RefCell::new(threads),
            mappings: RefCell::new(mappings.into()),
            held,
            looks: Looks::new(ending),
            state: Cell::new(State::Read),
            missed: Cell::new(false),
        })
    }

    /// It was stopped again, after it has run: its threads stand where these do. False where it has mapped other files since, so
    /// that nothing that was found out about it holds.
    pub(crate) fn stands_again(&self, threads: &[Thread], ending: Ending) -> bool {
        let Ok(mappings) = self.process.mappings() else { return false };
        let files = |list: &[Mapping]| -> Vec<Mapping> {
            list.iter().filter(|one| one.name.as_bytes().starts_with(b"/")).cloned().collect()
        };
        if files(&mappings) != files(&self.mappings.borrow()) {
            return false;
        }
        self.mappings.replace(mappings.into());
        self.threads.replace(Some(threads.into()));
        self.looks.begin(ending);
        self.state.set(State::Read);
        self.missed.set(false);
        true
    }

    /// The process, as it can be read while it runs.
    pub fn process(&self) -> &LiveProcess {
        &self.process
    }

    /// It goes on now: nothing of it is read any more.
    pub(crate) fn goes_on(&self) {
        self.state.set(State::Gone);
    }

    /// What will be asked for was copied, and it goes on: what was not copied is missed.
    pub(crate) fn is_copied(&self) {
        self.state.set(State::Copied);
    }

    /// Whether something was asked for that was not copied: what was told since is not true.
    pub(crate) fn has_missed(&self) -> bool {
        self.missed.get()
    }

    fn may_go_on(&self) -> Result<(), TargetError> {
        match self.state.get() {
            State::Read => self.looks.may_go_on(),
            State::Gone => Err(TargetError::Debugger("the process was already released".to_owned())),
            State::Copied => {
                self.missed.set(true);
                Err(TargetError::Debugger("its memory was not copied before the process went on".to_owned()))
            }
        }
    }
}

impl Target for Live {
    fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        self.may_go_on()?;
        self.memory.read_one(addr.get(), buf)
    }

    fn read_many(&self, pieces: &mut [(TargetAddr, &mut [u8])]) -> Vec<bool> {
        if self.may_go_on().is_err() {
            return vec![false; pieces.len()];
        }
        let mut wanted: Vec<Piece<'_>> = pieces.iter_mut().map(|(addr, into)| Piece::new(addr.get(), into)).collect();
        self.memory.read(&mut wanted);
        wanted.iter().map(|piece| piece.read).collect()
    }

    fn stack_pointers(&self) -> Result<Vec<TargetAddr>, Reason> {
        Ok(self.threads().iter().map(|thread| TargetAddr::new(thread.registers.stack_pointer())).collect())
    }

    fn abi(&self) -> TargetAbi {
        self.process.abi()
    }

    fn symbol(&self, name: &str) -> Result<Option<Symbol>, TargetError> {
        self.process.symbol(name)
    }

    fn symbols(&self) -> Result<Option<Vec<(String, Symbol)>>, TargetError> {
        self.process.symbols()
    }

    fn function_at(&self, addr: TargetAddr) -> Result<Option<String>, TargetError> {
        self.process.function_at(addr)
    }

    fn images(&self) -> Result<Vec<Listed>, TargetError> {
        self.process.images()
    }
}

impl Process for Live {
    fn threads(&self) -> Rc<[Thread]> {
        if let Some(known) = self.threads.borrow().as_ref() {
            return Rc::clone(known);
        }
        // Nothing is borrowed while the debugger is asked, which may ask us.
        let held = self.held.as_ref().and_then(|held| held().ok()).unwrap_or_default();
        let stands = |thread: Thread| Thread { blocked: blocked(self.process.pid(), thread.id), ..thread };
        let threads: Rc<[Thread]> = held.into_iter().map(stands).collect();
        self.threads.replace(Some(Rc::clone(&threads)));
        threads
    }

    fn main_thread(&self) -> Option<u32> {
        // Linux gives the thread that the process begins with the process's number.
        Some(self.process.pid())
    }

    fn mappings(&self) -> Rc<[Mapping]> {
        Rc::clone(&self.mappings.borrow())
    }

    fn places(&self, image: &Image) -> Vec<PathBuf> {
        let own = processes::place(self.process.pid());
        let inside = Path::new(&image.path).strip_prefix("/").ok();
        let named = inside.filter(|_| !image.deleted).map(|inside| own.join("root").join(inside));
        let program = image.is_program.then(|| own.join("exe"));
        let link = own.join("map_files").join(format!("{:x}-{:x}", image.start, image.first_end));
        // The path that people know comes first: debug files are looked for beside it.
        let plain = Some(PathBuf::from(&image.path)).filter(|_| !image.deleted);
        [plain, named, program, Some(link)].into_iter().flatten().collect()
    }

    fn program_headers(&self) -> Option<u64> {
        self.process.program_headers().ok().flatten().map(|(headers, _)| headers.get())
    }

    fn reader(&self) -> Option<Reader> {
        self.process.reader().cloned()
    }

    fn here(&self) -> Option<u32> {
        Some(self.process.pid())
    }

    fn forget(&self) {
        if self.held.is_some() {
            self.threads.take();
            // Those of one that has ended stay as they were.
            if let Ok(mappings) = self.process.mappings() {
                self.mappings.replace(mappings.into());
            }
            self.looks.again();
        }
    }

    fn facts(&self, variables: &[&str]) -> Facts {
        self.told(variables)
    }
}

/// The signals that a thread has blocked which a debugger holds, as the kernel tells everybody (proc(5)).
fn blocked(pid: u32, thread: u32) -> Option<u64> {
    let status = fs::read_to_string(processes::place(pid).join(format!("task/{thread}/status"))).ok()?;
    let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:"))?;
    u64::from_str_radix(blocked.trim(), 16).ok()
}
