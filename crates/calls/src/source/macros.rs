//! Constants that a program defines for the preprocessor: gcc tells debuggers of them only with -g3.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::{Source, Sources};
use crate::Unknown;
use crate::words::{is_space, is_word, leading_name, leading_word};
use target::files::{Reader, is_regular};

/// Headers are looked through so deep, and so many.
const DEEPEST: usize = 4;
const MOST_FILES: usize = 64;
/// Definitions that name other definitions are followed so far.
const MOST_STEPS: usize = 8;
/// Headers are looked through up to so many bytes in all.
const MAX_TOTAL: usize = 8 << 20;
/// A definition, or an expression with them, that is longer is none of a constant.
const LONGEST: usize = 2000;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Definition {
    text: String,
    /// Whether it stands under an #if: then another one may hold.
    conditional: bool,
}

/// The object-like definitions of a file, and what it includes by name in quotes.
#[derive(Debug, Default)]
pub(super) struct OfFile {
    definitions: HashMap<String, Vec<Definition>>,
    includes: Vec<String>,
}

/// The definitions of a source and of the headers next to it.
#[derive(Debug)]
pub struct Macros(Vec<Arc<Source>>);

impl Macros {
    /// Those of a source of a program that was built at a time; headers are read as [`Sources::read`] does.
    ///
    /// # Errors
    /// Where a header has changed since the program was built, or they are too long.
    pub fn of(
        source: &Arc<Source>,
        sources: &Sources,
        built: Option<f64>,
        reader: Option<&Reader>,
    ) -> Result<Self, Unknown> {
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        let mut waiting = vec![(Arc::clone(source), 0)];
        let mut total = 0;
        while seen.len() < MOST_FILES
            && let Some((one, depth)) = waiting.pop()
        {
            if !seen.insert(one.path.clone()) {
                continue;
            }
            let directory = one.path.parent().map(Path::to_owned).unwrap_or_default();
            let includes = if depth < DEEPEST { of(&one).includes.as_slice() } else { &[] };
            for include in includes.iter().take(MOST_FILES) {
                let path = normal(&directory.join(include));
                if !is_regular(&path) {
                    continue;
                }
                if total > MAX_TOTAL {
                    return Err(Unknown::new("the headers next to its source are too long"));
                }
                let header = sources.read(&path, built, reader)?;
                total += header.text.len();
                waiting.push((header, depth + 1));
            }
            found.push(one);
        }
        Ok(Self(found))
    }

    fn known(&self, name: &str) -> Vec<&Definition> {
        self.0.iter().filter_map(|file| of(file).definitions.get(name)).flatten().collect()
    }

    /// An expression with these definitions; `None` where none of them is in it.
    ///
    /// # Errors
    /// Where one of them has several definitions, or they are too long.
    pub fn expanded(&self, text: &str) -> Result<Option<String>, Unknown> {
        let mut expanded: Option<String> = None;
        for _ in 0..MOST_STEPS {
            let mut text = expanded.as_deref().unwrap_or(text).to_owned();
            let mut names: Vec<String> = Vec::new();
            for (_, name) in names_in(&text) {
                if !names.iter().any(|known| known == name) && !self.known(name).is_empty() {
                    names.push(name.to_owned());
                }
            }
            if names.is_empty() {
                break;
            }
            for name in names {
                let known = self.known(&name);
                let only = known
                    .split_first()
                    .filter(|(first, more)| !first.conditional && more.iter().all(|one| one == *first));
                let Some((definition, _)) = only else {
                    return Err(Unknown::new(format!("{name} is defined in several ways, or under a condition")));
                };
                text = replaced(&text, &name, &definition.text)?;
            }
            expanded = Some(text);
        }
        Ok(expanded)
    }
}

/// The words of an expression that may be defined, with their places: no members.
fn names_in(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut before = None;
    text.char_indices().filter_map(move |(at, c)| {
        let begins = !before.is_some_and(|before| is_word(before) || before == '.' || before == '>');
        before = Some(c);
        leading_name(text.get(at..).filter(|_| begins)?).map(|name| (at, name))
    })
}

fn replaced(text: &str, name: &str, value: &str) -> Result<String, Unknown> {
    let mut found = String::new();
    let mut length = 0;
    let mut done = 0;
    let mut push = |piece: &str| {
        length += piece.chars().count();
        found.push_str(piece);
        if length > LONGEST { Err(Unknown::new("the definitions in it are too long")) } else { Ok(()) }
    };
    for (at, _) in names_in(text).filter(|(_, one)| *one == name) {
        push(text.get(done..at).unwrap_or_default())?;
        push("(")?;
        push(value)?;
        push(")")?;
        done = at + name.len();
    }
    push(text.get(done..).unwrap_or_default())?;
    Ok(found)
}

