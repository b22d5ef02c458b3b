//! Datatypes.

use super::{Depth, HandleReader};
use crate::ReaderError;
use crate::datatypes::envelope::{Combiner, Envelope, Kept, Numbers, lengths};
use crate::datatypes::tree::{Node, Tree};
use crate::datatypes::{self, Source};
use crate::record::{Record, Slot, shapes};
use model::handle::{Reference, References};
use model::{Handle, HandleKind, Known};
use target::address::TargetAddr;
use target::printable;

shapes! {
    /// Datatypes.
    Shape = ["ompi_datatype_t"] {
        name: "name",
        id: "id",
        flags: "super.flags",
        bytes: "super.size",
        lb: "super.lb",
        ub: "super.ub",
        true_lb: "super.true_lb",
        true_ub: "super.true_ub",
        align: "super.align",
        args: "args",
    };
    /// What the library keeps of the call that made a datatype: `ompi_datatype_set_args`
    /// (ompi/datatype/ompi_datatype_args.c, v4.1.4 and v5.0.7).
    Arguments = ["ompi_datatype_args_t"] {
        combiner: "create_type",
        integers: "i",
        integers_len: "ci",
        addresses: "a",
        addresses_len: "ca",
        datatypes: "d",
        datatypes_len: "cd",
    } optional {
        counts: "l",
        counts_len: "cl",
    };
}

/// Longest name that is read, in bytes (MPI_MAX_OBJECT_NAME is 64).
const MAX_NAME: usize = 256;

/// `MPI_ORDER_C`, `MPI_DISTRIBUTE_BLOCK`, `MPI_DISTRIBUTE_CYCLIC`, `MPI_DISTRIBUTE_DFLT_DARG` (ompi/include/mpi.h.in, v4.1.4
/// and v5.0.7).
const NUMBERS: Numbers = Numbers { order_c: 0, block: 0, cyclic: 1, default_argument: -1 };

/// Adds what the object at `addr` holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, addr: TargetAddr, depth: Depth, handle: &mut Handle) -> Result<(), ReaderError> {
    datatypes::read(&Datatypes::new(reader)?, addr, depth, handle).map(|_| ())
}

/// Open MPI's datatypes, by the addresses of their objects.
struct Datatypes<'r> {
    reader: &'r HandleReader<'r>,
    shape: Shape,
    predefined: u64,
    committed: u64,
    user_bounds: u64,
    /// The classes of datatypes: the application's, and predefined ones (see `object`). Empty where symbols do not tell.
    classes: Vec<TargetAddr>,
}

impl<'r> Datatypes<'r> {
    fn new(reader: &'r HandleReader<'r>) -> Result<Self, ReaderError> {
        let flag = |name: &str| reader.layouts.constant(name).map(|value| value as u64);
        let classes = [reader.symbol("ompi_datatype_t_class")?, reader.symbol("opal_datatype_t_class")?];
        Ok(Self {
            reader,
            shape: Shape::resolve(reader.layouts)?,
            predefined: flag("OMPI_DATATYPE_FLAG_PREDEFINED")?,
            committed: flag("OPAL_DATATYPE_FLAG_COMMITTED")?,
            user_bounds: flag("OPAL_DATATYPE_FLAG_USER_LB")? | flag("OPAL_DATATYPE_FLAG_USER_UB")?,
            classes: classes.into_iter().flatten().collect(),
        })
    }

    /// An array of `len` arguments of `size` bytes.
    fn array(&self, record: &Record<'_>, slot: Slot, len: usize, size: usize) -> Result<Vec<u8>, ReaderError> {
        // An array of length 0 is a null pointer.
        if len == 0 {
            return Ok(Vec::new());
        }
        Ok(self.reader.target.read_bytes(record.pointer(slot), len * size)?)
    }
}

