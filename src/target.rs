//! A debugger's process as a target: memory, symbols and types through the Python class `DebuggedProcess`.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::cores;
use layouts::{Field, FieldKind, LayoutSource, TypeLayout};
use model::Facts;
use native::{Process, Thread};
use target::address::TargetAddr;
use target::cores::CoreFile;
use target::files::Reader;
use target::{
    ByteOrder, ElfSymbols, Image, Mapping, PageCache, PointerWidth, Range, Reason, Segments, Symbol, Target, TargetAbi,
    TargetError, images_from_link_map, printable, r_debug_from_program_headers, segments,
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
    threads: RefCell<Option<Rc<[Thread]>>>,
    mappings: RefCell<Option<Rc<[Mapping]>>>,
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
        let (elf, reads, slow_lookups, threads, mappings) = Default::default();
        Ok(Self { debugger, abi, roots, elf, core, reads, threads, mappings, slow_lookups })
    }

    /// The debugger.
    pub fn debugger(&self) -> &Debugger {
        &self.debugger
    }

    /// Forgets the list of images: libraries were loaded or unloaded.
    pub fn drop_images(&self) {
        self.elf.borrow_mut().take();
        self.mappings.borrow_mut().take();
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
        let elf = Rc::new(ElfSymbols::new(self.list_images()?, self.roots.clone()));
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
        let threads = self.threads();
        if threads.is_empty() {
            return Err("the debugger does not say where its threads are".into());
        }
        Ok(threads.iter().map(|thread| TargetAddr::new(thread.registers.stack_pointer())).collect())
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

    fn images(&self) -> Result<Vec<Image>, TargetError> {
        Ok(self.elf()?.images_with_build_ids(self))
    }
}

impl Process for DebuggerTarget {
    fn threads(&self) -> Rc<[Thread]> {
        if let Some(known) = self.threads.borrow().as_ref() {
            return Rc::clone(known);
        }
        // Nothing is borrowed while the debugger is asked, which may ask us.
        let threads: Rc<[Thread]> = self.debugger.threads().unwrap_or_default().into();
        self.threads.replace(Some(Rc::clone(&threads)));
        threads
    }

    fn main_thread(&self) -> Option<u32> {
        // Linux gives the thread that the process begins with the process's number.
        self.debugger.with(|object| object.getattr("pid")?.extract::<Option<u32>>()).ok().flatten()
    }

    /// As far as the images say: a server does not tell them.
    fn mappings(&self) -> Rc<[Mapping]> {
        if let Some(known) = self.mappings.borrow().as_ref() {
            return Rc::clone(known);
        }
        let images = self.elf().map(|elf| elf.images()).unwrap_or_default();
        let of = |image: &Image| mapped(image, &segments(self, image).unwrap_or_default());
        let mut found: Vec<Mapping> = images.iter().flat_map(of).collect();
        found.sort_by_key(|mapping| mapping.start);
        let mappings: Rc<[Mapping]> = found.into();
        self.mappings.replace(Some(Rc::clone(&mappings)));
        mappings
    }

    fn places(&self, image: &native::Image) -> Vec<PathBuf> {
        let inside = Path::new(&image.path).strip_prefix("/").ok();
        self.roots.iter().filter_map(|root| Some(root.join(inside?))).collect()
    }

    fn program_headers(&self) -> Option<u64> {
        let ask = |object: &Bound<'_, PyAny>| object.call_method0("program_headers")?.extract::<Option<(u64, u64)>>();
        self.debugger.with(ask).ok().flatten().map(|(headers, _)| headers)
    }

    fn reader(&self) -> Option<Reader> {
        None
    }

    fn here(&self) -> Option<u32> {
        None
    }

    fn facts(&self, variables: &[&str]) -> Facts {
        self.debugger.facts(variables)
    }

    fn forget(&self) {
        self.threads.borrow_mut().take();
    }
}

/// What an image has mapped, by its segments.
fn mapped(image: &Image, segments: &Segments) -> Vec<Mapping> {
    let code = segments.code.iter().map(|range| (range, true));
    let others = segments.constants.iter().chain(&segments.writable).map(|range| (range, false));
    let mut ranges: Vec<(&Range, bool)> = code.chain(others).collect();
    // One that holds code and constants is there as both.
    ranges.sort_by_key(|(range, code)| (range.start, !code));
    ranges.dedup_by_key(|(range, _)| range.start);
    let Some(first) = ranges.first().map(|(range, _)| range.start) else { return Vec::new() };
    let mapping = |(range, code): (&Range, bool)| Mapping {
        start: range.start,
        end: range.start.wrapping_add(range.len),
        readable: true,
        writable: segments.writable.contains(range),
        code,
        shared: false,
        offset: range.start.get() - first.get(),
        file: (String::new(), image.bias.get()),
        name: image.path.clone().into(),
    };
    ranges.into_iter().map(mapping).collect()
}

/// The debugger's own types as a layout source.
pub struct DebuggerTypes {
    debugger: Rc<Debugger>,
    /// The images that the process has, with their build-ids.
    images: Box<dyn Fn() -> Vec<Image>>,
    build_ids: OnceCell<BTreeSet<String>>,
    known: RefCell<HashMap<String, Option<TypeLayout>>>,
}

impl DebuggerTypes {
    /// Nothing is asked yet.
    pub fn new(debugger: Rc<Debugger>, images: impl Fn() -> Vec<Image> + 'static) -> Self {
        Self { debugger, images: Box::new(images), build_ids: OnceCell::new(), known: RefCell::default() }
    }

    /// Whether the process runs the file that the debugger has, as far as is known: that may have been replaced since.
    fn is_mapped(&self, build_id: &str) -> bool {
        let ask = || (self.images)().into_iter().filter_map(|image| image.build_id).collect();
        let known = self.build_ids.get_or_init(ask);
        known.is_empty() || known.contains(build_id)
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
        let is_its = |build_id: &Option<String>| build_id.as_deref().is_none_or(|build_id| self.is_mapped(build_id));
        let found = found.filter(|(_, build_id)| is_its(build_id)).map(|(layout, _)| layout);
        self.known.borrow_mut().insert(type_name.to_owned(), found.clone());
        Ok(found)
    }

    fn constant(&self, _: &str) -> Result<Option<i64>, Reason> {
        // Preprocessor constants are not in debug information (but with -g3, which no distribution uses).
        Ok(None)
    }
}

/// The layout, and the build-id of the file that tells it where that is known.
fn layout(found: &Bound<'_, PyDict>) -> PyResult<(TypeLayout, Option<String>)> {
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
    Ok((layout, found.as_any().get_item("build_id")?.extract()?))
}
