//! What control may still come to from a place in a function.

use std::ops::Range;

use super::{Body, Kind, Statement};

/// The pieces of a function that may be done after `place`; `None` where control takes ways that the statements do not tell.
pub fn following(body: &Body, place: usize) -> Option<Vec<Range<usize>>> {
    let mut found = Vec::new();
    let known = !body.irregular && after(&body.statements, place, &mut found);
    known.then_some(found)
}

/// Whether the place stands in these statements.
fn after(statements: &[Statement], place: usize, found: &mut Vec<Range<usize>>) -> bool {
    let Some(at) = statements.iter().position(|statement| statement.range.contains(&place)) else { return false };
    let statement = &statements[at];
    let known = match &statement.kind {
        Kind::Plain { .. } => {
            found.push(place.saturating_add(1)..statement.range.end);
            true
        }
        Kind::Block(inner) => after(inner, place, found),
        Kind::Choice(branches) => branches.iter().any(|branch| after(branch, place, found)),
        Kind::Loop { body, .. } => {
            found.push(statement.range.clone());
            after(body, place, found)
        }
    };
    found.extend(statements[at + 1..].iter().map(|statement| statement.range.clone()));
    known
}
