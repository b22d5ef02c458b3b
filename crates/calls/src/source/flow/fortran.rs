//! Program units and statements of Fortran, in a source without comments and strings.

use std::ops::Range;

use super::{DEEPEST, Kind, Statement, Unit, plain};
use crate::source::Source;
use crate::words::{is_space, leading_name, leading_word};

/// Words with which a unit begins, where nothing or only types and attributes stand before them.
const UNITS: [&str; 4] = ["program", "subroutine", "function", "procedure"];

/// Words that name the alternatives of a construct.
const ALTERNATIVES: [&str; 4] = ["else", "elseif", "case", "type"];

/// One statement with its continuation lines.
struct Line {
    range: Range<usize>,
    /// In small letters, without its label and the name of its construct.
    text: String,
    labelled: bool,
}

/// The statements of a piece of a source.
fn lines(source: &Source, range: Range<usize>) -> Vec<Line> {
    let mut found: Vec<Line> = Vec::new();
    let mut at = range.start;
    let mut goes_on = false;
    while at < range.end {
        let end =
            source.code.get(at..range.end).and_then(|rest| rest.find('\n')).map_or(range.end, |length| at + length);
        let code = source.code.get(at..end).unwrap_or_default();
        let text = source.text.get(at..end).unwrap_or_default();
        let continues_another = if source.is_fixed() { is_marked(text) } else { goes_on };
        let blank = code.trim_matches(is_space).is_empty();
        match found.last_mut().filter(|_| continues_another) {
            Some(last) if !blank => {
                last.range.end = end;
                last.text.push(' ');
                last.text.push_str(&code.trim_matches(is_space).to_lowercase());
            }
            _ if blank => {}
            _ => found.push(line(at..end, code)),
        }
        if !blank {
            goes_on = is_continued(text, code);
        }
        at = end + 1;
    }
    found
}

fn line(range: Range<usize>, code: &str) -> Line {
    let text = code.trim_matches(is_space).to_lowercase();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let labelled = digits > 0;
    let text = text[digits..].trim_start_matches(is_space);
    // The name of a construct.
    let named = leading_name(text).and_then(|name| {
        let rest = text[name.len()..].trim_start_matches(is_space).strip_prefix(':')?;
        (!rest.starts_with(':')).then(|| rest.trim_start_matches(is_space))
    });
    Line { range, text: named.unwrap_or(text).to_owned(), labelled }
}

/// Whether a line of free form goes on in the next: its last sign is a `&`.
fn is_continued(text: &str, code: &str) -> bool {
    let Some(at) = text.rfind('&') else { return false };
    let behind = code.get(at..).is_none_or(|rest| rest.trim_matches(is_space).is_empty());
    let before = text.get(..at).unwrap_or_default();
    let quotes = |quote| code.get(..at).unwrap_or_default().matches(quote).count() % 2 == 0;
    let commented = before.rfind('!').is_some_and(|mark| {
        let code = code.get(..mark).unwrap_or_default();
        code.matches('"').count() % 2 == 0 && code.matches('\'').count() % 2 == 0
    });
    behind && !commented && quotes('"') && quotes('\'') && !before.trim_matches(is_space).is_empty()
}

/// Whether a line of fixed form continues the one before.
fn is_marked(text: &str) -> bool {
    let mut characters = text.chars();
    let blank = characters.by_ref().take(5).all(|c| c == ' ');
    blank && characters.next().is_some_and(|mark| !matches!(mark, ' ' | '0' | '\t'))
}

/// The program units of a source, those inside others by themselves.
pub(super) fn units(source: &Source) -> Vec<Unit> {
    let mut found = Vec::new();
    let mut open: Option<Unit> = None;
    let close = |open: &mut Option<Unit>, end: usize, found: &mut Vec<Unit>| {
        if let Some(unit) = open.take() {
            found.push(Unit { range: unit.range.start..end.max(unit.range.start), ..unit });
        }
    };
    for line in lines(source, 0..source.code.len()) {
        if begins_unit(&line.text) {
            close(&mut open, line.range.start, &mut found);
            open = Some(Unit { head: line.range.start, range: line.range.end..line.range.end });
        } else if ends_unit(&line.text) {
            close(&mut open, line.range.start, &mut found);
        }
    }
    close(&mut open, source.code.len(), &mut found);
    found
}

fn begins_unit(text: &str) -> bool {
    let before = text.split(['=', '\'', '"']).next().unwrap_or_default();
    if before.contains("::") || before.starts_with("end") {
        return false;
    }
    let mut words =
        before.split(|c: char| is_space(c) || c == '(' || c == ')' || c == ',').filter(|word| !word.is_empty());
    let found = words.position(|word| UNITS.contains(&word));
    // A name follows; `module procedure` and variables of these names are none.
    found.is_some_and(|at| at < 6 && words.next().is_some_and(|name| leading_name(name).is_some()))
        && !before.starts_with("call ")
        && !before.starts_with("module procedure")
        && !before.starts_with("procedure")
}

fn ends_unit(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("end") else { return text == "contains" };
    let word = leading_word(rest.trim_start_matches(is_space));
    rest.is_empty() || UNITS.contains(&word)
}

