//! The calls of MPI that stand in the source around a thread's call: which of them may have started the requests that it
//! waits for.
//!
//! Nobody has seen them run. What is told is which of them control may have passed last, by the ways through the function,
//! and whether what they are given is the same object, by its words or its address.

mod earlier;
mod in_code;
mod later;
mod others;
mod reached;
mod same;
mod time;
mod uses;

use crate::arguments::KeptFiles;
use crate::expression::{Object, is_literal, object_in_c, object_in_fortran};
use crate::matched::matched;
use crate::source::flow::{Body, Mark, reaching};
use crate::source::{Mention, Source, constant_in, constant_in_fortran, mentions};
use crate::standing::Standing;

use crate::{Caller, NamedFrame, Parameter, Thread};
use std::collections::HashMap;

use earlier::{Way, Ways};
use functions::wrapping::is_wrapping;
use functions::{Array, Direction, Function, HandleKind, Started};
use in_code::in_code;
use later::{Later, later};
use model::{Argument, RequestObject, SameObject, SourceCall};
use others::{Other, in_others, others};
use reached::reached;
use same::compared;
pub use time::Time;
use uses::uses;

/// So many functions of a stack are looked at.
const MOST_FUNCTIONS: usize = 4;

/// So many calls are told of one stack; in a function with more nobody can tell which it was.
const MOST_CALLS: usize = 64;

/// In a function with more calls that send nobody can tell which sent a message.
const MOST_SENDS: usize = 16;

/// Parameters that say for whom a message is.
const TO_WHOM: [&str; 4] = ["dest", "tag", "sendtag", "comm"];

/// The functions of a longer source (bytes) are not all gone through.
const LONGEST_SEARCHED: usize = 1 << 20;

/// In a longer one (bytes) it is not looked what comes later: each rank would go through most of it.
const LONGEST_AHEAD: usize = 1 << 18;

/// What the thread's call waits for.
struct Waited<'a> {
    /// The argument with the requests.
    argument: Option<&'a Argument>,
    object: Option<Object>,
    /// How many there are; `None`: not known.
    count: Option<i64>,
    /// The bytes of a handle.
    width: i64,
}

impl<'a> Waited<'a> {
    /// What a function (its name in C) was given to wait for; `None` where it is given no requests.
    fn new(function: &str, arguments: &'a [Argument], object: Option<Object>, width: u64) -> Option<Self> {
        let parameter = given(function)?;
        let named = |name: &str| arguments.iter().find(|one| one.name == name);
        let count = match parameter.array {
            None => Some(1),
            Some(Array::Counted(count)) => named(count).and_then(|one| one.value),
            Some(Array::Other) => None,
        };
        Some(Self { argument: named(parameter.name), object, count, width: i64::try_from(width).unwrap_or(8) })
    }
}

/// The calls around the frames of a thread that may have started requests: those around the call of MPI, `called` (its name
/// in C, with what it was given), whose caller stands at `at`, and around those that led there.
pub(crate) fn source_calls<T: Thread>(
    frames: &[NamedFrame],
    thread: &T,
    at: usize,
    called: Option<(&str, &[Argument])>,
    kept: &KeptFiles,
) -> Vec<(usize, SourceCall)> {
    let own = (at..frames.len()).filter(|place| frames[*place].application && !wraps(&frames[*place]));
    let mut found: Vec<(usize, SourceCall)> = Vec::new();
    let mut earlier = Ways::new();
    let mut later: Option<Vec<(usize, SourceCall)>> = Some(Vec::new());
    for place in own.take(MOST_FUNCTIONS) {
        let Some(_spent) = kept.time.spend() else {
            earlier.stop();
            later = None;
            break;
        };
        let Ok(caller) = thread.caller(place) else {
            earlier.stop();
            later = None;
            continue;
        };
        let name = frames[place].function.clone();
        let waits = called.filter(|(function, _)| takes_requests(function));
        let Ok(standing) = Standing::new(&caller, kept) else {
            earlier.stop();
            later = None;
            let calls = in_code(&caller, name.as_deref(), waits, kept).unwrap_or_default();
            found.extend(calls.into_iter().map(|call| (place, call)));
            continue;
        };
        let known = if place == at { called } else { None };
        let wrapped = place > 0 && (!frames[place - 1].application || wraps(&frames[place - 1]));
        let mut around = Around { standing, name, called: known, wrapped, waits, earlier: Vec::new(), later: None };
        found.extend(around.calls().unwrap_or_default().into_iter().map(|call| (place, call)));
        earlier.go_on(&around.earlier, place);
        later = later.zip(around.later).map(|(mut all, own)| {
            all.extend(own.into_iter().map(|call| (place, call)));
            all
        });
    }
    found.truncate(MOST_CALLS);
    found.extend(earlier.calls());
    found.extend(later.unwrap_or_default().into_iter().take(MOST_CALLS));
    found
}

