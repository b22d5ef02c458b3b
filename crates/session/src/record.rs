//! Records a process: reads it once with everything noted, and writes down what was read.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::refine::source_calls;
use super::{Session, SessionError};
use acquisition::named_plugin;
use layouts::{LayoutSource, Profile, TypeLayout, shipped_named};
use model::{Facts, HandleKind, Process, QueueState, SourceKind, Stack};
use readers::wanted::wanted_of;
use recording::{
    ImageDescription, Parts, ProcessDescription, Range, Recorder, Region, Replay, full_ranges, write_process,
};
use target::{Target, TargetError};

/// What is recorded.
pub struct RecordRequest<'a> {
    /// What the debugger knows.
    pub facts: Facts,
    /// The time, RFC 3339 in UTC.
    pub captured_at: Option<String>,
    /// What is recorded besides what readers ask for.
    pub more: MoreMemory,
    /// Reads what whoever records asks for besides, so that it is recorded, too.
    pub also: fn(&dyn Target),
    /// Told how many bytes of memory are written, of how many; an error ends the recording.
    pub progress: &'a mut dyn FnMut(u64, u64) -> io::Result<()>,
}

/// Memory that is recorded besides what readers ask for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MoreMemory {
    /// Where it lies.
    pub ranges: Vec<Range>,
    /// Whether that is all writable memory of the MPI library and the heap.
    pub full: bool,
    /// What was asked for and cannot be recorded, in sentences.
    pub left_out: Vec<String>,
}

impl MoreMemory {
    /// All of a process that has mapped these.
    pub fn of_regions(regions: &[Region]) -> Self {
        let (ranges, left_out) = full_ranges(regions);
        Self { ranges, full: true, left_out }
    }

    /// All that a recording has, of which nothing is lost where it is recorded again.
    pub fn of_replay(replay: &Replay, full: bool) -> Self {
        let mut left_out = replay.end.left_out.clone();
        if full && !replay.description.full {
            left_out.push("the recording it was made from does not have the memory of a full recording".to_owned());
        }
        Self { ranges: replay.ranges().collect(), full: replay.description.full, left_out }
    }
}

/// Why a process was not recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// There is nothing to record.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// It could not be written.
    #[error("the recording cannot be written: {0}")]
    Write(#[from] io::Error),
}

impl<T: Target> Session<T> {
    /// Writes the process to `out`. A process that cannot be read is recorded as well, so that somebody else can find out
    /// why; the error is then returned beside the success.
    ///
    /// # Errors
    /// Where it is no MPI process, or `out` fails.
    pub fn record(&self, request: RecordRequest<'_>, out: &mut dyn Write) -> Result<Option<SessionError>, RecordError> {
        let recorder = Recorder::new(self.target());
        // A session of its own: what this one has found out already is read again, so that it is noted.
        let noting = Session::new(&recorder, self.choice.clone());
        let read = noting.read(true);
        if let Err(error @ (SessionError::NotMpi { .. } | SessionError::NoImages)) = read {
            return Err(error.into());
        }
        // What the arguments of calls mean.
        noting.resolve_calls(&mut Process {
            calls: request.facts.stacks.iter().filter_map(Stack::call).collect(),
            source_calls: source_calls(&request.facts).into(),
            communicators: read.as_ref().map(|process| process.communicators.clone()).unwrap_or_default(),
            ..Process::default()
        });
        // What the flight recorder keeps, and where its calls stand.
        noting.add_history(&mut Process::default(), &request.facts.stacks);
        // Where Python stands; the stacks are recorded as they are.
        noting.add_python(&mut request.facts.stacks.clone());
        // What of handles cannot be read is told when the recording is read.
        let all: Vec<_> = HandleKind::listed().map(|kind| (kind, None)).collect();
        let _ = noting.read_handles(&all);
        // Where the process says that its plug-in is.
        if named_plugin(noting.target()).is_none() {
            (request.also)(noting.target());
        }
        let images = recorder.images().map_err(SessionError::from)?;
        let listed = self.target.symbols().map_err(SessionError::from)?;
        let detected = noting.detected().ok();
        let layouts = detected.as_ref().map(|detected| detected.layouts_name.clone());
        let mpi = detected.as_ref().map(|detected| {
            format!("{} {}", detected.mpi.implementation, detected.mpi.version.as_deref().unwrap_or_default())
        });
        let process = read.as_ref().ok();
        let description = ProcessDescription {
            captured_at: request.captured_at,
            tool: concat!("mpi-queues ", env!("CARGO_PKG_VERSION")).to_owned(),
            rank: process.and_then(|process| process.rank),
            world_size: process.and_then(|process| process.world_size),
            mpi: mpi.map(|text| text.trim_end().to_owned()),
            abi: recorder.abi(),
            images: images.iter().map(ImageDescription::from).collect(),
            symbols_complete: listed.is_some(),
            full: request.more.full,
            problem: read.as_ref().err().map(ToString::to_string),
            facts: request.facts,
            layouts,
        };
        // Those made from MPICH have its structures.
        let family = detected.as_ref().map(|detected| detected.installed.family());
        let debugger = self.choice.debugger.as_ref();
        let types = debugger.map(|source| described_types(source.as_ref(), family.unwrap_or_default()));
        let profile = description.layouts.as_deref().and_then(|name| self.profile_text(name));
        drop(noting);
        let parts = Parts {
            description,
            types: types.unwrap_or_default(),
            profile,
            symbols: listed.unwrap_or_default(),
            more: request.more.ranges,
            left_out: request.more.left_out,
            progress: request.progress,
        };
        write_process(out, recorder, parts)?;
        Ok(read.err())
    }

