//! The links of receives that were read already, so that lists are walked without reading these again.

use std::collections::BTreeMap;

use target::address::TargetAddr;

/// Elements that are no receives lie between receives of one row; more than this begin another row.
const MAX_GAP: usize = 1 << 10;

/// The links, in rows as they lie in memory: a hundred thousand are looked up by where they lie.
#[derive(Debug, Default)]
pub struct Links {
    /// Bytes from one element to the next.
    stride: u64,
    rows: Vec<Vec<Link>>,
    /// The rows by the addresses of their first links.
    places: BTreeMap<u64, usize>,
    /// The address of the first link of the last row.
    last: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    /// No receive lies there.
    None,
    /// It was not met in a list; what follows it.
    Waits(TargetAddr),
    /// It was met.
    Met,
}

/// What was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Met {
    /// One of these, for the first time; what follows it.
    Now(TargetAddr),
    /// One of these, once more.
    Before,
    /// None of these.
    Unknown,
}

impl Links {
    /// None yet, of elements that lie `stride` bytes apart and are added by address in each chunk.
    pub fn new(stride: u64) -> Self {
        Self { stride, ..Self::default() }
    }

    /// Adds one and what follows it.
    pub fn add(&mut self, link: TargetAddr, next: TargetAddr) {
        if let Some((row, index)) = self.beside(link) {
            row.extend(std::iter::repeat_n(Link::None, index.saturating_sub(row.len())));
            row.push(Link::Waits(next));
            return;
        }
        self.last = link.get();
        self.places.insert(self.last, self.rows.len());
        self.rows.push(vec![Link::Waits(next)]);
    }

    /// The row that one may be added to, and its place there, behind all others.
    fn beside(&mut self, link: TargetAddr) -> Option<(&mut Vec<Link>, usize)> {
        let index = index(self.last, self.stride, link)?;
        let row = self.rows.last_mut()?;
        let gap = index.checked_sub(row.len())?;
        (gap <= MAX_GAP).then_some((row, index))
    }

    /// The row of a link, and its place there.
    fn place(&self, link: TargetAddr) -> Option<(usize, usize)> {
        let (first, row) = self.places.range(..=link.get()).next_back()?;
        Some((*row, index(*first, self.stride, link)?))
    }

    fn find(&self, link: TargetAddr) -> Option<Link> {
        let (row, index) = self.place(link)?;
        self.rows.get(row)?.get(index).copied().filter(|found| *found != Link::None)
    }

    /// Whether one is among them.
    pub fn knows(&self, link: TargetAddr) -> bool {
        self.find(link).is_some()
    }

    /// Whether one of them was met in a list.
    pub fn is_waiting(&self, link: TargetAddr) -> bool {
        self.find(link) == Some(Link::Met)
    }

    /// A list has this one.
    pub(super) fn meet(&mut self, link: TargetAddr) -> Met {
        let place = self.place(link);
        let found = place.and_then(|(row, index)| self.rows.get_mut(row)?.get_mut(index));
        match found {
            None | Some(Link::None) => Met::Unknown,
            Some(Link::Met) => Met::Before,
            Some(found @ &mut Link::Waits(next)) => {
                *found = Link::Met;
                Met::Now(next)
            }
        }
    }
}

/// Which element of a row a link is, if it is one.
fn index(first: u64, stride: u64, link: TargetAddr) -> Option<usize> {
    let distance = link.get().checked_sub(first)?;
    let index = distance.checked_div(stride)?;
    usize::try_from(index).ok().filter(|_| index * stride == distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: u64) -> TargetAddr {
        TargetAddr::new(address)
    }

    #[test]
    fn each_is_met_once() {
        let mut links = Links::new(64);
        // Three chunks; others than receives lie between.
        for link in [0x1000, 0x1040, 0x1100, 0x800, 0x840, 0x80_0000] {
            links.add(at(link), at(link + 1));
        }
        for unknown in [0, 0x7ff, 0x801, 0x880, 0x1041, 0x1080, 0x1140, u64::MAX] {
            assert!(!links.knows(at(unknown)), "{unknown:#x}");
            assert_eq!(links.meet(at(unknown)), Met::Unknown, "{unknown:#x}");
        }
        for link in [0x1000, 0x1040, 0x1100, 0x800, 0x840, 0x80_0000] {
            assert!(links.knows(at(link)) && !links.is_waiting(at(link)), "{link:#x}");
            assert_eq!(links.meet(at(link)), Met::Now(at(link + 1)), "{link:#x}");
            assert_eq!(links.meet(at(link)), Met::Before, "{link:#x}");
            assert!(links.knows(at(link)) && links.is_waiting(at(link)), "{link:#x}");
        }
    }

    #[test]
    fn none_are_known_of_no_pool() {
        let mut links = Links::default();
        assert_eq!(links.meet(at(0x1000)), Met::Unknown);
        // Elements that have no distance, and the end of all addresses.
        links.add(at(u64::MAX), at(1));
        links.add(at(u64::MAX), at(2));
        assert!(!links.knows(at(0x1000)));
    }
}