/// A call that may have started what is waited for, with its place among those of its function.
struct Candidate {
    mention: usize,
    call: SourceCall,
}

/// One function of a stack.
struct Around<'c, 'a, C> {
    standing: Standing<'c, C>,
    name: Option<String>,
    /// The call of MPI that stands in it.
    called: Option<(&'a str, &'a [Argument])>,
    /// Whether a library stands between it and that call.
    wrapped: bool,
    /// The same where it waits for requests, also where it stands in another function.
    waits: Option<(&'a str, &'a [Argument])>,
    /// The ways to its place through non-blocking collectives, as far as they are known.
    earlier: Vec<Way<SourceCall>>,
    /// The collectives that it may come to yet; `None`: not known.
    later: Option<Vec<SourceCall>>,
}

impl<'a, C: Caller> Around<'_, 'a, C> {
    fn calls(&mut self) -> Option<Vec<SourceCall>> {
        let source = self.standing.source.clone();
        let line = usize::try_from(self.standing.line).ok()?;
        let body = Body::at(&source, line)?;
        let mentioned = mentions(&source, &body.range)?;
        let own = match self.called {
            Some((function, _)) => own_mention(&source, &mentioned, line, |one| one.function == function),
            None if self.wrapped => own_mention(&source, &mentioned, line, |one| one.wrapped),
            None => None,
        };
        let place = own.map_or_else(|| first_of_line(&source, line), |own| Some(mentioned[own].at))?;
        self.earlier = self.ways((&source, &body), &mentioned, place);
        if source.code.len() <= LONGEST_AHEAD {
            self.later = later(&source, &body, place).map(|later| self.coming(&source, &later));
        }
        let mut sends = self.sends((&source, &body), &mentioned, place);
        if self.called.is_some() && source.code.len() <= LONGEST_SEARCHED {
            sends.extend(self.sends_elsewhere(&source, &body));
        }
        let starts: Vec<(usize, Parameter)> =
            mentioned.iter().enumerate().filter_map(|(at, one)| Some((at, returned(&one.function)?))).collect();
        if starts.len() > MOST_CALLS || (starts.is_empty() && self.called.is_none() && own.is_none()) {
            return Some(sends);
        }
        let waited = self.waited(own.map(|own| &mentioned[own]), &source);
        let mut candidates: Vec<Candidate> = Vec::new();
        for (mention, parameter) in starts {
            let call = self.call(&source, &mentioned[mention], parameter, waited.as_ref());
            candidates.push(Candidate { mention, call });
        }
        let passed = reached((&source, &body), &mentioned, place, &candidates, waited.as_ref());
        let object = waited.as_ref().and_then(|waited| waited.object.as_ref());
        let uses = object.map(|object| uses(&source, &body, &mentioned, object.variable()));
        let alone = own.is_some() && !body.irregular && uses.is_some_and(|uses| uses.are_plain());
        let same = |call: &SourceCall| call.request.same == SameObject::Yes;
        let some_same = candidates.iter().zip(&passed).any(|(one, passed)| *passed && same(&one.call));
        let local = uses.is_none_or(|uses| uses.is_local());
        let mut found: Vec<SourceCall> = sends;
        for (Candidate { mut call, .. }, passed) in candidates.into_iter().zip(passed) {
            // What outlives the function may have been set when it was called before.
            if passed || (!local && !some_same && same(&call)) {
                call.request.alone = alone && same(&call);
                found.push(call);
            }
        }
        if let Some(object) = object.filter(|_| !some_same && source.code.len() <= LONGEST_SEARCHED) {
            found.extend(others(&source, &body, object, local).into_iter().map(|other| self.other(&source, &other)));
        }
        Some(found)
    }

    /// The non-blocking collectives that it may have started before, with what they would be given now.
    fn ways(&mut self, (source, body): (&Source, &Body), mentioned: &[Mention], place: usize) -> Vec<Way<SourceCall>> {
        let ways = earlier::ways(body, mentioned, place);
        let mut told: HashMap<usize, SourceCall> = HashMap::new();
        for at in ways.iter().flat_map(|way| &way.calls) {
            if !told.contains_key(at) {
                told.insert(*at, self.given(source, &mentioned[*at], &earlier::WHICH));
            }
        }
        let calls = |way: Way<usize>| way.calls.iter().filter_map(|at| told.get(at).cloned()).collect();
        ways.into_iter().map(|way| Way { whole: way.whole, calls: calls(way) }).collect()
    }

    /// What it may come to yet, sends with what they would be given now.
    fn coming(&mut self, source: &Source, later: &Later) -> Vec<SourceCall> {
        let mut found: Vec<SourceCall> = later.collectives.iter().map(|one| self.bare(source, one)).collect();
        if later.sends.len() <= MOST_SENDS {
            found.extend(later.sends.iter().map(|one| self.send(source, one)));
        }
        found.into_iter().map(|call| SourceCall { later: true, ..call }).collect()
    }

    /// Calls that may have sent messages before, with whom they would send to now.
    fn sends(&mut self, (source, body): (&Source, &Body), mentioned: &[Mention], place: usize) -> Vec<SourceCall> {
        let all: Vec<&Mention> = mentioned.iter().filter(|one| sends(&one.function)).collect();
        if all.len() > MOST_SENDS {
            return Vec::new();
        }
        let marks: Vec<Mark> = all.iter().map(|one| Mark { at: one.at, starts: true, ends: false }).collect();
        let passed = reaching(body, place, &marks);
        passed.into_iter().filter_map(|at| all.get(at)).map(|mention| self.send(source, mention)).collect()
    }

    /// Those of the other functions of the source: of what they were given only what has the same value everywhere is known.
    fn sends_elsewhere(&mut self, source: &Source, body: &Body) -> Vec<SourceCall> {
        let mut found = Vec::new();
        for (caller, mention) in in_others(source, body, sends) {
            if found.len() == MOST_SENDS {
                return Vec::new();
            }
            let other = Other { mention, caller, request: String::new() };
            let mut call = self.other(source, &other);
            call.request = RequestObject { fortran: source.fortran, ..RequestObject::default() };
            call.arguments.retain(|one| TO_WHOM.contains(&one.name.as_str()));
            (call.sent, call.elsewhere) = (true, true);
            found.push(call);
        }
        found
    }

    fn send(&mut self, source: &Source, mention: &Mention) -> SourceCall {
        SourceCall { sent: true, ..self.given(source, mention, &TO_WHOM) }
    }

    /// A call with some of what it would be given now.
    fn given(&mut self, source: &Source, mention: &Mention, parameters: &[&str]) -> SourceCall {
        let mut call = self.bare(source, mention);
        let matched = matched(mention.texts.clone(), &mention.function, source.fortran).unwrap_or_default();
        let known = |(one, text): &(Parameter, String)| parameters.contains(&one.name) && !text.is_empty();
        for (parameter, text) in matched.into_iter().filter(known) {
            call.arguments.push(self.standing.argument(&parameter, text, &[]));
        }
        call
    }

    /// A call in another function of the source: of what it is given only what has the same value everywhere is known.
    fn other(&mut self, source: &Source, other: &Other) -> SourceCall {
        let mut call = self.bare(source, &other.mention);
        call.caller.clone_from(&other.caller);
        call.request.expression = Some(other.request.clone());
        call.request.same = SameObject::Yes;
        let matched = matched(other.mention.texts.clone(), &other.mention.function, source.fortran).unwrap_or_default();
        for (parameter, text) in matched {
            let constant = if source.fortran { constant_in_fortran(&text) } else { constant_in(&text) };
            if !text.is_empty() && !parameter.address && (constant.is_some() || is_literal(&text, source.fortran)) {
                call.arguments.push(self.standing.argument(&parameter, text, &[]));
            }
        }
        call
    }

    /// A call without what it is given.
    fn bare(&self, source: &Source, mention: &Mention) -> SourceCall {
        let mut call = SourceCall {
            function: mention.function.clone(),
            line: i64::try_from(source.line_of(mention.at)).unwrap_or(0),
            caller: self.name.clone(),
            ..SourceCall::default()
        };
        call.request.fortran = source.fortran;
        call
    }

    /// What the thread waits for, as far as it is named in this function.
    fn waited(&self, own: Option<&Mention>, source: &Source) -> Option<Waited<'a>> {
        let (function, arguments) = match own.filter(|own| own.wrapped) {
            // The library gives requests of its own.
            Some(own) => (own.function.as_str(), [].as_slice()),
            None => self.waits?,
        };
        let parameter = given(function)?;
        let text = own.and_then(|own| text_of(own, function, parameter.name, source));
        let object = text.and_then(|text| object(&text, source));
        let width = if source.fortran { 4 } else { self.standing.family.map_or(8, |family| family.handle_bytes()) };
        Waited::new(function, arguments, object, width)
    }

    /// A call in the source, with what it is given now.
    fn call(
        &mut self,
        source: &Source,
        mention: &Mention,
        request: Parameter,
        waited: Option<&Waited<'_>>,
    ) -> SourceCall {
        let mut call = self.bare(source, mention);
        let Ok(matched) = matched(mention.texts.clone(), &mention.function, source.fortran) else { return call };
        let mut named = None;
        let mut address = None;
        for (parameter, text) in matched {
            let is_request = parameter.name == request.name;
            let object_of = functions::find(&mention.function)
                .and_then(|function| function.parameter(parameter.name).map(|one| (one.direction, one.object())));
            let is_message = object_of.is_some_and(|(direction, _)| direction != Direction::Out);
            if !is_request && !is_message || text.is_empty() {
                continue;
            }
            if is_request && mention.wrapped {
                // What lies there is the library's.
                named = object(&text, source);
                let told = |named: &Object| if named.element.is_some() { &text } else { &named.path }.clone();
                call.request.expression = named.as_ref().map(told);
                continue;
            }
            // The handle that lies there may be the one that is waited for.
            let parameter = Parameter { handle: parameter.handle || is_request, ..parameter };
            let argument = self.standing.argument(&parameter, text, &call.arguments);
            if is_request {
                let text = argument.expression.as_deref().unwrap_or_default();
                let expanded = if source.fortran { None } else { self.standing.expanded(text).ok().flatten() };
                named = object(expanded.as_deref().unwrap_or(text), source);
                address = argument.value;
                call.request.expression = argument.expression.as_deref().map(str::to_owned);
                call.request.handle = argument.values.as_ref().and_then(|values| values.first().copied());
            } else {
                call.arguments.push(argument);
            }
        }
        if let Some(waited) = waited {
            let (same, index) = compared(named.as_ref(), address, waited);
            call.request.same = same;
            call.request.index = index;
        }
        call
    }
}

