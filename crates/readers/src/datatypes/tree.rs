//! Datatypes and the datatypes that they were made of, each read once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::Source;
use super::envelope::{Combiner, Envelope, Kind};
use super::type_map::{TooLarge, TypeMap};
use crate::ReaderError;
use target::address::TargetAddr;

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
    /// By what its source knows it: an address, or a handle.
    pub addr: TargetAddr,
    pub name: String,
    /// The number by which its source knows of which predefined datatype it is a copy.
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
    /// Where its source finds the arguments of the call that made it; null: nowhere.
    pub args: TargetAddr,
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
    source: &'r dyn Source,
    nodes: RefCell<HashMap<TargetAddr, Rc<Node>>>,
    envelopes: RefCell<HashMap<TargetAddr, Rc<Envelope>>>,
    maps: RefCell<HashMap<TargetAddr, Rc<TypeMap>>>,
    /// The predefined datatypes of the maps, in the order in which they were met.
    leaves: RefCell<Vec<Rc<Node>>>,
    arguments: RefCell<usize>,
}

impl<'r> Tree<'r> {
    /// Nothing is read yet.
    pub fn new(source: &'r dyn Source) -> Self {
        Self {
            source,
            nodes: RefCell::default(),
            envelopes: RefCell::default(),
            maps: RefCell::default(),
            leaves: RefCell::default(),
            arguments: RefCell::new(0),
        }
    }

    /// Who knows them.
    pub fn source(&self) -> &'r dyn Source {
        self.source
    }

    /// The datatype that the source knows by `addr`.
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
        let node = Rc::new(self.source.node(addr)?);
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
        let envelope = Rc::new(self.source.envelope(node, usize::MAX)?);
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
        self.source.envelope(node, limit).map(Some)
    }

    /// The name that a number has in mpi.h, as an argument of that kind.
    pub fn constant(&self, kind: Kind, number: i64) -> Option<&'static str> {
        let names: &[&'static str] = match kind {
            Kind::Order => &["MPI_ORDER_C", "MPI_ORDER_FORTRAN"],
            Kind::Distributions(_) => &["MPI_DISTRIBUTE_BLOCK", "MPI_DISTRIBUTE_CYCLIC", "MPI_DISTRIBUTE_NONE"],
            Kind::DistributionArguments(_) => &["MPI_DISTRIBUTE_DFLT_DARG"],
            _ => &[],
        };
        names.iter().find(|name| self.source.constant(name) == Some(number)).copied()
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

    /// The predefined datatype of which `node` is a copy for Fortran.
    ///
    /// # Errors
    /// Where there is none.
    pub fn basic(&self, node: &Node) -> Result<Rc<Node>, ReaderError> {
        let basic = self.node(self.source.basic(node)?)?;
        if basic.size != node.size {
            let what = format!("the datatype at {} is not a copy of a predefined one", node.addr);
            return Err(ReaderError::Damaged(what));
        }
        Ok(basic)
    }
}
