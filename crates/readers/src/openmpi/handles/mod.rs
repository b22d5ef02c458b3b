//! MPI handles, read directly: what one value means, and which objects of a kind there are.
//!
//! One file a kind adds what only that kind has; what all share stands here and in `object`. The names of facts are
//! those of docs/handles.md.

mod attributes;
mod collective;
mod communicator;
mod datatype;
mod epochs;
mod errhandler;
mod file;
mod freed;
mod group;
mod hints;
mod in_use;
mod info;
mod kinds;
mod locks;
mod message;
mod object;
mod ompio;
mod one_sided;
mod op;
mod origins;
mod other_requests;
mod point_to_point;
mod references;
mod request;
mod schedule;
mod session;
mod status;
mod table;
mod topology;
pub mod wanted;
mod window;

use std::cell::{Cell, OnceCell};

use self::kinds::Kind;
use self::object::Found;
use self::origins::Duplicates;
use super::cm::held;
use super::communicators::{Communicators, learn_world, read_all};
use super::detect::required;
use super::groups::Groups;
use super::pml::Pml;
use super::pml_ucx::opened::Opened;
use super::shapes::Shapes;
pub use crate::Depth;
use crate::references::Referrers;
use crate::{HandleSource, add_problem, unreadable};
use layouts::Layouts;
use model::handle::Fact;
use model::{Handle, HandleKind, HandleList, HandleState, Known};
use target::address::TargetAddr;
use target::{Reason, Target, TargetError};

/// At most this many objects of a kind are listed: one takes some 10 KB with all that is known of it. The queues have every
/// request.
const MAX_LISTED: usize = 20_000;

/// Reads handles of one stopped process.
pub struct HandleReader<'a> {
    target: &'a dyn Target,
    layouts: &'a Layouts,
    shapes: &'a Shapes,
    /// The selected pml: where requests are depends on it.
    pml: &'a Pml,
    groups: Groups<'a>,
    world: OnceCell<Vec<String>>,
    in_use: OnceCell<in_use::AllInUse>,
    /// The pml ucx with all communicators, or why it cannot be read.
    ucx: OnceCell<Known<(Opened, Communicators)>>,
    /// The pml cm, or why it cannot be read.
    cm: OnceCell<Known<held::Opened>>,
    /// Whether what is described now was found in the library, and is not known to be held by the program.
    in_library: Cell<bool>,
    referrers: Referrers<TargetAddr>,
    duplicates: Duplicates,
}

impl HandleSource for HandleReader<'_> {
    fn describe(&self, kind: HandleKind, value: u64, depth: Depth) -> Handle {
        Self::describe(self, kind, value, depth)
    }
    fn describe_fortran(&self, kind: HandleKind, index: i64, depth: Depth) -> Handle {
        Self::describe_fortran(self, kind, index, depth)
    }
    fn describe_status(&self, bytes: &[u8]) -> Handle {
        Self::describe_status(self, bytes)
    }
    fn list(&self, kind: HandleKind) -> HandleList {
        Self::list(self, kind)
    }
}

impl<'a> HandleReader<'a> {
    /// A reader over `target` with verified layouts; `pml` is the selected one.
    pub fn new(target: &'a dyn Target, layouts: &'a Layouts, shapes: &'a Shapes, pml: &'a Pml) -> Self {
        let (groups, world, in_use) = (Groups::new(target, shapes), OnceCell::new(), OnceCell::new());
        let (referrers, duplicates, in_library) = (Referrers::default(), Duplicates::default(), Cell::new(false));
        let (ucx, cm) = (OnceCell::new(), OnceCell::new());
        Self { target, layouts, shapes, pml, groups, world, in_use, ucx, cm, in_library, referrers, duplicates }
    }

    /// What the C handle `value` of that kind means; for a status, that at the address `value`. Never fails: what cannot be
    /// read is said in the handle.
    pub fn describe(&self, kind: HandleKind, value: u64, depth: Depth) -> Handle {
        let addr = TargetAddr::new(value);
        let Some(place) = kinds::of(kind) else {
            return status::at(self, addr);
        };
        let mut handle = Handle { kind, handle: Some(addr.to_string()), ..Handle::default() };
        match object::find(self, place, addr) {
            Ok(Found::Null) => {
                handle.state = HandleState::Null;
                handle.name = Some(place.null_name.to_owned());
                handle.predefined = Some(true);
                place.null_name.clone_into(&mut handle.summary);
                // Of a null handle nothing else is read: without its integer it is no less a null handle.
                handle.fortran = table::index_of(self, place, addr).ok().flatten();
            }
            Ok(Found::Live) => self.fill(place, addr, depth, &mut handle),
            Ok(Found::Freed(remains)) => {
                handle.fail(HandleState::Freed, remains.detail);
                handle.freed = Some(true);
                handle.name = remains.name;
            }
            Ok(Found::Invalid(detail)) => handle.fail(HandleState::Invalid, detail),
            Err(error) => unreadable(&mut handle, &error),
        }
        handle
    }

