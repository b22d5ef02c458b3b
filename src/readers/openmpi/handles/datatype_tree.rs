//! Datatypes and the datatypes that they were made of, each read once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::HandleReader;
use super::envelope::{Combiner, Envelope, Kind};
use super::type_map::{TooLarge, TypeMap};
use crate::address::TargetAddr;
use crate::readers::ReaderError;
use crate::readers::record::{Record, shape};
use crate::target::printable;

shape!(
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
    }
);

/// Longest name that is read, in bytes (MPI_MAX_OBJECT_NAME is 64).
const MAX_NAME: usize = 256;

/// Datatypes are made of one another at most this deep.
const MAX_DEPTH: usize = 64;

/// At most this many datatypes are read to understand one.
const MAX_NODES: usize = 10_000;

/// Arguments of all datatypes that are read to understand one: at most this many.
const MAX_ALL_ARGUMENTS: usize = 1 << 21;

/// One datatype's own numbers. Bytes.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Node {
    pub addr: TargetAddr,
    pub name: String,
    pub id: i64,
    pub predefined: bool,
    pub committed: bool,
    /// Whether the application set a bound, in it or in a part of it.
    pub user_bounds: bool,
    pub size: u64,
    pub lb: i64,
    pub ub: i64,
    pub true_lb: i64,
    pub true_ub: i64,
    /// Its extent is a multiple of this, unless the application set it.
    pub align: u64,
    args: TargetAddr,
}

impl Node {
    /// Its extent in bytes.
    pub const fn extent(&self) -> i64 {
        // Wrong only where the bounds are damaged, and then no longer wrong than they are.
        self.ub.wrapping_sub(self.lb)
    }
}

/// Reads datatypes.
pub struct Tree<'r> {
    reader: &'r HandleReader<'r>,
    shape: Shape,
    predefined: u64,
    committed: u64,
    user_bounds: u64,
    /// The classes of datatypes: the application's, and predefined ones (see `object`). Empty where symbols do not tell.
    classes: Vec<TargetAddr>,
    nodes: RefCell<HashMap<TargetAddr, Rc<Node>>>,
    envelopes: RefCell<HashMap<TargetAddr, Rc<Envelope>>>,
    maps: RefCell<HashMap<TargetAddr, Rc<TypeMap>>>,
    /// The predefined datatypes of the maps, in the order in which they were met.
    leaves: RefCell<Vec<Rc<Node>>>,
    arguments: RefCell<usize>,
}

impl<'r> Tree<'r> {
    /// Nothing is read yet.
    ///
    /// # Errors
    /// Where a field or constant is not known.
    pub fn new(reader: &'r HandleReader<'r>) -> Result<Self, ReaderError> {
        let flag = |name: &str| reader.layouts.constant(name).map(|value| value as u64);
        let classes = [reader.symbol("ompi_datatype_t_class")?, reader.symbol("opal_datatype_t_class")?];
        Ok(Self {
            reader,
            shape: Shape::resolve(reader.layouts)?,
            predefined: flag("OMPI_DATATYPE_FLAG_PREDEFINED")?,
            committed: flag("OPAL_DATATYPE_FLAG_COMMITTED")?,
            user_bounds: flag("OPAL_DATATYPE_FLAG_USER_LB")? | flag("OPAL_DATATYPE_FLAG_USER_UB")?,
            classes: classes.into_iter().flatten().collect(),
            nodes: RefCell::default(),
            envelopes: RefCell::default(),
            maps: RefCell::default(),
            leaves: RefCell::default(),
            arguments: RefCell::new(0),
        })
    }

    /// The datatype at `addr`.
    ///
    /// # Errors
    /// Where it cannot be read, or none stands there.
    pub fn node(&self, addr: TargetAddr) -> Result<Rc<Node>, ReaderError> {
        if let Some(known) = self.nodes.borrow().get(&addr) {
            return Ok(Rc::clone(known));
        }
        if self.nodes.borrow().len() >= MAX_NODES {
            return Err(ReaderError::Damaged(format!("a datatype is made of more than {MAX_NODES} others")));
        }
        let shape = &self.shape;
        let mut buffer = Vec::new();
        let record = Record::read(self.reader.target, addr, shape.size, &mut buffer)?;
        let class = record.pointer(self.reader.shapes.object.class);
        if !self.classes.is_empty() && !self.classes.contains(&class) {
            return Err(ReaderError::Damaged(format!("no datatype stands at {addr}")));
        }
        let flags = record.uint(shape.flags);
        let node = Rc::new(Node {
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
        });
        self.nodes.borrow_mut().insert(addr, Rc::clone(&node));
        Ok(node)
    }

    /// How a datatype was made; `None` where the library made it for itself and holds no arguments.
    ///
    /// # Errors
    /// Where the arguments cannot be read or cannot be right.
    pub fn envelope(&self, node: &Node) -> Result<Option<Rc<Envelope>>, ReaderError> {
        if node.args.is_null() {
            return Ok(node.predefined.then(|| Rc::new(Envelope::named())));
        }
        if let Some(known) = self.envelopes.borrow().get(&node.addr) {
            return Ok(Some(Rc::clone(known)));
        }
        let envelope = Rc::new(Envelope::read(self.reader, node.args, usize::MAX)?);
        let mut arguments = self.arguments.borrow_mut();
        *arguments += envelope.lens.iter().sum::<usize>();
        if *arguments > MAX_ALL_ARGUMENTS {
            return Err(ReaderError::Damaged(format!(
                "a datatype and those that it is made of have more than {MAX_ALL_ARGUMENTS} arguments"
            )));
        }
        self.envelopes.borrow_mut().insert(node.addr, Rc::clone(&envelope));
        Ok(Some(envelope))
    }

