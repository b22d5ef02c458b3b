//! What the application gave an MPI function: the call in the source, and its expressions in the frame of the caller.
//!
//! Nothing in the program is called or written. What cannot be known is null, with the reason.

use std::time::Duration;

use crate::code_calls::CodeCall;
use crate::described::{Described, Sites};
use crate::kept_places::KeptPlaces;
use crate::matched::matched;
use crate::source::{Sources, find};
use crate::source_calls::Time;
use crate::standing::Standing;
use crate::{Caller, Parameter, Unknown, parameters};
use model::Argument;

/// The arguments of one call may take so much time of a processor; what is not known by then stays unknown.
pub const TIME_LIMIT: Duration = Duration::from_millis(200);
/// So much real time, in which a debugger may wait for what another thread of it reads. It is more, or what is known on a
/// busy machine would be another thing each time.
pub const LONGEST: Duration = Duration::from_secs(2);

/// What was read of files, for all processes.
#[derive(Debug, Default)]
pub struct KeptFiles {
    /// Sources.
    pub sources: Sources,
    /// Calls in files with debug information.
    pub sites: Sites,
    /// Calls in machine code.
    pub codes: KeptPlaces<Vec<CodeCall>>,
    /// The time that calls in sources have taken.
    pub time: Time,
}

impl KeptFiles {
    /// Nothing so far.
    pub const fn new() -> Self {
        Self { sources: Sources::new(), sites: Sites::new(), codes: KeptPlaces::new(), time: Time::new() }
    }
}

/// What is known of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallArguments {
    /// In the order of the parameters.
    pub arguments: Vec<Argument>,
    /// Why none are known.
    pub unknown: Option<String>,
}

/// The arguments of the call of `function` (its name in C), or why they are not known.
pub fn call_arguments<C: Caller>(function: &str, caller: &C, kept: &KeptFiles) -> CallArguments {
    let reason = match Call::new(function, caller, kept) {
        Ok(mut call) => return CallArguments { arguments: call.arguments(), unknown: None },
        Err(unknown) => unknown,
    };
    let arguments = match Described::new(function, caller, &kept.sites) {
        Ok(described) => described.arguments(),
        Err(unknown) => {
            return CallArguments { unknown: Some(format!("{reason}, and {unknown}")), ..Default::default() };
        }
    };
    if !arguments.is_empty() && arguments.iter().all(|one| one.value.is_none()) {
        let nothing = "the debug information of the call gives none of them";
        return CallArguments { unknown: Some(format!("{reason}, and {nothing}")), ..Default::default() };
    }
    CallArguments { arguments, unknown: None }
}

/// One call.
struct Call<'c, C> {
    function: &'c str,
    standing: Standing<'c, C>,
    /// The parameters, each with its argument.
    matched: Vec<(Parameter, String)>,
    /// What the debug information tells, once somebody has asked; also where it tells nothing.
    described: Option<Option<Described<'c, C>>>,
}

impl<'c, C: Caller> Call<'c, C> {
    fn new(function: &'c str, caller: &'c C, kept: &'c KeptFiles) -> Result<Self, Unknown> {
        if parameters(function, false).is_none() {
            return Err(Unknown::new(format!("the parameters of {function} are not known here")));
        }
        let standing = Standing::new(caller, kept)?;
        let (source, line) = (&standing.source, standing.line);
        let texts = find(source, function, line)?;
        let matched = matched(texts, function, source.fortran)?;
        Ok(Self { function, standing, matched, described: None })
    }

    fn arguments(&mut self) -> Vec<Argument> {
        let mut found = Vec::new();
        for (parameter, text) in std::mem::take(&mut self.matched) {
            let argument = self.standing.argument(&parameter, text, &found);
            let argument = if argument.unknown.is_some() {
                self.without_variables(argument, &parameter, &found)
            } else {
                argument
            };
            found.push(argument);
        }
        found
    }

    /// An argument whose expression has no value (any more), as the debug information of the call has it.
    fn without_variables(&mut self, argument: Argument, parameter: &Parameter, before: &[Argument]) -> Argument {
        let look = || Described::new(self.function, self.standing.caller, &self.standing.kept.sites).ok();
        let Some(described) = self.described.get_or_insert_with(look) else { return argument };
        let found = described.argument(parameter, before);
        if found.unknown.is_some() { argument } else { Argument { expression: argument.expression, ..found } }
    }
}
