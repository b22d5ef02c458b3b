//! The lists that requests are on: of posted receives, of unexpected messages.
//!
//! Stock libraries have no symbol for the heads, which are variables of the library: they are found as words of its
//! writable memory that hold the address of a request from which the rest of a list is reached. The order of a list is
//! the order in which messages are matched (`MPIDIG_enqueue_request`, pmodels/mpich, src/mpid/ch4/src/mpidig_recvq.h,
//! v4.0 to v5.0; `MPIDI_CH3U_Recvq_FDU_or_AEP`, src/mpid/ch3/src/ch3u_recvq.c).

use std::collections::{HashMap, HashSet};

use super::handle_value::ObjectKind;
use super::pools::Pools;
use target::address::TargetAddr;
use target::{Range, Target, TargetError, fit, is_zero};

/// Bytes that are read together.
const CHUNK: u64 = 1 << 20;

/// Bytes that are left out at once where they are zero; a multiple of every word.
const LINE: usize = 64;

/// More words that may be heads are damage.
const MAX_HEADS: usize = 100_000;

/// The neighbours that a request names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Links {
    /// The next request of its list; null at the end.
    pub next: TargetAddr,
    /// The one before, and for the first one the last; `None` where lists have one direction only.
    pub prev: Option<TargetAddr>,
}

/// A list that hangs on a variable of the library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List {
    /// Where the variable is.
    pub head_at: TargetAddr,
    /// The requests, the first one first.
    pub requests: Vec<TargetAddr>,
}

/// Finds the lists whose elements are all among `links`.
///
/// # Errors
/// Where the process is gone; memory that cannot be read has no heads.
pub fn find(target: &dyn Target, pools: &Pools, links: &HashMap<TargetAddr, Links>) -> Result<Vec<List>, TargetError> {
    let Some(heads) = heads(target, pools, links)? else { return Ok(Vec::new()) };
    let mut lists: Vec<List> = Vec::new();
    let mut firsts = HashSet::new();
    // Real heads are few, and each request is on one list.
    let mut steps = links.len().saturating_mul(16);
    for (head_at, first) in heads {
        if steps > 0 && firsts.insert(first) {
            lists.extend(walk(links, head_at, first, &mut steps));
        }
    }
    // Variables point to the ends of lists, too: what is part of a longer one is none. (That nobody names a request as the
    // next one is not asked for: requests that were taken off a list keep their links.)
    lists.sort_by_key(|list| std::cmp::Reverse(list.requests.len()));
    let mut seen: HashSet<TargetAddr> = HashSet::new();
    lists.retain(|list| {
        let own = list.requests.first().is_some_and(|first| !seen.contains(first));
        seen.extend(list.requests.iter().filter(|_| own));
        own
    });
    Ok(lists)
}

/// The list from a request on; `None` where it is none.
fn walk(links: &HashMap<TargetAddr, Links>, head_at: TargetAddr, first: TargetAddr, steps: &mut usize) -> Option<List> {
    let mut requests = Vec::new();
    let (mut at, mut before) = (first, None);
    while !at.is_null() {
        let here = links.get(&at)?;
        if before.is_some_and(|before| here.prev.is_some_and(|prev| prev != before)) || requests.len() >= links.len() {
            return None;
        }
        *steps = steps.saturating_sub(1);
        requests.push(at);
        before = Some(at);
        at = here.next;
    }
    // The first one of a list of two directions names the last (DL_APPEND of utlist.h).
    let whole = links.get(&first)?.prev.is_none_or(|last| Some(last) == before);
    whole.then_some(List { head_at, requests })
}

/// The words of the library that hold the address of a request, outside of the pools.
fn heads(
    target: &dyn Target,
    pools: &Pools,
    links: &HashMap<TargetAddr, Links>,
) -> Result<Option<Vec<(TargetAddr, TargetAddr)>>, TargetError> {
    let (Some(least), Some(greatest)) = (links.keys().min(), links.keys().max()) else { return Ok(None) };
    let mut own: Vec<Range> = Vec::new();
    for pool in pools.of(ObjectKind::Request) {
        own.push(Range { start: pool.at, len: pool.layout.total as u64 });
        own.push(Range { start: TargetAddr::new(pool.head.direct), len: pool.head.direct_size * pool.head.size });
    }
    let abi = target.abi();
    let width = abi.pointer_width.bytes();
    let mut found = Vec::new();
    let mut buffer = Vec::new();
    for range in &pools.ranges {
        for offset in (0..range.len).step_by(CHUNK as usize) {
            let start = range.start.wrapping_add(offset);
            fit(&mut buffer, (range.len - offset).min(CHUNK) as usize)?;
            match target.read_once(start, &mut buffer) {
                Ok(()) => {}
                Err(TargetError::Gone) => return Err(TargetError::Gone),
                Err(_) => continue,
            }
            // Most of it is zero.
            let lines = (0..).step_by(LINE).zip(buffer.chunks(LINE)).filter(|(_, line)| !is_zero(line));
            let words = lines
                .flat_map(|(first, line)| (first..).step_by(width as usize).zip(line.chunks_exact(width as usize)));
            for (offset, word) in words {
                let value = TargetAddr::new(abi.uint(word));
                if value < *least || value > *greatest || !links.contains_key(&value) {
                    continue;
                }
                let at = start.wrapping_add(offset);
                if !own.iter().any(|own| own.holds(at, width)) && found.len() < MAX_HEADS {
                    found.push((at, value));
                }
            }
        }
    }
    Ok(Some(found))
}
