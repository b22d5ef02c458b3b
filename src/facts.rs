//! What the debugger knows of a process besides memory, from the Python class `DebuggedProcess`.

use pyo3::prelude::*;

use super::target::{Debugger, optional_text, text};
use model::{Argument, Facts, Frame, SourceCall, Stack, SystemCall};
use recording::{Range, Region};
use target::TargetError;

impl Debugger {
    /// Asks for everything; `variables` are those of the environment. What cannot be had is left out.
    pub fn facts(&self, variables: &[&str]) -> Facts {
        let named = |name: &str| self.with(|object| optional_text(&object.getattr(name)?)).ok().flatten();
        let variable = |name: &&str| {
            let ask = |object: &Bound<'_, PyAny>| optional_text(&object.call_method1("environment", (*name,))?);
            Some(((*name).to_owned(), self.with(ask).ok().flatten()?))
        };
        let mut facts = Facts {
            pid: self.with(|object| object.getattr("pid")?.extract::<Option<i64>>()).ok().flatten(),
            host: named("host"),
            executable: named("executable"),
            via: named("via").unwrap_or_default(),
            debugger: named("debugger").unwrap_or_default(),
            environment: variables.iter().filter_map(variable).collect(),
            ..Facts::default()
        };
        match self.with(stacks) {
            Ok((mut stacks, every, pointers)) => {
                let is_local = |object: &Bound<'_, PyAny>| object.getattr("local")?.extract::<bool>();
                if let (Some(pid), Ok(true)) = (facts.pid, self.with(is_local)) {
                    add_awaited(pid, &mut stacks, &pointers);
                }
                facts.all_threads = every && stacks.iter().all(|stack| stack.complete);
                facts.stacks = stacks;
            }
            Err(error) => facts.problems.push(format!("the stacks could not be read: {error}")),
        }
        let ask = |object: &Bound<'_, PyAny>| {
            object.call_method0("remarks")?.try_iter()?.map(|remark| text(&remark?)).collect::<PyResult<Vec<_>>>()
        };
        let remarks = self.with(ask);
        facts.problems.extend(remarks.unwrap_or_default());
        facts
    }
}

impl Debugger {
    /// The mappings of the process's memory, `None` where the debugger does not know them.
    pub fn regions(&self) -> Result<Option<Vec<Region>>, TargetError> {
        self.with(|object| {
            let found = object.call_method0("memory_regions")?;
            if found.is_none() {
                return Ok(None);
            }
            let mut regions = Vec::new();
            for region in found.try_iter()? {
                let region = region?;
                let flag = |name: &str| region.get_item(name)?.extract::<bool>();
                let (start, end): (u64, u64) =
                    (region.get_item("start")?.extract()?, region.get_item("end")?.extract()?);
                regions.push(Region {
                    range: Range::new(start, end.saturating_sub(start)),
                    writable: flag("readable")? && flag("writable")?,
                    shared: flag("shared")?,
                    name: text(&region.get_item("name")?)?,
                });
            }
            Ok(Some(regions))
        })
    }
}

/// What each thread waits for outside MPI, by the kernel and the process's own memory, as natively.
fn add_awaited(pid: i64, stacks: &mut [Stack], pointers: &[Option<u64>]) {
    let Ok(pid) = u32::try_from(pid) else { return };
    let halted = stacks.iter().zip(pointers).map(|(stack, pointer)| native::Halted {
        id: stack.kernel_thread.and_then(|id| u32::try_from(id).ok()).unwrap_or_default(),
        thread_pointer: *pointer,
        call: stack.system_call.as_ref(),
        frames: &stack.frames,
    });
    let found = native::awaited_by(pid, &halted.collect::<Vec<_>>());
    let numbers: Vec<i64> = stacks.iter().map(|stack| stack.thread).collect();
    for (stack, awaited) in stacks.iter_mut().zip(found) {
        let (Some(call), Some(mut awaited)) = (&mut stack.system_call, awaited) else { continue };
        for owner in &mut awaited.owners {
            // The debugger has its own numbers of threads.
            let place = owner.thread.and_then(|number| usize::try_from(number - 1).ok());
            owner.thread = place.and_then(|place| numbers.get(place)).copied();
        }
        call.waits_for = Some(Box::new(awaited));
    }
    native::add_teams(stacks, Some(i64::from(pid)));
}

