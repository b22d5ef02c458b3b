//! What the application gave an MPI function: the call in the source, and its expressions in the frame of the caller.
//!
//! Nothing in the program is called or written. What cannot be known is null, with the reason.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::caller::{add_elements, integers};
use crate::described::{Described, Sites};
use crate::expression::{Evaluated, given_in_c, given_in_fortran};
use crate::matched::matched;
use crate::source::{Macros, Source, Sources, constant_in, constant_in_fortran, find};
use crate::{Caller, Parameter, Unknown, parameters};
use functions::constants::{Family, is_constant};
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
}

impl KeptFiles {
    /// Nothing so far.
    pub const fn new() -> Self {
        Self { sources: Sources::new(), sites: Sites::new() }
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
        let nothing = "the debug information of the call tells none of them";
        return CallArguments { unknown: Some(format!("{reason}, and {nothing}")), ..Default::default() };
    }
    CallArguments { arguments, unknown: None }
}

/// One call, with the time that is left for it.
struct Call<'c, C> {
    function: &'c str,
    caller: &'c C,
    kept: &'c KeptFiles,
    family: Option<Family>,
    source: Arc<Source>,
    /// What the source and its headers define, once somebody has asked.
    macros: Option<Result<Macros, Unknown>>,
    /// The parameters, each with its argument.
    matched: Vec<(Parameter, String)>,
    /// Bytes of an element of what the last expression points at.
    width: Option<i128>,
    /// What the debug information tells, once somebody has asked; also where it tells nothing.
    described: Option<Option<Described<'c, C>>>,
    end: Duration,
    latest: Instant,
}

impl<'c, C: Caller> Call<'c, C> {
    fn new(function: &'c str, caller: &'c C, kept: &'c KeptFiles) -> Result<Self, Unknown> {
        let (end, latest) = (caller.processor_time()? + TIME_LIMIT, Instant::now() + LONGEST);
        if parameters(function, false).is_none() {
            return Err(Unknown::new(format!("the parameters of {function} are not known here")));
        }
        let (Some(file), Some(line)) = (caller.file()?, caller.line()?) else {
            return Err(Unknown::new("the application has no debug information there"));
        };
        let (built, reader) = (caller.built()?, caller.reader()?);
        let (source, texts) = caller.apart(|| {
            let source = kept.sources.read(&file, built, reader.as_ref())?;
            let texts = find(&source, function, line)?;
            Ok::<_, Unknown>((source, texts))
        })?;
        let matched = matched(texts, function, source.fortran)?;
        let family = caller.family()?;
        Ok(Self {
            function,
            caller,
            kept,
            family,
            source,
            macros: None,
            matched,
            width: None,
            described: None,
            end,
            latest,
        })
    }