    fn fill(&self, place: &Kind, addr: TargetAddr, depth: Depth, handle: &mut Handle) {
        handle.state = HandleState::Live;
        handle.predefined = Some(false);
        match table::index_of(self, place, addr) {
            Ok(index) => handle.fortran = index,
            Err(error) => add_problem(&mut handle.problems, format!("the Fortran integer is not known: {error}")),
        }
        let read = match handle.kind {
            HandleKind::Comm => communicator::read(self, addr, depth, handle),
            HandleKind::Datatype => datatype::read(self, addr, depth, handle),
            HandleKind::Errhandler => errhandler::read(self, addr, depth, handle),
            HandleKind::File => file::read(self, addr, depth, handle),
            HandleKind::Group => group::read(self, addr, depth, handle),
            HandleKind::Info => info::read(self, addr, depth, handle),
            HandleKind::Message => message::read(self, addr, depth, handle),
            HandleKind::Op => op::read(self, addr, depth, handle),
            HandleKind::Request => request::read(self, addr, depth, handle),
            HandleKind::Session => session::read(self, addr, depth, handle),
            HandleKind::Win => window::read(self, addr, depth, handle),
            HandleKind::Status => Ok(()),
        };
        if let Err(error) = read {
            unreadable(handle, &error);
        }
        if depth == Depth::Full {
            object::references(self, addr).map(i64::from).map_err(Reason::of).tell("references", handle);
        }
    }

    /// What a status with these bytes means.
    pub fn describe_status(&self, bytes: &[u8]) -> Handle {
        status::of_bytes(self, bytes, None)
    }

    /// What the Fortran integer of a kind means.
    pub fn describe_fortran(&self, kind: HandleKind, index: i64, depth: Depth) -> Handle {
        let mut handle = Handle { kind, fortran: Some(index), ..Handle::default() };
        let Some(place) = kinds::of(kind) else {
            handle.state = HandleState::Invalid;
            "a status is not a handle: name its address".clone_into(&mut handle.summary);
            handle.detail = Some(handle.summary.clone());
            return handle;
        };
        match table::object_of(self, place, index) {
            Ok(Some(addr)) => self.describe(kind, addr.get(), depth),
            Ok(None) => {
                let detail = format!("the Fortran integer {index} stands for no {} of this process", kind.noun());
                handle.fail(HandleState::Invalid, detail);
                handle
            }
            Err(error) => {
                unreadable(&mut handle, &error);
                handle
            }
        }
    }

    /// All objects of a kind that can be found, null handles left out.
    pub fn list(&self, kind: HandleKind) -> HandleList {
        let (addresses, reason) = self.addresses(kind);
        let describe = |addr: TargetAddr| self.describe(kind, addr.get(), Depth::Full);
        let handles = self.of_library(|| addresses.into_iter().map(describe).collect());
        HandleList { kind, complete: reason.is_none(), detail: reason, handles }
    }

    /// The addresses of the objects of a kind, and why these are not all.
    fn addresses(&self, kind: HandleKind) -> (Vec<TargetAddr>, Option<String>) {
        let Some(place) = kinds::of(kind) else {
            return (
                Vec::new(),
                Some("a status belongs to the application: the library has no list of them".to_owned()),
            );
        };
        let mut reasons: Vec<String> = Vec::new();
        let mut found = match table::objects(self, place) {
            Ok(found) => found,
            Err(error) => {
                reasons.push(format!("the table {} could not be read: {error}", place.table));
                Vec::new()
            }
        };
        match kind {
            HandleKind::Datatype => datatype::more(self, &mut found, &mut reasons),
            HandleKind::Message => message::more(self, &mut found, &mut reasons),
            HandleKind::Request => request::more(self, &mut found, &mut reasons),
            HandleKind::Session => session::only_live(self, &mut found),
            _ => {}
        }
        if found.len() > MAX_LISTED {
            reasons.push(format!("there are {} of them; the first {MAX_LISTED} are shown", found.len()));
            found.truncate(MAX_LISTED);
        }
        (found, (!reasons.is_empty()).then(|| reasons.join("; ")))
    }

    /// Groups, for which the group of MPI_COMM_WORLD has been read; why world ranks are not known goes to `problems`.
    fn groups(&self, problems: &mut Vec<String>) -> &Groups<'a> {
        let told = self.world.get_or_init(|| {
            let mut problems = Vec::new();
            match required(self.target, super::detect::MARK) {
                Ok(world) => learn_world(self.target, self.shapes, &self.groups, world.addr, &mut problems),
                Err(error) => problems.push(error.to_string()),
            }
            problems
        });
        for problem in told {
            if !problems.contains(problem) {
                add_problem(problems, problem.clone());
            }
        }
        &self.groups
    }

    /// The pml ucx with all communicators, found once.
    fn ucx(&self) -> &Known<(Opened, Communicators)> {
        self.ucx.get_or_init(|| {
            let opened = Opened::find(self.target, self.layouts)??;
            let groups = self.groups(&mut Vec::new());
            let communicators = read_all(self.target, self.shapes, groups)?;
            Ok((opened, communicators))
        })
    }

    /// The pml cm, found once.
    fn cm(&self) -> &Known<held::Opened> {
        self.cm.get_or_init(|| {
            let groups = self.groups(&mut Vec::new());
            // Only groups that were read tell which process has which connection; without them ranks are not known.
            let _ = read_all(self.target, self.shapes, groups);
            held::Opened::find(self.target, self.layouts, groups).map_err(Reason::of)
        })
    }

    /// Does something with objects that were found in the library: nobody knows whether the program has their handles.
    fn of_library<R>(&self, act: impl FnOnce() -> R) -> R {
        let before = self.in_library.replace(true);
        let result = act();
        self.in_library.set(before);
        result
    }

    /// Whether what is described now was found in the library.
    fn found_in_library(&self) -> bool {
        self.in_library.get()
    }

    /// The address of a symbol of the library.
    fn symbol(&self, name: &str) -> Result<Option<TargetAddr>, TargetError> {
        Ok(self.target.symbol(name)?.map(|symbol| symbol.addr))
    }

    /// A flag of the library's headers; none of its bits where no layout source knows it.
    fn flag(&self, name: &str) -> u64 {
        self.layouts.constant(name).map_or(0, |value| value as u64)
    }
}
