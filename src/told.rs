//! What was told of a snapshot, in Python: a diagnosis, merged stacks. Both are sequences, and their JSON is the snapshot's with them.

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

/// The place of an item as Python counts, from the end where it is negative.
pub(super) fn place(index: isize, count: usize, items: &str) -> PyResult<usize> {
    let place = if index < 0 { count.checked_add_signed(index) } else { usize::try_from(index).ok() };
    let place = place.filter(|place| *place < count);
    place.ok_or_else(|| PyIndexError::new_err(format!("there are {count} {items}")))
}

/// The members that such a class has in common. `$items`: the attribute that its items stand in; `$report`: the module that writes it
/// for people. Its field is an `Arc` of a structure with a `snapshot`, and `told()`, the snapshot with it.
macro_rules! told {
    ($class:ident, $items:literal, $report:literal) => {
        #[pymethods]
        impl $class {
            /// The snapshot that it is of.
            #[getter]
            fn snapshot(&self) -> Snapshot {
                Snapshot(Arc::clone(&self.0.snapshot))
            }

            /// The snapshot's JSON with it, as one string.
            #[pyo3(signature = (*, indent = None))]
            fn to_json(&self, indent: Option<usize>) -> PyResult<String> {
                Snapshot(Arc::new(self.0.told())).to_json(indent)
            }

            /// The same in pieces of about 64 KiB, each handed to `write`.
            #[pyo3(signature = (write, *, indent = None))]
            fn write_json(&self, write: Bound<'_, PyAny>, indent: Option<usize>) -> PyResult<()> {
                write_json(&self.0.told(), write, indent)
            }

            fn __iter__(slf: &Bound<'_, Self>) -> PyResult<Py<pyo3::types::PyIterator>> {
                Ok(slf.getattr($items)?.try_iter()?.unbind())
            }

            /// One without items is one, too.
            fn __bool__(&self) -> bool {
                true
            }

            fn __str__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
                slf.py().import($report)?.call_method1("as_text", (slf,))
            }
        }
    };
}
pub(super) use told;
