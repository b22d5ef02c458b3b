//! What MPICH's handles mean: one file a kind adds what only that kind has; what all share stands here and in `value`.
//! The names of facts are those of docs/handles.md.

mod attributes;
mod communicator;
mod datatype;
mod epochs;
mod errhandler;
mod file;
mod group;
mod info;
mod list;
mod message;
mod op;
mod operations;
mod other_requests;
mod point_to_point;
mod predefined;
mod references;
mod request;
mod schedules;
mod session;
mod status;
mod topology;
mod value;
pub mod wanted;
mod window;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

pub use self::operations::SharedOperations;
pub use self::predefined::{name_of, name_of_abi};

use self::operations::Operations;
use self::value::{Meaning, Object};
use super::MpichProcess;
use super::communicators::{Communicators, read_all};
use super::handle_value::{HandleValue, ObjectKind, Place};
use super::shapes::Shapes;
use crate::references::Referrers;
use crate::{Depth, HandleSource, ReaderError, unreadable};
use layouts::Layouts;
use model::{Handle, HandleKind, HandleList, HandleState};
use target::address::TargetAddr;
use target::{Reason, Target};

/// Why nothing of an object of which only the name is known.
const NO_OBJECT: &str = "its object was not found in the library's memory";

/// Why no hints of communicators, sessions and windows.
const NO_HINTS: &str = "MPICH keeps hints as settings of its own, not as keys and values";

/// Reads handles of one stopped process.
pub struct HandleReader<'a> {
    /// The process's memory.
    pub target: &'a dyn Target,
    /// Verified layouts.
    pub layouts: &'a Layouts,
    /// The library and its pools.
    pub process: &'a MpichProcess,
    /// What every object has.
    pub shapes: Shapes,
    free: RefCell<HashMap<ObjectKind, Rc<HashSet<TargetAddr>>>>,
    communicators: OnceCell<Result<Communicators, Reason>>,
    operations: OnceCell<Rc<Operations>>,
    shared: SharedOperations,
    referrers: Referrers<Object>,
    /// The handles of predefined datatypes, where only a table of the library has their sizes.
    datatypes: OnceCell<Vec<HandleValue>>,
    /// Whether what is described now was found in the library, and is not known to be held by the program.
    in_library: Cell<bool>,
}

impl<'a> HandleReader<'a> {
    /// A reader over `target` with verified layouts.
    ///
    /// # Errors
    /// Where the layouts lack what every object has.
    pub fn new(target: &'a dyn Target, layouts: &'a Layouts, process: &'a MpichProcess) -> Result<Self, ReaderError> {
        let (free, communicators, operations) = (RefCell::default(), OnceCell::new(), OnceCell::new());
        let (referrers, in_library, datatypes) = (Referrers::default(), Cell::new(false), OnceCell::new());
        let shapes = Shapes::resolve(layouts)?;
        let shared = SharedOperations::default();
        Ok(Self {
            target,
            layouts,
            process,
            shapes,
            free,
            communicators,
            operations,
            shared,
            referrers,
            datatypes,
            in_library,
        })
    }

    /// With what other readers of the same stopped process have read of the queues.
    #[must_use]
    pub fn sharing(self, shared: &SharedOperations) -> Self {
        Self { shared: shared.clone(), ..self }
    }

    /// All communicators, read once; why they could not be read.
    fn communicators(&self) -> Result<&Communicators, ReaderError> {
        let MpichProcess { pools, abi, .. } = self.process;
        let read = || {
            let all = read_all(self.target, self.layouts, &self.shapes, pools, *abi);
            all.map_err(Reason::of)
        };
        self.communicators.get_or_init(read).as_ref().map_err(|reason| ReaderError::NotRead(reason.to_string()))
    }

    /// Whether the object at `at` is in the chain of free ones.
    fn is_free(&self, kind: ObjectKind, at: TargetAddr) -> bool {
        let mut known = self.free.borrow_mut();
        let free = known.entry(kind).or_insert_with(|| {
            let pools = self.process.pools.of(kind).filter(|pool| pool.verified && pool.head.initialized);
            let next = self.shapes.header.next.offset as u64;
            // Where a chain breaks is told where objects are listed.
            Rc::new(pools.flat_map(|pool| pool.free(self.target, next).0).collect())
        });
        free.contains(&at)
    }

