//! Writes what is told by another part of its form (`form.rs`).

use std::fmt::Write as _;
use std::ops::Range;

use super::form::MARK;

/// JSON as it is written, cut at its scalars: what it is without them, and where they are.
#[derive(Debug, Default)]
pub(super) struct Cut {
    pub rest: String,
    /// As many as its form has.
    pub steps: usize,
    scalars: Vec<Range<usize>>,
}

impl Cut {
    /// Of JSON without spaces between its parts, as serde_json writes it.
    pub fn new(text: &str) -> Self {
        let mut cut = Self::default();
        let bytes = text.as_bytes();
        let byte = |at: usize| bytes.get(at).copied().unwrap_or_default();
        let mut at = 0;
        while at < bytes.len() {
            let start = at;
            match byte(at) {
                mark @ (b'{' | b'}' | b'[' | b']' | b',' | b':') => {
                    cut.rest.push(char::from(mark));
                    cut.steps += usize::from(!matches!(mark, b',' | b':'));
                    at += 1;
                    continue;
                }
                b'"' => {
                    at += 1;
                    while at < bytes.len() && byte(at) != b'"' {
                        at += if byte(at) == b'\\' { 2 } else { 1 };
                    }
                    at += 1;
                }
                _ => {
                    while at < bytes.len() && !matches!(byte(at), b',' | b'}' | b']') {
                        at += 1;
                    }
                }
            }
            cut.steps += 1;
            if byte(start) == b'"' && byte(at) == b':' {
                cut.rest.push_str(text.get(start..at).unwrap_or_default());
            } else {
                cut.rest.push('.');
                cut.scalars.push(start..at);
            }
        }
        cut
    }

    /// This text told by another one of the same form.
    pub fn told_by(&self, text: &str, number: usize, other: &Self, other_text: &str) -> String {
        let mut told = format!("{MARK}{number}");
        let mut same = 0;
        for (own, other) in self.scalars.iter().zip(&other.scalars) {
            let (own, other) = (text.get(own.clone()).unwrap_or_default(), other_text.get(other.clone()));
            if Some(own) == other {
                same += 1;
                continue;
            }
            // Writing to a string does not fail.
            let _ = write!(told, " {same} {own}");
            same = 0;
        }
        told
    }
}
