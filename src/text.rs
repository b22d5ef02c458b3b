//! What stands in `text`, for Python; and JSON that is harmless on a terminal.

use std::borrow::Cow;

use pyo3::prelude::*;
use pyo3::types::PyString;

use target::text;

/// Text in which characters that would steer a terminal or hide what follows are escapes, also newlines and tabs; with
/// `lines` all but these. The text itself where there is none.
#[pyfunction]
#[pyo3(signature = (text, *, lines = false))]
pub fn printable<'py>(text: Bound<'py, PyString>, lines: bool) -> PyResult<Bound<'py, PyString>> {
    let Ok(valid) = text.to_cow() else {
        // Surrogates: what Python makes of a name's bytes that are no UTF-8 becomes these bytes' escapes.
        let encode = |how: &str| text.call_method1("encode", ("utf-8", how));
        let bytes: Vec<u8> = encode("surrogateescape").or_else(|_| encode("surrogatepass"))?.extract()?;
        let shown = if lines {
            let parts = bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\t'));
            parts.map(kept_end).collect()
        } else {
            text::printable(&bytes)
        };
        return Ok(PyString::new(text.py(), &shown));
    };
    let shown = if lines { text::in_lines(&valid) } else { text::in_a_line(&valid) };
    let changed = match shown {
        Cow::Borrowed(_) => None,
        Cow::Owned(shown) => Some(PyString::new(text.py(), &shown)),
    };
    drop(valid);
    Ok(changed.unwrap_or(text))
}

/// A JSON text with hidden characters as `\u` escapes; between its strings stand newlines only.
#[pyfunction]
pub fn printable_json(text: &str) -> PyResult<String> {
    let mut out = Vec::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        text::write_json_fragment(&mut out, line)?;
        out.extend_from_slice(end.as_bytes());
    }
    Ok(String::from_utf8(out)?)
}

/// The name in C of a function of MPI, in whichever language it was called: `MPI_Recv` of `mpi_recv__`.
#[pyfunction]
pub fn c_name(function: &str) -> String {
    functions::c_name(function).into_owned()
}

/// The bytes up to a newline or a tab that ends them as text, with it.
fn kept_end(part: &[u8]) -> String {
    match part.split_last() {
        Some((end @ (b'\n' | b'\t'), before)) => text::printable(before) + if *end == b'\n' { "\n" } else { "\t" },
        _ => text::printable(part),
    }
}
