//! What cannot be done: a sentence that names the thing, and the next thing to type.

use std::fmt;

use target::text::{in_a_line, in_lines};

/// Why something could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// A sentence, or several lines of them.
    pub text: String,
    /// What to type; may be empty.
    pub help: String,
}

impl Failure {
    /// Both, with hidden characters of whatever the sentence names as escapes.
    pub fn new(text: &str, help: impl Into<String>) -> Self {
        Self { text: in_a_line(text).into_owned(), help: help.into() }
    }

    /// Without anything to type.
    pub fn plain(text: &str) -> Self {
        Self::new(text, "")
    }

    /// As the JSON has it.
    pub fn in_a_line(&self) -> String {
        self.to_string().replace('\n', "; ")
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)?;
        if self.help.is_empty() { Ok(()) } else { write!(out, "\n{}", self.help) }
    }
}

/// Says something on standard error, without characters that steer a terminal. Where that is closed, nobody is to be told.
pub fn say(text: &dyn fmt::Display) {
    use std::io::Write as _;
    let text = text.to_string();
    let _ = writeln!(std::io::stderr(), "mpi-queues-agent: {}", in_lines(&text));
}
