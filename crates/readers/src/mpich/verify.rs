//! Whether layouts fit a process: the sizes of its objects, and what is known of MPI_COMM_WORLD and MPI_COMM_SELF.

use super::communicators::{WORLD, live};
use super::handle_value::{HandleValue, ObjectKind, Place};
use super::pools::Pools;
use super::shapes::Shapes;
use crate::record::Record;
use layouts::{Difference, Layouts, Verification};
use target::{Target, printable};

/// Without the size of communicators and the two that every process has with MPI_Init, nothing can be said.
const NEEDED: &[&str] = &["MPIR_Comm", "MPI_COMM_WORLD", "MPI_COMM_SELF"];

/// MPI_COMM_SELF.
const OWN: HandleValue = HandleValue(WORLD.0 + 1);

/// A process that has only sessions lacks at least MPI_COMM_SELF.
const NEEDED_WITH_SESSIONS: &[&str] = &["MPIR_Comm", "MPIR_Session", "communicators of sessions"];

/// Compares layouts with a process. `name` is what the source of the layouts is called.
pub fn verify(target: &dyn Target, layouts: &Layouts, pools: &Pools, name: &str) -> Verification {
    let mut found = Verification { profile: name.to_owned(), needed: NEEDED, ..Verification::default() };
    for kind in ObjectKind::ALL {
        // What these two numbers stand for depends on the device and release.
        if matches!(kind, ObjectKind::File | ObjectKind::Vconn | ObjectKind::Internal) {
            continue;
        }
        let type_name = kind.type_name();
        match (pools.stride(kind), layouts.size_of(type_name)) {
            (Some(stride), Ok(size)) if stride == size => found.checked.push(type_name.to_owned()),
            (Some(stride), Ok(size)) => found.differences.push(Difference {
                type_name: type_name.to_owned(),
                expected: format!("{size} bytes"),
                found: format!("{stride} bytes"),
            }),
            (None, Ok(_)) => found.absent.push(type_name.to_owned()),
            (_, Err(_)) => {}
        }
    }
    if !found.differences.is_empty() {
        return found;
    }
    lists(target, layouts, &mut found);
    match Shapes::resolve(layouts) {
        Ok(shapes) if pools.address_of(target, OWN).is_none() && pools.has_session(target) => {
            found.needed = NEEDED_WITH_SESSIONS;
            of_sessions(target, &shapes, pools, &mut found);
        }
        Ok(shapes) => predefined(target, &shapes, pools, &mut found),
        Err(error) => found.differences.push(Difference {
            type_name: "members".to_owned(),
            expected: error.to_string(),
            found: "MPICH's communicators".to_owned(),
        }),
    }
    found
}

/// A library with lists for debuggers names its plug-in. Up to 4.0 a request's union has a member more in it, which moves
/// others and leaves all sizes as they are (`MPIR_Request.u.persist.dbg_next`, src/include/mpir_request.h).
fn lists(target: &dyn Target, layouts: &Layouts, found: &mut Verification) {
    let Ok(symbol) = target.symbol("MPIR_dll_name") else { return };
    let described = ["MPIR_Sendq", "MPIR_Debugq"].iter().any(|name| layouts.size_of(name).is_ok());
    let said = |has: bool| if has { "lists for debuggers (--enable-debuginfo)" } else { "no lists for debuggers" };
    if symbol.is_some() != described {
        found.differences.push(Difference {
            type_name: "MPIR_Request".to_owned(),
            expected: said(described).to_owned(),
            found: said(symbol.is_some()).to_owned(),
        });
    }
}

/// All communicators in use must have ranks below their sizes; one that is being made has no size yet.
fn of_sessions(target: &dyn Target, shapes: &Shapes, pools: &Pools, found: &mut Verification) {
    let shape = &shapes.communicator;
    let mut buffer = Vec::new();
    let live = live(target, shapes, pools, ObjectKind::Comm, &mut Vec::new()).unwrap_or_default();
    for (at, _) in live {
        let record = match Record::read(target, at, shape.size, &mut buffer) {
            Ok(record) => record,
            Err(error) => {
                found.unread.get_or_insert(error);
                return;
            }
        };
        let (rank, size) = (record.int(shape.rank), record.int(shape.group_size));
        if size != 0 && !(0..size).contains(&rank) {
            found.differences.push(Difference {
                type_name: "MPIR_Comm".to_owned(),
                expected: "a rank below the size".to_owned(),
                found: format!("rank {rank} of {size}"),
            });
            return;
        }
    }
    found.checked.push("communicators of sessions".to_owned());
}

/// What one of the two predefined communicators says of itself.
struct Predefined {
    name: String,
    rank: i64,
    size: i64,
    context: u64,
}

fn predefined(target: &dyn Target, shapes: &Shapes, pools: &Pools, found: &mut Verification) {
    let read = |index: u32, found: &mut Verification| -> Option<Predefined> {
        let handle = HandleValue(HandleValue::first(Place::Builtin, ObjectKind::Comm).0 | index);
        let at = pools.address_of(target, handle)?;
        let shape = &shapes.communicator;
        match Record::owned(target, at, shape.size) {
            Ok(record) => Some(Predefined {
                name: record.text(shape.name, 64, target).map(|name| printable(&name)).unwrap_or_default(),
                rank: record.int(shape.rank),
                size: record.int(shape.group_size),
                context: record.uint(shape.receive_context),
            }),
            Err(error) => {
                found.unread.get_or_insert(error);
                None
            }
        }
    };
    let (Some(world), Some(own)) = (read(0, found), read(1, found)) else { return };
    let mut differ = |type_name: &str, expected: &str, said: String| {
        found.differences.push(Difference {
            type_name: type_name.to_owned(),
            expected: expected.to_owned(),
            found: said,
        });
    };
    if world.rank < 0 || world.rank >= world.size {
        differ("MPI_COMM_WORLD", "a rank below the size", format!("rank {} of {}", world.rank, world.size));
    }
    if (own.rank, own.size) != (0, 1) {
        differ("MPI_COMM_SELF", "rank 0 of 1", format!("rank {} of {}", own.rank, own.size));
    }
    if world.context == own.context {
        differ("MPI_COMM_SELF", "a context id of its own", format!("that of MPI_COMM_WORLD, {}", own.context));
    }
    // An application may rename them; it does not rename both.
    if world.name != "MPI_COMM_WORLD" && own.name != "MPI_COMM_SELF" {
        differ("MPI_COMM_WORLD", "its name", format!("{:?}, and {:?} for MPI_COMM_SELF", world.name, own.name));
    }
    if found.differences.is_empty() {
        found.checked.extend(["MPI_COMM_WORLD".to_owned(), "MPI_COMM_SELF".to_owned()]);
    }
}
