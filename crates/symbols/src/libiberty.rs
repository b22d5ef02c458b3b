//! Names of C++ in the style of libiberty, which gdb uses, made of that of `cpp_demangle`.

/// The name in that style.
pub(crate) fn in_style(name: &str) -> String {
    with_classes(&with_functions(&without_empty(&with_suffixes(name))))
}

/// Short names of classes, and the ends of their long ones.
const CLASSES: [(&str, &str); 4] = [
    ("string", "<char, std::char_traits<char>, std::allocator<char> >"),
    ("ostream", "<char, std::char_traits<char> >"),
    ("istream", "<char, std::char_traits<char> >"),
    ("iostream", "<char, std::char_traits<char> >"),
];

/// Classes that have a letter of their own in symbols by their long names.
fn with_classes(name: &str) -> String {
    const SCOPE: &str = "std::";
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find(SCOPE) {
        let (before, after) = rest.split_at(at + SCOPE.len());
        out.push_str(before);
        rest = after;
        let end = after.find(|c: char| !in_word(c)).unwrap_or(after.len());
        let (word, following) = after.split_at(end);
        let Some((short, arguments)) = CLASSES.iter().find(|(short, _)| *short == word) else { continue };
        out.push_str("basic_");
        out.push_str(short);
        out.push_str(arguments);
        rest = following;
        if following.starts_with('>') {
            out.push(' ');
        }
        // Its constructors and its destructor.
        for mark in ["::", "::~"] {
            let named = following.strip_prefix(mark).and_then(|rest| rest.strip_prefix(short));
            if let Some(left) = named.filter(|left| !left.starts_with(in_word)) {
                out.push_str(mark);
                out.push_str("basic_");
                out.push_str(short);
                rest = left;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Types of numbers in templates, and how libiberty writes a number of that type.
const SUFFIXES: [(&str, &str); 5] = [
    ("(unsigned int)", "u"),
    ("(unsigned long)", "ul"),
    ("(unsigned long long)", "ull"),
    ("(long)", "l"),
    ("(long long)", "ll"),
];

/// Numbers with the suffixes of their types.
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