/// Whether a function sends a message, or makes a request that does.
fn sends(function: &str) -> bool {
    functions::find(function).is_some_and(|function| {
        function.sends() || matches!(function.starts(), Some(Started::Send | Started::SendReceive))
    })
}

/// Whether a frame is of a library that wraps MPI.
fn wraps(frame: &NamedFrame) -> bool {
    frame.function.as_deref().is_some_and(is_wrapping)
}

fn takes_requests(function: &str) -> bool {
    functions::find(function).is_some_and(|function| function.takes_requests())
}

fn request_of(function: &Function, wanted: impl Fn(Direction) -> bool) -> Option<&functions::Parameter> {
    function.parameters.iter().find(|one| one.object() == Some(HandleKind::Request) && wanted(one.direction))
}

/// The parameter in which a function returns a request, or starts those that it is given.
fn returned(function: &str) -> Option<Parameter> {
    let starts = matches!(function, "MPI_Start" | "MPI_Startall");
    let found = functions::find(function)?;
    let name = request_of(&found, |direction| starts || direction == Direction::Out)?.name;
    crate::parameters(function, false)?.into_iter().find(|one| one.name == name)
}

/// The parameter with the requests that a function is given.
fn given(function: &str) -> Option<functions::Parameter> {
    let found = functions::find(function)?;
    request_of(&found, |direction| direction != Direction::Out).copied()
}

fn text_of(mention: &Mention, function: &str, parameter: &str, source: &Source) -> Option<String> {
    let matched = matched(mention.texts.clone(), function, source.fortran).ok()?;
    matched.into_iter().find(|(one, _)| one.name == parameter).map(|(_, text)| text)
}

fn object(text: &str, source: &Source) -> Option<Object> {
    if source.fortran { object_in_fortran(text) } else { object_in_c(text) }
}

/// The thread's own call among those of its function: the only one, of those that it may be, that its line has to do with.
fn own_mention(
    source: &Source,
    mentioned: &[Mention],
    line: usize,
    may_be: impl Fn(&Mention) -> bool,
) -> Option<usize> {
    let at_line = |one: &Mention| source.line_of(one.at) <= line && line <= source.line_of(one.end);
    let mut found = mentioned.iter().enumerate().filter(|(_, one)| may_be(one) && at_line(one));
    let (own, _) = found.next()?;
    found.next().is_none().then_some(own)
}

/// Where the text of a line begins.
fn first_of_line(source: &Source, line: usize) -> Option<usize> {
    let (begin, text) = source.code_of(line)?;
    Some(begin + text.find(|c: char| !c.is_whitespace())?)
}
