//! Source text of the same length (in bytes) with spaces for what is no code: comments, and what stands in quotes.
//!
//! A source is a stranger's: it is gone through once, whatever stands in it.

use crate::words::is_space;

/// The mark before the parenthesis of a raw string has at most so many characters.
const LONGEST_MARK: usize = 16;

/// Where something begins that is no code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begins {
    LineComment,
    Comment,
    Text,
    Letter,
    /// A line of the preprocessor.
    Directive,
}

/// C and C++. Of strings the quotes are left.
pub fn c(text: &str) -> String {
    let mut found = String::with_capacity(text.len());
    let (mut done, mut at) = (0, 0);
    while let Some((start, begins, behind)) = beginning(text.as_bytes(), at) {
        let before = start.checked_sub(1).and_then(|before| text.as_bytes().get(before));
        if begins == Begins::Letter && before.is_some_and(u8::is_ascii_hexdigit) {
            // A separator of digits in C++.
            at = start + 1;
            continue;
        }
        let end = end(text, start, begins, behind);
        found.push_str(piece(text, done, start));
        let blank = piece(text, start, end);
        match blank.chars().next_back() {
            Some(last) if matches!(begins, Begins::Text | Begins::Letter) && blank.len() > 1 => {
                found.push_str(piece(blank, 0, 1));
                push_spaces(&mut found, piece(blank, 1, blank.len() - last.len_utf8()));
                found.push(last);
            }
            _ => push_spaces(&mut found, blank),
        }
        (done, at) = (end, end);
    }
    found.push_str(piece(text, done, text.len()));
    found.replace("\\\n", " \n")
}

/// A part of a text; places are where a character of ASCII begins or ends.
pub(super) fn piece(text: &str, start: usize, end: usize) -> &str {
    text.get(start..end).unwrap_or_default()
}

/// As many spaces as a text has bytes, with the line ends that there were.
fn push_spaces(found: &mut String, text: &str) {
    found.extend(text.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
}

/// Where the next begins from a place on, what it is, and where its mark ends.
fn beginning(text: &[u8], from: usize) -> Option<(usize, Begins, usize)> {
    let mut at = from;
    while let Some(byte) = text.get(at) {
        if at == 0 || text[at - 1] == b'\n' {
            let spaces = text[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            if text.get(at + spaces) == Some(&b'#') {
                return Some((at, Begins::Directive, at + spaces + 1));
            }
        }
        match (byte, text.get(at + 1)) {
            (b'/', Some(b'/')) => return Some((at, Begins::LineComment, at + 2)),
            (b'/', Some(b'*')) => return Some((at, Begins::Comment, at + 2)),
            (b'"', _) => return Some((at, Begins::Text, at + 1)),
            (b'\'', _) => return Some((at, Begins::Letter, at + 1)),
            _ => at += 1,
        }
    }
    None
}

/// Where what begins at `start`, with a mark that ends at `behind`, ends.
fn end(text: &str, start: usize, begins: Begins, behind: usize) -> usize {
    match begins {
        Begins::Comment => find(text, behind, "*/"),
        Begins::Text if start.checked_sub(1).is_some_and(|before| text.as_bytes()[before] == b'R') => {
            raw_mark(text, behind).map_or_else(
                || end_of(text, behind, begins),
                // One that is never closed takes the rest: so nothing is gone through twice.
                |mark| find(text, behind + mark.len() + 1, &format!("){mark}\"")),
            )
        }
        _ => end_of(text, behind, begins),
    }
}

/// Where the next `closing` ends, else the text.
fn find(text: &str, from: usize, closing: &str) -> usize {
    text.get(from..).and_then(|rest| rest.find(closing)).map_or(text.len(), |found| from + found + closing.len())
}

/// The mark before the parenthesis of a raw string.
fn raw_mark(text: &str, from: usize) -> Option<&str> {
    let rest = text.get(from..)?;
    let (at, open) = rest.char_indices().take(LONGEST_MARK + 1).find(|(_, c)| is_space(*c) || "()\\".contains(*c))?;
    (open == '(').then(|| &rest[..at])
}

/// The end of what goes to the end of its line, or to a quote; a backslash hides what follows it.
fn end_of(text: &str, from: usize, begins: Begins) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        match (byte, begins) {
            (b'\\', _) => at += 2,
            (b'"', Begins::Text) | (b'\'', Begins::Letter) => return at + 1,
            (b'\n', _) => return at,
            (b'/', Begins::Directive) if bytes.get(at + 1) == Some(&b'*') => return at,
            _ => at += 1,
        }
    }
    text.len()
}

/// A piece of source without comments, with its strings; `code` is what this file made of it.
pub(super) fn without_comments(text: &str, code: &str) -> String {
    let mut found = String::new();
    let mut done = 0;
    let mut at = 0;
    // Quotes that no other follows, of each kind: they are not looked for again.
    let mut unclosed: [bool; 2] = [false; 2];
    while let Some(start) = code.get(at..).and_then(|rest| rest.find(['"', '\''])).map(|found| at + found) {
        let quote = if code.as_bytes()[start] == b'"' { '"' } else { '\'' };
        let kind = usize::from(quote == '"');
        let closed = if unclosed[kind] { None } else { code.get(start + 1..).and_then(|rest| rest.find(quote)) };
        at = match closed {
            Some(length) => {
                let end = start + 1 + length + 1;
                found.push_str(piece(code, done, start));
                found.push_str(piece(text, start, end));
                done = end;
                end
            }
            None => {
                unclosed[kind] = true;
                start + 1
            }
        };
    }
    found.push_str(piece(code, done, code.len()));
    found
}

/// Fortran in free or fixed form. Marks of continuation lines are spaces, too; of strings the quotes are left.
pub fn fortran(text: &str, fixed: bool) -> String {
    let mut found = String::with_capacity(text.len());
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            found.push('\n');
        }
        push_fortran(&mut found, line, fixed);
    }
    found
}

fn push_fortran(found: &mut String, line: &str, fixed: bool) {
    if line.starts_with('#') || (fixed && line.starts_with(['c', 'C', '*', 'd', 'D', '!'])) {
        return push_spaces(found, line);
    }
    let mut characters = line.char_indices().skip(5);
    let mark = if fixed && line.chars().take(5).all(is_space) { characters.next() } else { None };
    let continued =
        mark.is_some_and(|(_, c)| !matches!(c, ' ' | '0' | '\t')) && !line.chars().take(5).any(|c| c == '\t');
    let begin = if continued { characters.next().map_or(line.len(), |(at, _)| at) } else { 0 };
    push_spaces(found, piece(line, 0, begin));
    let mut quote = None;
    for (at, c) in line.char_indices().skip_while(|(at, _)| *at < begin) {
        match (quote, c) {
            (Some(open), c) if open == c => {
                found.push(c);
                quote = None;
            }
            (Some(_), c) => push_spaces(found, c.encode_utf8(&mut [0; 4])),
            (None, '!') => return push_spaces(found, piece(line, at, line.len())),
            (None, '"' | '\'') => {
                found.push(c);
                quote = Some(c);
            }
            (None, '&') => found.push(' '),
            (None, c) => found.push(c),
        }
    }
}