impl Source for Datatypes<'_> {
    fn node(&self, addr: TargetAddr) -> Result<Node, ReaderError> {
        let shape = &self.shape;
        let record = Record::owned(self.reader.target, addr, shape.size)?;
        let class = record.pointer(self.reader.shapes.object.class);
        if !self.classes.is_empty() && !self.classes.contains(&class) {
            return Err(ReaderError::Damaged(format!("no datatype is at {addr}")));
        }
        let flags = record.uint(shape.flags);
        Ok(Node {
            addr,
            name: printable(&record.text(shape.name, MAX_NAME, self.reader.target)?),
            id: record.int(shape.id),
            predefined: flags & self.predefined != 0,
            committed: flags & self.committed != 0,
            user_bounds: flags & self.user_bounds != 0,
            size: record.uint(shape.bytes),
            lb: record.int(shape.lb),
            ub: record.int(shape.ub),
            true_lb: record.int(shape.true_lb),
            true_ub: record.int(shape.true_ub),
            align: record.uint(shape.align),
            args: record.pointer(shape.args),
        })
    }

    fn envelope(&self, node: &Node, limit: usize) -> Result<Envelope, ReaderError> {
        let shape = Arguments::resolve(self.reader.layouts)?;
        let at = node.args;
        let record = Record::owned(self.reader.target, at, shape.size)?;
        let lens =
            lengths(at, [shape.integers_len, shape.addresses_len, shape.datatypes_len].map(|slot| record.int(slot)))?;
        let [counts_len] = lengths(at, [shape.counts_len.map_or(0, |slot| record.int(slot))])?;
        let abi = self.reader.target.abi();
        let width = abi.pointer_width.bytes() as usize;
        let numbers = |slot: Slot, len: usize, size: usize| -> Result<Vec<i64>, ReaderError> {
            let bytes = self.array(&record.view(), slot, len.min(limit), size)?;
            Ok(bytes.chunks_exact(size).map(|bytes| abi.int(bytes)).collect())
        };
        let datatypes = self.array(&record.view(), shape.datatypes, lens[2].min(limit), width)?;
        // A C int has four bytes wherever MPI runs.
        let kept = Kept {
            at,
            combiner: record.int(shape.combiner),
            integers: numbers(shape.integers, lens[0], 4)?,
            addresses: numbers(shape.addresses, lens[1], width)?,
            counts: shape.counts.map(|slot| numbers(slot, counts_len, width)).transpose()?.unwrap_or_default(),
            datatypes: datatypes.chunks_exact(width).map(|bytes| TargetAddr::new(abi.uint(bytes))).collect(),
            lens,
            counts_len,
        };
        Envelope::new(kept, NUMBERS, |name| self.constant(name))
    }

    /// By the number that the copy keeps (`ompi_datatype_duplicate`, ompi/datatype/ompi_datatype_create.c, v4.1.4 and
    /// v5.0.7).
    fn basic(&self, node: &Node) -> Result<TargetAddr, ReaderError> {
        let none = || ReaderError::Damaged(format!("the datatype at {} is not a copy of a predefined one", node.addr));
        let symbol = self.reader.target.symbol("ompi_datatype_basicDatatypes")?;
        let table = symbol.ok_or(ReaderError::NoSymbol("ompi_datatype_basicDatatypes"))?;
        let width = self.reader.target.abi().pointer_width.bytes();
        // The table has some 50 entries; its symbol tells how many.
        let entries = table.size.map_or(64, |size| size / width);
        let index = u64::try_from(node.id).ok().filter(|index| *index < entries).ok_or_else(none)?;
        Ok(self.reader.target.read_pointer(table.addr.wrapping_add(index * width))?)
    }

    fn constant(&self, name: &str) -> Option<i64> {
        self.reader.layouts.constant(name).ok()
    }

    fn reference(&self, addr: TargetAddr) -> Option<Reference> {
        self.reader.reference(HandleKind::Datatype, addr)
    }

    fn handle(&self, addr: TargetAddr) -> String {
        addr.to_string()
    }

    /// Copies are called after what was copied (`ompi_datatype_duplicate`, ompi/datatype/ompi_datatype_create.c, v4.1.4 and
    /// v5.0.7).
    fn named_by_library(&self, node: &Node, combiner: Combiner) -> bool {
        node.name == "Dup MPI_EMPTY"
            || matches!(combiner, Combiner::Dup | Combiner::Resized) && node.name.starts_with("Dup ")
            || matches!(combiner, Combiner::F90Real | Combiner::F90Complex | Combiner::F90Integer)
    }

    fn requests(&self, addr: TargetAddr) -> Known<References> {
        self.reader.requests(|found| found.objects.contains(&addr))
    }
}

/// Adds objects that are in no table of the library, and why these are not all.
pub fn more(reader: &HandleReader<'_>, found: &mut Vec<TargetAddr>, reasons: &mut Vec<String>) {
    let mut seen: std::collections::HashSet<TargetAddr> = found.iter().copied().collect();
    let mut add = |addr: TargetAddr, found: &mut Vec<TargetAddr>| {
        if !addr.is_null() && seen.insert(addr) {
            found.push(addr);
        }
    };
    if let Ok(source) = Datatypes::new(reader) {
        let tree = Tree::new(&source);
        for object in reader.requests_in_use().requests.iter().flat_map(|request| request.objects) {
            // Collectives also hold operators.
            if !object.is_null() && tree.node(object).is_ok() {
                add(object, found);
            }
        }
        // What the others were made of.
        let mut next = 0;
        while let Some(addr) = found.get(next).copied() {
            next += 1;
            let envelope = tree.node(addr).and_then(|node| tree.envelope(&node));
            if let Ok(Some(envelope)) = envelope {
                envelope.datatypes.iter().for_each(|part| add(*part, found));
            }
        }
    }
    reasons.push(
        "Open MPI keeps no list of datatypes: shown are predefined ones, those that Fortran knows, those of requests \
         that \
         were found, and those that they are made of"
            .to_owned(),
    );
}
