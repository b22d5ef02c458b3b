//! All calls of MPI functions in a piece of a source.

use std::ops::Range;

use super::brackets::Brackets;
use super::call::CallText;
use super::{Source, boost};
use crate::words::{is_space, is_word, leading_word};

/// A piece with more calls is not looked at.
pub const MOST: usize = 500;

/// A call as it stands in a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// The function's name in C.
    pub function: String,
    /// Where its name begins.
    pub at: usize,
    /// Where its parenthesis is closed.
    pub end: usize,
    /// Its arguments; what is not known is empty.
    pub texts: CallText,
    /// Whether a library makes it for what stands there: its name begins there in the library's words.
    pub wrapped: bool,
}

/// The calls in a piece of a source, in their order; `None` where there are more than [`MOST`].
pub fn mentions(source: &Source, range: &Range<usize>) -> Option<Vec<Mention>> {
    let brackets = Brackets::new(source, range.start, range.end);
    let mut found = Vec::new();
    let code = source.code.as_bytes();
    let mut at = range.start;
    while at + 4 < range.end {
        let begins = code.get(at..at + 4).is_some_and(|word| word.eq_ignore_ascii_case(b"MPI_"));
        let called = if begins { name(source, at, range) } else { None };
        let Some((start, function, behind)) = called else {
            at += 1;
            continue;
        };
        at = behind;
        let open =
            behind + source.code.get(behind..range.end).and_then(|rest| rest.find(|c| !is_space(c))).unwrap_or(0);
        if code.get(open) != Some(&b'(') {
            continue;
        }
        let Some(end) = brackets.closing(open) else { continue };
        if found.len() >= MOST {
            return None;
        }
        found.push(Mention { function, at: start, end, texts: brackets.arguments(open, end), wrapped: false });
    }
    if source.uses_boost() {
        found.extend(boost::mentions(source, range, &brackets).take(MOST + 1));
        found.sort_by_key(|one| one.at);
    }
    (found.len() <= MOST).then_some(found)
}

/// Names with a parenthesis behind them, each with what stands in it; of more than [`MOST`] the first ones.
pub(super) fn all(source: &Source, range: &Range<usize>) -> Vec<(String, CallText)> {
    let brackets = Brackets::new(source, range.start, range.end);
    let code = source.code.get(range.clone()).unwrap_or_default();
    let opened = code.match_indices('(').map(|(at, _)| at);
    let calls = opened.filter_map(|at| {
        let before = code[..at].trim_end_matches(is_space);
        let length: usize = before.chars().rev().take_while(|c| is_word(*c)).map(char::len_utf8).sum();
        let name = &before[before.len() - length..];
        let open = range.start + at;
        Some((name.to_owned(), brackets.arguments(open, brackets.closing(open)?)))
    });
    calls.filter(|(name, _)| !name.is_empty()).take(MOST).collect()
}

/// A function of MPI whose name has its `MPI_` at a place: where the name begins, its name in C, where it ends.
fn name(source: &Source, at: usize, range: &Range<usize>) -> Option<(usize, String, usize)> {
    let before = source.code.get(range.start..at)?;
    let profiling = before.ends_with(if source.fortran { ['P', 'p'].as_slice() } else { ['P'].as_slice() });
    let start = at - usize::from(profiling);
    if source.code.get(range.start..start)?.chars().next_back().is_some_and(is_word) {
        return None;
    }
    let word = leading_word(source.code.get(at..range.end)?);
    let function = if source.fortran {
        functions::c_name(&format!("{}_", word.to_lowercase())).into_owned()
    } else {
        word.to_owned()
    };
    functions::find(&function)?;
    Some((start, function, at + word.len()))
}
