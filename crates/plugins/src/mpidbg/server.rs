//! The host's side of a run: answers the plug-in's questions and collects its answers.

use std::path::Path;

use super::abi::{self, Function, HANDLE_TYPES, Need};
use super::driver;
use super::parts::{Attribute, Part, RawAnswer, Stage};
use super::{HandlePluginInfo, Limits};
use crate::host::answers::{Answers, Asked, Missing};
use crate::host::conversation::{Answer, Next, Server};
use crate::host::error::PluginError;
use crate::host::library::other_series;
use crate::host::message::{Speaker, Told};
use crate::host::wire::{Failure, Kind, Take};
use target::printable;

/// More attributes of one communicator than this are refused.
const MAX_ATTRIBUTES: usize = 100_000;
/// More names of predefined handles than this are refused.
const MAX_NAMES: usize = 10_000;

/// Answers and collects.
pub struct HandleServer<'a> {
    /// What the plug-in asked and said.
    pub answers: Answers<'a>,
    path: &'a Path,
    limits: Limits,
    library_version: Option<String>,
    /// What the plug-in is.
    pub info: HandlePluginInfo,
    /// The answers to the queries so far; the last may be incomplete.
    pub raw: Vec<RawAnswer>,
    queries: usize,
    bytes: usize,
    /// How many reads had failed when the last answer ended.
    failed_before: u64,
    /// How many reads failed while the plug-in was set up.
    pub failed_in_setup: u64,
}

type Served = Result<Next, PluginError>;

impl<'a> HandleServer<'a> {
    /// A server for one run with so many queries.
    pub fn new(path: &'a Path, info: HandlePluginInfo, queries: usize, limits: Limits) -> Self {
        let answers = Answers::new(path, limits.message_bytes);
        Self {
            answers,
            path,
            limits,
            library_version: None,
            info,
            raw: Vec::new(),
            queries,
            bytes: 0,
            failed_before: 0,
            failed_in_setup: 0,
        }
    }

    /// Refuses a plug-in for another series of the MPI library than this one.
    pub fn expect_version(&mut self, version: Option<&str>) {
        self.library_version = version.map(str::to_owned);
    }

    /// Serves memory, symbols and types.
    pub fn ask(&mut self, asked: Asked<'a>) {
        self.answers.ask(asked);
    }

    /// `None` where the frame makes no sense.
    fn event(&mut self, kind: Kind, payload: &[u8]) -> Option<Served> {
        let mut take = Take(payload);
        match kind {
            Kind::Versions => {
                self.info.interface = Some(take.i32()?);
                self.info.width = Some(take.i32()?);
                self.info.version = Some(printable(take.text()?)).filter(|text| !text.is_empty());
                if let (Some(library), Some(text)) = (&self.library_version, &self.info.version)
                    && let Some(found) = other_series(text, library)
                {
                    let (path, library) = (self.path.to_owned(), library.clone());
                    return Some(Err(PluginError::OtherLibrary { path, found, library }));
                }
            }
            Kind::HandleTypes => {
                // The first after the plug-in is set up.
                self.failed_in_setup = self.answers.failed_reads;
                self.failed_before = self.answers.failed_reads;
                for standard in HANDLE_TYPES {
                    let name = printable(take.text()?);
                    if !name.is_empty() {
                        self.info.types.push((standard, name));
                    }
                }
            }
            Kind::Capabilities => {
                let (kind, ..) = abi::VARIABLES.get(usize::from(take.u8()?))?;
                self.info.capabilities.push((*kind, take.u32()?));
            }
            Kind::NamedHandle => {
                let (kind, ..) = abi::VARIABLES.get(usize::from(take.u8()?))?;
                let handle = take.u64()?;
                if self.info.names.len() >= MAX_NAMES {
                    return Some(Err(self.too_much("names of handles", MAX_NAMES)));
                }
                self.info.names.push((*kind, printable(take.text()?), handle));
            }
            Kind::Answer | Kind::Part | Kind::NoPart | Kind::Attribute | Kind::AnswerEnd => {
                self.bytes = self.bytes.saturating_add(payload.len());
                if self.bytes > self.limits.bytes {
                    return Some(Err(self.too_much("bytes of answers", self.limits.bytes)));
                }
                self.answer(kind, &mut take)?;
            }
            _ => return self.told(&Told::read(kind, payload)?),
        }
        Some(Ok(Next::Continue))
    }