    fn described(&self, kind: HandleKind, meaning: Result<Meaning, ReaderError>, raw: u64, depth: Depth) -> Handle {
        let mut handle = Handle { kind, handle: Some(format!("{raw:#x}")), ..Handle::default() };
        match meaning {
            Ok(Meaning::Null(name)) => {
                handle.state = HandleState::Null;
                handle.name = Some(name.to_owned());
                handle.predefined = Some(true);
                handle.fortran =
                    predefined::by_name(name).map(|named| self.fortran_of(named.value, u64::from(named.abi)));
                name.clone_into(&mut handle.summary);
            }
            Ok(Meaning::Live(object)) => self.fill(&object, depth, &mut handle),
            Ok(Meaning::Freed(detail)) => {
                handle.fail(HandleState::Freed, detail);
                handle.freed = Some(true);
            }
            Ok(Meaning::Invalid(detail)) => handle.fail(HandleState::Invalid, detail),
            Err(error) => unreadable(&mut handle, &error),
        }
        handle
    }

    /// The Fortran integer of a handle: in MPICH the handle itself; in the ABI of MPI 5 predefined ones are the ABI's
    /// numbers (maint/local_python/binding_c.py, v5.0.1).
    fn fortran_of(&self, value: u32, c_value: u64) -> i64 {
        let number = if self.process.abi && c_value < value::ABI_PREDEFINED { c_value as u32 } else { value };
        i64::from(number as i32)
    }

    fn fill(&self, object: &Object, depth: Depth, handle: &mut Handle) {
        handle.state = HandleState::Live;
        // The groups of MPI_COMM_WORLD and MPI_COMM_SELF have no names (src/include/mpir_group.h, v5.0.1).
        handle.predefined = Some(object.constant.is_some() || object.value.place() == Place::Builtin);
        let c_value = value::c_value(self.process.abi, handle.kind, object);
        handle.fortran = Some(self.fortran_of(object.value.0, c_value));
        let read = match handle.kind {
            HandleKind::Comm => communicator::read(self, object, depth, handle),
            HandleKind::Datatype => datatype::read(self, object, depth, handle),
            HandleKind::Errhandler => errhandler::read(self, object, depth, handle),
            HandleKind::Group => group::read(self, object, depth, handle),
            HandleKind::Info => info::read(self, object, depth, handle),
            HandleKind::Message => message::read(self, object, depth, handle),
            HandleKind::Op => op::read(self, object, depth, handle),
            HandleKind::Request => request::read(self, object, depth, handle),
            HandleKind::Session => session::read(self, object, depth, handle),
            HandleKind::Win => window::read(self, object, depth, handle),
            HandleKind::File | HandleKind::Status => Ok(()),
        };
        if let Err(error) = read {
            unreadable(handle, &error);
        }
        if depth == Depth::Full {
            match object.at.map(|at| value::references(self, at)) {
                Some(Ok(count)) if value::object_kind(handle.kind).is_some_and(value::is_counted) => {
                    handle.fact("references", count);
                }
                Some(Err(error)) => handle.unknown("references", error.to_string()),
                Some(Ok(_)) => handle.unknown("references", "MPICH does not count them"),
                None => handle.unknown("references", NO_OBJECT),
            }
        }
    }

    /// Does something with objects that were found in the library: nobody knows whether the program has their handles.
    fn of_library<R>(&self, act: impl FnOnce() -> R) -> R {
        let before = self.in_library.replace(true);
        let result = act();
        self.in_library.set(before);
        result
    }
}

impl HandleSource for HandleReader<'_> {
    fn describe(&self, kind: HandleKind, value: u64, depth: Depth) -> Handle {
        match kind {
            HandleKind::Status => status::at(self, TargetAddr::new(value)),
            HandleKind::File => file::describe(self, value, depth),
            _ => self.described(kind, value::meaning(self, kind, value), value, depth),
        }
    }

    fn describe_fortran(&self, kind: HandleKind, index: i64, depth: Depth) -> Handle {
        let refused = |detail: String| {
            let mut handle = Handle { kind, fortran: Some(index), ..Handle::default() };
            handle.fail(HandleState::Invalid, detail);
            handle
        };
        // A Fortran integer may have been read with or without its sign.
        let Some(value) = i32::try_from(index).ok().map(|index| index as u32).or_else(|| u32::try_from(index).ok())
        else {
            return refused(format!("{index} does not fit into a Fortran integer"));
        };
        match kind {
            HandleKind::Status => return refused("a status is not a handle: name its address".to_owned()),
            HandleKind::File => return file::describe_fortran(self, index),
            _ => {}
        }
        let meaning = if self.process.abi && u64::from(value) < value::ABI_PREDEFINED {
            value::meaning(self, kind, u64::from(value))
        } else {
            value::of_integer(self, kind, HandleValue(value))
        };
        let raw = match &meaning {
            Ok(Meaning::Live(object)) => value::c_value(self.process.abi, kind, object),
            _ => u64::from(value),
        };
        Handle { fortran: Some(index), ..self.described(kind, meaning, raw, depth) }
    }

    fn describe_status(&self, bytes: &[u8]) -> Handle {
        status::of_bytes(self, bytes, None)
    }

    fn list(&self, kind: HandleKind) -> HandleList {
        list::all(self, kind)
    }
}
