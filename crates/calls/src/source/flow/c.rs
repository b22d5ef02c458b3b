//! Functions and statements of C and C++, in a source without comments, strings and lines of the preprocessor.

use std::collections::HashMap;
use std::ops::Range;

use super::{DEEPEST, Kind, Statement, Unit, plain};
use crate::words::{is_space, is_word, leading_word};

/// Words before a brace with parentheses that are no function.
const NO_FUNCTIONS: [&str; 3] = ["namespace", "enum", "using"];

/// Words with which a function, or the part of it that is looked at, ends.
const LEAVE: [&str; 4] = ["return", "exit", "abort", "throw"];

/// Words with which a part of a `switch` ends.
const LEAVE_CASE: [&str; 3] = ["break", "continue", "goto"];

/// The functions of a source. What is nested in one belongs to it.
pub(super) fn units(code: &str) -> Vec<Unit> {
    let bytes = code.as_bytes();
    let mut found = Vec::new();
    let (mut at, mut head, mut depth) = (0, 0, 0_usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b';' | b'}' if depth == 0 => head = at + 1,
            b'{' if depth == 0 => {
                let text = code.get(head..at).unwrap_or_default();
                if is_function(text) {
                    let head = at - text.trim_start_matches(is_space).len();
                    let end = closing_brace(bytes, at);
                    found.push(Unit { head, range: at + 1..end });
                    at = end;
                }
                head = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Whether a function begins with this, before its brace.
fn is_function(head: &str) -> bool {
    let mut depth = 0_usize;
    let assigns = head.bytes().any(|byte| {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        byte == b'=' && depth == 0
    });
    let first = leading_word(head.trim_start_matches(is_space));
    let plain = !assigns || head.contains("operator");
    head.contains('(') && plain && !NO_FUNCTIONS.contains(&first)
}

/// Where the brace at `at` is closed, else the end.
fn closing_brace(bytes: &[u8], at: usize) -> usize {
    let mut depth = 0_usize;
    for (place, byte) in bytes.iter().enumerate().skip(at) {
        match byte {
            b'{' => depth += 1,
            b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return place;
                }
            }
            _ => {}
        }
    }
    bytes.len()
}

/// The statements of a piece of a source, and whether control may take other ways.
pub(super) fn statements(code: &str, range: Range<usize>) -> (Vec<Statement>, bool) {
    let mut parser = Parser { code, closing: closing(code.as_bytes(), &range), irregular: false };
    let found = parser.several(range, 0);
    (found, parser.irregular)
}

/// Which bracket closes which, by the places of those that open.
fn closing(bytes: &[u8], range: &Range<usize>) -> HashMap<usize, usize> {
    let mut found = HashMap::new();
    let mut opened = Vec::new();
    for at in range.clone() {
        match bytes.get(at) {
            Some(b'(' | b'[' | b'{') => opened.push(at),
            Some(b')' | b']' | b'}') => {
                if let Some(open) = opened.pop() {
                    found.insert(open, at);
                }
            }
            _ => {}
        }
    }
    found
}

struct Parser<'c> {
    code: &'c str,
    closing: HashMap<usize, usize>,
    irregular: bool,
}

/// A statement, and where the next may begin.
type Parsed = (Statement, usize);

impl<'c> Parser<'c> {
    fn several(&mut self, range: Range<usize>, depth: usize) -> Vec<Statement> {
        let mut found = Vec::new();
        let mut at = self.after_space(range.start, range.end);
        while at < range.end {
            let (statement, next) = self.statement(at, range.end, depth);
            found.push(statement);
            at = self.after_space(next.max(at + 1), range.end);
        }
        found
    }

    fn statement(&mut self, at: usize, end: usize, depth: usize) -> Parsed {
        if depth > DEEPEST {
            self.irregular = true;
            return (plain(at..end, false), end);
        }
        match self.code.as_bytes().get(at) {
            Some(b'{') => {
                let close = self.close(at, end);
                let inner = self.several(at + 1..close, depth + 1);
                let next = (close + 1).min(end);
                return (Statement { range: at..next, kind: Kind::Block(inner) }, next);
            }
            Some(b'}') => {
                self.irregular = true;
                return (plain(at..at + 1, false), at + 1);
            }
            Some(b';') => return (plain(at..at + 1, true), at + 1),
            _ => {}
        }
        let word = leading_word(self.piece(at, end));
        let behind = at + word.len();
        match word {
            "if" => self.choice(at, behind, end, depth),
            "for" | "while" => self.repeated(at, behind, end, depth),
            "do" => self.repeated_once(at, behind, end, depth),
            "switch" => self.switch(at, behind, end, depth),
            "try" => self.tried(at, behind, end, depth),
            "else" => {
                self.irregular = true;
                let (inner, next) = self.inner(behind, end, depth);
                (Statement { range: at..next, kind: Kind::Choice(vec![vec![inner], Vec::new()]) }, next)
            }
            _ => self.simple(at, word, end, depth),
        }
    }

