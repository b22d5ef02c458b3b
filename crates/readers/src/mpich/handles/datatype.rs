//! Datatypes (pmodels/mpich, src/include/mpir_datatype.h, v3.4 to v5.0).

use super::super::handle_value::{HandleValue, Place};
use super::predefined;
use super::value::{self, Meaning, Object};
use super::{Depth, HandleReader, NO_OBJECT};
use crate::ReaderError;
use crate::datatypes::envelope::{Combiner, Envelope, Kept, Numbers, lengths};
use crate::datatypes::tree::Node;
use crate::datatypes::{self, Source};
use crate::record::{Record, shapes};
use model::handle::{Reference, References};
use model::{Handle, HandleKind, Known};
use target::address::TargetAddr;
use target::printable;

shapes! {
    /// Datatypes.
    Shape = ["MPIR_Datatype"] {
        bytes: "size",
        lb: "lb",
        ub: "ub",
        true_lb: "true_lb",
        true_ub: "true_ub",
        name: "name",
        committed: "is_committed",
        basic: "basic_type",
        align: "alignsize",
        contents: "contents",
    };
    /// What the library keeps of the call that made a datatype; the arguments themselves stand behind it.
    Contents = ["MPIR_Datatype_contents"] {
        combiner: "combiner",
        integers: "nr_ints",
        addresses: "nr_aints",
        datatypes: "nr_types",
    } optional {
        counts: "nr_counts",
    };
}

/// Longest name that is read, in bytes (MPI_MAX_OBJECT_NAME is 128).
const MAX_NAME: usize = 256;

/// The mark of a datatype that only the library uses (`MPIR_TYPE_INTERNAL_MASK`, src/include/mpir_datatype.h, v5.0.1).
const OWN_TYPE: u32 = 0x0080_0000;

/// To what the arrays of arguments are aligned (`MAX_ALIGNMENT`, the alignment of `max_align_t`), in bytes: 16 on 64-bit
/// machines and on 32-bit x86, 8 on other 32-bit machines. The arguments themselves show which it is.
const ALIGNMENTS: &[usize] = &[16, 8];

/// Adds what the object holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, object: &Object, depth: Depth, handle: &mut Handle) -> Result<(), ReaderError> {
    let source = Datatypes { reader, shape: Shape::resolve(reader.layouts)? };
    handle.freed_leaves_no_mark(object.constant.is_some(), "MPI_Type_free", "other objects");
    if let (None, Some(name)) = (object.at, object.constant.filter(|_| size_of(object).is_none())) {
        handle.name = Some(name.to_owned());
        name.clone_into(&mut handle.summary);
        for fact in FACTS.iter().filter(|_| depth == Depth::Full) {
            handle.unknown(fact, NO_OBJECT);
        }
        return Ok(());
    }
    let combiner = datatypes::read(&source, key(object.value), depth, handle)?;
    if matches!(combiner, Some(Combiner::F90Real | Combiner::F90Complex | Combiner::F90Integer)) {
        // They are predefined ones without a name (MPI-4.1, 19.1.9).
        handle.predefined = Some(true);
    }
    Ok(())
}

/// What is not known of a predefined datatype of which only the name is.
const FACTS: &[&str] = &["size", "lb", "extent", "true_lb", "true_extent", "type_map", "holes", "sketch", "requests"];

/// The size that the handle of a predefined datatype says, in bytes; that of the two markers for bounds is none.
fn size_of(object: &Object) -> Option<u32> {
    let size = object.value.index() >> 8 & 0xff;
    let marker = matches!(object.constant, Some("MPI_LB" | "MPI_UB"));
    (object.value.place() == Place::Builtin && (size > 0 || marker)).then_some(size)
}

/// MPICH's datatypes, by their handles inside the library.
struct Datatypes<'r> {
    reader: &'r HandleReader<'r>,
    shape: Shape,
}

fn key(value: HandleValue) -> TargetAddr {
    TargetAddr::new(u64::from(value.0))
}

fn value_of(key: TargetAddr) -> HandleValue {
    HandleValue(key.get() as u32)
}

