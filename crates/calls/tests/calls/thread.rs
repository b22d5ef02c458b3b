//! The call of MPI on made-up stacks.

use std::cell::RefCell;
use std::path::PathBuf;
use std::time::Duration;

use calls::{Caller, Frames, KeptFiles, NamedFrame, Thread, ThreadCall, Unknown, thread_call};
use functions::constants::Family;
use target::files::Reader;
use target::{ByteOrder, PointerWidth, TargetAbi};

use super::made_up::MadeUpScope;

/// The caller's code ends with the call at this address; a table and functions lie elsewhere.
const AFTER: u64 = 0x40_1200;
const TABLE: u64 = 0x40_4018;
const WAITANY: u64 = 0x7f00_0000_1000;

/// A thread whose frames call through a table, and that notes what it is asked.
struct MadeUpThread {
    abi: TargetAbi,
    /// What the table has.
    called: u64,
    asked: RefCell<Vec<(usize, usize)>>,
}

impl MadeUpThread {
    fn new(called: u64) -> Self {
        Self { abi: TargetAbi::LITTLE_64, called, asked: RefCell::default() }
    }

    fn call(&self, frames: &[(&str, bool)]) -> ThreadCall {
        let frame = |(name, application): &(&str, bool)| NamedFrame {
            function: Some((*name).to_owned()).filter(|name| !name.is_empty()),
            application: *application,
            mpi: false,
        };
        thread_call(&frames.iter().map(frame).collect::<Vec<_>>(), self, &KeptFiles::new())
    }

    /// The call of a stack whose outermost frame has called code of an MPI's library, or of another one.
    fn call_by_library(&self, inner_mpi: bool, outer_mpi: bool) -> ThreadCall {
        let library = |mpi| NamedFrame { mpi, ..NamedFrame::default() };
        let frames = [library(inner_mpi), library(inner_mpi), library(outer_mpi)];
        thread_call(&frames, self, &KeptFiles::new())
    }
}

impl Thread for MadeUpThread {
    type Caller = Nobody;

    fn abi(&self) -> Result<TargetAbi, Unknown> {
        Ok(self.abi)
    }

    fn counter(&self, at: usize) -> Result<u64, Unknown> {
        if at == 2 { Ok(AFTER) } else { Err(Unknown::new("no counter")) }
    }

    fn read(&self, address: u64, _: usize) -> Result<Vec<u8>, Unknown> {
        match address {
            // call *TABLE(%rip)
            at if at == AFTER - 6 => {
                let distance = i32::try_from(TABLE - AFTER).unwrap();
                Ok([&[0xff, 0x15], distance.to_le_bytes().as_slice()].concat())
            }
            TABLE => Ok(self.called.to_le_bytes().to_vec()),
            _ => Err(Unknown::new("no memory")),
        }
    }

    fn function_at(&self, address: u64) -> Result<Option<String>, Unknown> {
        Ok(Some(if address == WAITANY { "PMPI_Waitany" } else { "poll" }.to_owned()))
    }

    fn fingerprint(&self, at: usize, outermost: usize) -> Result<Option<String>, Unknown> {
        self.asked.borrow_mut().push((at, outermost));
        Ok(Some("word".to_owned()))
    }

    fn caller(&self, _: usize) -> Result<Nobody, Unknown> {
        Err(Unknown::new("the frame is gone"))
    }
}

/// No frame at all.
struct Nobody;

