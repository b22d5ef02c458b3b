//! The host's side of a run: answers the plug-in's questions and collects its answers.

use std::path::Path;

use super::abi::{self, Function, HANDLE_TYPES, Need};
use super::driver::byte_order;
use super::protocol::{Attribute, Event, RawAnswer};
use super::{HandlePluginInfo, HandleRequest};
use plugins::host::answers::{Answers, Asked, Missing};
use plugins::host::error::PluginError;
use plugins::host::server::Server;
use plugins::host::wire::{Failure, Kind};
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
    request: &'a HandleRequest<'a>,
    /// What the plug-in is.
    pub info: HandlePluginInfo,
    /// The answers to the queries so far; the last may be incomplete.
    pub raw: Vec<RawAnswer>,
    bytes: usize,
    /// How many reads had failed when the last answer ended.
    failed_before: u64,
    /// How many reads failed while the plug-in was set up.
    pub failed_in_setup: u64,
}

impl<'a> HandleServer<'a> {
    /// A server for one run.
    pub fn new(path: &'a Path, info: HandlePluginInfo, request: &'a HandleRequest<'a>) -> Self {
        Self {
            answers: Answers::new(path, request.limits.message_bytes),
            path,
            request,
            info,
            raw: Vec::new(),
            bytes: 0,
            failed_before: 0,
            failed_in_setup: 0,
        }
    }

    /// Serves memory, symbols and types.
    pub fn ask(&mut self, asked: Asked<'a>) {
        self.answers.ask(asked);
    }

    /// Keeps a message of so many bytes; `None` where it comes at the wrong time.
    fn keep(&mut self, event: Event<'_>, len: usize) -> Option<Result<(), PluginError>> {
        let known = |number: u8| abi::VARIABLES.get(usize::from(number)).map(|(kind, ..)| *kind);
        match event {
            Event::OtherMachine { found } => {
                let expected = format!("one of {} bits, {}", usize::BITS, byte_order(cfg!(target_endian = "big")));
                let (path, found) = (self.path.to_owned(), printable(found));
                return Some(Err(PluginError::WrongMachine { path, found, expected }));
            }
            Event::Versions { interface, width, words } => {
                self.info.interface = Some(interface);
                self.info.width = Some(width);
                self.info.version = Some(printable(words)).filter(|text| !text.is_empty());
                return Some(
                    self.answers.check_series(self.info.version.as_deref(), self.request.library_version.as_deref()),
                );
            }
            Event::Ready {} => {
                self.failed_in_setup = self.answers.failed_reads;
                self.failed_before = self.answers.failed_reads;
            }
            Event::HandleType { number, name } => {
                self.info.types.push((HANDLE_TYPES.get(usize::from(number))?, printable(name)));
            }
            Event::Capabilities { number, flags } => self.info.capabilities.push((known(number)?, flags)),
            Event::NamedHandle { number, handle, name } => {
                if self.info.names.len() >= MAX_NAMES {
                    return Some(Err(self.answers.too_much("names of handles", MAX_NAMES)));
                }
                self.info.names.push((known(number)?, printable(name), handle));
            }
            of_answer => {
                self.bytes = self.bytes.saturating_add(len);
                if self.bytes > self.request.limits.bytes {
                    return Some(Err(self.answers.too_much("bytes of answers", self.request.limits.bytes)));
                }
                self.keep_answer(of_answer)?;
            }
        }
        Some(Ok(()))
    }

