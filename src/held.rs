//! How a process is read that a debugger holds.

use std::path::PathBuf;
use std::rc::Rc;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use native::{Core, Ending, Live, Native};
use target::files::Reader;
use target::{Target, TargetError};

use super::cores::CoreFile;
use super::origin::Origin;
use super::target::{Debugger, DebuggerTarget, DebuggerTypes};

/// The process of a debugger, and the types that the debugger knows. A process of this machine and a core file are read as without
/// a debugger, which tells where the threads stand; of all others it gives the memory.
///
/// # Errors
/// Where the debugger does not tell what never changes during a process's life.
pub fn held(debugger: &Rc<Debugger>) -> Result<(Origin, DebuggerTypes), TargetError> {
    let under = |origin| Origin::Held(Rc::clone(debugger), Box::new(origin));
    if let Some(native) = core(debugger)? {
        let types = types(debugger, &native);
        return Ok((under(Origin::Core(native)), types));
    }
    if let Some(native) = live(debugger)? {
        let types = types(debugger, &native);
        return Ok((under(Origin::Live(native)), types));
    }
    let native = Native::new(DebuggerTarget::new(Rc::clone(debugger))?, Rc::default());
    let types = types(debugger, &native);
    Ok((Origin::Debugger(native), types))
}

fn types<P: native::Process + 'static>(debugger: &Rc<Debugger>, native: &Native<P>) -> DebuggerTypes {
    let memory = Rc::clone(native.memory());
    DebuggerTypes::new(Rc::clone(debugger), move || memory.images().unwrap_or_default())
}

/// A core file whose registers are known.
fn core(debugger: &Rc<Debugger>) -> Result<Option<Native<Core>>, TargetError> {
    let found = debugger.with(|object| {
        let core = object.getattr("core")?.extract::<Option<PyRef<'_, CoreFile>>>()?;
        let Some(core) = core else { return Ok(None) };
        let program = object.getattr("executable")?.extract::<Option<PathBuf>>()?;
        let reader = object.getattr("reader")?.extract::<Option<(u32, u32, Vec<u32>)>>()?;
        Ok(Some((core.0.clone(), program, reader)))
    })?;
    let Some((core, program, reader)) = found.filter(|(core, ..)| !core.threads().is_empty()) else {
        return Ok(None);
    };
    let reader = reader.map(|(uid, gid, groups)| Reader { uid, gid, groups });
    let core = Core::new(core, program.unwrap_or_default(), reader, ending(debugger));
    Ok(Some(Native::new(core.numbered(&debugger.numbers()?), Rc::default())))
}

/// A process of this machine whose memory the kernel lets us read.
fn live(debugger: &Rc<Debugger>) -> Result<Option<Native<Live>>, TargetError> {
    let local = |object: &Bound<'_, PyAny>| {
        let pid = object.getattr("pid")?.extract::<Option<u32>>()?;
        Ok(pid.filter(|_| object.getattr("local").and_then(|local| local.is_truthy()).unwrap_or(false)))
    };
    let Some(pid) = debugger.with(local)? else { return Ok(None) };
    let asked = Rc::clone(debugger);
    match Live::held(pid, Box::new(move || asked.threads()), ending(debugger)) {
        Ok(live) => Ok(Some(Native::new(live, Rc::default()))),
        // lldb's server may read what lldb may not: of Yama who traces decides.
        Err(TargetError::Denied { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Ctrl-C, or the end of the time that the debugger gives.
fn ending(debugger: &Rc<Debugger>) -> Ending {
    let debugger = Rc::clone(debugger);
    Box::new(move || {
        let look = |object: &Bound<'_, PyAny>| {
            object.py().check_signals()?;
            let ends = object.call_method0("out_of_time")?.is_truthy()?;
            if ends { Err(PyKeyboardInterrupt::new_err(())) } else { Ok(()) }
        };
        debugger.with(look).err()
    })
}
