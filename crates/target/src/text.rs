//! Text for people: which characters would steer a terminal or hide what follows, and how they are shown instead.
//!
//! What a target, its files or a recording say may hold any character. Wherever text leaves for a person, and for a file
//! that a person may look at, it goes through here; Python uses the same functions.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Characters that no text shows as they are, first and last of each range: Unicode's control (Cc) and format characters
/// (Cf), line and paragraph separators (Zl, Zp), and noncharacters; with the code points between them that Unicode keeps
/// free for more format characters.
const HIDDEN: &[(u32, u32)] = &[
    (0x00, 0x1f),
    (0x7f, 0x9f),
    (0xad, 0xad),
    (0x600, 0x605),
    (0x61c, 0x61c),
    (0x6dd, 0x6dd),
    (0x70f, 0x70f),
    (0x890, 0x891),
    (0x8e2, 0x8e2),
    (0x180e, 0x180e),
    (0x200b, 0x200f),
    (0x2028, 0x202e),
    (0x2060, 0x206f),
    (0xfdd0, 0xfdef),
    (0xfeff, 0xfeff),
    (0xfff0, 0xfffb),
    (0x110bd, 0x110bd),
    (0x110cd, 0x110cd),
    (0x13430, 0x1343f),
    (0x1bca0, 0x1bca3),
    (0x1d173, 0x1d17a),
    (0xe0000, 0xe00ff),
];

/// Whether a character is not shown as it is. Newlines and tabs are such.
pub fn is_hidden(c: char) -> bool {
    let code = u32::from(c);
    if (0x20..0x7f).contains(&code) {
        return false;
    }
    // The last two of each plane are noncharacters.
    code & 0xfffe == 0xfffe || HIDDEN.iter().any(|(first, last)| (*first..=*last).contains(&code))
}

/// Turns bytes into text that is safe to print: what is no UTF-8 and hidden characters become escapes.
pub fn printable(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        push(&mut out, chunk.valid(), |_| false);
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

/// The text with hidden characters as escapes, newlines and tabs among them: what a target calls something stays in its line.
pub fn in_a_line(text: &str) -> Cow<'_, str> {
    shown(text, |_| false)
}

/// The text with hidden characters but newlines and tabs as escapes: for what has been made into lines.
pub fn in_lines(text: &str) -> Cow<'_, str> {
    shown(text, |c| matches!(c, '\n' | '\t'))
}

fn shown(text: &str, kept: impl Fn(char) -> bool) -> Cow<'_, str> {
    if text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) || !text.chars().any(|c| is_hidden(c) && !kept(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    push(&mut out, text, kept);
    Cow::Owned(out)
}

fn push(out: &mut String, text: &str, kept: impl Fn(char) -> bool) {
    for c in text.chars() {
        if !is_hidden(c) || kept(c) {
            out.push(c);
            continue;
        }
        // Python's escapes, which many can read.
        let _ = match u32::from(c) {
            code @ ..=0xff => write!(out, "\\x{code:02x}"),
            code @ ..=0xffff => write!(out, "\\u{code:04x}"),
            code => write!(out, "\\U{code:08x}"),
        };
    }
}

/// Writes strings of JSON with hidden characters as `\u` escapes: the JSON is the same, and harmless on a terminal.
pub fn write_json_fragment<W: std::io::Write + ?Sized>(out: &mut W, fragment: &str) -> std::io::Result<()> {
    let mut rest = fragment;
    while let Some((at, c)) = rest.char_indices().find(|(_, c)| is_hidden(*c)) {
        out.write_all(&rest.as_bytes()[..at])?;
        for unit in c.encode_utf16(&mut [0; 2]) {
            write!(out, "\\u{unit:04x}")?;
        }
        rest = &rest[at + c.len_utf8()..];
    }
    out.write_all(rest.as_bytes())
}
