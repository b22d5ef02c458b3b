//! A debugger's process as a target: memory, symbols and types through the Python class `DebuggedProcess`.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::cores;
use layouts::{Field, FieldKind, LayoutSource, TypeLayout};
use target::address::TargetAddr;
use target::cores::CoreFile;
use target::{
    ByteOrder, CodePlace, ElfSymbols, Image, PageCache, PointerWidth, Reason, Symbol, Target, TargetAbi, TargetError,
    images_from_link_map, printable, r_debug_from_program_headers,
};

/// How often a core file is read before Python is asked whether to go on: some milliseconds.
const READS_BETWEEN_LOOKS: u32 = 64;

/// An exception that must reach the user as it is: an interrupt, exhausted memory.
#[derive(Default)]
pub struct Urgent(RefCell<Option<PyErr>>);

impl Urgent {
    /// The exception, if there was one since the last call.
    pub fn take(&self) -> Option<PyErr> {
        self.0.borrow_mut().take()
    }

    /// Whether the user has pressed Ctrl-C since the last look; the exception then reaches the user.
    pub fn signalled(&self) -> bool {
        let look = |py: Python<'_>| {
            py.check_signals()?;
            // In lldb Ctrl-C is no signal that Python sees.
            let asked = py.import("mpi_queues.debuggers.base")?.call_method0("wants_interrupt")?.is_truthy()?;
            if asked { Err(PyKeyboardInterrupt::new_err(())) } else { Ok(()) }
        };
        if let Err(error) = Python::attach(look) {
            self.set(error);
        }
        self.0.borrow().is_some()
    }

    /// Keeps an exception.
    pub fn set(&self, error: PyErr) {
        *self.0.borrow_mut() = Some(error);
    }
}

/// The debugger's object, shared between the target and the layout source that ask it.
pub struct Debugger {
    object: Py<PyAny>,
    urgent: Rc<Urgent>,
}

impl Debugger {
    /// Wraps the Python object.
    pub fn new(object: Py<PyAny>, urgent: Rc<Urgent>) -> Rc<Self> {
        Rc::new(Self { object, urgent })
    }

    fn failure(&self, py: Python<'_>, error: PyErr) -> TargetError {
        if error.is_instance_of::<PyKeyboardInterrupt>(py) || error.is_instance_of::<PyMemoryError>(py) {
            let text = error.to_string();
            self.urgent.set(error);
            return TargetError::Debugger(text);
        }
        let class = |name: &str| py.import("mpi_queues.debuggers.base").and_then(|module| module.getattr(name));
        let is = |name: &str| class(name).is_ok_and(|class| error.matches(py, class).unwrap_or(false));
        if is("MemoryFault") {
            let number = |name: &str| error.value(py).getattr(name).and_then(|value| value.extract::<u64>()).ok();
            let addr = TargetAddr::new(number("address").unwrap_or_default());
            let len = number("length").unwrap_or_default();
            if is("NotInCore") {
                return TargetError::NotInCore { addr, len, text: error.value(py).to_string() };
            }
            return TargetError::Fault { addr, len };
        }
        if is("ProcessGone") { TargetError::Gone } else { TargetError::Debugger(error.value(py).to_string()) }
    }

    /// Nothing is read or asked any more after an interrupt.
    fn not_interrupted(&self) -> Result<(), TargetError> {
        let interrupted = self.urgent.0.borrow().is_some();
        if interrupted { Err(TargetError::Debugger("interrupted".to_owned())) } else { Ok(()) }
    }

    /// Runs `ask` on the Python object and turns exceptions into errors.
    pub fn with<R>(&self, ask: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>) -> Result<R, TargetError> {
        self.not_interrupted()?;
        Python::attach(|py| ask(self.object.bind(py)).map_err(|error| self.failure(py, error)))
    }
}

/// Text of Python: a path may have bytes that are no UTF-8, which Python has as surrogates and the model as `\xNN`.
pub fn text(value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(text) = value.extract::<String>() {
        return Ok(text);
    }
    let encoded = value.call_method1("encode", ("utf-8", "surrogateescape"));
    let encoded = encoded.or_else(|_| value.call_method1("encode", ("utf-8", "surrogatepass")))?;
    Ok(printable(encoded.cast_into::<PyBytes>()?.as_bytes()))
}

/// Text of Python, or None.
pub fn optional_text(value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    if value.is_none() { Ok(None) } else { text(value).map(Some) }
}

/// A process under a debugger.
pub struct DebuggerTarget {
    debugger: Rc<Debugger>,
    abi: TargetAbi,
    roots: Vec<PathBuf>,
    elf: RefCell<Option<Rc<ElfSymbols>>>,
    /// Has the memory of a core file: debuggers answer zeros for what it does not hold.
    core: Option<Arc<CoreFile>>,
    reads: Cell<u32>,
    /// How many times the debugger itself was asked for a symbol.
    pub slow_lookups: Cell<u64>,
}

