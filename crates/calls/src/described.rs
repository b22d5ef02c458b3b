//! What a function was given, by what optimising compilers write down of its call (`call_sites.rs`).
//!
//! Such a value is what the argument was when the function was called, also where the program has no variable for it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::caller::{add_elements, called_by, integers, narrow};
use crate::kept_places::KeptPlaces;
use crate::{CallFrame, CallSite, Caller, Frame, Parameter, Unknown, call_site, call_values, parameters};
use functions::constants::Family;
use model::Argument;

/// What an argument's `origin` is where it is known from here.
pub const ORIGIN: &str = "call site";

/// A value may be one that the function around the call was given, and so on outwards.
const MAX_FRAMES: usize = 4;

/// DWARF's numbers of registers (System V ABI for AMD64, figure 3.36).
const NUMBERS: [(&str, u16); 7] =
    [("rbx", 3), ("rbp", 6), ("rsp", 7), ("r12", 12), ("r13", 13), ("r14", 14), ("r15", 15)];

/// Of Fortran's functions with this in their names buffers are given by descriptors (MPI-4.0, 19.1.5).
const DESCRIPTORS: &str = "_f08ts";
const BUFFERS: [&str; 3] = ["buf", "addr", "base"];

/// The calls that were looked up in files with debug information, for all processes.
pub type Sites = KeptPlaces<CallSite>;

/// The call of a frame.
pub(crate) fn site_of(sites: &Sites, frame: &Frame) -> Option<Arc<CallSite>> {
    sites.of(frame, |place| call_site(&place.path, place.offset, place.build_id.as_deref()))
}

/// A frame, and its call.
pub(crate) struct Link {
    pub(crate) frame: Frame,
    pub(crate) site: Arc<CallSite>,
}

/// The call of a function, as the debug information has it.
pub(crate) struct Described<'c, C> {
    caller: &'c C,
    family: Option<Family>,
    fortran: bool,
    descriptors: bool,
    parameters: Vec<Parameter>,
    /// By their numbers.
    values: HashMap<usize, u64>,
}

impl<'c, C: Caller> Described<'c, C> {
    /// `function` is the name in C. Fails where the debug information does not describe the call.
    pub(crate) fn new(function: &str, caller: &'c C, sites: &Sites) -> Result<Self, Unknown> {
        if parameters(function, false).is_none() {
            return Err(Unknown::new(format!("the parameters of {function} are not known here")));
        }
        let chain = chain(caller, sites)?;
        let Some(target) = chain.first().and_then(|link| link.site.target.as_deref()) else {
            let without = "the debug information does not describe the call (with -O1 and higher it does)";
            return Err(Unknown::new(without));
        };
        let fortran = is_fortran(target, function)?;
        Ok(Self {
            caller,
            family: caller.family()?,
            fortran,
            descriptors: target.contains(DESCRIPTORS),
            parameters: parameters(function, fortran).unwrap_or_default(),
            values: values(&chain, caller),
        })
    }

    /// All that are known, and why the others are not.
    pub(crate) fn arguments(&self) -> Vec<Argument> {
        let mut found = Vec::new();
        for parameter in &self.parameters {
            found.push(self.argument(parameter, &found));
        }
        found
    }

    /// One argument; `before` are those that come before it.
    pub(crate) fn argument(&self, parameter: &Parameter, before: &[Argument]) -> Argument {
        let mut argument = Argument { name: parameter.name.into(), ..Argument::default() };
        let number = self.parameters.iter().position(|one| one.name == parameter.name);
        let filled = match number.and_then(|number| self.values.get(&number)) {
            Some(value) => {
                argument.origin = Some(ORIGIN.into());
                self.fill(&mut argument, parameter, *value, before)
            }
            None => Err(Unknown::new("the debug information of the call does not give it")),
        };
        if let Err(unknown) = filled {
            argument.unknown = Some(unknown.to_string().into());
        }
        argument
    }

