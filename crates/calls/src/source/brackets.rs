//! Which bracket closes which in a piece of a source.

use std::collections::HashMap;

use super::Source;
use super::blanks::{piece, without_comments};
use crate::words::is_space;

/// A statement with more arguments or characters is not taken apart.
pub(super) const LONGEST_CALL: usize = 20_000;

/// The brackets of a piece of a source: gone through once, however deep they are.
pub(super) struct Brackets<'s> {
    source: &'s Source,
    pub start: usize,
    pub end: usize,
    /// By the place of the one that opens.
    closing: HashMap<usize, usize>,
}

impl<'s> Brackets<'s> {
    pub(super) fn new(source: &'s Source, start: usize, end: usize) -> Self {
        let mut closing = HashMap::new();
        let mut opened = Vec::new();
        let code = source.code.as_bytes().get(start..end).unwrap_or_default();
        for (at, byte) in code.iter().enumerate() {
            match byte {
                b'(' | b'[' | b'{' => opened.push(start + at),
                b')' | b']' | b'}' => {
                    if let Some(open) = opened.pop() {
                        closing.insert(open, start + at);
                    }
                }
                _ => {}
            }
        }
        Self { source, start, end, closing }
    }

    /// Where the bracket at `at` is closed; `None` where it is not, or too far away.
    pub(super) fn closing(&self, at: usize) -> Option<usize> {
        self.closing.get(&at).copied().filter(|end| end - at <= LONGEST_CALL)
    }

    /// What stands between two brackets, by the commas that stand in no others.
    pub(super) fn arguments(&self, at: usize, end: usize) -> Vec<String> {
        let code = self.source.code.as_bytes();
        let mut found = Vec::new();
        let (mut begin, mut place) = (at + 1, at + 1);
        while place < end {
            match code.get(place) {
                Some(b',') => {
                    found.push(self.clean(begin, place));
                    begin = place + 1;
                }
                Some(b'(' | b'[' | b'{') => place = self.closing.get(&place).copied().unwrap_or(place),
                _ => {}
            }
            place += 1;
        }
        found.push(self.clean(begin, end));
        if found == [""] { Vec::new() } else { found }
    }

    /// An argument in one line, with its strings and without its comments.
    fn clean(&self, begin: usize, end: usize) -> String {
        let (text, code) = (piece(&self.source.text, begin, end), piece(&self.source.code, begin, end));
        let plain = without_comments(text, code);
        plain.split(is_space).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }
}
