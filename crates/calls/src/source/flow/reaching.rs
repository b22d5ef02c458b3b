//! Which of several places in a function was passed last before another is reached.

use std::ops::Range;

use super::{Body, Kind, Statement};

/// A place in a source at which something may begin, or end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// Where it stands.
    pub at: usize,
    /// Whether it is looked for.
    pub starts: bool,
    /// Whether nothing from before it holds any longer.
    pub ends: bool,
}

/// What was passed last before a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Last {
    /// The marks that may have been it, by their places in the list, ascending.
    pub marks: Vec<usize>,
    /// Whether control has passed one of them for sure.
    pub over: bool,
}

/// The marks that may have been the last before `place`; `None` where control takes ways that the statements do not tell.
pub fn last_before(body: &Body, place: usize, marks: &[Mark]) -> Option<Last> {
    let mut order: Vec<usize> = (0..marks.len()).collect();
    order.sort_by_key(|at| marks[*at].at);
    let mut search = Search { marks, order, found: Vec::new() };
    let way = search.before(&body.statements, place).filter(|way| way.known && !body.irregular)?;
    search.found.sort_unstable();
    search.found.dedup();
    Some(Last { marks: search.found, over: way.over })
}

/// The marks, by their places in the list, that may have been the last before `place`: ascending. Where control takes ways
/// that the statements do not tell, all that start something.
pub fn reaching(body: &Body, place: usize, marks: &[Mark]) -> Vec<usize> {
    let all = || (0..marks.len()).filter(|at| marks[*at].starts).collect();
    last_before(body, place, marks).map_or_else(all, |last| last.marks)
}

struct Search<'m> {
    marks: &'m [Mark],
    /// The marks by where they stand.
    order: Vec<usize>,
    found: Vec<usize>,
}

/// How a search went.
struct Way {
    /// Whether the place was found.
    known: bool,
    /// Whether nothing from further back comes into question.
    over: bool,
}

impl Search<'_> {
    /// The marks that stand in a piece, in their order there.
    fn within(&self, range: &Range<usize>) -> Range<usize> {
        let before = |place: usize| self.order.partition_point(|at| self.marks[*at].at < place);
        before(range.start)..before(range.end)
    }

    /// Goes back from a place. `None`: it does not stand in these statements.
    fn before(&mut self, statements: &[Statement], place: usize) -> Option<Way> {
        let at = statements.iter().position(|statement| statement.range.contains(&place))?;
        let statement = &statements[at];
        let way = match &statement.kind {
            Kind::Plain { .. } => Way { known: true, over: false },
            Kind::Block(inner) => self.before(inner, place)?,
            Kind::Choice(branches) => branches.iter().find_map(|branch| self.before(branch, place))?,
            Kind::Loop { body, .. } => {
                let way = self.before(body, place)?;
                if !way.over {
                    // What stands behind the place has been done in an earlier round.
                    let inside = self.order[self.within(&statement.range)].iter().copied();
                    self.found.extend(inside.filter(|at| self.marks[*at].starts));
                }
                way
            }
        };
        let over = way.over || statements[..at].iter().rev().any(|statement| self.passed(statement));
        Some(Way { known: true, over })
    }

    /// Adds what stands in a statement that lies before the place; whether nothing from before it holds.
    fn passed(&mut self, statement: &Statement) -> bool {
        let inside = self.within(&statement.range);
        if inside.is_empty() {
            return false;
        }
        match &statement.kind {
            Kind::Plain { always, .. } => {
                for place in inside.rev() {
                    let at = self.order[place];
                    if self.marks[at].starts {
                        self.found.push(at);
                    }
                    if self.marks[at].ends && *always {
                        return true;
                    }
                }
                false
            }
            Kind::Block(inner) => self.all_passed(inner),
            Kind::Choice(branches) => {
                let mut over = true;
                for branch in branches {
                    // Who left the function does not come by.
                    over &= leaves(branch) || self.all_passed(branch);
                }
                over
            }
            Kind::Loop { body, once } => self.all_passed(body) && *once,
        }
    }

    fn all_passed(&mut self, statements: &[Statement]) -> bool {
        statements.iter().rev().any(|statement| self.passed(statement))
    }
}

/// Whether nobody comes behind these statements.
fn leaves(statements: &[Statement]) -> bool {
    statements.last().is_some_and(|last| match &last.kind {
        Kind::Plain { leaves, .. } => *leaves,
        Kind::Block(inner) => leaves(inner),
        Kind::Choice(branches) => !branches.is_empty() && branches.iter().all(|branch| self::leaves(branch)),
        Kind::Loop { .. } => false,
    })
}