    /// The statement that belongs to another.
    fn inner(&mut self, from: usize, end: usize, depth: usize) -> Parsed {
        let at = self.after_space(from, end);
        if at >= end {
            self.irregular = true;
            return (plain(at..at, true), end);
        }
        self.statement(at, end, depth + 1)
    }

    /// The parenthesis behind a word, and where it ends.
    fn header(&mut self, from: usize, end: usize) -> Option<Range<usize>> {
        let at = self.after_space(from, end);
        if self.code.as_bytes().get(at) != Some(&b'(') {
            self.irregular = true;
            return None;
        }
        let close = self.close(at, end);
        Some(at..(close + 1).min(end))
    }

    fn choice(&mut self, at: usize, behind: usize, end: usize, depth: usize) -> Parsed {
        let from = self.after_space(behind, end);
        let from = if leading_word(self.piece(from, end)) == "constexpr" { from + "constexpr".len() } else { from };
        let Some(condition) = self.header(from, end) else { return self.simple(at, "", end, depth) };
        let condition = self.condition(condition);
        let (first, mut next) = self.inner(condition.range.end, end, depth);
        let mut branches = vec![vec![first], Vec::new()];
        let other = self.after_space(next, end);
        if leading_word(self.piece(other, end)) == "else" {
            let (second, after) = self.inner(other + "else".len(), end, depth);
            branches[1].push(second);
            next = after;
        }
        let begin = condition.range.end;
        let choice = Statement { range: begin..next, kind: Kind::Choice(branches) };
        (Statement { range: at..next, kind: Kind::Block(vec![condition, choice]) }, next)
    }

    fn condition(&self, range: Range<usize>) -> Statement {
        let always = is_done_always(self.piece(range.start, range.end));
        plain(range, always)
    }

    fn repeated(&mut self, at: usize, behind: usize, end: usize, depth: usize) -> Parsed {
        let Some(header) = self.header(behind, end) else { return self.simple(at, "", end, depth) };
        let header = self.condition(header);
        let (inner, next) = self.inner(header.range.end, end, depth);
        (Statement { range: at..next, kind: Kind::Loop { body: vec![header, inner], once: false } }, next)
    }

    fn repeated_once(&mut self, at: usize, behind: usize, end: usize, depth: usize) -> Parsed {
        let (inner, next) = self.inner(behind, end, depth);
        let from = self.after_space(next, end);
        let mut body = vec![inner];
        let mut next = next;
        if leading_word(self.piece(from, end)) == "while" {
            if let Some(condition) = self.header(from + "while".len(), end) {
                next = condition.end;
                body.push(self.condition(condition));
            }
        } else {
            self.irregular = true;
        }
        (Statement { range: at..next, kind: Kind::Loop { body, once: true } }, next)
    }

    fn switch(&mut self, at: usize, behind: usize, end: usize, depth: usize) -> Parsed {
        let Some(header) = self.header(behind, end) else { return self.simple(at, "", end, depth) };
        let condition = self.condition(header);
        let (inner, next) = self.inner(condition.range.end, end, depth);
        let Kind::Block(statements) = inner.kind else {
            self.irregular = true;
            return (Statement { range: at..next, kind: Kind::Choice(vec![vec![inner], Vec::new()]) }, next);
        };
        let mut cases: Vec<Vec<Statement>> = vec![Vec::new()];
        let mut others = true;
        for statement in statements {
            let word = leading_word(self.piece(statement.range.start, statement.range.end));
            if word == "case" || word == "default" {
                others &= word != "default";
                if !self.case_ends(cases.last()) {
                    self.irregular = true;
                }
                cases.push(Vec::new());
            }
            if let Some(case) = cases.last_mut() {
                case.push(statement);
            }
        }
        if others {
            cases.push(Vec::new());
        }
        let cases = cases.split_off(1);
        let choice = Statement { range: condition.range.end..next, kind: Kind::Choice(cases) };
        (Statement { range: at..next, kind: Kind::Block(vec![condition, choice]) }, next)
    }

