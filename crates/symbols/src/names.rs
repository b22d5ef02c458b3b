//! Names of functions as debuggers tell them.

const ANONYMOUS: &str = "(anonymous namespace)";
const OPERATOR: &str = "operator";

/// A C++ function's qualified name without parameters and return type; other names are as they are.
///
/// `void grid::f<int>(int) const` is `grid::f<int>`, as gdb names it.
pub fn without_parameters(name: &str) -> String {
    let bytes = name.as_bytes();
    let (mut start, mut depth, mut at) = (0, 0_i64, 0);
    while at < bytes.len() {
        let rest = &bytes[at..];
        if depth == 0 && rest.starts_with(ANONYMOUS.as_bytes()) {
            at += ANONYMOUS.len();
            continue;
        }
        if depth == 0 && rest.starts_with(OPERATOR.as_bytes()) && is_word(name, at) {
            // What follows belongs to the name, up to its parameters: operator(), operator<, operator long.
            let after = at + OPERATOR.len();
            let from = after + if bytes[after..].starts_with(b"()") { 2 } else { 0 };
            let end = name.get(from..).and_then(|rest| rest.find('(')).map_or(name.len(), |end| from + end);
            return slice(name, start, end);
        }
        match bytes[at] {
            b'<' | b'{' | b'[' => depth += 1,
            b'>' | b'}' | b']' => depth -= 1,
            b'(' if depth == 0 => return if at > start { slice(name, start, at) } else { name.to_owned() },
            b' ' if depth == 0 => start = at + 1,
            _ => {}
        }
        at += 1;
    }
    // No parameters: a name of another language, with whatever spaces it has.
    name.to_owned()
}

/// All places where a name is cut are characters of ASCII.
fn slice(name: &str, start: usize, end: usize) -> String {
    name.get(start..end).unwrap_or(name).to_owned()
}

fn is_word(name: &str, at: usize) -> bool {
    let in_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let before = name.get(..at).and_then(|before| before.chars().next_back());
    let following = name.get(at + OPERATOR.len()..).and_then(|rest| rest.chars().next());
    !in_word(before) && !in_word(following)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_and_return_types_are_left_out() {
        for (full, name) in [
            ("main", "main"),
            ("grid::exchange(int, char const*)", "grid::exchange"),
            ("grid::size() const", "grid::size"),
            ("void grid::send<std::pair<int, long> >(int)", "grid::send<std::pair<int, long> >"),
            ("(anonymous namespace)::step(double)", "(anonymous namespace)::step"),
            ("int (anonymous namespace)::step<int>(int)", "(anonymous namespace)::step<int>"),
            ("main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()"),
            ("grid::operator<(grid const&)", "grid::operator<"),
            ("grid::operator long() const", "grid::operator long"),
            ("operator new(unsigned long)", "operator new"),
            ("my_operator(int)", "my_operator"),
            ("box<(color)1>::draw(void (*)(int))", "box<(color)1>::draw"),
            ("a name with spaces", "a name with spaces"),
            ("", ""),
            ("(", "("),
            ("operator", "operator"),
            ("<<<<(", "<<<<("),
            ("größe(int)", "größe"),
        ] {
            assert_eq!(without_parameters(full), name, "{full}");
        }
    }
}