    /// The text of the profile that the layouts `name` (`profile:NAME`) come from.
    fn profile_text(&self, name: &str) -> Option<String> {
        let chosen = |profile: &&Profile| LayoutSource::name(*profile) == name;
        let given = [&self.choice.profile, &self.choice.recorded].into_iter().flatten().find(chosen);
        if let Some(profile) = given {
            return serde_json::to_string(profile).ok();
        }
        let name = name.strip_prefix("profile:")?;
        shipped_named(name)?.text().ok()
    }
}

/// All types that readers of the MPI use, where the debugger has them; of an MPI that is not known, what there is of all.
fn described_types(source: &dyn LayoutSource, implementation: &str) -> BTreeMap<String, Option<TypeLayout>> {
    let ask = |name: &str| source.type_layout(name).ok().flatten();
    let mut described = BTreeMap::new();
    for wanted in wanted_of(implementation) {
        // Without the one that only a library with debug information has whole, the others are not asked for.
        let probed = wanted.probed;
        if ask(probed).is_none() {
            described.insert(probed.to_owned(), None);
        } else {
            described.extend(wanted.types().iter().map(|name| ((*name).to_owned(), ask(name))));
        }
    }
    described
}

/// How many places that a recording lacks are named.
const TOLD: usize = 5;

/// Marks as unknown, not as damaged, what a replay could not read because it was not recorded; and tells of what is missing
/// without a trace, such as the name of a datatype.
pub fn tell_missing(process: &mut Process, missing: &[TargetError]) {
    let sentences: Vec<String> = missing.iter().map(ToString::to_string).collect();
    for communicator in &mut process.communicators {
        for queue in communicator.queues_mut() {
            let detail = queue.detail.as_deref().unwrap_or_default();
            if queue.state == QueueState::Error && sentences.iter().any(|sentence| detail.contains(sentence)) {
                queue.state = QueueState::NoInformation;
            }
        }
    }
    let plugin = process.source.as_ref().is_some_and(|source| source.kind == SourceKind::Plugin);
    if plugin {
        // More is read for a plug-in than it asks for; its own reads that failed are told.
        return;
    }
    let told = process.problems.join("\n");
    let mut untold = sentences.into_iter().filter(|sentence| !told.contains(sentence));
    let first: Vec<String> = untold.by_ref().take(TOLD).collect();
    let more = untold.count();
    process.problems.extend(first.into_iter().map(|sentence| format!("something is not known: {sentence}")));
    if more > 0 {
        process.problems.push(format!("{more} further places are not in the recording"));
    }
}
