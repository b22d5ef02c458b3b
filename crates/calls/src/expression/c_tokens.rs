//! The words and signs of an expression of C or C++.

use super::tree::{MOST_TOKENS, SyntaxProblem, too_many_tokens};
use crate::words::{is_space, quoted};

/// What a word or sign is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Name,
    /// A character in quotes.
    Letter,
    Operator,
}

/// A word or sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub kind: Kind,
    /// Without the spaces in it, but for those of a letter.
    pub text: String,
}

/// Those of more than one character; longer ones come first.
const OPERATORS: [&str; 24] = [
    "->", "++", "--", "<<=", ">>=", "-=", "+=", "*=", "/=", "%=", "&=", "|=", "^=", "==", "!=", "<=", ">=", "&&", "||",
    "<<", ">>", "-", "+", "*",
];
const SIGNS: &str = "&.[]()=!~<>/%|^?:,";

/// All of a text.
pub(super) fn tokens(text: &str, registers: bool) -> Result<Vec<Token>, SyntaxProblem> {
    let mut found = Vec::new();
    let mut rest = text.trim_end_matches(is_space);
    while !rest.is_empty() {
        let start = after_spaces(rest);
        let Some((kind, length)) = token(start) else { return Err(meaningless(rest)) };
        let (piece, next) = start.split_at(length);
        if kind == Kind::Name && piece.contains('$') && !registers {
            let problem = "a name with a dollar sign means something else to debuggers";
            return Err(SyntaxProblem(problem.to_owned()));
        }
        let text = if kind == Kind::Letter { piece.to_owned() } else { piece.replace(is_space, "") };
        found.push(Token { kind, text });
        if found.len() > MOST_TOKENS {
            return Err(too_many_tokens());
        }
        rest = next;
    }
    Ok(found)
}

/// What begins with a character that no word or sign begins with.
pub(super) fn meaningless(rest: &str) -> SyntaxProblem {
    let first: String = rest.trim_matches(is_space).chars().take(1).collect();
    SyntaxProblem(format!("{} has no meaning here", quoted(&first)))
}

/// Spaces between words are those of ASCII.
pub(super) fn after_spaces(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b')
}

pub(super) fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
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
