//! Everything that goes over a text of a source. The crate `fuzz` looks so as well.

use std::path::Path;
use std::sync::Arc;

use calls::expression::{c_grammar, fortran_grammar};
use calls::source::flow::{Body, Mark, reaching};
use calls::source::{Macros, Source, Sources, blanks, constant_in, constant_in_fortran, find, mentions};

/// Looks at all of it, for calls in these lines, and at a part of it with its macros expanded.
pub fn look(text: &str, lines: [i64; 3], expanded: &str) {
    let is_type = |_: &str| None;
    let _ = c_grammar::parse(text, &is_type, true);
    let _ = fortran_grammar::parse(text);
    constant_in(text);
    constant_in_fortran(text);
    blanks::c(text);
    blanks::fortran(text, true);
    for name in ["/nowhere/a.c", "/nowhere/a.f90", "/nowhere/a.f"] {
        let source = Arc::new(Source::new(Path::new(name), text.to_owned()));
        for line in lines {
            let _ = find(&source, "MPI_Send", line);
            if let Some(body) = Body::at(&source, line as usize) {
                let found = mentions(&source, &body.range).unwrap_or_default();
                let marks: Vec<Mark> = found.iter().map(|one| Mark { at: one.at, starts: true, ends: false }).collect();
                reaching(&body, body.range.end.saturating_sub(2), &marks);
            }
        }
        if let Ok(macros) = Macros::of(&source, &Sources::new(), None, None) {
            let _ = macros.expanded("A + B * a");
            let _ = macros.expanded(expanded);
        }
    }
}