    /// The first `limit` arguments of each sort, for a summary.
    ///
    /// # Errors
    /// As [`Tree::envelope`].
    pub fn short_envelope(&self, node: &Node, limit: usize) -> Result<Option<Envelope>, ReaderError> {
        if node.args.is_null() {
            return Ok(node.predefined.then(Envelope::named));
        }
        Envelope::read(self.reader, node.args, limit).map(Some)
    }

    /// The name that a number has in mpi.h, as an argument of that kind.
    pub fn constant(&self, kind: Kind, number: i64) -> Option<&'static str> {
        let names: &[&'static str] = match kind {
            Kind::Order => &["MPI_ORDER_C", "MPI_ORDER_FORTRAN"],
            Kind::Distributions(_) => &["MPI_DISTRIBUTE_BLOCK", "MPI_DISTRIBUTE_CYCLIC", "MPI_DISTRIBUTE_NONE"],
            Kind::DistributionArguments(_) => &["MPI_DISTRIBUTE_DFLT_DARG"],
            _ => &[],
        };
        names.iter().find(|name| self.reader.layouts.constant(name).ok() == Some(number)).copied()
    }

    /// The predefined datatype with that number in a map.
    pub fn leaf(&self, index: usize) -> Option<Rc<Node>> {
        self.leaves.borrow().get(index).map(Rc::clone)
    }

    /// The type map of a datatype.
    ///
    /// # Errors
    /// Where it or a datatype that it was made of cannot be read, or they cannot be right.
    pub fn map(&self, node: &Node) -> Result<Rc<TypeMap>, ReaderError> {
        self.map_at(node, &mut Vec::new())
    }

    fn map_at(&self, node: &Node, path: &mut Vec<TargetAddr>) -> Result<Rc<TypeMap>, ReaderError> {
        if let Some(known) = self.maps.borrow().get(&node.addr) {
            return Ok(Rc::clone(known));
        }
        if path.contains(&node.addr) {
            return Err(ReaderError::Damaged(format!("the datatype at {} is made of itself", node.addr)));
        }
        if path.len() >= MAX_DEPTH {
            return Err(ReaderError::Damaged(format!("datatypes are made of one another more than {MAX_DEPTH} deep")));
        }
        let Some(envelope) = self.envelope(node)? else {
            return Err(ReaderError::Damaged(format!("the datatype at {} has no arguments", node.addr)));
        };
        path.push(node.addr);
        let map = self.made(node, &envelope, path)?;
        path.pop();
        let map = Rc::new(map);
        self.maps.borrow_mut().insert(node.addr, Rc::clone(&map));
        Ok(map)
    }

    fn made(&self, node: &Node, envelope: &Envelope, path: &mut Vec<TargetAddr>) -> Result<TypeMap, ReaderError> {
        let too_large = |_: TooLarge| {
            ReaderError::Damaged(format!("the datatype at {} spans more than 64 bits can address", node.addr))
        };
        if matches!(envelope.combiner(), Combiner::Named) {
            return self.leaf_map(node).map_err(too_large);
        }
        if matches!(envelope.combiner(), Combiner::F90Real | Combiner::F90Complex | Combiner::F90Integer) {
            return self.leaf_map(&*self.basic(node)?).map_err(too_large);
        }
        let mut parts = Vec::new();
        for &addr in &envelope.datatypes {
            let part = self.node(addr)?;
            let mut map = (*self.map_at(&part, path)?).clone();
            // The library's own bounds, so that one datatype's disagreement is not told of all that are made of it.
            map.bounds = Some((part.lb, part.ub));
            parts.push((map, part.extent()));
        }
        super::expand::expand(envelope, &parts).map_err(too_large)
    }

    fn leaf_map(&self, node: &Node) -> Result<TypeMap, TooLarge> {
        let mut leaves = self.leaves.borrow_mut();
        let index = leaves.iter().position(|leaf| leaf.addr == node.addr).unwrap_or_else(|| {
            leaves.push(Rc::new(node.clone()));
            leaves.len() - 1
        });
        TypeMap::of_leaf(index, (node.lb, node.ub))
    }

    /// The predefined datatype of which `node` is a copy for Fortran, by the number that the copy keeps
    /// (`ompi_datatype_duplicate`, ompi/datatype/ompi_datatype_create.c, v4.1.4 and v5.0.7).
    ///
    /// # Errors
    /// Where there is none.
    pub fn basic(&self, node: &Node) -> Result<Rc<Node>, ReaderError> {
        let none = || ReaderError::Damaged(format!("the datatype at {} is no copy of a predefined one", node.addr));
        let symbol = self.reader.target.symbol("ompi_datatype_basicDatatypes")?;
        let table = symbol.ok_or(ReaderError::NoSymbol("ompi_datatype_basicDatatypes"))?;
        let width = self.reader.target.abi().pointer_width.bytes();
        // The table has some 50 entries; its symbol tells how many.
        let entries = table.size.map_or(64, |size| size / width);
        let index = u64::try_from(node.id).ok().filter(|index| *index < entries).ok_or_else(none)?;
        let basic = self.node(self.reader.target.read_pointer(table.addr.wrapping_add(index * width))?)?;
        if basic.size != node.size { Err(none()) } else { Ok(basic) }
    }
}
