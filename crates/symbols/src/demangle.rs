//! What compilers make of names, undone.

use std::fmt;

use cpp_demangle::{DemangleOptions, ParseOptions, Symbol};

use super::gnat;
use super::names::without_parameters;

/// Longer symbols are not undone, nor longer names written: a short symbol may stand for gigabytes.
const MAX_SYMBOL: usize = 1 << 16;
const MAX_NAME: usize = 1 << 16;

/// Nor are parts of longer symbols tried.
const MAX_PARTS: usize = 1 << 12;

/// The name of a symbol without parameters, as gdb 13 tells it where there is no debug information: that in the source where
/// the symbol is one of C++ or Rust, and what gdb takes others for (`foo.cold` is `foo[cold]`).
pub fn demangled(symbol: &str) -> String {
    // What follows is a version or tells a stub.
    let (name, rest) = symbol.find('@').filter(|at| *at > 0).map_or((symbol, ""), |at| symbol.split_at(at));
    match with_parameters(name) {
        Some(name) => without_parameters(&format!("{name}{rest}")),
        None => gnat::decoded(symbol).unwrap_or_else(|| symbol.to_owned()),
    }
}

/// The name in the source, with what a function takes; `None` for a symbol that no compiler made of another name.
pub(crate) fn with_parameters(symbol: &str) -> Option<String> {
    if symbol.len() > MAX_SYMBOL {
        return None;
    }
    if symbol.starts_with("_R")
        && let Ok(name) = rustc_demangle::try_demangle(symbol)
    {
        return limited(|out| fmt::write(out, format_args!("{name}")));
    }
    if !symbol.starts_with("_Z") && !symbol.starts_with("_GLOBAL_") {
        return None;
    }
    let name = plain(symbol).or_else(|| shortest(symbol))?;
    Some(with_functions(&without_empty(&with_suffixes(&name))))
}

fn plain(symbol: &str) -> Option<String> {
    let parsed = Symbol::new_with_options(symbol, &ParseOptions::default().recursion_limit(96)).ok()?;
    let options = DemangleOptions::new().no_return_type().recursion_limit(128);
    limited(|out| parsed.structured_demangle(out, &options))
}

/// The name alone, where what follows it is not understood (expressions in types of parameters): the first part that is whole.
fn shortest(symbol: &str) -> Option<String> {
    if !symbol.starts_with("_ZN") || symbol.len() > MAX_PARTS {
        return None;
    }
    symbol.match_indices('E').filter_map(|(at, _)| symbol.get(..=at)).find_map(|part| {
        // As if it took nothing; a template has a type of what it returns besides.
        plain(&format!("{part}v")).or_else(|| plain(&format!("{part}vv")))
    })
}

/// Types of numbers in templates, and how libiberty writes a number of that type.
const SUFFIXES: [(&str, &str); 5] = [
    ("(unsigned int)", "u"),
    ("(unsigned long)", "ul"),
    ("(unsigned long long)", "ull"),
    ("(long)", "l"),
    ("(long long)", "ll"),
];

fn with_suffixes(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find('(') {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let known = SUFFIXES.iter().find_map(|(kind, suffix)| Some((after.strip_prefix(kind)?, suffix)));
        let number = known.and_then(|(number, suffix)| {
            let digits = number.strip_prefix('-').unwrap_or(number);
            let left = digits.trim_start_matches(|c: char| c.is_ascii_digit());
            (left.len() < digits.len()).then(|| (number.split_at(number.len() - left.len()), suffix))
        });
        match number {
            Some(((number, left), suffix)) => {
                out.push_str(number);
                out.push_str(suffix);
                rest = left;
            }
            None => {
                out.push('(');
                rest = after.get(1..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out
}

/// Nothing is written for a pack of nothing at the end of a template's arguments.
fn without_empty(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for (number, piece) in name.split('>').enumerate() {
        if number > 0 {
            let length = out.trim_end_matches(", ").len();
            out.truncate(length);
            out.push('>');
        }
        out.push_str(piece);
    }
    out
}

/// A function as an argument of a template: `&(f(int))`, and without parameters where it has a scope.
fn with_functions(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find('&') {
        let (before, after) = rest.split_at(at + 1);
        out.push_str(before);
        rest = after;
        let is_argument =
            before.strip_suffix('&').is_some_and(|before| before.ends_with('<') || before.ends_with(", "));
        let Some((function, parameters)) = function(after).filter(|_| is_argument) else { continue };
        if function.contains("::") {
            out.push_str(function);
        } else {
            out.push_str(&format!("({function}{parameters})"));
        }
        rest = after.get(function.len() + parameters.len()..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// The name and the parameters of a function at the beginning of a text.
fn function(text: &str) -> Option<(&str, &str)> {
    let end = |text: &str, wanted: fn(char, usize) -> bool| {
        let mut depth = 0_usize;
        text.char_indices().find_map(|(at, c)| {
            if wanted(c, depth) {
                return Some(at);
            }
            match c {
                '<' | '(' => depth += 1,
                '>' | ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            None
        })
    };
    let begin = end(text, |c, depth| depth == 0 && matches!(c, '(' | ',' | '>' | ' '))?;
    let parameters = text.get(begin..).filter(|rest| begin > 0 && rest.starts_with('('))?;
    let close = end(parameters, |c, depth| depth == 1 && c == ')')?;
    Some((text.get(..begin)?, parameters.get(..=close)?))
}

fn limited(write: impl FnOnce(&mut Limited) -> fmt::Result) -> Option<String> {
    let mut out = Limited(String::new());
    write(&mut out).ok()?;
    Some(target::text::in_a_line(&out.0).into_owned())
}

/// Text of at most so many bytes.
struct Limited(String);

impl fmt::Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > MAX_NAME {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_source_are_told() {
        for (symbol, name) in [
            ("main", "main"),
            ("_ZN4grid8exchangeEiPKc", "grid::exchange"),
            ("_ZN4grid4HaloIiE8exchangeEv", "grid::Halo<int>::exchange"),
            ("_ZN12_GLOBAL__N_14stepEd", "(anonymous namespace)::step"),
            ("_ZN4gridltERKS_", "grid::operator<"),
            ("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write::h0123456789abcdef"),
            ("_RNvCs1234_7mycrate3foo", "mycrate[3c1c0]::foo"),
            ("_ZN4grid8numberedILj7ELb1ELc120ELln9EEEii", "grid::numbered<7u, true, (char)120, -9l>"),
            ("_Z7throughIXadL_Z10overloadediEEEii", "through<&(overloaded(int))>"),
            ("_Z7throughIXadL_ZN4grid1fEiEEEii", "through<&grid::f>"),
            ("_Z4manyIJEEvv", "many<>"),
            ("_Z3getIiJEEvv", "get<int>"),
            ("_Znwm", "operator new"),
            ("_Z", "_Z"),
            ("puts@plt", "puts@plt"),
            ("foo@@V2", "foo@@V2"),
            ("_Z3barv@@V2", "bar"),
            ("_Z3barv@plt", "bar"),
            ("helper.cold", "helper[cold]"),
        ] {
            assert_eq!(demangled(symbol), name);
        }
    }

    #[test]
    fn a_name_that_grows_without_end_is_not_written() {
        let mut symbol = "_Z1f1AIiiiiiiii".to_owned();
        for _ in 0..40 {
            symbol.push_str("S_IS0_S0_S0_S0_E");
        }
        let _ = demangled(&symbol);
        let deep = format!("_Z1f{}i", "P".repeat(60_000));
        assert_eq!(demangled(&deep), deep);
    }
}
