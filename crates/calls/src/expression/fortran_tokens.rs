//! The words and signs of an expression of Fortran.

use super::tokens::{self, Kind, Token, is_part};
use super::tree::SyntaxProblem;

const OPERATORS: [&str; 3] = ["**", "==", "/="];
const SIGNS: &str = "-+*/(),:%=";

/// All of a text.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, SyntaxProblem> {
    tokens::tokens(text, |start| {
        let Some((kind, length, passed)) = token(start) else { return Ok(None) };
        Ok(Some((Token { kind, text: start[..length].to_ascii_lowercase() }, &start[passed..])))
    })
}

/// The kind of what a text begins with, its length, and that with the kind of a literal (`5_8`), which says its width.
fn token(text: &str) -> Option<(Kind, usize, usize)> {
    if let Some((length, passed)) = number(text) {
        return Some((Kind::Number, length, passed));
    }
    if let Some(length) = truth(text) {
        return Some((Kind::Truth, length, length + kind(&text[length..])));
    }
    let (kind, length) = if text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        (Kind::Name, text.len() - text.trim_start_matches(is_part).len())
    } else if let Some(operator) = OPERATORS.iter().find(|operator| text.starts_with(**operator)) {
        (Kind::Operator, operator.len())
    } else if text.starts_with(|c| SIGNS.contains(c)) {
        (Kind::Operator, 1)
    } else {
        return None;
    };
    Some((kind, length, length))
}

fn number(text: &str) -> Option<(usize, usize)> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    let passed = length + kind(&text[length..]);
    let mut after = text[passed..].chars();
    let next = after.next();
    // What has a point is none that is counted with.
    let ends = !next.is_some_and(|c| is_part(c) || c == '.');
    (length > 0 && ends).then_some((length, passed))
}

fn truth(text: &str) -> Option<usize> {
    let is = |word: &&&str| text.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word));
    [".true.", ".false."].iter().find(is).map(|word| word.len())
}

/// The length of `_KIND` at the beginning.
fn kind(text: &str) -> usize {
    let word = text.strip_prefix('_').map_or("", |rest| &rest[..rest.len() - rest.trim_start_matches(is_part).len()]);
    if word.is_empty() { 0 } else { word.len() + 1 }
}
