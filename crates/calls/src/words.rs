//! Characters of sources, and numbers and texts in sentences.

use std::fmt::Write as _;

/// Whether a character belongs to a word.
pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether it is a space; the separators of ASCII are such.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\x1c'..='\x1f').contains(&c)
}

/// The word that a text begins with; it may be empty.
pub(crate) fn leading_word(text: &str) -> &str {
    text.split_once(|c| !is_word(c)).map_or(text, |(word, _)| word)
}

/// The name that a text begins with: a word whose first character is a letter of ASCII or an underscore.
pub(crate) fn leading_name(text: &str) -> Option<&str> {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_').then(|| leading_word(text))
}

/// A number with commas between its thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut found = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            found.push(',');
        }
        found.push(digit);
    }
    found
}

/// A piece of source in quotes, with escapes for what would not be seen.
pub(crate) fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut found = String::from(quote);
    for c in text.chars() {
        let code = u32::from(c);
        // No write to a String fails.
        let _ = match c {
            '\\' => write!(found, "\\\\"),
            '\n' => write!(found, "\\n"),
            '\r' => write!(found, "\\r"),
            '\t' => write!(found, "\\t"),
            c if c == quote => write!(found, "\\{c}"),
            c if is_shown(c) => write!(found, "{c}"),
            _ if code <= 0xff => write!(found, "\\x{code:02x}"),
            _ if code <= 0xffff => write!(found, "\\u{code:04x}"),
            _ => write!(found, "\\U{code:08x}"),
        };
    }
    found.push(quote);
    found
}

/// Whether a character can be seen: that of a space and of marks on others can, too.
fn is_shown(c: char) -> bool {
    match c {
        ' '..='~' => true,
        c if c.is_ascii() => false,
        // Behind a letter, where a mark is one.
        c => {
            !target::text::is_hidden(c)
                && !c.is_whitespace()
                && ['a', c].iter().collect::<String>().escape_debug().count() == 2
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_commas() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (123_456, "123,456"), (1_234_567, "1,234,567")]
        {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn what_is_quoted_can_be_seen() {
        for (text, shown) in [
            ("b", "'b'"),
            ("", "''"),
            ("'", "\"'\""),
            ("\"", "'\"'"),
            ("'\"", "'\\'\"'"),
            ("\\", "'\\\\'"),
            ("\0\n\x7f", "'\\x00\\n\\x7f'"),
            ("é", "'é'"),
            ("e\u{301}", "'e\u{301}'"),
            ("\u{a0}", "'\\xa0'"),
            ("\u{202e}", "'\\u202e'"),
            ("\u{e0001}", "'\\U000e0001'"),
        ] {
            assert_eq!(quoted(text), shown);
        }
    }

    #[test]
    fn names_begin_with_a_letter() {
        assert_eq!(leading_name("abc1 = 3"), Some("abc1"));
        assert_eq!(leading_name("_"), Some("_"));
        assert_eq!(leading_name("1a"), None);
        assert_eq!(leading_word("1a-"), "1a");
        assert_eq!(leading_word(""), "");
    }
}
