//! What the library keeps between two calls of the debugger, which it finds again by what hangs on the debugger's objects, or by the
//! objects themselves. Such pointers are compared and handed back, never followed.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use mqs_interface::{Image, Job, Process, barrier};

use crate::debugger::{Debuggee, Debugger, ImageTable, ProcessTable};
use crate::error::{Code, Error};
use crate::process::Known;

/// An image that the debugger has told of.
struct KnownImage {
    info: usize,
    table: ImageTable,
}

/// Everything.
#[derive(Default)]
pub struct State {
    debugger: Option<Debugger>,
    images: HashMap<usize, KnownImage>,
    processes: HashMap<usize, (usize, Known)>,
    /// Jobs, each with what hangs on it; only of a debugger that speaks MPI-2.
    jobs: HashMap<usize, usize>,
}

struct Locked {
    taken: AtomicBool,
    state: UnsafeCell<Option<State>>,
}

// SAFETY: the state is only reached through `with`, which one call at a time gets past `taken`. What is in it counts its references
// without atomics, but all of them are in it.
unsafe impl Sync for Locked {}

static STATE: Locked = Locked { taken: AtomicBool::new(false), state: UnsafeCell::new(None) };

/// Gives the lock back, also where a call panics.
struct Taken;

impl Drop for Taken {
    fn drop(&mut self) {
        STATE.taken.store(false, Ordering::Release);
    }
}

/// Runs the body of a function that the debugger calls. It never waits: a call within a call, or beside one, is told so; and a panic
/// ends here.
pub fn with(body: impl FnOnce(&mut State) -> Result<c_int, Error>) -> c_int {
    static SILENCE: Once = Once::new();
    SILENCE.call_once(silence);
    if STATE.taken.swap(true, Ordering::Acquire) {
        return Code::Busy as c_int;
    }
    let _taken = Taken;
    barrier(Code::Internal as c_int, || {
        // SAFETY: nobody else has got past `taken`, and the reference ends with this call.
        let state = unsafe { &mut *STATE.state.get() }.get_or_insert_default();
        body(state).unwrap_or_else(|error| error.kept())
    })
}

/// A panic within a call is told by its code alone: the terminal is the debugger's.
fn silence() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !STATE.taken.load(Ordering::Acquire) {
            usual(panic);
        }
    }));
}

impl State {
    /// The debugger has handed over its callbacks.
    pub fn set_debugger(&mut self, debugger: Option<Debugger>) {
        self.debugger = debugger;
    }

    /// Whom to ask for memory.
    pub fn debugger(&self) -> Option<Debugger> {
        self.debugger
    }

    fn callbacks(&self) -> Result<Debugger, Error> {
        self.debugger.ok_or_else(|| Code::NoCallbacks.into())
    }

    /// The debugger has told of an image.
    pub fn add_image(&mut self, image: *mut Image, table: Option<ImageTable>) -> Result<(), Error> {
        let (debugger, table) = (self.callbacks()?, table.ok_or(Code::NoCallbacks)?);
        let info = debugger.allocate().ok_or(Code::NoMemory)?;
        debugger.put_image_info(image, info);
        self.images.insert(image as usize, KnownImage { info, table });
        Ok(())
    }

    /// Whether an image is known.
    pub fn has_image(&self, image: *mut Image) -> bool {
        self.image(image).is_some()
    }

    fn image(&self, image: *mut Image) -> Option<&KnownImage> {
        let info = self.debugger.and_then(|debugger| debugger.image_info(image));
        let by_info = self.images.values().find(|known| Some(known.info) == info);
        by_info.or_else(|| self.images.get(&(image as usize)))
    }

    /// The debugger gives up an image.
    pub fn remove_image(&mut self, info: usize) {
        let known = self.images.iter().find(|(_, known)| known.info == info).map(|(image, _)| *image);
        if let (Some(image), Some(debugger)) = (known, self.debugger) {
            self.images.remove(&image);
            debugger.free(info);
        }
    }