impl Caller for Nobody {
    type Scope = MadeUpScope;
    fn file(&self) -> Result<Option<PathBuf>, Unknown> {
        Ok(None)
    }
    fn line(&self) -> Result<Option<i64>, Unknown> {
        Ok(None)
    }
    fn built(&self) -> Result<Option<f64>, Unknown> {
        Ok(None)
    }
    fn reader(&self) -> Result<Option<Reader>, Unknown> {
        Ok(None)
    }
    fn family(&self) -> Result<Option<Family>, Unknown> {
        Ok(None)
    }
    fn symbol(&self, _: &str) -> Result<Option<i128>, Unknown> {
        Ok(None)
    }
    fn scope(&self, _: bool) -> Result<MadeUpScope, Unknown> {
        Ok(MadeUpScope)
    }
    fn frames(&self) -> Result<Frames<'_>, Unknown> {
        Ok(Box::new(std::iter::empty()))
    }
    fn abi(&self) -> Result<TargetAbi, Unknown> {
        Ok(TargetAbi::LITTLE_64)
    }
    fn read(&self, _: u64, _: usize) -> Result<Vec<u8>, Unknown> {
        Err(Unknown::new("no memory"))
    }
    fn read_code(&self, _: u64, _: usize) -> Result<Vec<u8>, Unknown> {
        Err(Unknown::new("no memory"))
    }
    fn processor_time(&self) -> Result<Duration, Unknown> {
        Ok(Duration::ZERO)
    }
}

const LIBRARY: (&str, bool) = ("", false);

#[test]
fn the_frame_above_the_outermost_mpi_function_has_called_it() {
    let thread = MadeUpThread::new(0);
    let found = thread.call(&[("poll", false), ("PMPI_Recv", false), ("exchange", true), ("main", true), LIBRARY]);
    assert_eq!((found.hidden, found.fingerprint.as_deref()), (None, Some("word")));
    assert_eq!(found.arguments.unwrap().unknown.as_deref(), Some("the frame is gone"));
    // A library of somebody else may have called it, and have been called by the application.
    thread.call(&[("MPI_Recv", false), ("wrapper", false), ("main", true)]);
    thread.call(&[("MPI_Recv", false), ("wrapper", false)]);
    assert_eq!(*thread.asked.borrow(), [(2, 3), (1, 2), (1, 1)]);
}

#[test]
fn a_stack_that_ends_in_mpi_says_nothing() {
    let thread = MadeUpThread::new(0);
    for frames in [vec![], vec![LIBRARY, ("MPI_Recv", false)]] {
        let found = thread.call(&frames);
        assert!(found.hidden.is_none() && found.fingerprint.is_none() && found.arguments.is_none());
    }
    assert!(thread.asked.borrow().is_empty());
}

#[test]
fn outside_mpi_the_innermost_frame_of_the_application_moves() {
    let thread = MadeUpThread::new(0x1234);
    let found = thread.call(&[("poll", false), ("step", true), ("main", true)]);
    assert!(found.arguments.is_none() && found.fingerprint.is_some());
    assert_eq!(*thread.asked.borrow(), [(1, 2)]);
}

#[test]
fn a_function_without_a_frame_is_found_by_its_call() {
    let frames = [LIBRARY, LIBRARY, ("solve", true), ("main", true)];
    let thread = MadeUpThread::new(WAITANY);
    let found = thread.call(&frames);
    assert_eq!(found.hidden, Some((2, "PMPI_Waitany".to_owned())));
    assert!(found.arguments.is_some());
    assert_eq!(*thread.asked.borrow(), [(2, 3)]);
    // Another function, calls within the application, and code of another machine.
    let other = MadeUpThread::new(0x1234);
    assert_eq!(other.call(&frames).hidden, None);
    for frames in [[LIBRARY, ("solve", true), ("main", true)], [LIBRARY, LIBRARY, LIBRARY]] {
        assert_eq!(thread.call(&frames).hidden, None);
    }
    let abi = TargetAbi { byte_order: ByteOrder::Big, pointer_width: PointerWidth::Eight };
    assert_eq!(MadeUpThread { abi, ..MadeUpThread::new(WAITANY) }.call(&frames).hidden, None);
}

#[test]
fn a_library_of_the_system_calls_mpi_too() {
    let thread = MadeUpThread::new(WAITANY);
    assert_eq!(thread.call_by_library(true, false).hidden, Some((2, "PMPI_Waitany".to_owned())));
    // What an MPI calls within itself is no call of the application, nor what leads to no MPI.
    assert_eq!(thread.call_by_library(true, true).hidden, None);
    assert_eq!(thread.call_by_library(false, false).hidden, None);
}
