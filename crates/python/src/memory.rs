//! Objects of the interpreter: their types, texts and bytes, each looked at before it is believed.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use target::address::TargetAddr;
use target::{Target, TargetError};

use crate::error::{PythonError, unlike};
use crate::layout::Layout;

/// So many characters of the name of a function or file are told: those of a longer one that come first.
const LONGEST: u64 = 4096;
/// What is longer than this, in characters, is no name.
const LONGEST_OF_ALL: u64 = 1 << 32;
/// So many bytes of names and tables are read and gone through for one process.
const MOST: u64 = 64 << 20;
/// The longest table of lines, in bytes.
const LARGEST_TABLE: u64 = 1 << 20;
/// The longest name of a type.
const TYPE_NAME: usize = 256;
/// So many types are remembered.
const TYPES: usize = 1024;

/// The memory of a process with an interpreter.
pub(crate) struct Memory<'a> {
    pub target: &'a dyn Target,
    pub layout: Layout,
    types: RefCell<HashMap<TargetAddr, String>>,
    left: Cell<u64>,
}

impl<'a> Memory<'a> {
    pub fn new(target: &'a dyn Target, layout: Layout) -> Self {
        Self { target, layout, types: RefCell::default(), left: Cell::new(MOST) }
    }

    /// Takes so many bytes from what may be read and gone through.
    pub fn pay(&self, bytes: u64) -> Result<(), PythonError> {
        self.left.set(self.left.get().checked_sub(bytes).ok_or(PythonError::TooMuch)?);
        Ok(())
    }

    /// The pointer in a field.
    pub fn pointer(&self, object: TargetAddr, offset: u64) -> Result<TargetAddr, TargetError> {
        self.target.read_pointer(object.wrapping_add(offset))
    }

    /// The C int in a field.
    pub fn int(&self, object: TargetAddr, offset: u64) -> Result<i64, TargetError> {
        let mut bytes = [0; 4];
        self.target.read(object.wrapping_add(offset), &mut bytes)?;
        Ok(self.target.abi().int(&bytes))
    }

    /// The name of an object's type, as the type tells it.
    pub fn type_of(&self, object: TargetAddr) -> Result<String, PythonError> {
        self.name_of_type(self.pointer(object, self.layout.object_type)?)
    }

    /// What a type is called: `str`, `ValueError`, of types in C libraries with the module (`mpi4py.MPI.Exception`).
    pub fn name_of_type(&self, kind: TargetAddr) -> Result<String, PythonError> {
        if let Some(known) = self.types.borrow().get(&kind) {
            return Ok(known.clone());
        }
        let name = self.pointer(kind, self.layout.type_name)?;
        let bytes = self.target.read_c_string(name, TYPE_NAME)?;
        let name = String::from_utf8(bytes).map_err(|_| unlike("the type of an object has no name"))?;
        let mut types = self.types.borrow_mut();
        if types.len() < TYPES {
            types.insert(kind, name.clone());
        }
        Ok(name)
    }

    fn must_be(&self, object: TargetAddr, wanted: &str) -> Result<(), PythonError> {
        if object.is_null() || self.type_of(object)? != wanted {
            return Err(unlike(format!("what should be a Python {wanted} is not")));
        }
        Ok(())
    }

    /// Whether an object is of the type that has this name.
    pub fn is_a(&self, object: TargetAddr, wanted: &str) -> bool {
        self.must_be(object, wanted).is_ok()
    }

    /// A text of Python's, `str`.
    pub fn text(&self, object: TargetAddr) -> Result<String, PythonError> {
        self.must_be(object, "str")?;
        let layout = &self.layout;
        let length = self.target.read_uint(object.wrapping_add(layout.text_length), 8)?;
        let state = self.target.read_uint(object.wrapping_add(layout.text_state), 4)? >> layout.text_kind;
        // struct state of PyASCIIObject: three bits for the width, then whether the text follows, and whether it is ASCII.
        let (width, compact, ascii) = (state & 7, state & 8 != 0, state & 16 != 0);
        if !compact || !matches!(width, 1 | 2 | 4) || (ascii && width != 1) || length > LONGEST_OF_ALL {
            return Err(unlike("a name of Python's makes no sense"));
        }
        let begin = object.wrapping_add(if ascii { layout.ascii } else { layout.compact });
        let told = length.min(LONGEST);
        self.pay(told * width)?;
        let bytes = self.target.read_bytes(begin, usize::try_from(told * width).unwrap_or(usize::MAX))?;
        let abi = self.target.abi();
        let units = bytes.chunks_exact(usize::try_from(width).unwrap_or(1)).map(|unit| abi.uint(unit));
        let mut text = String::new();
        units.for_each(|unit| push(&mut text, unit));
        if length > told {
            text.push('…');
        }
        Ok(text)
    }

    /// Whether an object is a text of these characters; a text of another length is not read.
    pub fn is_named(&self, object: TargetAddr, name: &str) -> Result<bool, PythonError> {
        let length = self.layout.text_length;
        let right = !object.is_null() && self.target.read_uint(object.wrapping_add(length), 8)? == name.len() as u64;
        Ok(right && self.is_a(object, "str") && self.text(object)? == name)
    }

    /// The code that a frame runs.
    pub fn code_of(&self, frame: TargetAddr) -> Result<TargetAddr, PythonError> {
        // Since 3.14 its lowest bits say how it is counted (pycore_stackref.h).
        Ok(TargetAddr::new(self.pointer(frame, self.layout.frame_code)?.get() & !7))
    }

    /// Bytes of Python's.
    pub fn bytes(&self, object: TargetAddr) -> Result<Vec<u8>, PythonError> {
        self.must_be(object, "bytes")?;
        let size = self.target.read_uint(object.wrapping_add(self.layout.bytes_size), 8)?;
        if size > LARGEST_TABLE {
            return Err(unlike("a table of lines makes no sense"));
        }
        self.pay(size)?;
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        Ok(self.target.read_bytes(object.wrapping_add(self.layout.bytes), size)?)
    }
}

/// One character; bytes of a file's name that are no UTF-8 stand there as U+DC80 to U+DCFF (PEP 383).
fn push(text: &mut String, unit: u64) {
    match u32::try_from(unit).ok().and_then(char::from_u32) {
        Some(character) => text.push(character),
        None if (0xdc80..=0xdcff).contains(&unit) => text.push_str(&format!("\\x{:02x}", unit - 0xdc00)),
        None => text.push(char::REPLACEMENT_CHARACTER),
    }
}
