//! Which constant of MPI an argument is, by its text.

use crate::words::{is_space, is_word, leading_word};
use functions::constants::is_constant;

/// Parentheses and casts around a constant are taken off so many times.
const MOST_LAYERS: usize = 8;

/// Types that constants are cast to, beside those of MPI.
const CASTS: [&str; 4] = ["void", "int", "char", "long"];

/// The constant of MPI that an expression of C is, in parentheses and behind casts or not.
pub fn constant_in(text: &str) -> Option<String> {
    let mut text = text.to_owned();
    for _ in 0..MOST_LAYERS {
        let trimmed = text.trim_matches(is_space);
        let bare = match cast_in(trimmed) {
            Some((start, end)) => [&trimmed[..start], &trimmed[end..]].concat(),
            None if is_wrapped(trimmed) => trimmed[1..trimmed.len() - 1].to_owned(),
            None => {
                text = trimmed.to_owned();
                break;
            }
        };
        text = bare;
    }
    let name = text.rsplit("::").next()?;
    is_constant(name).then(|| name.to_owned())
}

/// As [`constant_in`]: names of Fortran may be in any letters.
pub fn constant_in_fortran(text: &str) -> Option<String> {
    let name = text.trim_matches(is_space).to_uppercase();
    is_constant(&name).then_some(name)
}

/// Where the first cast begins and ends, with the spaces behind it.
fn cast_in(text: &str) -> Option<(usize, usize)> {
    let mut opened = text.match_indices('(');
    opened.find_map(|(start, _)| Some((start, text.len() - after_cast(&text[start..])?.len())))
}

/// What stands behind `(TYPE *)`, which the text begins with; it must be cast.
fn after_cast(text: &str) -> Option<&str> {
    let spaces = |text: &'_ str| text.len() - text.trim_start_matches(is_space).len();
    let rest = text.strip_prefix('(')?.trim_start_matches(is_space);
    let rest = rest.strip_prefix("const").filter(|rest| spaces(rest) > 0).unwrap_or(rest).trim_start_matches(is_space);
    let rest = rest.strip_prefix("unsigned").filter(|rest| spaces(rest) > 0).map_or(rest, |after| {
        let long = after.trim_start_matches(is_space);
        if leading_word(long) == "long" { long } else { rest }
    });
    let word = leading_word(rest);
    if !CASTS.contains(&word) && !is_type_of_mpi(word) {
        return None;
    }
    let rest = rest[word.len()..].trim_start_matches(is_space).trim_start_matches('*').trim_start_matches(is_space);
    let rest = rest.strip_prefix(')')?.trim_start_matches(is_space);
    rest.starts_with(|c| c == '(' || is_word(c)).then_some(rest)
}

/// `MPI_Comm`, also what is a constant by its name.
fn is_type_of_mpi(word: &str) -> bool {
    let rest = word.strip_prefix("MPI_").or_else(|| word.strip_prefix("MPIX_"));
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
}

/// Whether the first parenthesis is closed by the last character.
fn is_wrapped(text: &str) -> bool {
    if !text.starts_with('(') {
        return false;
    }
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1 == text.len();
        }
    }
    false
}