    fn keep_answer(&mut self, event: Event<'_>) -> Option<()> {
        if let Event::Answer { stage, code, handle } = event {
            if self.raw.len() >= self.request.queries.len() || self.raw.last().is_some_and(|last| !last.complete) {
                return None;
            }
            self.raw.push(RawAnswer { stage, code, handle, ..RawAnswer::default() });
            return Some(());
        }
        let answer = self.raw.last_mut().filter(|answer| !answer.complete)?;
        match event {
            Event::Piece { part, bytes } => answer.parts.entry(part).or_default().extend_from_slice(bytes),
            Event::NoPart { part, reason } => {
                answer.missing.insert(part, printable(reason));
            }
            Event::Attribute { keyval, name, value } => {
                if answer.attributes.len() >= MAX_ATTRIBUTES {
                    return None;
                }
                answer.attributes.push(Attribute { keyval, name: name.map(printable), value: value.map(printable) });
            }
            _ => {
                answer.failed_reads = self.answers.failed_reads - self.failed_before;
                answer.complete = true;
                self.failed_before = self.answers.failed_reads;
            }
        }
        Some(())
    }
}

impl<'a> Server<'a> for HandleServer<'a> {
    fn answers(&mut self) -> &mut Answers<'a> {
        &mut self.answers
    }

    fn event(&mut self, kind: Kind, payload: &[u8]) -> Option<Result<(), PluginError>> {
        self.keep(Event::read(kind, payload)?, payload.len())
    }

    fn failed(&self, failure: Failure, function: u32, code: i32, text: &[u8]) -> PluginError {
        if let Some(error) = self.answers.failure(failure, code, text, "1") {
            return error;
        }
        let path = self.path.to_owned();
        let no_handles = |what| PluginError::TellsNothing { path: path.clone(), what, reason: code_text(code) };
        match failure {
            Failure::Layouts => PluginError::MissingLayouts {
                path,
                // Plug-ins look for the types of all handles, those of C++ too; these are no reason.
                missing: self.answers.missing().filter(|what| !is_handle(what)).map(ToString::to_string).collect(),
                sources: self.answers.sources(),
            },
            Failure::Image => no_handles("does not tell of handles in this image"),
            Failure::Process => no_handles("does not tell of handles in this process"),
            Failure::Missing => {
                let has = |name: &str| self.info.functions.iter().any(|found| found == name);
                let missing = Function::missing(Need::Required, has);
                PluginError::MissingFunctions { path, interface: "handle", missing }
            }
            _ => {
                let function = Function::from_number(function).map_or("a function", Function::name);
                PluginError::Call { path, function, reason: code_text(code) }
            }
        }
    }
}

/// What a return code of the interface means.
pub fn code_text(code: i32) -> String {
    let known = usize::try_from(code).ok().and_then(|code| abi::CODES.get(code));
    known.map_or_else(
        || format!("error {code}, which the interface does not have"),
        |text| format!("{text} (error {code})"),
    )
}

/// Whether it is the type of a handle, which has MPI's prefix in C and is MPI's class in C++.
fn is_handle(missing: &Missing) -> bool {
    matches!(missing, Missing::Type(name) if name.starts_with("MPI"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::convert::handle;
    use super::super::protocol::Part;
    use super::super::{By, Limits, Query};
    use super::*;
    use layouts::Layouts;
    use model::HandleKind;
    use plugins::host::answers::Answer;
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
            let path = Path::new("/plug-in");
            let queries = vec![Query { kind: HandleKind::Comm, by: By::Handle(1) }; 3];
            let request = HandleRequest { limits, queries, ..HandleRequest::new(path.to_owned()) };
            let mut server = HandleServer::new(path, HandlePluginInfo::default(), &request);
            server.ask(Asked { target: &target, layouts: &layouts, member: &|_, _| None });
            // An answer is at hand from the start, so that parts of it are taken.
            server.raw.push(RawAnswer { code: Some(0), ..RawAnswer::default() });
            for (kind, payload) in &frames {
                let _ = server.frame(Kind(*kind), payload, &mut Answer::default());
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
                if let Some(part) = Part::ALL.get(usize::from(part)).filter(|part| **part != Part::Structure) {
                    raw.parts.insert(*part, bytes);
                }
            }
            let query = Query { kind: HandleKind::Comm, by: By::Handle(raw.handle) };
            let told = handle(&query, &raw, &HandlePluginInfo::default(), "/plug-in");
            prop_assert!(!told.summary.is_empty() && told.summary.chars().all(|c| !c.is_control()));
        }
    }
}
