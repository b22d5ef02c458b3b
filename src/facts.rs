//! What the debugger knows of a process besides memory, from the Python class `DebuggedProcess`.

use std::collections::HashMap;

use pyo3::prelude::*;

use super::target::{Debugger, optional_text};
use model::{Facts, Frame, Stack};
use native::Thread;
use target::TargetError;
use target::libraries::is_application;
use target::registers::{Machine, Registers};

impl Debugger {
    /// Asks for everything; `variables` are those of the environment. What cannot be had is left out.
    pub fn facts(&self, variables: &[&str]) -> Facts {
        let variable = |name: &&str| {
            let ask = |object: &Bound<'_, PyAny>| optional_text(&object.call_method1("environment", (*name,))?);
            Some(((*name).to_owned(), self.with(ask).ok().flatten()?))
        };
        Facts {
            pid: self.with(|object| object.getattr("pid")?.extract::<Option<i64>>()).ok().flatten(),
            host: self.named("host"),
            executable: self.named("executable"),
            via: self.named("via").unwrap_or_default(),
            debugger: self.named("debugger").unwrap_or_default(),
            environment: variables.iter().filter_map(variable).collect(),
            ..Facts::default()
        }
    }

    /// By whom a process is read that is read as without a debugger.
    pub fn add_name(&self, facts: &mut Facts) {
        facts.via = self.named("via").unwrap_or_default();
        facts.debugger = self.named("debugger").unwrap_or_default();
        self.add_frames(facts);
    }

    fn named(&self, name: &str) -> Option<String> {
        self.with(|object| optional_text(&object.getattr(name)?)).ok().flatten()
    }

    /// The stacks of a machine whose registers are not known, as far as the debugger names their frames: they are not known whole.
    pub fn add_frames(&self, facts: &mut Facts) {
        type Told = (Option<String>, Option<String>, Option<i64>, Option<String>);
        if !facts.stacks.is_empty() {
            return;
        }
        let ask = |object: &Bound<'_, PyAny>| object.call_method0("frames")?.extract::<Vec<(i64, i64, Vec<Told>)>>();
        let executable = facts.executable.clone().unwrap_or_default();
        let frame = |(function, file, line, image): Told| {
            let application = image.as_deref().map(|image| is_application(image, &executable));
            Frame { function, file, line, image, application, ..Frame::default() }
        };
        for (thread, kernel_thread, frames) in self.with(ask).unwrap_or_default() {
            facts.stacks.push(Stack {
                thread,
                kernel_thread: Some(kernel_thread),
                main: facts.pid.map(|pid| pid == kernel_thread),
                frames: frames.into_iter().map(frame).collect(),
                ..Stack::default()
            });
        }
    }

    /// Its threads where they stand; none of a machine whose registers are not known.
    pub fn threads(&self) -> Result<Vec<Thread>, TargetError> {
        self.with(|object| {
            let machine = object.getattr("machine")?.extract::<Option<String>>()?;
            let Some(machine) = machine.and_then(|name| Machine::named(&name)) else { return Ok(Vec::new()) };
            let told = object.call_method1("threads", (machine.register_names(),))?;
            let thread = |told: (i64, u32, HashMap<String, u64>)| {
                let (number, id, registers) = told;
                let named = registers.iter().map(|(name, value)| (name.as_str(), *value));
                Some(Thread {
                    id,
                    registers: Registers::of_names(machine, named)?,
                    blocked: None,
                    number: Some(number),
                })
            };
            Ok(told.extract::<Vec<_>>()?.into_iter().filter_map(thread).collect())
        })
    }

    /// The debugger's numbers of the threads, by the kernel's.
    pub fn numbers(&self) -> Result<HashMap<u32, i64>, TargetError> {
        let ask = |object: &Bound<'_, PyAny>| {
            let told = object.call_method1("threads", (Vec::<String>::new(),))?;
            told.extract::<Vec<(i64, u32, HashMap<String, u64>)>>()
        };
        Ok(self.with(ask)?.into_iter().map(|(number, id, _)| (id, number)).collect())
    }
}