/// The stacks, whether they are all, and where each thread's own memory begins.
fn stacks(object: &Bound<'_, PyAny>) -> PyResult<(Vec<Stack>, bool, Vec<Option<u64>>)> {
    let (mut stacks, mut pointers) = (Vec::new(), Vec::new());
    for stack in object.call_method0("stacks")?.try_iter()? {
        let stack = stack?;
        let mut frames = Vec::new();
        for frame in stack.get_item("frames")?.try_iter()? {
            let frame = frame?;
            frames.push(Frame {
                function: optional_text(&frame.get_item("function")?)?,
                file: optional_text(&frame.get_item("file")?)?,
                line: frame.get_item("line")?.extract()?,
                application: optional(&frame, "application")?,
                image: words(&frame, "image")?,
                signal: optional(&frame, "signal")?,
                ..Frame::default()
            });
        }
        pointers.push(optional(&stack, "thread_pointer")?);
        stacks.push(Stack {
            thread: stack.get_item("thread")?.extract()?,
            complete: stack.get_item("complete")?.extract()?,
            frames,
            arguments: arguments(&stack)?,
            arguments_unknown: words(&stack, "arguments_unknown")?,
            fingerprint: optional(&stack, "fingerprint")?,
            source_calls: source_calls(&stack)?,
            main: optional(&stack, "main")?,
            kernel_thread: optional(&stack, "kernel_thread")?,
            system_call: system_call(&stack)?,
            ..Stack::default()
        });
    }
    let every = object.getattr("stacks_complete").and_then(|value| value.extract()).unwrap_or(false);
    Ok((stacks, every, pointers))
}

/// What a thread does in the kernel, where that is known.
fn system_call(stack: &Bound<'_, PyAny>) -> PyResult<Option<SystemCall>> {
    match stack.get_item("system_call") {
        Ok(found) if !found.is_none() => Ok(Some(SystemCall {
            name: optional(&found, "name")?,
            waits: found.get_item("waits")?.extract()?,
            timed: found.get_item("timed")?.extract()?,
            descriptor: optional(&found, "descriptor")?,
            waits_for: None,
        })),
        _ => Ok(None),
    }
}

/// What `add_call` left of the source.
fn source_calls(stack: &Bound<'_, PyAny>) -> PyResult<Vec<SourceCall>> {
    let text: Option<String> = optional(stack, "source_calls")?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

/// What the application gave an MPI function, where the debugger's adapter found it.
fn arguments(stack: &Bound<'_, PyAny>) -> PyResult<Vec<Argument>> {
    let mut arguments = Vec::new();
    let Ok(found) = stack.get_item("arguments") else { return Ok(arguments) };
    for argument in found.try_iter()? {
        let argument = argument?;
        arguments.push(Argument {
            name: argument.get_item("name")?.extract::<String>()?.into(),
            expression: words(&argument, "expression")?.map(Into::into),
            value: optional(&argument, "value")?,
            values: optional(&argument, "values")?,
            meaning: words(&argument, "meaning")?.map(Into::into),
            unknown: words(&argument, "unknown")?.map(Into::into),
            origin: optional::<String>(&argument, "origin")?.map(Into::into),
            fixed: false,
        });
    }
    Ok(arguments)
}

/// Text that need not be there.
fn words(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<String>> {
    object.get_item(name).map_or(Ok(None), |value| optional_text(&value))
}

/// A field that need not be there.
fn optional<'py, T>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Option<T>>
where
    T: for<'a> FromPyObject<'a, 'py>,
    for<'a> <T as FromPyObject<'a, 'py>>::Error: Into<PyErr>,
{
    match object.get_item(name) {
        Ok(value) if !value.is_none() => value.extract().map(Some).map_err(Into::into),
        _ => Ok(None),
    }
}