    /// `None` where this interface has no such text.
    fn told(&mut self, told: &Told<'_>) -> Option<Served> {
        match *told {
            Told::Message { speaker: Speaker::Dprints, text } => {
                self.answers.message(format!("plug-in (debug): {}", printable(text).trim_end()));
            }
            Told::Message { .. } => return None,
            Told::BadFetch { addr, len } => self.answers.count_failed_read(addr, len),
            Told::Failed { failure, function, code, text } => {
                return Some(Err(self.failure(failure, Function::from_number(function), code, text)));
            }
            Told::Done {} => return Some(Ok(Next::Stop)),
        }
        Some(Ok(Next::Continue))
    }

    fn answer(&mut self, kind: Kind, take: &mut Take<'_>) -> Option<()> {
        if kind == Kind::Answer {
            if self.raw.len() >= self.queries || self.raw.last().is_some_and(|last| !last.complete) {
                return None;
            }
            let stage = Stage::from_number(take.u8()?)?;
            let code = (take.u8()? != 0, take.i32()?);
            let handle = take.u64()?;
            self.raw.push(RawAnswer { stage, code: code.0.then_some(code.1), handle, ..RawAnswer::default() });
            return Some(());
        }
        let failed_reads = self.answers.failed_reads - self.failed_before;
        let answer = self.raw.last_mut().filter(|answer| !answer.complete)?;
        match kind {
            Kind::Part => answer.parts.entry(Part::from_number(take.u8()?)?).or_default().extend_from_slice(take.0),
            Kind::NoPart => {
                answer.missing.insert(Part::from_number(take.u8()?)?, printable(take.text()?));
            }
            Kind::Attribute => {
                let keyval = take.i32()?;
                let mut text = || Some((take.u8()? != 0, printable(take.text()?)));
                let (name, value) = (text()?, text()?);
                if answer.attributes.len() >= MAX_ATTRIBUTES {
                    return None;
                }
                let given = |(given, text): (bool, String)| given.then_some(text);
                answer.attributes.push(Attribute { keyval, name: given(name), value: given(value) });
            }
            _ => {
                answer.failed_reads = failed_reads;
                answer.complete = true;
                self.failed_before = self.answers.failed_reads;
            }
        }
        Some(())
    }

    fn too_much(&self, what: &'static str, limit: usize) -> PluginError {
        PluginError::TooMuch { path: self.path.to_owned(), what, limit }
    }

    fn failure(&self, failure: Failure, function: Option<Function>, code: i32, text: &[u8]) -> PluginError {
        let path = self.path.to_owned();
        let other_machine = |found: String| PluginError::WrongMachine {
            path: path.clone(),
            found,
            expected: format!("one of {} bits, {}", usize::BITS, byte_order(cfg!(target_endian = "big"))),
        };
        match failure {
            Failure::Load => PluginError::Load { path, reason: printable(text) },
            Failure::Version => PluginError::Version { path, found: code, expected: "1" },
            Failure::Width => PluginError::Width { path, found: code, expected: abi::TADDR_WIDTH },
            Failure::ByteOrder => other_machine(format!("one that says it is {}", byte_order(code != 0))),
            Failure::Bits => other_machine(format!("one that says it is of {code} bits")),
            Failure::Layouts => PluginError::MissingLayouts {
                path,
                // Plug-ins look for the types of all handles, those of C++ too; these are no reason.
                missing: self.answers.missing().filter(|what| !is_handle(what)).map(ToString::to_string).collect(),
                sources: self.answers.sources(),
            },
            Failure::Image => PluginError::NoHandles { path, what: "image", reason: code_text(code) },
            Failure::Process => PluginError::NoHandles { path, what: "process", reason: code_text(code) },
            Failure::Missing => {
                let missing = driver::missing(Need::Required, |name| self.info.functions.iter().any(|has| has == name));
                PluginError::MissingFunctions { path, interface: "handle", missing }
            }
            Failure::Call | Failure::TooMany => PluginError::Call {
                path,
                function: function.map_or("a function", Function::name),
                reason: code_text(code),
            },
        }
    }
}