    /// Whether a part of a `switch` does not go on with the next: labels alone do, and are no part of their own.
    fn case_ends(&self, case: Option<&Vec<Statement>>) -> bool {
        let Some(last) = case.and_then(|case| case.last()) else { return true };
        let text = self.piece(last.range.start, last.range.end);
        if matches!(leading_word(text), "case" | "default") {
            // It goes on with the next, and has nothing of its own.
            return true;
        }
        match &last.kind {
            Kind::Block(inner) => self.case_ends(Some(inner)),
            Kind::Plain { leaves, .. } => *leaves || LEAVE_CASE.contains(&leading_word(text)),
            _ => false,
        }
    }

    fn tried(&mut self, at: usize, behind: usize, end: usize, depth: usize) -> Parsed {
        let (inner, mut next) = self.inner(behind, end, depth);
        let mut parts = vec![inner];
        loop {
            let from = self.after_space(next, end);
            if leading_word(self.piece(from, end)) != "catch" {
                break;
            }
            let Some(header) = self.header(from + "catch".len(), end) else { break };
            let (caught, after) = self.inner(header.end, end, depth);
            next = after;
            parts.push(Statement { range: from..next, kind: Kind::Choice(vec![vec![caught], Vec::new()]) });
        }
        (Statement { range: at..next, kind: Kind::Block(parts) }, next)
    }

    /// What ends with a semicolon, and labels.
    fn simple(&mut self, at: usize, word: &str, end: usize, depth: usize) -> Parsed {
        let bytes = self.code.as_bytes();
        if word == "goto" {
            self.irregular = true;
        }
        let label = matches!(word, "case" | "default");
        // What was passed: an assignment, square brackets, a parenthesis last, anything behind the first word.
        let (mut assigns, mut brackets, mut closed, mut more) = (false, false, false, false);
        let mut place = at + word.len();
        while place < end {
            let byte = bytes.get(place).copied().unwrap_or_default();
            match byte {
                b';' => break,
                b'}' => {
                    // Of what is around it.
                    self.irregular = true;
                    return (self.plain(at..place, word), place.max(at + 1));
                }
                b':' if bytes.get(place + 1) == Some(&b':') => place += 1,
                b':' if label || !more => return (plain(at..place + 1, true), place + 1),
                b'{' => {
                    let close = self.close(place, end);
                    if closed && !assigns && !brackets {
                        // A loop or a condition that a macro makes.
                        let inner = self.several(place + 1..close, depth + 1);
                        let next = (close + 1).min(end);
                        return (Statement { range: at..next, kind: Kind::Loop { body: inner, once: false } }, next);
                    }
                    // What a function without a name does, nobody knows when.
                    self.irregular |= closed;
                    place = close;
                }
                b'(' | b'[' => {
                    let close = self.close(place, end);
                    let inside = self.piece(place, close);
                    self.irregular |= inside.contains('{') && inside.contains(';');
                    brackets |= byte == b'[';
                    place = close;
                }
                b'=' => assigns = true,
                _ => {}
            }
            if !byte.is_ascii_whitespace() {
                closed = matches!(byte, b'(' | b'[');
                more = true;
            }
            place += 1;
        }
        let next = (place + 1).min(end).max(at + 1);
        (self.plain(at..next, word), next)
    }

    fn plain(&self, range: Range<usize>, word: &str) -> Statement {
        let text = self.piece(range.start, range.end);
        let leaves = LEAVE.contains(&word) || word == "MPI_Abort";
        let always = is_done_always(text) && !follows_a_macro(text);
        Statement { range, kind: Kind::Plain { always, leaves } }
    }

    fn close(&mut self, at: usize, end: usize) -> usize {
        match self.closing.get(&at) {
            Some(close) if *close <= end => *close,
            _ => {
                self.irregular = true;
                end
            }
        }
    }

    fn after_space(&self, at: usize, end: usize) -> usize {
        let piece = self.piece(at, end);
        at.min(end) + (piece.len() - piece.trim_start_matches(is_space).len())
    }

    fn piece(&self, at: usize, end: usize) -> &'c str {
        self.code.get(at..end).unwrap_or_default()
    }
}

/// Whether no operator leaves out a part.
fn is_done_always(text: &str) -> bool {
    !(text.contains("&&") || text.contains("||") || text.contains('?'))
}

/// `ON_RANK(0) MPI_Isend(...)`: what stands behind the parenthesis is done where the macro says.
fn follows_a_macro(text: &str) -> bool {
    let rest = &text[leading_word(text).len()..];
    let rest = rest.trim_start_matches(is_space);
    if !rest.starts_with('(') {
        return false;
    }
    let mut depth = 0_usize;
    for (at, c) in rest.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return rest[at + 1..].trim_start_matches(is_space).starts_with(is_word);
        }
    }
    false
}