    fn fill(
        &self,
        argument: &mut Argument,
        parameter: &Parameter,
        value: u64,
        before: &[Argument],
    ) -> Result<(), Unknown> {
        if !parameter.address {
            let width = self.width(parameter)?;
            // Fortran gives the address of everything.
            let number = if self.fortran { self.one(value, width)? } else { narrow(value, width) };
            argument.value = Some(number);
            let meaning = self.family.and_then(|family| family.meaning(parameter.name, number.into()));
            argument.meaning = meaning.map(str::to_owned).map(Into::into);
            return Ok(());
        }
        if self.descriptors && BUFFERS.iter().any(|word| parameter.name.contains(word)) {
            return Err(Unknown::new("the call was given a descriptor"));
        }
        argument.value = Some(value as i64);
        if parameter.handle {
            argument.values = Some(integers(self.caller, value, 1, self.width(parameter)?)?);
        } else if let Some(length) = parameter.length {
            add_elements(self.caller, argument, length, before, self.width(parameter)?)?;
        }
        Ok(())
    }

    fn one(&self, address: u64, width: u64) -> Result<i64, Unknown> {
        integers(self.caller, address, 1, width).map(|found| found.first().copied().unwrap_or_default())
    }

    /// The bytes of an argument; of one that is given by its address those of what is there.
    fn width(&self, parameter: &Parameter) -> Result<u64, Unknown> {
        match (parameter.bytes, self.family) {
            (Some(bytes), _) => Ok(bytes),
            (None, _) if self.fortran => Ok(4),
            (None, Some(family)) => Ok(family.handle_bytes()),
            (None, None) => Err(Unknown::new("what handles of the MPI look like is not known")),
        }
    }
}

/// The frame's call, and outwards those that led to it, as far as its values come from them.
fn chain<C: Caller>(caller: &C, sites: &Sites) -> Result<Vec<Link>, Unknown> {
    let mut found: Vec<Link> = Vec::new();
    for frame in caller.frames()?.take(MAX_FRAMES) {
        let frame = frame?;
        if let Some(inner) = found.last()
            && !is_entered_by(inner, &frame, caller)?
        {
            break;
        }
        let Some(site) = site_of(sites, &frame) else { break };
        let more = site.needs_caller();
        found.push(Link { frame, site });
        if !more {
            break;
        }
    }
    Ok(found)
}

/// Whether the call of `frame` has entered the function of the inner one: none that jumped there lies between.
fn is_entered_by<C: Caller>(inner: &Link, frame: &Frame, caller: &C) -> Result<bool, Unknown> {
    let begin = inner.frame.text.wrapping_add(inner.site.entry);
    Ok(!inner.site.jumps && called_by(caller, frame.pc)? == Some(begin))
}

/// What the first call gives its function, by the numbers of the arguments.
pub(crate) fn values<C: Caller>(chain: &[Link], caller: &C) -> HashMap<usize, u64> {
    let numbered = |link: &Link| {
        let held = |(name, number): &(&str, u16)| Some((*number, *link.frame.registers.get(*name)?));
        NUMBERS.iter().filter_map(held).collect()
    };
    fn frame(link: &Link, registers: HashMap<u16, u64>) -> CallFrame<'_> {
        CallFrame { site: &link.site, text: link.frame.text, registers, cfa: link.frame.cfa }
    }
    let frames: Vec<_> = chain.iter().map(|link| frame(link, numbered(link))).collect();
    call_values(&frames, &mut |address, length| caller.read(address, length).ok()).into_iter().collect()
}

/// Whether the symbol that is called is the function of Fortran. Fails where it is another function, which may have called
/// `function` in turn.
fn is_fortran(target: &str, function: &str) -> Result<bool, Unknown> {
    if target == function || target.strip_prefix('P') == Some(function) {
        return Ok(false);
    }
    let named = [Some(target.to_owned())];
    if target.ends_with('_') && functions::outermost_mpi_function(&named).is_some_and(|found| found.c_name == function)
    {
        return Ok(true);
    }
    let target: String = target.chars().take(60).collect();
    Err(Unknown::new(format!("by its debug information, the call is of {target}")))
}
