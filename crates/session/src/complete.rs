//! What is known of a process besides memory, and what follows from both.

use std::rc::Rc;

use super::{LayoutChoice, Session, Wrappers, add_facts, kept_arguments, tell_missing};
use model::{Common, Exception, ExceptionState, Facts, Process, Stack};
use recording::Replay;
use target::{Target, TargetError};

/// Of a process that lives by its other threads.
const WITHOUT_MAIN: &str = "its main thread has ended; its other threads go on";

impl LayoutChoice {
    /// The layouts that a recording holds.
    pub fn of_replay(replay: &Replay) -> Self {
        Self { debugger: Some(Rc::new(replay.types())), profile: None, recorded: replay.profile.clone() }
    }
}

impl<T: Target> Session<T> {
    /// Adds to stacks the frames of Python, where the process has an interpreter; returns what else is known of it.
    pub fn add_python(&self, stacks: &mut [Stack]) -> python::Told {
        let _request = self.target.budget().request();
        python::add_frames(&self.target, stacks)
    }

    /// Adds to what a reader has found what is known besides memory, and what follows from both. `missing`: reads for which
    /// a recording has nothing. What wraps MPI is marked in the stacks.
    pub fn complete(&self, process: &mut Process, facts: &mut Facts, wrappers: &Wrappers, missing: &[TargetError]) {
        let mut told = self.add_python(&mut facts.stacks);
        process.notes.extend(told.notes);
        if !facts.stacks.is_empty() && facts.stacks.iter().all(|stack| stack.main == Some(false)) {
            process.notes.push(WITHOUT_MAIN.to_owned());
        }
        process.python_ended = told.ended;
        facts.stacks.iter_mut().for_each(|stack| wrappers.mark(stack));
        told.exceptions.extend(facts.stacks.iter().flat_map(Stack::exceptions));
        if told.ended {
            told.exceptions.push(Exception { state: ExceptionState::Ended, ..Exception::default() });
        }
        process.exceptions = told.exceptions.into();
        add_facts(process, facts);
        self.add_history(process, &facts.stacks);
        self.resolve_calls(process);
        kept_arguments::tell(process, &facts.stacks);
        tell_missing(process, missing);
        // What only this work needed, and no JSON has.
        process.source_calls = Common::default();
    }
}
