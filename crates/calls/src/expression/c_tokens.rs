//! The words and signs of an expression of C or C++.

use super::tokens::{self, Kind, Token, after_spaces, is_part};
use super::tree::SyntaxProblem;
use crate::words::is_space;

/// Those of more than one character; longer ones come first.
const OPERATORS: [&str; 24] = [
    "->", "++", "--", "<<=", ">>=", "-=", "+=", "*=", "/=", "%=", "&=", "|=", "^=", "==", "!=", "<=", ">=", "&&", "||",
    "<<", ">>", "-", "+", "*",
];
const SIGNS: &str = "&.[]()=!~<>/%|^?:,";

/// All of a text.
pub(super) fn tokens(text: &str, registers: bool) -> Result<Vec<Token>, SyntaxProblem> {
    tokens::tokens(text, |start| {
        let Some((kind, length)) = token(start) else { return Ok(None) };
        let (piece, rest) = start.split_at(length);
        if kind == Kind::Name && piece.contains('$') && !registers {
            let problem = "a name with a dollar sign means something else to debuggers";
            return Err(SyntaxProblem(problem.to_owned()));
        }
        let text = if kind == Kind::Letter { piece.to_owned() } else { piece.replace(is_space, "") };
        Ok(Some((Token { kind, text }, rest)))
    })
}

/// The kind of what a text begins with, and its length in bytes; spaces do not stand before it.
fn token(text: &str) -> Option<(Kind, usize)> {
    let kinds = [(Kind::Number, number(text)), (Kind::Name, name(text)), (Kind::Letter, letter(text))];
    let known = kinds.into_iter().find_map(|(kind, length)| Some((kind, length?)));
    known.or_else(|| Some((Kind::Operator, operator(text)?)))
}

/// Digits may have single quotes between them (C23, C++14), which begin no character then.
fn number(text: &str) -> Option<usize> {
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let digits = match hexadecimal.and_then(|rest| digits(rest, |c| c.is_ascii_hexdigit())) {
        Some(length) => length + 2,
        None => digits(text, |c| c.is_ascii_digit())?,
    };
    let suffix = text[digits..].bytes().take(3).take_while(|byte| b"uUlL".contains(byte)).count();
    let length = digits + suffix;
    let next = text[length..].chars().next();
    (!next.is_some_and(|c| is_part(c) || c == '.' || c == '\'')).then_some(length)
}

fn digits(text: &str, is_digit: impl Fn(char) -> bool) -> Option<usize> {
    let mut length = None;
    let mut rest = text;
    while rest.starts_with(&is_digit) {
        length = Some(text.len() - rest.len() + 1);
        rest = &rest[1..];
        rest = rest.strip_prefix('\'').filter(|after| after.starts_with(&is_digit)).unwrap_or(rest);
    }
    length
}

/// A name with its namespaces.
fn name(text: &str) -> Option<usize> {
    let begins = |c: char| c.is_ascii_alphabetic() || c == '_' || c == '$';
    let global = text.strip_prefix("::").map(after_spaces).filter(|rest| rest.starts_with(begins));
    let mut rest = global.unwrap_or(text);
    if !rest.starts_with(begins) {
        return None;
    }
    rest = rest[1..].trim_start_matches(is_part);
    let inner = |c: char| c.is_ascii_alphabetic() || c == '_' || c == '~';
    while let Some(next) =
        after_spaces(rest).strip_prefix("::").map(after_spaces).filter(|next| next.starts_with(inner))
    {
        rest = next[1..].trim_start_matches(is_part);
    }
    Some(text.len() - rest.len())
}

/// A character in quotes, or one that a backslash stands for.
fn letter(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('\'')?;
    let mut characters = inside.chars();
    match characters.next()? {
        '\\' => {
            let escaped = characters.next()?;
            "0abfnrtv'\"\\?".contains(escaped).then_some(())?;
        }
        '\'' | '\n' => return None,
        _ => {}
    }
    let rest = characters.as_str().strip_prefix('\'')?;
    Some(text.len() - rest.len())
}

fn operator(text: &str) -> Option<usize> {
    let known = OPERATORS.iter().find(|operator| text.starts_with(**operator)).map(|operator| operator.len());
    known.or_else(|| text.starts_with(|c| SIGNS.contains(c)).then_some(1))
}