fn byte_order(big: bool) -> &'static str {
    if big { "big-endian" } else { "little-endian" }
}

/// What a return code of the interface means.
pub fn code_text(code: i32) -> String {
    let known = usize::try_from(code).ok().and_then(|code| abi::CODES.get(code));
    known.map_or_else(
        || format!("error {code}, which the interface does not have"),
        |text| format!("{text} (error {code})"),
    )
}

impl Server for HandleServer<'_> {
    type Refusal = PluginError;

    fn frame(&mut self, kind: Kind, payload: &[u8], answer: &mut Answer) -> Served {
        if self.answers.serve(kind, payload, answer)? {
            return Ok(Next::Continue);
        }
        match self.event(kind, payload) {
            Some(served) => served,
            None => Err(self.answers.nonsense("a message of the wrong length or at the wrong time")),
        }
    }
}

/// Whether it is the type of a handle, which has MPI's prefix in C and is MPI's class in C++.
fn is_handle(missing: &Missing) -> bool {
    matches!(missing, Missing::Type(name) if name.starts_with("MPI"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::convert::handle;
    use super::super::{By, Query};
    use super::*;
    use layouts::Layouts;
    use model::HandleKind;
    use target::TargetAbi;
    use target::mock::MockTarget;

    proptest! {
        /// The helper runs foreign code: whatever it sends is answered or refused, and converted without a panic.
        #[test]
        fn no_frame_is_too_strange(
            frames in proptest::collection::vec((0_u8..40, proptest::collection::vec(any::<u8>(), 0..300)), 0..60),
        ) {
            let (target, layouts) = (MockTarget::new(TargetAbi::LITTLE_64), Layouts::new(Vec::new()));
            let limits = Limits { bytes: 5000, ..Limits::default() };
            let mut server = HandleServer::new(Path::new("/plug-in"), HandlePluginInfo::default(), 3, limits);
            server.ask(Asked { target: &target, layouts: &layouts, member: &|_, _| None });
            // An answer is at hand from the start, so that parts of it are taken.
            server.raw.push(RawAnswer { code: Some(0), ..RawAnswer::default() });
            for (kind, payload) in &frames {
                let Some(kind) = Kind::from_number(*kind) else { continue };
                let _ = server.frame(kind, payload, &mut Answer::default());
            }
            prop_assert!(server.raw.len() <= 3);
            for raw in &server.raw {
                for kind in super::super::KINDS {
                    let query = Query { kind, by: By::Fortran(2) };
                    let told = handle(&query, raw, &server.info, "/plug-in");
                    prop_assert!(!told.summary.is_empty() && told.summary.len() < 10_000);
                    prop_assert_eq!(told.kind, kind);
                }
            }
        }

        /// Any bytes of a structure with any arrays are converted without a panic, into a sentence at least.
        #[test]
        fn no_structure_is_too_strange(
            structure in proptest::collection::vec(prop_oneof![Just(0_u8), any::<u8>()], 224),
            flags in any::<u16>(),
            arrays in proptest::collection::vec((0_u8..13, proptest::collection::vec(any::<u8>(), 0..40)), 0..13),
        ) {
            let mut structure = structure;
            structure[64..66].copy_from_slice(&flags.to_ne_bytes());
            let mut raw = RawAnswer { code: Some(0), complete: true, ..RawAnswer::default() };
            raw.handle = u64::from_ne_bytes(structure[152..160].try_into().unwrap_or_default());
            raw.parts.insert(Part::Structure, structure);
            for (part, bytes) in arrays {
                if let Some(part) = Part::from_number(part).filter(|part| *part != Part::Structure) {
                    raw.parts.insert(part, bytes);
                }
            }
            let query = Query { kind: HandleKind::Comm, by: By::Handle(raw.handle) };
            let told = handle(&query, &raw, &HandlePluginInfo::default(), "/plug-in");
            prop_assert!(!told.summary.is_empty() && told.summary.chars().all(|c| !c.is_control()));
        }
    }
}
