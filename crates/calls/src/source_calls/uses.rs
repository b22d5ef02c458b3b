//! How a function uses a variable, by its source.

use crate::source::flow::Body;
use crate::source::{Mention, Source};
use crate::words::{is_space, is_word, leading_word};

/// What a variable is assigned without being set to a request: where requests lie, and that there are none.
const EMPTY: [&str; 7] = ["MPI_REQUEST_NULL", "malloc", "calloc", "realloc", "new", "NULL", "nullptr"];

/// Functions that do not set what they are given.
const HARMLESS: [&str; 3] = ["free", "sizeof", "delete"];

/// Members of a container that set no element.
const MEMBERS: [&str; 7] = ["size", "resize", "reserve", "clear", "data", "empty", "begin"];

/// How a variable is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Uses {
    /// How often it is declared in the function.
    declared: usize,
    /// Whether it is a parameter.
    parameter: bool,
    /// How often it is given to anything but functions of MPI, or set.
    others: usize,
    /// Whether it stays when the function ends.
    kept: bool,
}

impl Uses {
    /// Whether nothing but calls of MPI in this function can set it.
    pub(super) fn are_plain(&self) -> bool {
        self.is_local() && self.declared == 1 && self.others == 0
    }

    /// Whether no other function has it by this name, and it is new each time.
    pub(super) fn is_local(&self) -> bool {
        self.declared > 0 && !self.parameter && !self.kept
    }
}

/// How a function uses a variable; `mentioned` are its calls of MPI.
pub(super) fn uses(source: &Source, body: &Body, mentioned: &[Mention], variable: &str) -> Uses {
    let mut found = Uses::default();
    let code = source.code.as_str();
    let mut at = body.head;
    while let Some(start) = next(code, variable, at, body.range.end, source.fortran) {
        let end = start + variable.len();
        at = end;
        if start < body.range.start {
            found.parameter = true;
        } else if mentioned.iter().any(|one| one.at < start && start < one.end) {
            continue;
        } else if is_declared(source, start) {
            found.declared += 1;
            found.kept |= is_kept(source, start);
            found.others += usize::from(!source.fortran && !is_set_to_nothing(code, end));
        } else if !is_harmless(code, start, end) {
            found.others += 1;
        }
    }
    found
}

/// The next place of a word.
fn next(code: &str, word: &str, from: usize, end: usize, fortran: bool) -> Option<usize> {
    let bytes = code.as_bytes();
    let same = |at: usize| {
        let here = bytes.get(at..at + word.len());
        here.is_some_and(
            |here| if fortran { here.eq_ignore_ascii_case(word.as_bytes()) } else { here == word.as_bytes() },
        )
    };
    let apart = |c: Option<char>| !c.is_some_and(is_word);
    (from..end.saturating_sub(word.len().saturating_sub(1))).find(|at| {
        !word.is_empty()
            && same(*at)
            && code.get(..*at).is_some_and(|before| {
                // A member of something else has that name, too.
                apart(before.chars().next_back()) && !before.ends_with(['.', '%']) && !before.ends_with("->")
            })
            && apart(code.get(at + word.len()..).and_then(|rest| rest.chars().next()))
    })
}

/// Whether a function declares a variable.
pub(super) fn is_declared_in(source: &Source, body: &Body, variable: &str) -> bool {
    let uses = uses(source, body, &[], variable);
    uses.declared > 0 && !uses.kept || uses.parameter
}

/// Whether what is declared where it stands outlives the call of its function.
fn is_kept(source: &Source, at: usize) -> bool {
    let statement = statement(source, at).to_lowercase();
    // A variable of Fortran that is set where it is declared is kept.
    let words = if source.fortran { ["save", "=>"] } else { ["static", "thread_local"] };
    words.iter().any(|word| statement.contains(word))
}

/// No line of Fortran is longer (Fortran 2023, 6.3.2.1), and no statement of C that declares a variable.
const LONGEST: usize = 10_000;

/// What stands before a place in its statement; of Fortran in its line. Nothing where that is too long for one.
fn statement(source: &Source, at: usize) -> &str {
    let mut first = at.saturating_sub(LONGEST);
    while !source.code.is_char_boundary(first) {
        first += 1;
    }
    let code = source.code.get(first..at).unwrap_or_default();
    let begins = if source.fortran { code.rfind('\n') } else { code.rfind([';', '{', '}', '(', ')']) };
    match begins {
        Some(begin) => code.get(begin + 1..).unwrap_or_default(),
        None if first == 0 => code,
        None => "",
    }
}

/// Whether a word is declared where it stands: the statement begins with a type of requests.
fn is_declared(source: &Source, at: usize) -> bool {
    let statement = statement(source, at);
    if source.fortran {
        let line = statement.trim_start_matches(is_space).to_lowercase();
        return line.contains("::") || line.starts_with("integer") || line.starts_with("type");
    }
    ["MPI_Request", "mpi::request", "auto "].iter().any(|word| statement.contains(word))
}

/// Whether what is declared is set to no request.
fn is_set_to_nothing(code: &str, end: usize) -> bool {
    let rest = behind_brackets(code.get(end..).unwrap_or_default());
    match rest.chars().next() {
        Some('=') => is_empty(&rest[1..]),
        Some('{') => is_empty(&rest[1..]) || rest[1..].trim_start_matches(is_space).starts_with('}'),
        _ => true,
    }
}

/// Whether a value is no request: after an opening brace that of the first element.
fn is_empty(text: &str) -> bool {
    let text = text.trim_start_matches(|c| is_space(c) || c == '{');
    // A cast before it.
    let text = text.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or(text, |(_, rest)| rest);
    EMPTY.contains(&leading_word(text.trim_start_matches(is_space)))
}

fn is_harmless(code: &str, start: usize, end: usize) -> bool {
    let before = code.get(..start).unwrap_or_default().trim_end_matches(|c| is_space(c) || c == '(');
    let word = before.rsplit(|c: char| !is_word(c)).next().unwrap_or_default();
    if HARMLESS.contains(&word) {
        return true;
    }
    let rest = behind_brackets(code.get(end..).unwrap_or_default());
    if let Some(compared) = rest.strip_prefix("==").or_else(|| rest.strip_prefix("!=")) {
        return is_empty(compared);
    }
    if let Some(member) = rest.strip_prefix('.') {
        return MEMBERS.contains(&leading_word(member.trim_start_matches(is_space)));
    }
    rest.strip_prefix('=').is_some_and(is_empty)
}

/// What stands behind the brackets that a text begins with.
fn behind_brackets(text: &str) -> &str {
    let mut rest = text.trim_start_matches(is_space);
    while rest.starts_with('[') {
        rest = rest.split_once(']').map_or("", |(_, rest)| rest).trim_start_matches(is_space);
    }
    rest
}
