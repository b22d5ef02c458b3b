//! Names that gdb takes for those of Ada, whatever language they are of: `foo.part.0` is `foo.part` for it, `foo.cold` is
//! `foo[cold]`, `foo__bar` is `foo.bar`. The rules are those that GNAT encodes names by (exp_dbug.ads in GCC), as gdb 13 applies
//! them to every symbol without debug information; its operators and wide characters are left out.

/// What gdb 13 makes of a symbol; `None` where it stays as it is.
pub(crate) fn decoded(symbol: &str) -> Option<String> {
    let encoded = symbol.strip_prefix("_ada_").unwrap_or(symbol);
    if !encoded.is_ascii() || encoded.starts_with(['_', '<']) {
        return None;
    }
    let (name, kind) = without_kind(encoded);
    let name = without_number(name);
    let name = name.strip_suffix('N').filter(|rest| ends_in_lower(rest)).unwrap_or(name);
    let name = match name.find("___") {
        // Only where something follows.
        Some(at) if at + 3 < name.len() => match name.as_bytes().get(at + 3) {
            Some(b'X') => name.get(..at)?,
            _ => return None,
        },
        _ => name,
    };
    let name = shortened(name, "TKB", 3);
    let name = shortened(name, "B", 1);
    let plain = with_dots(without_numbers(name))?;
    if plain.contains(|c: char| c.is_ascii_uppercase() || c == ' ') {
        return None;
    }
    let told = if kind.is_empty() { plain } else { format!("{plain}[{kind}]") };
    (told != symbol).then_some(told)
}

/// The name, and letters after its last dot: what a compiler calls a part of it (`cold`).
fn without_kind(name: &str) -> (&str, &str) {
    let head = name.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    match head.strip_suffix('.') {
        Some(head) if !head.is_empty() => (head, name.get(head.len() + 1..).unwrap_or_default()),
        _ => (name, ""),
    }
}

/// Without a number after a dot, a dollar, or two or three underscores.
fn without_number(name: &str) -> &str {
    let head = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if head.len() == name.len() {
        return name;
    }
    ["___", "__", ".", "$"].iter().find_map(|mark| head.strip_suffix(mark)).unwrap_or(name)
}

/// Without numbers between underscores, after a dollar or two underscores.
fn without_numbers(name: &str) -> &str {
    if !name.ends_with(|c: char| c.is_ascii_digit()) {
        return name;
    }
    let mut head = name;
    loop {
        let rest = head.trim_end_matches(|c: char| c.is_ascii_digit());
        let one = rest.strip_suffix('_').filter(|before| before.ends_with(|c: char| c.is_ascii_digit()));
        match one {
            Some(before) => head = before,
            None => {
                head = rest;
                break;
            }
        }
    }
    head.strip_suffix("__").filter(|rest| !rest.is_empty()).or_else(|| head.strip_suffix('$')).unwrap_or(name)
}

fn shortened<'a>(name: &'a str, end: &str, least: usize) -> &'a str {
    name.strip_suffix(end).filter(|_| name.len() > least).unwrap_or(name)
}

fn ends_in_lower(text: &str) -> bool {
    text.ends_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
}

/// Two underscores within the name are a dot. `None` for what is no such name.
fn with_dots(name: &str) -> Option<String> {
    let bytes = name.as_bytes();
    let mut out = String::with_capacity(name.len());
    let mut at = bytes.iter().take_while(|byte| !byte.is_ascii_alphabetic()).count();
    out.push_str(name.get(..at)?);
    while let Some(byte) = bytes.get(at) {
        let rest = name.get(at..)?;
        let before = name.get(..at)?;
        if rest.starts_with("N__") {
            let part = before.trim_end_matches(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
            if part.is_empty() || part.ends_with("__") {
                at += 1;
                continue;
            }
        }
        if *byte == b'X' && before.ends_with(|c: char| c.is_ascii_alphanumeric()) {
            return rest.get(1..)?.bytes().all(|byte| matches!(byte, b'b' | b'n')).then_some(out);
        }
        if rest.len() > 2 && rest.starts_with("__") {
            out.push('.');
            at += 2;
        } else {
            out.push(char::from(*byte));
            at += 1;
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_read_as_gdb_reads_them() {
        // As gdb 13.1 tells them.
        for (symbol, told) in [
            ("9foo__b", "9foo.b"),
            ("_ada_foo", "foo"),
            ("a.B", "a[B]"),
            ("a.b.c.d", "a.b.c[d]"),
            ("a1b__2c", "a1b.2c"),
            ("a__B", "a__"),
            ("a__b__c", "a.b.c"),
            ("abX", "ab"),
            ("abXb", "ab"),
            ("completed.0", "completed"),
            ("f.0.1", "f.0"),
            ("foo$1__2", "foo"),
            ("foo$3", "foo"),
            ("foo..1", "foo."),
            ("foo.123abc.4", "foo.123abc"),
            ("foo.N", "foo[N]"),
            ("foo.__bar", "foo..bar"),
            ("foo.cold", "foo[cold]"),
            ("foo.constprop.0", "foo.constprop"),
            ("foo.constprop.0.isra.0", "foo.constprop.0.isra"),
            ("foo.part.0.cold", "foo.part[cold]"),
            ("foo9N", "foo9"),
            ("fooB", "foo"),
            ("fooN", "foo"),
            ("fooN__bar", "foo.bar"),
            ("fooTKB", "foo"),
            ("foo__1_2", "foo"),
            ("foo__1__2", "foo"),
            ("foo__3", "foo"),
            ("foo__3a", "foo.3a"),
            ("foo___", "foo._"),
            ("foo___3", "foo"),
            ("foo___Xabc", "foo"),
            ("foo__bar", "foo.bar"),
            ("foo__bar.cold", "foo.bar[cold]"),
            ("foo__bar.part.0", "foo.bar.part"),
            ("foo__bar_", "foo.bar_"),
            ("foo__bar__", "foo.bar__"),
            ("nB", "n"),
            ("p__1", "p"),
            ("solve__helper", "solve.helper"),
        ] {
            assert_eq!(decoded(symbol).as_deref(), Some(told), "{symbol}");
        }
        for symbol in [
            "",
            "main",
            "foo_",
            "foo__",
            "foo___abc",
            "foo_____bar",
            "Foo__bar",
            "_foo__bar",
            "MPI__x",
            "_f.0",
            "N",
            "B",
            "x.1a",
            "MPI_Send",
            "MPI_Send.part.0",
            "foo__Bar",
            "größe__x",
        ] {
            assert_eq!(decoded(symbol), None, "{symbol}");
        }
    }
}