/// A path without `.` and `..`, as the names say.
fn normal(path: &Path) -> PathBuf {
    let mut found = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => match found.components().next_back() {
                Some(Component::Normal(_)) => {
                    found.pop();
                }
                Some(Component::RootDir) => {}
                _ => found.push(part),
            },
            _ => found.push(part),
        }
    }
    found
}

fn of(source: &Source) -> &OfFile {
    source.definitions.get_or_init(|| OfFile::new(&source.text))
}

impl OfFile {
    fn new(text: &str) -> Self {
        let mut found = Self::default();
        // Of each #if that is open whether it may leave out what follows, and how many may.
        let mut conditions = Vec::new();
        let mut under = 0_usize;
        let text = text.replace("\\\n", " ");
        let lines: Vec<&str> = text.split('\n').collect();
        for (at, line) in lines.iter().enumerate() {
            let Some((word, rest)) = directive(line) else { continue };
            match word {
                "if" | "ifdef" | "ifndef" => {
                    let following = lines.iter().skip(at + 1).take(3);
                    let guard = word == "ifndef" && is_guard(rest.trim_matches(is_space), following);
                    conditions.push(!guard);
                    under += usize::from(!guard);
                }
                "endif" => under -= usize::from(conditions.pop().unwrap_or(false)),
                "undef" => found.define(rest.trim_matches(is_space), None, true),
                "include" => found.includes.extend(included(rest).map(str::to_owned)),
                "define" => {
                    if let Some((name, text)) = defined(rest) {
                        let text = without_comments(text);
                        let text = text.trim_matches(is_space);
                        if text.chars().nth(LONGEST).is_some() {
                            // It is there, but nobody can say what it is.
                            found.define(name, None, true);
                        } else if !text.is_empty() {
                            found.define(name, Some(text), under > 0);
                        }
                    }
                }
                _ => {}
            }
        }
        found
    }

    fn define(&mut self, name: &str, text: Option<&str>, conditional: bool) {
        let definition = Definition { text: text.unwrap_or_default().to_owned(), conditional };
        self.definitions.entry(name.to_owned()).or_default().push(definition);
    }
}

/// Blanks of a line, as the preprocessor has them.
fn after_blanks(text: &str) -> &str {
    text.trim_start_matches([' ', '\t'])
}

/// The word of a line of the preprocessor, and what follows it.
fn directive(line: &str) -> Option<(&str, &str)> {
    let rest = after_blanks(after_blanks(line).strip_prefix('#')?);
    let word = leading_word(rest);
    (!word.is_empty()).then(|| (word, &rest[word.len()..]))
}

/// The name that is defined, and as what; none that takes arguments.
fn defined(rest: &str) -> Option<(&str, &str)> {
    let name = leading_word(after_blanks(rest));
    let behind = &after_blanks(rest)[name.len()..];
    let taken = rest.starts_with([' ', '\t']) && !name.is_empty() && !behind.starts_with('(');
    taken.then(|| (name, after_blanks(behind)))
}

fn included(rest: &str) -> Option<&str> {
    let (name, _) = rest.trim_start_matches(is_space).strip_prefix('"')?.split_once('"')?;
    (!name.is_empty()).then_some(name)
}

/// A line without its comments, each a space; one that is not closed is left as it is.
fn without_comments(text: &str) -> String {
    let mut found = String::new();
    let mut rest = text;
    while let Some(start) = comment(rest) {
        let (before, after) = (&rest[..start], &rest[start + 2..]);
        let closed = if rest[start..].starts_with("/*") { after.split_once("*/") } else { Some(("", "")) };
        let Some((_, next)) = closed else {
            // No other that begins behind it is closed, either, but one may go to the end of the line.
            let last = after.find("//").map_or(rest.len(), |last| start + 2 + last);
            found.push_str(&rest[..last]);
            return found;
        };
        found.push_str(before);
        found.push(' ');
        rest = next;
    }
    found.push_str(rest);
    found
}

/// Where the first comment begins.
fn comment(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    bytes.windows(2).position(|two| two == b"/*" || two == b"//")
}

/// Whether #ifndef NAME is what keeps a header from being read twice: NAME is defined next, as nothing.
fn is_guard<'l>(name: &str, mut following: impl Iterator<Item = &'l &'l str>) -> bool {
    following.any(|line| {
        let line = line.char_indices().nth(LONGEST).map_or(*line, |(end, _)| &line[..end]);
        let rest = line.trim_start_matches(is_space).strip_prefix('#').map(|rest| rest.trim_start_matches(is_space));
        let rest = rest.and_then(|rest| rest.strip_prefix("define")).filter(|rest| rest.starts_with(is_space));
        let rest = rest.and_then(|rest| rest.trim_start_matches(is_space).strip_prefix(name));
        rest.is_some_and(|rest| rest.trim_start_matches(is_space).is_empty())
    })
}
