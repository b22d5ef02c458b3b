//! The call of an MPI function in a source file, by the line at which a debugger sees it.

use super::Source;
use super::blanks::piece;
use super::brackets::{Brackets, LONGEST_CALL};
use crate::Unknown;
use crate::words::{grouped, is_space, is_word};

/// Nor are calls found in a line that is longer.
const LONGEST_LINE: usize = 20_000;
/// Of a function that is called more often in one source no call is the only one.
const MOST_CALLS: usize = 200;

/// The arguments of a call as it is written.
pub type CallText = Vec<String>;

/// The call of `function` (its name in C) that a debugger sees at `line`.
///
/// # Errors
/// Where none or several stand there.
pub fn find(source: &Source, function: &str, line: i64) -> Result<CallText, Unknown> {
    let lines = Lines { source };
    let name = source.name();
    let number = usize::try_from(line).ok().filter(|line| *line > 0 && *line <= source.line_ends.len() + 1);
    let Some(number) = number else { return Err(Unknown::new(format!("the source {name} has no line {line}"))) };
    let (first, last) = lines.span(number);
    let length = piece(&source.text, first, last).chars().count();
    if length > LONGEST_LINE {
        let length = grouped(length as u64);
        return Err(Unknown::new(format!("line {line} of {name} has {length} characters")));
    }
    let mut found = at_line(source, &lines, function, number);
    if found.is_empty() && source.is_plain_fortran() {
        // Optimised code may have the line of another statement. Without a preprocessor the only call is the one.
        found.extend(anywhere(source, function));
    }
    if found.len() > 1 {
        return Err(Unknown::new(format!("line {line} of {name} has several calls of {function}")));
    }
    found.pop().ok_or_else(|| Unknown::new(format!("line {line} of {name} has no call of {function}")))
}

/// The calls that a line has to do with, each once; no more than tells that there are several.
fn at_line(source: &Source, lines: &Lines<'_>, function: &str, line: usize) -> Vec<CallText> {
    let (first, last) = lines.span(line);
    // A call that has anything to do with the line lies so near, or is none that we take apart.
    let start = first.saturating_sub(LONGEST_CALL);
    let brackets = Brackets::new(source, start, source.code.len().min(last + LONGEST_CALL));
    let (mut inside, mut around) = (Vec::new(), Vec::new());
    for call in Named::new(source, function, brackets.start, brackets.end) {
        let Some(end) = brackets.closing(call.open) else { continue };
        if lines.of(call.start) <= line && line <= lines.of(end) {
            add(&mut inside, brackets.arguments(call.open, end));
        } else if around.len() < 2 && is_in_statement(source, lines, call.start, end, line) {
            add(&mut around, brackets.arguments(call.open, end));
        }
        if inside.len() > 1 {
            // Which of them, no more of them can tell.
            break;
        }
    }
    if inside.is_empty() { around } else { inside }
}

fn add(found: &mut Vec<CallText>, arguments: CallText) {
    if !found.contains(&arguments) {
        found.push(arguments);
    }
}

/// The arguments of the only call in a source; `None` where there are several.
fn anywhere(source: &Source, function: &str) -> Option<CallText> {
    let places: Vec<_> = Named::new(source, function, 0, source.code.len()).take(MOST_CALLS + 1).collect();
    if places.len() > MOST_CALLS {
        return None;
    }
    let mut only = None;
    for call in places {
        let end = source.code.len().min(call.open + 1 + LONGEST_CALL);
        let brackets = Brackets::new(source, call.start, end);
        if let Some(end) = brackets.closing(call.open)
            && only.replace(brackets.arguments(call.open, end)).is_some()
        {
            return None;
        }
    }
    only
}

/// A name of a function with a parenthesis behind it.
struct Call {
    start: usize,
    /// Where the parenthesis is.
    open: usize,
}

/// The calls of a function in a piece of a source, also with the P before its name.
struct Named<'s> {
    source: &'s Source,
    function: &'s str,
    start: usize,
    at: usize,
    end: usize,
}

impl<'s> Named<'s> {
    fn new(source: &'s Source, function: &'s str, start: usize, end: usize) -> Self {
        Self { source, function, start, at: start, end }
    }

    fn is_same(&self, one: &[u8], other: &[u8]) -> bool {
        if self.source.fortran { one.eq_ignore_ascii_case(other) } else { one == other }
    }

    /// The call whose function's name begins at `at`.
    fn call(&self, at: usize) -> Option<Call> {
        let code = &self.source.code;
        let profiling = at > self.start && self.is_same(&code.as_bytes()[at - 1..at], b"P");
        let start = at - usize::from(profiling);
        if code.get(..start)?.chars().next_back().is_some_and(is_word) {
            return None;
        }
        let behind = at + self.function.len();
        let open = behind + code.get(behind..)?.find(|c| !is_space(c))?;
        (open < self.end && code.as_bytes().get(open) == Some(&b'(')).then_some(Call { start, open })
    }
}

impl Iterator for Named<'_> {
    type Item = Call;

    fn next(&mut self) -> Option<Call> {
        let length = self.function.len();
        while self.at + length <= self.end {
            let at = self.at;
            let here = self.source.code.as_bytes().get(at..at + length)?;
            self.at += 1;
            if self.is_same(here, self.function.as_bytes())
                && let Some(call) = self.call(at)
            {
                self.start = call.open + 1;
                self.at = self.start;
                return Some(call);
            }
        }
        None
    }
}

/// Numbers of lines, from 1.
struct Lines<'s> {
    source: &'s Source,
}

impl Lines<'_> {
    fn of(&self, place: usize) -> usize {
        self.source.line_of(place)
    }

    /// Where a line begins and ends.
    fn span(&self, line: usize) -> (usize, usize) {
        let ends = &self.source.line_ends;
        let first = line.checked_sub(2).and_then(|before| ends.get(before)).map_or(0, |end| end + 1);
        (first, ends.get(line - 1).copied().unwrap_or(self.source.code.len()))
    }
}

/// Whether a line belongs to the statement around a call: a compiler may tell its first or last line.
fn is_in_statement(source: &Source, lines: &Lines<'_>, start: usize, end: usize, line: usize) -> bool {
    if source.fortran {
        // gfortran gives it one of the call's own lines.
        return false;
    }
    let code = source.code.as_bytes();
    let nearest = start.saturating_sub(LONGEST_CALL);
    let furthest = code.len().min(end + LONGEST_CALL);
    let before = code[nearest..start].iter().rposition(|byte| b";{}".contains(byte));
    let first = before.map_or(0, |before| nearest + before + 1);
    let last = code[end..furthest].iter().position(|byte| *byte == b';').map_or(furthest, |after| end + after);
    let space = |c: &u8| is_space(char::from(*c)) && c.is_ascii();
    let begin = code[nearest.max(first)..start].iter().position(|byte| !space(byte));
    let begin = begin.map_or(first, |begin| nearest.max(first) + begin);
    lines.of(begin) <= line && line <= lines.of(last)
}