impl DebuggerTarget {
    /// Asks the debugger for what never changes during a process's life.
    pub fn new(debugger: Rc<Debugger>) -> Result<Self, TargetError> {
        let (byte_order, pointer_size, roots, core) = debugger.with(|object| {
            let core = object.getattr("core")?.extract::<Option<PyRef<'_, cores::CoreFile>>>()?;
            Ok((
                object.getattr("byte_order")?.extract::<String>()?,
                object.getattr("pointer_size")?.extract::<u64>()?,
                object.getattr("file_roots")?.extract::<Vec<PathBuf>>()?,
                core.map(|core| Arc::clone(&core.0)),
            ))
        })?;
        let byte_order = match byte_order.as_str() {
            "little" => ByteOrder::Little,
            "big" => ByteOrder::Big,
            other => return Err(TargetError::Debugger(format!("unknown byte order {other:?}"))),
        };
        let pointer_width =
            PointerWidth::try_from(pointer_size).map_err(|reason| TargetError::Debugger(reason.into()))?;
        let abi = TargetAbi { byte_order, pointer_width };
        let (elf, reads, slow_lookups) = Default::default();
        Ok(Self { debugger, abi, roots, elf, core, reads, slow_lookups })
    }

    /// Forgets the list of images: libraries were loaded or unloaded.
    pub fn drop_images(&self) {
        self.elf.borrow_mut().take();
    }

    /// Sees now and then whether reading must end: asking Python costs more than most reads of a core file.
    fn may_go_on(&self) -> Result<(), TargetError> {
        let reads = self.reads.replace(self.reads.get().wrapping_add(1));
        if !reads.is_multiple_of(READS_BETWEEN_LOOKS) {
            return self.debugger.not_interrupted();
        }
        self.debugger.with(|object| {
            object.py().check_signals()?;
            let late = object.call_method0("out_of_time")?.is_truthy()?;
            if late { Err(PyKeyboardInterrupt::new_err(())) } else { Ok(()) }
        })
    }

    fn elf(&self) -> Result<Rc<ElfSymbols>, TargetError> {
        if let Some(known) = self.elf.borrow().as_ref() {
            return Ok(Rc::clone(known));
        }
        let debugger = Rc::clone(&self.debugger);
        let others = move |image: &Image| {
            let ask = |object: &Bound<'_, PyAny>| {
                object.call_method1("other_files", (&image.path, image.bias.get()))?.extract::<Vec<PathBuf>>()
            };
            debugger.with(ask).unwrap_or_default()
        };
        let elf = Rc::new(ElfSymbols::new(self.list_images()?, self.roots.clone()).or_at(Box::new(others)));
        *self.elf.borrow_mut() = Some(Rc::clone(&elf));
        Ok(elf)
    }

    fn list_images(&self) -> Result<Vec<Image>, TargetError> {
        let listed =
            self.debugger.with(|object| object.call_method0("images")?.extract::<Option<Vec<(String, u64)>>>())?;
        if let Some(listed) = listed {
            let image = |(index, (path, bias)): (usize, (String, u64))| Image {
                path,
                bias: TargetAddr::new(bias),
                build_id: None,
                is_executable: index == 0,
            };
            return Ok(listed.into_iter().enumerate().map(image).collect());
        }
        let executable = self.debugger.with(|object| optional_text(&object.getattr("executable")?))?;
        let headers =
            self.debugger.with(|object| object.call_method0("program_headers")?.extract::<Option<(u64, u64)>>())?;
        // The list is short and scattered; a cache of its own saves two of three reads.
        let cached = PageCache::new(self);
        let from_headers =
            headers.map_or(Ok(None), |(at, count)| r_debug_from_program_headers(&cached, TargetAddr::new(at), count));
        let r_debug = match from_headers {
            Ok(Some(found)) => Some(found),
            unknown => match self.ask_symbol("_r_debug")? {
                Some(symbol) => Some(symbol.addr),
                None => unknown?,
            },
        };
        r_debug.map_or(Ok(Vec::new()), |r_debug| images_from_link_map(&cached, r_debug, executable.as_deref()))
    }

    fn ask_symbol(&self, name: &str) -> Result<Option<Symbol>, TargetError> {
        self.slow_lookups.set(self.slow_lookups.get() + 1);
        let found = self
            .debugger
            .with(|object| object.call_method1("symbol", (name,))?.extract::<Option<(u64, Option<u64>)>>())?;
        Ok(found.map(|(addr, size)| Symbol { addr: TargetAddr::new(addr), size }))
    }
}

