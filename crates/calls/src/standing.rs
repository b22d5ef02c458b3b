//! A frame that stands at a line of a source: what the expressions that are written there mean in it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::arguments::{KeptFiles, LONGEST, TIME_LIMIT};
use crate::caller::{add_elements, integers};
use crate::expression::{Evaluated, given_in_c, given_in_fortran, is_literal};
use crate::source::{Macros, Source, constant_in, constant_in_fortran};
use crate::{Caller, Parameter, Unknown};
use functions::constants::{Family, is_constant};
use model::Argument;

/// A frame with the source of its function, and the time that is left for it.
pub(crate) struct Standing<'c, C> {
    pub(crate) caller: &'c C,
    pub(crate) kept: &'c KeptFiles,
    pub(crate) family: Option<Family>,
    pub(crate) source: Arc<Source>,
    /// Where it stands, as the debug information has it.
    pub(crate) line: i64,
    /// What the source and its headers define, once somebody has asked.
    macros: Option<Result<Macros, Unknown>>,
    /// Bytes of an element of what the last expression points at.
    width: Option<i128>,
    /// Whether the last expression has no variables.
    fixed: bool,
    /// Expressions that were asked for before.
    values: HashMap<String, Result<Evaluated, Unknown>>,
    end: Duration,
    latest: Instant,
}

impl<'c, C: Caller> Standing<'c, C> {
    pub(crate) fn new(caller: &'c C, kept: &'c KeptFiles) -> Result<Self, Unknown> {
        let (end, latest) = (caller.processor_time()? + TIME_LIMIT, Instant::now() + LONGEST);
        let (Some(file), Some(line)) = (caller.file()?, caller.line()?) else {
            return Err(Unknown::new("the application has no debug information there"));
        };
        let (built, reader) = (caller.built()?, caller.reader()?);
        let source = kept.sources.read(&file, built, reader.as_ref())?;
        let family = caller.family()?;
        Ok(Self {
            caller,
            kept,
            family,
            source,
            line,
            macros: None,
            width: None,
            fixed: false,
            values: HashMap::new(),
            end,
            latest,
        })
    }

    /// An argument of a call that is written there; `before` are those before it.
    pub(crate) fn argument(&mut self, parameter: &Parameter, text: String, before: &[Argument]) -> Argument {
        let mut argument = Argument { name: parameter.name.into(), ..Argument::default() };
        if let Err(unknown) = self.fill(&mut argument, parameter, &text, before) {
            argument.unknown = Some(unknown.to_string().into());
        }
        Argument { expression: Some(text.into()), ..argument }
    }

    fn fill(
        &mut self,
        argument: &mut Argument,
        parameter: &Parameter,
        text: &str,
        before: &[Argument],
    ) -> Result<(), Unknown> {
        if Instant::now() > self.latest || self.caller.processor_time()? > self.end {
            return Err(Unknown::new("it would take too long to find out"));
        }
        let filled = self.fill_value(argument, parameter, text);
        argument.fixed = self.fixed && !parameter.address;
        filled?;
        let Some(value) = argument.value else { return Ok(()) };
        if let Some(length) = parameter.length {
            return add_elements(self.caller, argument, length, before, self.handle_width()?);
        }
        if argument.meaning.is_none() && !parameter.address {
            let meaning = self.family.and_then(|family| family.meaning(parameter.name, value.into()));
            argument.meaning = meaning.map(str::to_owned).map(Into::into);
        }
        Ok(())
    }

    fn fill_value(&mut self, argument: &mut Argument, parameter: &Parameter, text: &str) -> Result<(), Unknown> {
        let evaluated = match self.evaluated(text)? {
            Meant::Constant(constant) => {
                let number = if parameter.address { None } else { self.constant(&constant)? };
                argument.value = number.map(signed);
                argument.meaning = Some(constant.into());
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
        self.fixed = true;
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

    /// What the preprocessor makes of an expression; `None` where it leaves it.
    ///
    /// # Errors
    /// Where it cannot be told.
    pub(crate) fn expanded(&mut self, text: &str) -> Result<Option<String>, Unknown> {
        let look = || {
            let (built, reader) = (self.caller.built()?, self.caller.reader()?);
            let (source, sources) = (&self.source, &self.kept.sources);
            Macros::of(source, sources, built, reader.as_ref())
        };
        match self.macros.get_or_insert_with(look) {
            Ok(macros) => macros.expanded(text),
            Err(unknown) => Err(unknown.clone()),
        }
    }

    /// The value of an expression of the frame's language.
    fn value(&mut self, text: &str) -> Result<Evaluated, Unknown> {
        self.fixed = is_literal(text, self.source.fortran);
        if let Some(known) = self.values.get(text) {
            return known.clone();
        }
        let found = self.asked(text);
        self.values.insert(text.to_owned(), found.clone());
        found
    }

    fn asked(&self, text: &str) -> Result<Evaluated, Unknown> {
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
            _ => Err(Unknown::new("what it points at has the size of no handle")),
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
