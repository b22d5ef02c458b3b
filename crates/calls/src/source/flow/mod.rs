//! The ways that control takes through a function, as far as its source tells: what stands before what, on which branch, in
//! which loop. Nothing is evaluated.

mod c;
mod following;
mod fortran;
mod reaching;

use std::ops::Range;

use super::Source;

pub use following::following;
pub use reaching::{Last, Mark, last_before, reaching};

/// A longer function (bytes) is not taken apart.
const LONGEST: usize = 200_000;

/// Statements that are nested deeper are not taken apart.
const DEEPEST: usize = 100;

/// A function in a source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Body {
    /// Where it stands: without the braces, and without the lines that begin and end it in Fortran.
    pub range: Range<usize>,
    /// Where it begins with its name and its parameters.
    pub head: usize,
    /// What it does, in order.
    pub statements: Vec<Statement>,
    /// Whether control may go other ways than the statements tell: jumps to labels, alternatives of the preprocessor.
    pub irregular: bool,
}

/// A statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Where it stands.
    pub range: Range<usize>,
    /// What it is.
    pub kind: Kind,
}

/// What a statement is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Without others in it. `always`: all that stands in it is done when it is reached; `leaves`: the function ends with it.
    #[allow(missing_docs)]
    Plain { always: bool, leaves: bool },
    /// Several, one after another.
    Block(Vec<Statement>),
    /// One of several, each of which may be empty.
    Choice(Vec<Vec<Statement>>),
    /// Any number of times; `once`: at least once.
    #[allow(missing_docs)]
    Loop { body: Vec<Statement>, once: bool },
}

impl Body {
    /// The function that a line stands in, numbered from 1; `None` where no function is found there, or it is too long.
    pub fn at(source: &Source, line: usize) -> Option<Self> {
        let first = line.checked_sub(2).map_or(Some(0), |before| source.line_ends.get(before).map(|end| end + 1))?;
        let last = source.line_ends.get(line - 1).copied().unwrap_or(source.code.len());
        let units = source.units();
        // The line may be that of the first brace, or have several functions.
        let unit = units.iter().find(|unit| unit.head <= last && first <= unit.range.end)?;
        if unit.range.len() > LONGEST {
            return None;
        }
        let (statements, jumps) = if source.fortran {
            fortran::statements(source, unit.range.clone())
        } else {
            c::statements(&source.code, unit.range.clone())
        };
        let irregular = jumps || has_alternatives(source, &unit.range);
        Some(Self { range: unit.range.clone(), head: unit.head, statements, irregular })
    }
}

/// A function, without its statements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unit {
    pub head: usize,
    pub range: Range<usize>,
}

/// The functions of a source, in their order.
pub(super) fn units(source: &Source) -> Vec<Unit> {
    if source.fortran { fortran::units(source) } else { c::units(&source.code) }
}

/// Whether the preprocessor leaves out one of two parts.
fn has_alternatives(source: &Source, range: &Range<usize>) -> bool {
    let text = source.text.get(range.clone()).unwrap_or_default();
    text.lines().any(|line| {
        let word = line.trim_start().strip_prefix('#').map(str::trim_start);
        word.is_some_and(|word| word.starts_with("else") || word.starts_with("elif"))
    })
}

/// A plain statement.
fn plain(range: Range<usize>, always: bool) -> Statement {
    Statement { range, kind: Kind::Plain { always, leaves: false } }
}