    /// The debugger has told of a process.
    pub fn add_process(&mut self, process: *mut Process, table: Option<ProcessTable>) -> Result<(), Error> {
        let (debugger, table) = (self.callbacks()?, table.ok_or(Code::NoCallbacks)?);
        let image = table.image(process).ok_or(Code::BadArgument)?;
        let by_image = self.image(image).ok_or(Code::BadArgument)?.table;
        let debuggee = Debuggee::new(process, image, table, by_image).ok_or(Code::BadArgument)?;
        let info = debugger.allocate().ok_or(Code::NoMemory)?;
        debugger.put_process_info(process, info);
        self.processes.insert(process as usize, (info, Known::new(debuggee)));
        Ok(())
    }

    fn place_of(&self, process: *mut Process) -> Option<usize> {
        let info = self.debugger.and_then(|debugger| debugger.process_info(process));
        let by_info = self.processes.iter().find(|(_, (known, _))| Some(*known) == info).map(|(place, _)| *place);
        by_info.or_else(|| self.processes.contains_key(&(process as usize)).then_some(process as usize))
    }

    /// A process that the debugger has told of.
    pub fn process(&mut self, process: *mut Process) -> Result<&mut Known, Error> {
        let place = self.place_of(process).ok_or(Code::BadArgument)?;
        let (_, known) = self.processes.get_mut(&place).ok_or(Code::BadArgument)?;
        known.debuggee().process.set(process);
        Ok(known)
    }

    /// The debugger gives up a process.
    pub fn remove_process(&mut self, info: usize) {
        let known = self.processes.iter().find(|(_, (known, _))| *known == info).map(|(process, _)| *process);
        if let (Some(process), Some(debugger)) = (known, self.debugger) {
            self.processes.remove(&process);
            debugger.free(info);
        }
    }

    /// A debugger that speaks MPI-2 has told of a job.
    pub fn add_job(&mut self, job: *mut Job) -> Result<(), Error> {
        let debugger = self.callbacks()?;
        let info = debugger.allocate().ok_or(Code::NoMemory)?;
        debugger.put_job_info(job, info);
        self.jobs.insert(job as usize, info);
        Ok(())
    }

    /// It gives up a job.
    pub fn remove_job(&mut self, info: usize) {
        let known = self.jobs.iter().find(|(_, known)| **known == info).map(|(job, _)| *job);
        if let (Some(job), Some(debugger)) = (known, self.debugger) {
            self.jobs.remove(&job);
            debugger.free(info);
        }
    }

    /// Which process of the whole job each rank of a process's MPI_COMM_WORLD is to the debugger, as far as it has told. Without jobs
    /// it is the rank itself.
    pub fn universe(&mut self, process: *mut Process) -> Result<Universe, Error> {
        if self.jobs.is_empty() {
            return Ok(Universe::World);
        }
        let own = self.process(process)?.read()?;
        let mut known = HashMap::new();
        let others: Vec<usize> = self.processes.keys().copied().collect();
        for other in others {
            let Some((_, other)) = self.processes.get_mut(&other) else { continue };
            let (Some(identity), Ok(read)) = (other.identity, other.read()) else { continue };
            if let Some(rank) = read.rank.filter(|_| read.world_key == own.world_key) {
                known.insert(rank, identity);
            }
        }
        // Those of the first world have their ranks as identities.
        let is_first = own.parent_world_key.is_none() && known.iter().all(|(rank, identity)| rank == identity);
        Ok(if is_first { Universe::World } else { Universe::Told(known) })
    }
}

/// How ranks in MPI_COMM_WORLD become what the debugger calls processes.
pub enum Universe {
    /// They are that.
    World,
    /// The debugger has told.
    Told(HashMap<i64, i64>),
}

impl Universe {
    /// What the debugger calls a process; `None` where it has not said.
    pub fn name(&self, rank: i64) -> Option<i64> {
        match self {
            Self::World => Some(rank),
            Self::Told(known) => known.get(&rank).copied(),
        }
    }
}