    fn arguments(&mut self) -> Vec<Argument> {
        let mut found = Vec::new();
        for (parameter, text) in std::mem::take(&mut self.matched) {
            let argument = self.argument(&parameter, text, &found);
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
        let look = || Described::new(self.function, self.caller, &self.kept.sites).ok();
        let Some(described) = self.described.get_or_insert_with(look) else { return argument };
        let found = described.argument(parameter, before);
        if found.unknown.is_some() { argument } else { Argument { expression: argument.expression, ..found } }
    }

    fn argument(&mut self, parameter: &Parameter, text: String, before: &[Argument]) -> Argument {
        let mut argument = Argument { name: parameter.name.to_owned(), ..Argument::default() };
        if let Err(unknown) = self.fill(&mut argument, parameter, &text, before) {
            argument.unknown = Some(unknown.to_string());
        }
        Argument { expression: Some(text), ..argument }
    }

    fn fill(
        &mut self,
        argument: &mut Argument,
        parameter: &Parameter,
        text: &str,
        before: &[Argument],
    ) -> Result<(), Unknown> {
        if Instant::now() > self.latest || self.caller.processor_time()? > self.end {
            return Err(Unknown::new("finding it out would take too long"));
        }
        self.fill_value(argument, parameter, text)?;
        let Some(value) = argument.value else { return Ok(()) };
        if let Some(length) = parameter.length {
            return add_elements(self.caller, argument, length, before, self.handle_width()?);
        }
        if argument.meaning.is_none() && !parameter.address {
            let meaning = self.family.and_then(|family| family.meaning(parameter.name, value.into()));
            argument.meaning = meaning.map(str::to_owned);
        }
        Ok(())
    }

    fn fill_value(&mut self, argument: &mut Argument, parameter: &Parameter, text: &str) -> Result<(), Unknown> {
        let evaluated = match self.evaluated(text)? {
            Meant::Constant(constant) => {
                let number = if parameter.address { None } else { self.constant(&constant)? };
                argument.value = number.map(signed);
                argument.meaning = Some(constant);
                return Ok(());
            }
            Meant::Value(evaluated) => evaluated,
        };
        self.width = evaluated.width;
        if self.source.fortran && evaluated.width.is_none() && parameter.address {
            // Fortran gives the address of everything.
            argument.value = evaluated.place.map(signed);
            if parameter.handle {
                argument.values = Some(vec![signed(evaluated.number)]);
            } else if evaluated.place.is_none() {
                return Err(Unknown::new("its address is not known"));
            }
            return Ok(());
        }
        argument.value = Some(signed(evaluated.number));
        if parameter.handle {
            let address = signed(evaluated.number) as u64;
            argument.values = Some(integers(self.caller, address, 1, self.handle_width()?)?);
        }
        Ok(())
    }

    /// The constant of MPI that an expression is, or its value.
    fn evaluated(&mut self, text: &str) -> Result<Meant, Unknown> {
        if self.source.fortran {
            return match constant_in_fortran(text) {
                Some(constant) => Ok(Meant::Constant(constant)),
                None => self.value(text).map(Meant::Value),
            };
        }
        if let Some(constant) = constant_in(text) {
            return Ok(Meant::Constant(constant));
        }
        // The preprocessor's names come before the program's.
        let expanded = self.expanded(text);
        if let Ok(Some(other)) = &expanded
            && let Some(constant) = constant_in(other)
        {
            return Ok(Meant::Constant(constant));
        }
        match expanded {
            Ok(other) => self.value(other.as_deref().unwrap_or(text)).map(Meant::Value),
            Err(reason) => self.value(text).map(Meant::Value).map_err(|_| reason),
        }
    }

    fn expanded(&mut self, text: &str) -> Result<Option<String>, Unknown> {
        let look = || {
            let (built, reader) = (self.caller.built()?, self.caller.reader()?);
            let (source, sources) = (&self.source, &self.kept.sources);
            self.caller.apart(|| Macros::of(source, sources, built, reader.as_ref()))
        };
        match self.macros.get_or_insert_with(look) {
            Ok(macros) => macros.expanded(text),
            Err(unknown) => Err(unknown.clone()),
        }
    }

    /// The value of an expression of the frame's language.
    fn value(&self, text: &str) -> Result<Evaluated, Unknown> {
        let fortran = self.source.fortran;
        let scope = self.caller.scope(fortran)?;
        let constant = |name: &str| {
            let name = if fortran { name.to_uppercase() } else { name.to_owned() };
            if is_constant(&name) { self.constant(&name) } else { Ok(None) }
        };
        if fortran { given_in_fortran(text, &scope, &constant) } else { given_in_c(text, &scope, &constant) }
    }

    /// The number or handle that a constant is.
    fn constant(&self, name: &str) -> Result<Option<i128>, Unknown> {
        let Some(family) = self.family else { return Ok(None) };
        family.value(name, self.source.fortran, &|name| self.caller.symbol(name))
    }

    fn handle_width(&self) -> Result<u64, Unknown> {
        match if self.source.fortran { Some(4) } else { self.width } {
            Some(4) => Ok(4),
            Some(8) => Ok(8),
            _ => Err(Unknown::new("the size of what it points at is that of no handle")),
        }
    }
}

/// What an expression is.
enum Meant {
    /// A constant of MPI.
    Constant(String),
    Value(Evaluated),
}

/// As a number of 64 bits with a sign.
fn signed(number: i128) -> i64 {
    number as i64
}
