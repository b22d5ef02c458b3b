//! What compilers make of names, undone.

use std::borrow::Cow;
use std::fmt;

use cpp_demangle::{DemangleOptions, ParseOptions, Symbol};

use super::libiberty::in_style;
use super::names::without_parameters;

/// Longer symbols are not undone, nor longer names written: a short symbol may stand for gigabytes.
const MAX_SYMBOL: usize = 1 << 16;
const MAX_NAME: usize = 1 << 16;

/// Nor are parts of longer symbols tried.
const MAX_PARTS: usize = 1 << 12;

/// The name of a symbol without parameters: that in the source where the symbol is one of C++ or Rust, else the symbol itself.
pub fn demangled(symbol: &str) -> String {
    // What follows is a version or tells a stub.
    let (name, rest) = symbol.find('@').filter(|at| *at > 0).map_or((symbol, ""), |at| symbol.split_at(at));
    match with_parameters(name) {
        Some(name) => without_parameters(&format!("{name}{rest}")),
        None => symbol.to_owned(),
    }
}

/// The name in the source, with what a function takes; `None` for a symbol that no compiler made of another name.
pub(crate) fn with_parameters(symbol: &str) -> Option<String> {
    if symbol.len() > MAX_SYMBOL {
        return None;
    }
    if (symbol.starts_with("_R") || has_hash(symbol))
        && let Ok(name) = rustc_demangle::try_demangle(symbol)
    {
        return limited(|out| fmt::write(out, format_args!("{name}")));
    }
    if !symbol.starts_with("_Z") && !symbol.starts_with("_GLOBAL_") {
        return None;
    }
    let symbol = without_thunk(symbol);
    let name = plain(&symbol).or_else(|| shortest(&symbol))?;
    Some(in_style(&name))
}

/// Whether it is one of Rust's older symbols, which are like those of C++ and end with a hash.
fn has_hash(symbol: &str) -> bool {
    symbol.starts_with("_ZN")
        && symbol.rsplit_once("17h").is_some_and(|(_, rest)| {
            let hash = rest.get(..16).unwrap_or_default();
            hash.bytes().all(|byte| byte.is_ascii_hexdigit())
                && rest.get(16..).is_some_and(|rest| rest.starts_with('E'))
        })
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

/// The function that a thunk leads to: its name stands for both.
fn without_thunk(symbol: &str) -> Cow<'_, str> {
    let offset = |text: &str| {
        let digits = text.strip_prefix('n').unwrap_or(text);
        digits.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix('_').map(str::to_owned)
    };
    let rest = symbol.strip_prefix("_ZTh").and_then(offset);
    let rest = rest.or_else(|| symbol.strip_prefix("_ZTv").and_then(offset).and_then(|rest| offset(&rest)));
    rest.map_or(Cow::Borrowed(symbol), |rest| Cow::Owned(format!("_Z{rest}")))
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
            (
                "_ZN44_$LT$$RF$T$u20$as$u20$core..fmt..Display$GT$3fmt17h0123456789abcdefE",
                "<&T as core::fmt::Display>::fmt::h0123456789abcdef",
            ),
            ("_RNvCs1234_7mycrate3foo", "mycrate[3c1c0]::foo"),
            ("_ZN4grid8numberedILj7ELb1ELc120ELln9EEEii", "grid::numbered<7u, true, (char)120, -9l>"),
            ("_Z7throughIXadL_Z10overloadediEEEii", "through<&(overloaded(int))>"),
            ("_Z7throughIXadL_ZN4grid1fEiEEEii", "through<&grid::f>"),
            ("_Z4manyIJEEvv", "many<>"),
            ("_Z3getIiJEEvv", "get<int>"),
            ("_ZTv0_n24_N1aD1Ev", "a::~a"),
            ("_ZThn16_N1aD0Ev", "a::~a"),
            ("_ZNSsC1ERKSs", "std::basic_string<char, std::char_traits<char>, std::allocator<char> >::basic_string"),
            ("_ZNSolsEi", "std::basic_ostream<char, std::char_traits<char> >::operator<<"),
            ("_Znwm", "operator new"),
            ("_Z", "_Z"),
            ("puts@plt", "puts@plt"),
            ("foo@@V2", "foo@@V2"),
            ("_Z3barv@@V2", "bar"),
            ("_Z3barv@plt", "bar"),
            ("helper.cold", "helper.cold"),
            ("solve__helper.part.0", "solve__helper.part.0"),
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
