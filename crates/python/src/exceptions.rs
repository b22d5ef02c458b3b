//! Exceptions that a thread handles, and the one that ended the program: their types and places, never what they say.

use std::collections::HashSet;
use std::rc::Rc;

use model::{Exception, ExceptionState};
use target::address::TargetAddr;

use crate::code::{Code, Codes};
use crate::dictionary;
use crate::error::{PythonError, unlike};
use crate::layout::Exceptions;
use crate::memory::Memory;
use crate::places::{self, Place};
use crate::threads::PythonThread;

/// Py_TPFLAGS_BASE_EXC_SUBCLASS (Include/object.h, 3.8 to 3.14).
const IS_EXCEPTION: u64 = 1 << 30;
/// Handlers within handlers, and the calls that an exception came through, are followed up to this many.
const DEEPEST: usize = 2000;

/// Where the interpreter keeps the exception that nobody handled: since 3.12, and before (sys in the library reference).
const UNHANDLED: [&str; 2] = ["last_exc", "last_value"];

/// The exception that a thread handles now; `None` where it handles none.
pub(crate) fn handled(
    memory: &Memory<'_>,
    codes: &Codes,
    thread: &PythonThread,
) -> Result<Option<Exception>, PythonError> {
    let Some(places) = memory.layout.exceptions else { return Ok(None) };
    let mut item = memory.pointer(thread.address, places.info)?;
    let mut seen = HashSet::new();
    while !item.is_null() {
        if !seen.insert(item) || seen.len() > DEEPEST {
            return Err(unlike("the exceptions of a thread of Python's do not end"));
        }
        let value = memory.pointer(item, places.value)?;
        if !value.is_null() && !memory.is_a(value, "NoneType") {
            return described(memory, codes, &places, value, ExceptionState::Handled).map(|(told, _)| Some(told));
        }
        item = memory.pointer(item, places.previous)?;
    }
    Ok(None)
}

/// The exception that nobody handled and that came out of the program, as far as the interpreter still has it. Others are kept
/// at the same place: those of what is typed (`code`, IPython), and of callbacks of C libraries that print them (tkinter).
pub(crate) fn unhandled(
    memory: &Memory<'_>,
    codes: &Codes,
    interpreter: TargetAddr,
) -> Result<Option<Exception>, PythonError> {
    let Some(places) = memory.layout.exceptions else { return Ok(None) };
    let sys = memory.pointer(interpreter, memory.layout.sysdict)?;
    if sys.is_null() {
        return Ok(None);
    }
    match dictionary::find(memory, sys, &UNHANDLED)? {
        Some(value) if !memory.is_a(value, "NoneType") => {
            let (told, outermost) = described(memory, codes, &places, value, ExceptionState::Unhandled)?;
            Ok(outermost.is_some_and(|code| is_of_the_whole_program(&code)).then_some(told))
        }
        _ => Ok(None),
    }
}

/// Whether code is the outermost of a program: that of its main module, or of what runs one (`python -m`).
fn is_of_the_whole_program(code: &Code) -> bool {
    places::runs_modules(&code.file)
        || (code.function == "<module>" && code.file != "<console>" && !code.file.starts_with("<ipython-"))
}

fn described(
    memory: &Memory<'_>,
    codes: &Codes,
    places: &Exceptions,
    value: TargetAddr,
    state: ExceptionState,
) -> Result<(Exception, Option<Rc<Code>>), PythonError> {
    let kind = memory.pointer(value, memory.layout.object_type)?;
    if memory.target.read_uint(kind.wrapping_add(memory.layout.type_flags), 8)? & IS_EXCEPTION == 0 {
        return Err(unlike("what should be a Python exception is not"));
    }
    let mut exception = Exception { state, name: memory.name_of_type(kind)?, ..Exception::default() };
    let mut traceback = memory.pointer(value, places.traceback)?;
    let mut seen = HashSet::new();
    let mut of_the_program = false;
    let mut outermost = None;
    // Where it was raised is innermost; of the program's own code first.
    while !traceback.is_null() && seen.insert(traceback) && seen.len() <= DEEPEST {
        if !memory.is_a(traceback, "traceback") {
            return Err(unlike("what should be a Python traceback is not"));
        }
        let mut frame = memory.pointer(traceback, places.frame)?;
        if !memory.is_a(frame, "frame") {
            return Err(unlike("what should be a Python frame is not"));
        }
        if let Some(inner) = places.inner {
            frame = memory.pointer(frame, inner)?;
        }
        let code = codes.get(memory, memory.code_of(frame)?)?;
        outermost.get_or_insert_with(|| Rc::clone(&code));
        let own = places::of(&code.file) == Place::Application;
        if own || !of_the_program {
            of_the_program |= own;
            exception.function = Some(code.function.clone());
            exception.file = Some(code.file.clone());
            exception.line = code.line(memory, memory.int(traceback, places.lasti)?)?;
        }
        traceback = memory.pointer(traceback, places.next)?;
    }
    Ok((exception, outermost))
}
