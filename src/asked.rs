//! The classes of `debuggers/values.py`, as what the evaluator of `calls` asks.

use pyo3::prelude::*;
use pyo3::types::PyInt;

use calls::expression::{Scope, Shape, Typed, Value};

use super::failure::{Failure, number, optional};
use super::target::text;

/// `debuggers.values.Typed`.
pub(super) struct PythonTyped {
    pub object: Py<PyAny>,
    pub failure: Failure,
}

impl PythonTyped {
    fn with<R>(&self, ask: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>) -> Result<R, calls::Unknown> {
        Python::attach(|py| self.failure.with(self.object.bind(py), ask))
    }

    /// Another value.
    fn other(
        &self,
        ask: impl for<'py> FnOnce(&Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>,
    ) -> Result<Self, calls::Unknown> {
        let object = self.with(|object| ask(object).map(Bound::unbind))?;
        Ok(Self { object, failure: self.failure.clone() })
    }
}

impl Typed for PythonTyped {
    fn shape(&self) -> Result<Shape, calls::Unknown> {
        self.with(|object| {
            let name = object.getattr("shape")?.getattr("name")?.extract::<String>()?;
            Ok(match name.as_str() {
                "NUMBER" => Shape::Number,
                "POINTER" => Shape::Pointer,
                "ARRAY" => Shape::Array,
                "RECORD" => Shape::Record,
                _ => Shape::Other,
            })
        })
    }

    fn type_name(&self) -> Result<String, calls::Unknown> {
        self.with(|object| text(&object.getattr("type_name")?))
    }

    fn number(&self) -> Result<i128, calls::Unknown> {
        self.with(|object| number(&object.call_method0("number")?))
    }

    fn place(&self) -> Result<Option<i128>, calls::Unknown> {
        self.with(|object| optional(&object.call_method0("place")?))
    }

    fn size(&self) -> Result<i128, calls::Unknown> {
        self.with(|object| number(&object.call_method0("size")?))
    }

    fn width(&self) -> Result<i128, calls::Unknown> {
        self.with(|object| number(&object.call_method0("width")?))
    }

    fn member(&self, name: &str) -> Result<Self, calls::Unknown> {
        self.other(|object| object.call_method1("member", (name,)))
    }

    fn element(&self, index: i128) -> Result<Self, calls::Unknown> {
        self.other(|object| object.call_method1("element", (index,)))
    }

    fn address(&self) -> Result<Self, calls::Unknown> {
        self.other(|object| object.call_method0("address"))
    }

    fn moved(&self, count: i128) -> Result<Self, calls::Unknown> {
        self.other(|object| object.call_method1("moved", (count,)))
    }

    fn bounds(&self) -> Result<Vec<(i128, i128)>, calls::Unknown> {
        self.with(|object| object.call_method0("bounds")?.extract())
    }

    fn at(&self, indices: &[i128]) -> Result<Self, calls::Unknown> {
        self.other(|object| object.call_method1("at", (indices,)))
    }

    fn handle(&self) -> Result<Option<i128>, calls::Unknown> {
        self.with(|object| optional(&object.call_method0("handle")?))
    }
}

/// `debuggers.values.Scope`.
pub(super) struct PythonScope {
    pub object: Py<PyAny>,
    pub failure: Failure,
}

impl PythonScope {
    fn with<R>(&self, ask: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>) -> Result<R, calls::Unknown> {
        Python::attach(|py| self.failure.with(self.object.bind(py), ask))
    }

    fn typed(&self, object: Py<PyAny>) -> PythonTyped {
        PythonTyped { object, failure: self.failure.clone() }
    }

    fn named(&self, method: &str, name: &str) -> Result<Option<PythonTyped>, calls::Unknown> {
        let found = self.with(|object| {
            let found = object.call_method1(method, (name,))?;
            Ok(if found.is_none() { None } else { Some(found.unbind()) })
        })?;
        Ok(found.map(|found| self.typed(found)))
    }
}

impl Scope for PythonScope {
    type Typed = PythonTyped;

    fn variable(&self, name: &str) -> Result<Option<PythonTyped>, calls::Unknown> {
        self.named("variable", name)
    }

    fn has_type(&self, name: &str) -> Result<bool, calls::Unknown> {
        self.with(|object| object.call_method1("has_type", (name,))?.is_truthy())
    }

    fn missing(&self, name: &str) -> Result<String, calls::Unknown> {
        self.with(|object| text(&object.call_method1("missing", (name,))?))
    }

    fn cast(
        &self,
        value: Value<PythonTyped>,
        type_name: &str,
        pointers: usize,
    ) -> Result<Value<PythonTyped>, calls::Unknown> {
        let cast = |object: &Bound<'_, PyAny>| {
            let found = match &value {
                Value::Number(number) => object.call_method1("cast", (*number, type_name, pointers)),
                Value::Typed(value) => object.call_method1("cast", (&value.object, type_name, pointers)),
            }?;
            let is_number = found.is_instance_of::<PyInt>();
            Ok(if is_number { Value::Number(number(&found)?) } else { Value::Typed(found.unbind()) })
        };
        Ok(match self.with(cast)? {
            Value::Number(number) => Value::Number(number),
            Value::Typed(object) => Value::Typed(self.typed(object)),
        })
    }

    fn size_of(&self, type_name: &str, pointers: usize) -> Result<i128, calls::Unknown> {
        self.with(|object| number(&object.call_method1("size_of", (type_name, pointers))?))
    }

    fn address_of_name(&self, name: &str) -> Result<Option<PythonTyped>, calls::Unknown> {
        self.named("address_of_name", name)
    }
}
