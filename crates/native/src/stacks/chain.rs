//! The ways that jumps can have led from a call to a function: functions that end with a jump leave no frame behind. What all
//! ways have in common is certain, and gdb 13 shows it as frames (gdb/dwarf2/loc.c: `call_site_find_chain_1`,
//! `chain_candidate`; gdb/dwarf2/frame-tailcall.c).

use std::rc::Rc;

/// More jumps are not looked at for one call, nor on one way.
const MAX_JUMPS: usize = 10_000;
const MAX_LENGTH: usize = 200;

/// A call or a jump.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Site {
    /// The address behind its instruction.
    pub(super) after: u64,
    /// Where its function, or the parts of that, begin; `None` where that is not known.
    pub(super) targets: Option<Vec<u64>>,
}

/// What the debug information of a process says of jumps.
pub(super) trait Jumps {
    /// Those that end the function which begins at an address; `None` where that is not described.
    fn of(&self, begin: u64) -> Option<Vec<Rc<Site>>>;
}

/// The jumps between a call and the function at `callee`, from the innermost; only those that are certain.
pub(super) fn chain(call: Site, callee: u64, jumps: &dyn Jumps) -> Vec<u64> {
    let mut search = Search { jumps, callee, way: Vec::new(), common: None, left: MAX_JUMPS };
    // Where something is not known there may be ways that nobody sees.
    match search.visit(&call) {
        Some(_) => search.common.map(|common| common.inside_out()).unwrap_or_default(),
        None => Vec::new(),
    }
}

struct Search<'j> {
    jumps: &'j dyn Jumps,
    callee: u64,
    way: Vec<Rc<Site>>,
    common: Option<Common>,
    left: usize,
}

impl Search<'_> {
    /// Follows a call or a jump; `None` where something is not known, false where nothing is certain any more.
    fn visit(&mut self, site: &Site) -> Option<bool> {
        let targets = site.targets.as_ref()?;
        if targets.contains(&self.callee) {
            let way: Vec<u64> = self.way.iter().map(|site| site.after).collect();
            self.common = match self.common.take() {
                None => Some(Common { outer: way.len(), inner: way.len(), way }),
                Some(common) => common.with(&way),
            };
            return Some(self.common.is_some());
        }
        for target in targets {
            for next in self.jumps.of(*target)? {
                if self.way.iter().any(|site| site.after == next.after) {
                    continue;
                }
                self.left = self.left.checked_sub(1)?;
                if self.way.len() >= MAX_LENGTH {
                    return None;
                }
                self.way.push(Rc::clone(&next));
                if !self.visit(&next)? {
                    return Some(false);
                }
                self.way.pop();
            }
        }
        Some(true)
    }
}

/// What the ways so far have in common with the first one.
struct Common {
    way: Vec<u64>,
    /// So many jumps at its beginning, the outer end.
    outer: usize,
    /// So many at its end.
    inner: usize,
}

impl Common {
    /// `None` where nothing is left. A way that is another one's end leaves that as it is, as in gdb.
    fn with(mut self, other: &[u64]) -> Option<Self> {
        let differ = |mut pairs: Box<dyn Iterator<Item = (&u64, &u64)> + '_>| pairs.position(|(one, two)| one != two);
        let outer = differ(Box::new(self.way.iter().zip(other).take(self.outer)));
        let inner = differ(Box::new(self.way.iter().rev().zip(other.iter().rev()).take(self.inner)));
        self.outer = outer.unwrap_or(self.outer);
        self.inner = inner.unwrap_or(self.inner);
        (self.outer > 0 || self.inner > 0).then_some(self)
    }

    fn inside_out(&self) -> Vec<u64> {
        let inner = self.way.iter().rev().take(self.inner);
        // The only way is all of it.
        let outer = if self.inner == self.way.len() { 0 } else { self.outer };
        inner.chain(self.way.iter().take(outer).rev()).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    type MadeJumps = Vec<(u64, Option<Vec<u64>>)>;

    /// Functions by where they begin, each with its jumps.
    struct Made(HashMap<u64, MadeJumps>);

    impl Jumps for Made {
        fn of(&self, begin: u64) -> Option<Vec<Rc<Site>>> {
            let site = |(after, targets): &(u64, Option<Vec<u64>>)| Site { after: *after, targets: targets.clone() };
            Some(self.0.get(&begin)?.iter().map(|jump| Rc::new(site(jump))).collect())
        }
    }

    fn found(functions: &[(u64, &[(u64, u64)])], call: u64, callee: u64) -> Vec<u64> {
        let jump = |(after, target): &(u64, u64)| (*after, (*target != 0).then(|| vec![*target]));
        let made = functions.iter().map(|(begin, jumps)| (*begin, jumps.iter().map(jump).collect())).collect();
        chain(Site { after: 1, targets: Some(vec![call]) }, callee, &Made(made))
    }

    #[test]
    fn the_only_way() {
        assert_eq!(found(&[(100, &[(101, 200)]), (200, &[(201, 900)])], 100, 900), [201, 101]);
        assert_eq!(found(&[], 900, 900), [0_u64; 0], "a plain call");
    }

    #[test]
    fn what_all_ways_share() {
        let functions: [(u64, &[(u64, u64)]); 5] = [
            (100, &[(101, 200)]),
            (200, &[(201, 300), (202, 400)]),
            (300, &[(301, 500)]),
            (400, &[(401, 500)]),
            (500, &[(501, 900)]),
        ];
        assert_eq!(found(&functions, 100, 900), [501, 101]);
        assert_eq!(found(&[(100, &[(101, 900), (102, 900)])], 100, 900), [0_u64; 0], "nothing");
    }

    #[test]
    fn ways_that_end_alike() {
        let parallel: [(u64, &[(u64, u64)]); 2] = [(100, &[(102, 200), (101, 200)]), (200, &[(201, 900)])];
        assert_eq!(found(&parallel, 100, 900), [201]);
        let functions: [(u64, &[(u64, u64)]); 3] =
            [(100, &[(101, 200), (102, 300)]), (200, &[(201, 300)]), (300, &[(301, 900)])];
        assert_eq!(found(&functions, 100, 900), [301]);
    }

    #[test]
    fn circles_end_and_what_is_not_known_says_nothing() {
        assert_eq!(found(&[(100, &[(101, 200)]), (200, &[(201, 100), (202, 900)])], 100, 900), [202, 101]);
        assert_eq!(found(&[(100, &[(101, 0), (102, 900)])], 100, 900), [0_u64; 0], "through a pointer");
        assert_eq!(found(&[(100, &[(101, 900), (102, 300)])], 100, 900), [0_u64; 0], "without debug information");
        assert_eq!(found(&[(100, &[])], 100, 900), [0_u64; 0], "no jump");
    }

    #[test]
    fn very_many_ways_are_not_followed() {
        let pairs: Vec<[(u64, u64); 2]> =
            (1..100).map(|at| [(at * 100 + 1, at * 100 + 100), (at * 100 + 2, at * 100 + 100)]).collect();
        let functions: Vec<(u64, &[(u64, u64)])> =
            (1..100).zip(&pairs).map(|(at, pair)| (at * 100, &pair[..])).collect();
        assert_eq!(found(&functions, 100, 5), [0_u64; 0]);
    }
}