impl Datatypes<'_> {
    /// Where the datatype of a handle lies; `None` for a predefined one of which no object was found.
    fn find(&self, value: HandleValue) -> Result<Object, ReaderError> {
        if value.place() == Place::Builtin && value.0 & OWN_TYPE != 0 && predefined::datatype_name(value).is_none() {
            let what = format!("the library uses a datatype of its own, {:#x}, which has no name in MPI", value.0);
            return Err(ReaderError::NotRead(what));
        }
        match value::of_integer(self.reader, HandleKind::Datatype, value)? {
            Meaning::Live(object) => Ok(object),
            Meaning::Null(name) => Err(ReaderError::Damaged(format!("a datatype is made of {name}"))),
            Meaning::Freed(why) | Meaning::Invalid(why) => Err(ReaderError::Damaged(why)),
        }
    }

    /// The arguments, if they are aligned so.
    fn aligned(&self, node: &Node, limit: usize, alignment: usize) -> Result<Envelope, ReaderError> {
        let (reader, at) = (self.reader, node.args);
        let shape = Contents::resolve(reader.layouts)?;
        let record = Record::owned(reader.target, at, shape.size)?;
        let counts = shape.counts.map_or(0, |slot| record.int(slot));
        let [integers, addresses, datatypes, counts] = lengths(
            at,
            [record.int(shape.integers), record.int(shape.addresses), record.int(shape.datatypes), counts],
        )?;
        let abi = reader.target.abi();
        // MPI_Aint has the size of a pointer, a handle and an int have four bytes.
        let width = usize::try_from(abi.pointer_width.bytes()).unwrap_or(8);
        // Types, ints, addresses, counts, each array aligned but the third's end (`MPIR_Datatype_access_contents`).
        let types_at = shape.size.next_multiple_of(alignment);
        let integers_at = types_at + (datatypes * 4).next_multiple_of(alignment);
        let addresses_at = integers_at + (integers * 4).next_multiple_of(alignment);
        let counts_at = addresses_at + addresses * width;
        let array = |offset: usize, len: usize, size: usize| -> Result<Vec<i64>, ReaderError> {
            let len = len.min(limit);
            if len == 0 {
                return Ok(Vec::new());
            }
            let bytes = reader.target.read_bytes(at.wrapping_add(offset as u64), len * size)?;
            Ok(bytes.chunks_exact(size).map(|bytes| abi.int(bytes)).collect())
        };
        let kept = Kept {
            at,
            combiner: record.int(shape.combiner),
            integers: array(integers_at, integers, 4)?,
            addresses: array(addresses_at, addresses, width)?,
            counts: array(counts_at, counts, width)?,
            datatypes: array(types_at, datatypes, 4)?.into_iter().map(|one| key(HandleValue(one as u32))).collect(),
            lens: [integers, addresses, datatypes],
            counts_len: counts,
        };
        Envelope::new(kept, self.numbers(), |name| self.constant(name))
    }

    /// Those of mpi.h (src/include/mpi.h.in, v3.4.3 to v5.0.1), or of the ABI of MPI 5, which a profile of it has.
    fn numbers(&self) -> Numbers {
        let number = |name: &str, otherwise: i64| self.constant(name).unwrap_or(otherwise);
        Numbers {
            order_c: number("MPI_ORDER_C", 56),
            block: number("MPI_DISTRIBUTE_BLOCK", 121),
            cyclic: number("MPI_DISTRIBUTE_CYCLIC", 122),
            default_argument: number("MPI_DISTRIBUTE_DFLT_DARG", -49767),
        }
    }
}

impl Source for Datatypes<'_> {
    fn node(&self, addr: TargetAddr) -> Result<Node, ReaderError> {
        let object = self.find(value_of(addr))?;
        let Some(at) = object.at else {
            let size = size_of(&object).ok_or_else(|| ReaderError::NotRead(NO_OBJECT.to_owned()))?;
            return Ok(Node {
                addr,
                name: object.constant.unwrap_or_default().to_owned(),
                id: 0,
                predefined: true,
                committed: true,
                user_bounds: false,
                size: u64::from(size),
                lb: 0,
                ub: i64::from(size),
                true_lb: 0,
                true_ub: i64::from(size),
                align: 1,
                args: TargetAddr::NULL,
            });
        };
        let shape = &self.shape;
        let record = Record::owned(self.reader.target, at, shape.size)?;
        let name = printable(&record.text(shape.name, MAX_NAME, self.reader.target)?);
        let predefined = object.constant.is_some();
        Ok(Node {
            addr,
            name: match object.constant {
                Some(constant) if name.is_empty() => constant.to_owned(),
                _ => name,
            },
            id: record.int(shape.basic),
            predefined,
            committed: predefined || record.uint(shape.committed) != 0,
            // MPICH does not keep whether bounds are from MPI_Type_create_resized.
            user_bounds: true,
            size: record.uint(shape.bytes),
            lb: record.int(shape.lb),
            ub: record.int(shape.ub),
            true_lb: record.int(shape.true_lb),
            true_ub: record.int(shape.true_ub),
            align: record.uint(shape.align),
            args: if predefined { TargetAddr::NULL } else { record.pointer(shape.contents) },
        })
    }

    fn envelope(&self, node: &Node, limit: usize) -> Result<Envelope, ReaderError> {
        let mut first = None;
        for alignment in ALIGNMENTS {
            match self.aligned(node, limit, *alignment) {
                Ok(envelope) if envelope.datatypes.iter().all(|of| self.find(value_of(*of)).is_ok()) => {
                    return Ok(envelope);
                }
                Ok(_) => {
                    let what = format!("the datatype's arguments at {} name datatypes that do not exist", node.args);
                    first = first.or(Some(ReaderError::Damaged(what)));
                }
                Err(error) => first = first.or(Some(error)),
            }
        }
        Err(first.unwrap_or_else(|| ReaderError::NotRead("the datatype's arguments are not read".to_owned())))
    }

    /// The datatype of its elements (`basic_type`).
    fn basic(&self, node: &Node) -> Result<TargetAddr, ReaderError> {
        Ok(key(HandleValue(node.id as u32)))
    }

    fn constant(&self, name: &str) -> Option<i64> {
        self.reader.layouts.constant(name).ok()
    }

    fn reference(&self, addr: TargetAddr) -> Option<Reference> {
        Some(self.reader.reference_of_value(HandleKind::Datatype, value_of(addr)))
    }

    fn handle(&self, addr: TargetAddr) -> String {
        let value = value_of(addr);
        let object = self.find(value).unwrap_or(Object { value, at: None, constant: predefined::datatype_name(value) });
        format!("{:#x}", value::c_value(self.reader.process.abi, HandleKind::Datatype, &object))
    }

    fn named_by_library(&self, _: &Node, _: Combiner) -> bool {
        // MPICH names predefined datatypes only.
        false
    }

    fn requests(&self, _: TargetAddr) -> Known<References> {
        Err("where a request has its datatype depends on the transport, and is not read".into())
    }
}
