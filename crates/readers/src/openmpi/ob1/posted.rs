//! The lists of posted receives of one communicator, compared with the requests of the pool.
//!
//! ob1 has a list for receives from any source and one for each peer. The pool has the same requests and is cheaper to
//! read; but a blocking probe's request lies on the stack of its thread (ompi/mca/pml/ob1/pml_ob1_iprobe.c, v4.1.4 and
//! v5.0.7), and only its list knows it. A list is walked where it does not have the requests that the pool has for it.

use std::collections::HashMap;

use super::requests::{Decoded, Decoder};
use super::shapes::Ob1Shapes;
use crate::openmpi::shapes::Shapes;
use crate::record::Record;
use crate::walk::circular_list;
use target::address::TargetAddr;
use target::{Target, TargetError};

/// After this many problems the other lists are left alone.
const MAX_PROBLEMS: usize = 4;

/// The lists of posted receives of one communicator.
#[derive(Default)]
pub struct PostedLists {
    /// Each list, after the peer's rank as requests name it (any source for the one that all share).
    lists: Vec<(i64, TargetAddr)>,
}

/// What the lists are read with.
pub struct ListReader<'a> {
    /// The process.
    pub target: &'a dyn Target,
    /// Structures that every pml shares.
    pub shapes: &'a Shapes,
    /// Structures of ob1.
    pub ob1: &'a Ob1Shapes,
}

impl PostedLists {
    /// Adds the list of receives from `peer`.
    pub fn add(&mut self, peer: i64, list: TargetAddr) {
        self.lists.push((peer, list));
    }

    /// Adds the requests that only the lists have to `receives`, at most `room` of them. Returns sentences about lists that
    /// do not fit the requests.
    pub fn complete(
        &self,
        reader: &ListReader<'_>,
        decoder: &mut Decoder<'_>,
        receives: &mut Vec<Decoded>,
        room: &mut usize,
    ) -> Vec<String> {
        let mut expected: HashMap<i64, u64> = HashMap::new();
        for receive in receives.iter().filter(|receive| receive.posted) {
            *expected.entry(receive.peer).or_default() += 1;
        }
        let mut problems = Vec::new();
        // The peers of posted requests by address; filled for the first list that does not fit.
        let mut known: HashMap<TargetAddr, Option<i64>> = HashMap::new();
        for &(peer, list) in &self.lists {
            let expected = expected.remove(&peer).unwrap_or_default();
            if reader.fits(list, expected).unwrap_or_default() {
                continue;
            }
            if known.is_empty() {
                known.extend(receives.iter().map(|one| (one.request, one.posted.then_some(one.peer))));
            }
            let found = reader.walk(peer, list, decoder, receives, &mut known, room, &mut problems);
            if found < expected {
                problems.push(format!("{} posted receives are not in their list", expected - found));
            }
            if problems.len() >= MAX_PROBLEMS {
                return problems;
            }
        }
        let without_list: u64 = expected.values().sum();
        if without_list > 0 {
            problems.push(format!("{without_list} posted receives are for peers that ob1 does not know"));
        }
        problems
    }
}

impl ListReader<'_> {
    /// Whether a list has as many elements as the pool has requests for it, as far as its head tells.
    fn fits(&self, list: TargetAddr, expected: u64) -> Result<bool, TargetError> {
        let sentinel = self.shapes.list.sentinel.address_in(list);
        let first = self.shapes.list_item.next.read_pointer(self.target, sentinel)?;
        Ok(self.len(list)? == expected && (expected == 0) == (first == sentinel))
    }

    fn len(&self, list: TargetAddr) -> Result<u64, TargetError> {
        let len = self.shapes.list.len;
        len.read_uint(self.target, list)
    }

    /// Walks a list and takes what is not known. Returns how many of its elements the pool has for it.
    #[allow(clippy::too_many_arguments)]
    fn walk(
        &self,
        peer: i64,
        list: TargetAddr,
        decoder: &mut Decoder<'_>,
        receives: &mut Vec<Decoded>,
        known: &mut HashMap<TargetAddr, Option<i64>>,
        room: &mut usize,
        problems: &mut Vec<String>,
    ) -> u64 {
        let sentinel = self.shapes.list.sentinel.address_in(list);
        let next = self.shapes.list_item.next.offset as u64;
        let walk = circular_list(self.target, sentinel, next, *room + receives.len());
        let linked = walk.elements.len() as u64;
        let mut expected = 0;
        let mut buffer = Vec::new();
        for at in walk.elements {
            match known.get(&at) {
                Some(of) if *of == Some(peer) => {
                    expected += 1;
                    continue;
                }
                Some(_) => problems.push(format!("the request at {at} is in a list where it does not belong")),
                None => {
                    *room = room.saturating_sub(1);
                    let decoded = Record::read(self.target, at, self.ob1.receive.size, &mut buffer)
                        .map(|record| decoder.receive(&record));
                    match decoded {
                        Ok(Some(decoded)) => {
                            if decoded.peer != peer || !decoded.posted {
                                problems.push(format!("the request at {at} is in a list where it does not belong"));
                            }
                            known.insert(at, Some(decoded.peer));
                            receives.push(decoded);
                        }
                        Ok(None) => problems.push(format!("there is no request at {at}")),
                        Err(error) => problems.push(error.to_string()),
                    }
                }
            }
            if problems.len() >= MAX_PROBLEMS {
                break;
            }
        }
        match (walk.stopped, self.len(list)) {
            (Some(stop), _) => problems.push(stop.to_string()),
            (None, Err(error)) => problems.push(error.to_string()),
            (None, Ok(len)) if len != linked => {
                problems.push(format!("a list has {linked} elements but says that it has {len}"));
            }
            _ => {}
        }
        expected
    }
}