/// The statements of a piece of a source, and whether control may take other ways.
pub(super) fn statements(source: &Source, range: Range<usize>) -> (Vec<Statement>, bool) {
    let lines = lines(source, range);
    let mut parser = Parser { lines: &lines, at: 0, irregular: false };
    let mut found = Vec::new();
    while parser.at < lines.len() {
        found.extend(parser.several(0));
        // What closes a construct that is not open.
        parser.irregular |= parser.at < lines.len();
        parser.at += 1;
    }
    (found, parser.irregular)
}

struct Parser<'l> {
    lines: &'l [Line],
    at: usize,
    irregular: bool,
}

impl Parser<'_> {
    /// Statements up to the next alternative or the end of the construct around them.
    fn several(&mut self, depth: usize) -> Vec<Statement> {
        let mut found = Vec::new();
        while let Some(line) = self.lines.get(self.at) {
            if closes(&line.text) || is_alternative(&line.text) {
                break;
            }
            found.push(self.statement(depth));
        }
        found
    }

    fn statement(&mut self, depth: usize) -> Statement {
        let Some(line) = self.lines.get(self.at) else { return plain(0..0, true) };
        let (range, text) = (line.range.clone(), line.text.as_str());
        self.at += 1;
        if depth > DEEPEST {
            self.irregular = true;
            return plain(range, false);
        }
        let word = leading_word(text);
        let jumps = word == "goto" || text.starts_with("go to") || text.contains(") goto") || text.contains(") go to");
        // Loops that end at a label.
        let old =
            word == "do" && text["do".len()..].trim_start_matches(is_space).starts_with(|c: char| c.is_ascii_digit());
        self.irregular |= jumps || old;
        match word {
            "if" => self.choice(range, text, depth),
            "do" if !old => {
                let body = self.several(depth + 1);
                let end = self.close(range.end);
                Statement { range: range.start..end, kind: Kind::Loop { body, once: false } }
            }
            "select" => self.select(&range, depth),
            _ => {
                let leaves = matches!(word, "return" | "stop") || text.starts_with("error stop") || aborts(text);
                let always = !line.labelled;
                Statement { range, kind: Kind::Plain { always, leaves } }
            }
        }
    }

    fn choice(&mut self, range: Range<usize>, text: &str, depth: usize) -> Statement {
        let rest = behind_parenthesis(&text["if".len()..]);
        if rest != Some("then") {
            // A condition before one statement.
            let leaves = rest.is_some_and(|rest| matches!(leading_word(rest), "return" | "stop"));
            let inner = Statement { range: range.clone(), kind: Kind::Plain { always: true, leaves } };
            return Statement { range, kind: Kind::Choice(vec![vec![inner], Vec::new()]) };
        }
        let mut branches = vec![self.several(depth + 1)];
        let mut other = false;
        while let Some(line) = self.lines.get(self.at).filter(|line| is_alternative(&line.text)) {
            other = line.text == "else";
            let begin = line.range.clone();
            self.at += 1;
            let mut branch = vec![plain(begin, true)];
            branch.extend(self.several(depth + 1));
            branches.push(branch);
        }
        if !other {
            branches.push(Vec::new());
        }
        let end = self.close(range.end);
        let condition = plain(range.clone(), true);
        let choice = Statement { range: range.end..end, kind: Kind::Choice(branches) };
        Statement { range: range.start..end, kind: Kind::Block(vec![condition, choice]) }
    }

    fn select(&mut self, range: &Range<usize>, depth: usize) -> Statement {
        let mut branches = Vec::new();
        let mut other = false;
        while let Some(line) = self.lines.get(self.at).filter(|line| is_alternative(&line.text)) {
            other |= line.text.contains("default");
            self.at += 1;
            branches.push(self.several(depth + 1));
        }
        if !other {
            branches.push(Vec::new());
        }
        let end = self.close(range.end);
        Statement { range: range.start..end, kind: Kind::Choice(branches) }
    }

    /// Goes past the end of a construct, which it tells.
    fn close(&mut self, otherwise: usize) -> usize {
        match self.lines.get(self.at) {
            Some(line) if closes(&line.text) => {
                self.at += 1;
                line.range.end
            }
            _ => {
                self.irregular = true;
                self.at.checked_sub(1).and_then(|at| self.lines.get(at)).map_or(otherwise, |line| line.range.end)
            }
        }
    }
}

/// Whether a line ends an `if`, a `do` or a `select`.
fn closes(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("end") else { return false };
    matches!(leading_word(rest.trim_start_matches(is_space)), "if" | "do" | "select")
}

fn is_alternative(text: &str) -> bool {
    let word = leading_word(text);
    let rest = text[word.len()..].trim_start_matches(is_space);
    match word {
        "class" => rest.starts_with("is") || rest.starts_with("default"),
        "type" => rest.starts_with("is"),
        "case" => rest.starts_with('(') || leading_word(rest) == "default",
        "else" => rest.is_empty() || leading_word(rest) == "if" || leading_word(rest) == rest,
        word => ALTERNATIVES.contains(&word),
    }
}

fn aborts(text: &str) -> bool {
    text.strip_prefix("call").is_some_and(|rest| rest.trim_start_matches(is_space).starts_with("mpi_abort"))
}

/// What stands behind the parenthesis that a text begins with.
fn behind_parenthesis(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(is_space);
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(text[at..].strip_prefix(')')?.trim_matches(is_space));
        }
    }
    None
}
