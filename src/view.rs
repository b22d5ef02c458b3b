//! How members of the model become objects of Python.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use super::snapshot::to_python;

/// What Python shows of a member.
pub(super) trait View {
    /// As an object of Python.
    fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>>;
}

/// Those that are an object of Python as they are.
macro_rules! plain {
    ($($kind:ty),*) => {
        $(impl View for $kind {
            fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                Ok(self.into_pyobject(py)?.to_owned().into_any())
            }
        })*
    };
}
plain!(i64, u64, usize, bool);

/// Texts of any kind.
macro_rules! text {
    ($($kind:ty),*) => {
        $(impl View for $kind {
            fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                Ok(PyString::new(py, self).into_any())
            }
        })*
    };
}
text!(String, Arc<str>, Cow<'static, str>, model::Text);

impl View for model::HandleWord {
    fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyString::new(py, &self.to_string()).into_any())
    }
}

/// Words and structures, as the JSON has them.
macro_rules! as_json {
    ($($kind:ident),*) => {
        $(impl View for model::$kind {
            fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                to_python(py, self)
            }
        })*
    };
}
as_json!(
    Blamed,
    Call,
    Elsewhere,
    FindingKind,
    HandleList,
    History,
    Limit,
    FrameLanguage,
    Members,
    Motion,
    Mpi,
    OddReason,
    Operation,
    OperationStatus,
    Outside,
    Exception,
    QueueState,
    RankCall,
    RankException,
    RankMovement,
    RankStart,
    RankSet,
    Remark,
    Repeats,
    Sender,
    EarlierCollective,
    Source,
    Spawned,
    Stack,
    StackWait,
    Stage,
    StartedBy,
    State,
    ThreadMembers,
    Traffic,
    Window,
    World,
    TcpConnections
);

impl<T: View> View for Option<T> {
    fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.as_ref().map_or_else(|| Ok(py.None().into_bound(py)), |known| known.view(py))
    }
}

impl<T: View + model::Usual> View for model::Common<T> {
    fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        (**self).view(py)
    }
}

impl<T: View> View for [T] {
    fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let elements = self.iter().map(|one| one.view(py)).collect::<PyResult<Vec<_>>>()?;
        Ok(PyList::new(py, elements)?.into_any())
    }
}

impl<T: View> View for Vec<T> {
    fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.as_slice().view(py)
    }
}

impl<T: View> View for Arc<[T]> {
    fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.as_ref().view(py)
    }
}

impl<V: View> View for BTreeMap<Cow<'static, str>, V> {
    fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let members = PyDict::new(py);
        for (name, value) in self {
            members.set_item(name.as_ref(), value.view(py)?)?;
        }
        Ok(members.into_any())
    }
}

/// A class of Python that shows these members of what its `data` gives.
macro_rules! views {
    ($class:ident { $($(#[$about:meta])* $member:ident,)* }) => {
        #[pymethods]
        impl $class {
            $($(#[$about])*
            #[getter]
            fn $member<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                self.data().$member.view(py)
            })*
        }
    };
}
pub(super) use views;
