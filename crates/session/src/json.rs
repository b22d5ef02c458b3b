//! Snapshots as JSON that may go to a terminal.

use std::io::{self, Write};

use model::Snapshot;
use serde::Serialize as _;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};
use target::text;

/// Writes the JSON of a snapshot, with so many blanks a level where an indentation is wanted.
///
/// # Errors
/// Those of `out`.
pub fn write_json(snapshot: &Snapshot, out: impl Write, indent: Option<usize>) -> serde_json::Result<()> {
    match indent {
        None => snapshot.serialize(&mut Serializer::with_formatter(out, Harmless(CompactFormatter))),
        Some(width) => {
            let indent = " ".repeat(width.min(16));
            let formatter = Harmless(PrettyFormatter::with_indent(indent.as_bytes()));
            snapshot.serialize(&mut Serializer::with_formatter(out, formatter))
        }
    }
}

/// JSON as serde writes it, with hidden characters in strings as `\u` escapes.
struct Harmless<F>(F);

impl<F: Formatter> Formatter for Harmless<F> {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, text: &str) -> io::Result<()> {
        text::write_json_fragment(out, text)
    }
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_array(out)
    }
    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array(out)
    }
    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(out, first)
    }
    fn end_array_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array_value(out)
    }
    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object(out)
    }
    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object(out)
    }
    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(out, first)
    }
    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object_value(out)
    }
    fn end_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object_value(out)
    }
}