impl Target for DebuggerTarget {
    fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        if let Some(core) = &self.core {
            self.may_go_on()?;
            return Ok(core.read(addr.get(), buf)?);
        }
        let fault = TargetError::Fault { addr, len: buf.len() as u64 };
        let copied = self.debugger.with(|object| {
            let bytes = object.call_method1("read_memory", (addr.get(), buf.len()))?;
            // The stable ABI has no buffers before Python 3.11, so a memoryview costs one more copy.
            let bytes = match bytes.cast_into::<PyBytes>() {
                Ok(bytes) => bytes,
                Err(other) => other.into_inner().call_method0("tobytes")?.cast_into::<PyBytes>()?,
            };
            let complete = bytes.as_bytes().len() == buf.len();
            if complete {
                buf.copy_from_slice(bytes.as_bytes());
            }
            Ok(complete)
        })?;
        if copied { Ok(()) } else { Err(fault) }
    }

    fn stack_pointers(&self) -> Result<Vec<TargetAddr>, Reason> {
        if let Some(core) = &self.core {
            let pointers = core.threads().iter().map(|thread| thread.registers.stack_pointer());
            return Ok(pointers.map(TargetAddr::new).collect());
        }
        let ask = |object: &Bound<'_, PyAny>| object.call_method0("stack_pointers")?.extract::<Option<Vec<u64>>>();
        let pointers = self.debugger.with(ask).map_err(Reason::of)?;
        let pointers = pointers.ok_or("the debugger does not tell where its threads stand")?;
        Ok(pointers.into_iter().map(TargetAddr::new).collect())
    }

    fn abi(&self) -> TargetAbi {
        self.abi
    }

    fn symbol(&self, name: &str) -> Result<Option<Symbol>, TargetError> {
        let elf = self.elf()?;
        if let Some(found) = elf.lookup(name, self) {
            return Ok(Some(found));
        }
        // With all files at hand, what they do not define does not exist; asking the debugger costs milliseconds.
        if elf.is_complete(self) { Ok(None) } else { self.ask_symbol(name) }
    }

    fn symbols(&self) -> Result<Option<Vec<(String, Symbol)>>, TargetError> {
        let elf = self.elf()?;
        Ok(elf.is_complete(self).then(|| elf.dynamic_symbols(self)))
    }

    fn function_at(&self, addr: TargetAddr) -> Result<Option<String>, TargetError> {
        Ok(self.elf()?.function_at(addr, self))
    }

    fn place_of(&self, addr: TargetAddr) -> Result<Option<CodePlace>, TargetError> {
        self.debugger.with(|object| {
            let found = object.call_method1("code_place", (addr.get(),))?;
            if found.is_none() {
                return Ok(None);
            }
            let (function, file, line) = found.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>, Option<i64>)>()?;
            let (function, file) = (optional_text(&function)?, optional_text(&file)?);
            Ok(Some(CodePlace { function, file, line }))
        })
    }

    fn images(&self) -> Result<Vec<Image>, TargetError> {
        Ok(self.elf()?.images_with_build_ids(self))
    }
}

/// The debugger's own types as a layout source.
pub struct DebuggerTypes {
    debugger: Rc<Debugger>,
    known: RefCell<HashMap<String, Option<TypeLayout>>>,
}

impl DebuggerTypes {
    /// Nothing is asked yet.
    pub fn new(debugger: Rc<Debugger>) -> Self {
        Self { debugger, known: RefCell::default() }
    }
}

impl LayoutSource for DebuggerTypes {
    fn name(&self) -> String {
        "debug-info".to_owned()
    }

    fn type_layout(&self, type_name: &str) -> Result<Option<TypeLayout>, Reason> {
        if let Some(known) = self.known.borrow().get(type_name) {
            return Ok(known.clone());
        }
        let ask = |object: &Bound<'_, PyAny>| {
            let found = object.call_method1("type_layout", (type_name,))?;
            if found.is_none() { Ok(None) } else { layout(&found.cast_into::<PyDict>()?).map(Some) }
        };
        let found = self.debugger.with(ask).map_err(Reason::of)?;
        self.known.borrow_mut().insert(type_name.to_owned(), found.clone());
        Ok(found)
    }

    fn constant(&self, _: &str) -> Result<Option<i64>, Reason> {
        // Preprocessor constants are not in debug information (but with -g3, which no distribution uses).
        Ok(None)
    }
}

fn layout(found: &Bound<'_, PyDict>) -> PyResult<TypeLayout> {
    let fields = found.as_any().get_item("fields")?.cast_into::<PyDict>()?;
    let mut layout = TypeLayout { size: found.as_any().get_item("size")?.extract()?, fields: Default::default() };
    for (name, field) in fields.iter() {
        let kind: String = field.get_item("kind")?.extract()?;
        let kind = match kind.as_str() {
            "signed" => FieldKind::Signed,
            "unsigned" => FieldKind::Unsigned,
            "float" => FieldKind::Float,
            "pointer" => FieldKind::Pointer,
            "struct" => FieldKind::Struct,
            "union" => FieldKind::Union,
            _ => FieldKind::Array,
        };
        let field = Field {
            offset: field.get_item("offset")?.extract()?,
            size: field.get_item("size")?.extract()?,
            kind,
            type_name: field.get_item("type")?.extract()?,
        };
        Arc::make_mut(&mut layout.fields).insert(name.extract()?, field);
    }
    Ok(layout)
}
