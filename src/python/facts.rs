//! What the debugger knows of a process besides memory, from the Python class `DebuggedProcess`.

use pyo3::prelude::*;

use super::target::Debugger;
use crate::model::{Facts, Frame, Stack};

impl Debugger {
    /// Asks for everything; `variables` are those of the environment. What cannot be had is left out.
    pub fn facts(&self, variables: &[&str]) -> Facts {
        let text = |name: &str| self.with(|object| object.getattr(name)?.extract::<Option<String>>()).ok().flatten();
        let variable = |name: &&str| {
            let ask =
                |object: &Bound<'_, PyAny>| object.call_method1("environment", (*name,))?.extract::<Option<String>>();
            Some(((*name).to_owned(), self.with(ask).ok().flatten()?))
        };
        let mut facts = Facts {
            pid: self.with(|object| object.getattr("pid")?.extract::<Option<i64>>()).ok().flatten(),
            host: text("host"),
            executable: text("executable"),
            via: text("via").unwrap_or_default(),
            debugger: text("debugger").unwrap_or_default(),
            environment: variables.iter().filter_map(variable).collect(),
            ..Facts::default()
        };
        match self.with(stacks) {
            Ok((stacks, every)) => {
                facts.all_threads = every && stacks.iter().all(|stack| stack.complete);
                facts.stacks = stacks;
            }
            Err(error) => facts.problems.push(format!("the stacks could not be read: {error}")),
        }
        facts
    }
}

fn stacks(object: &Bound<'_, PyAny>) -> PyResult<(Vec<Stack>, bool)> {
    let mut stacks = Vec::new();
    for stack in object.call_method0("stacks")?.try_iter()? {
        let stack = stack?;
        let mut frames = Vec::new();
        for frame in stack.get_item("frames")?.try_iter()? {
            let frame = frame?;
            frames.push(Frame {
                function: frame.get_item("function")?.extract()?,
                file: frame.get_item("file")?.extract()?,
                line: frame.get_item("line")?.extract()?,
            });
        }
        stacks.push(Stack {
            thread: stack.get_item("thread")?.extract()?,
            complete: stack.get_item("complete")?.extract()?,
            frames,
        });
    }
    let every = object.getattr("stacks_complete").and_then(|value| value.extract()).unwrap_or(false);
    Ok((stacks, every))
}
