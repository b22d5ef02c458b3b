//! Debian's real plug-in of Open MPI.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use layouts::Layouts;
use model::{OperationStatus, QueueReport, QueueSource, QueueState};
use plugins::mqs::discovery::{BY_MPIR, How, Search, candidates};
use plugins::mqs::{PluginError, PluginRequest, dialect, inspect_plugin, normalise, read_with_plugin, trust};
use readers::openmpi::OpenMpiReader;
use readers::openmpi::pml::Pml;
use target::address::TargetAddr;
use target::mock::MockTarget;
use target::{Image, Symbol, Target, TargetAbi, TargetError};

use super::job::{self, Job, LiveTarget};
use super::toy::{request, seconds};

/// The plug-in of the installed Open MPI: `MPIR_dll_name` names this place.
fn plugin() -> PathBuf {
    let lib = Path::new("/usr/lib/x86_64-linux-gnu/openmpi/lib");
    let directories = lib.read_dir().expect("Open MPI (package openmpi-bin) is installed").flatten();
    let found = directories.map(|entry| entry.path().join("libompi_dbg_msgq.so")).find(|path| path.is_file());
    found.expect("libompi_dbg_msgq.so of package libopenmpi3 or later")
}

fn image() -> Image {
    Image {
        path: "/usr/lib/x86_64-linux-gnu/openmpi/lib/libmpi.so.40".to_owned(),
        bias: TargetAddr::NULL,
        build_id: None,
        is_executable: false,
    }
}

#[test]
#[ignore = "needs Open MPI"]
fn it_loads_and_tells_its_version() {
    let info = inspect_plugin(&plugin(), seconds(10.0)).expect("Debian's plug-in");
    assert!(info.version.as_deref().is_some_and(|version| version.contains("Open MPI")), "{info:?}");
    assert_eq!((info.compatibility, info.width, info.has_mpi2), (Some(2), Some(8), false));
    // 18 functions; the nineteenth mqs_ symbol is a variable.
    assert_eq!(info.functions.len(), 18, "{:?}", info.functions);
    assert!(info.missing.iter().all(|name| inspect_is_mpi2(name)), "{:?}", info.missing);
}

fn inspect_is_mpi2(name: &str) -> bool {
    name.contains("job") || name.contains("new_process") || name.contains("identity") || name.contains("spawn")
}

#[test]
#[ignore = "needs Open MPI"]
fn a_target_without_its_types_is_refused_by_name() {
    let mut target = MockTarget::new(TargetAbi::LITTLE_64);
    target.add_image(image());
    let outcome = read_with_plugin(&target, &Layouts::new(Vec::new()), &image(), &request(&plugin(), 20.0));
    let Some(PluginError::MissingLayouts { missing, .. }) = &outcome.failure else { panic!("{outcome:?}") };
    assert_eq!(missing, &["the type opal_list_item_t"]);
    assert!(outcome.messages.iter().any(|line| line.contains("WARNING") && line.contains("opal_list_item_t")));
    assert_eq!(outcome.report.communicators.len(), 0);
}

#[test]
#[ignore = "needs Open MPI"]
fn it_is_trusted_and_found_beside_the_library() {
    let mut target = MockTarget::new(TargetAbi::LITTLE_64);
    target.add_image(image());
    let found = candidates(&target, &Search::default());
    let one = found.iter().find(|candidate| candidate.path.ends_with("libompi_dbg_msgq.so")).expect("a candidate");
    assert!(one.usable() && one.how == How::DefaultName, "{one:?}");
    assert!(trust::check(&plugin(), &[]).is_ok());
}

/// The whole way: Debian's plug-in on a real, stripped Open MPI, with types from the shipped profile.
#[test]
#[ignore = "needs Open MPI"]
fn it_reads_a_real_job() {
    let job = Job::start(3, 1);
    let (target, layouts) = (job.target(), job::layouts());
    let found = candidates(&target, &Search::default());
    let one = found.iter().find(|candidate| candidate.usable()).expect("a plug-in");
    assert_eq!(one.how, BY_MPIR);
    let request = PluginRequest { library_version: Some(job::version_of_open_mpi()), ..request(&one.path, 30.0) };
    let mut outcome = read_with_plugin(&target, &layouts, &target.mpi_image(), &request);
    assert_eq!((outcome.failure, outcome.failed_reads), (None, 0), "{:?}", outcome.messages);
    assert_eq!(outcome.report.problems, [""; 0]);

    let comm = |report: &QueueReport, name: &str| {
        report.communicators.iter().find(|comm| comm.name == name).cloned().unwrap_or_else(|| panic!("{report:?}"))
    };
    let dup = comm(&outcome.report, "my dup");
    assert_eq!((dup.local_rank, dup.size, dup.group.clone()), (Some(0), Some(2), Some([Some(0), Some(1)].into())));
    let mut receives = dup.pending_receives.operations.clone();
    receives.sort_by_key(|op| op.desired_length);
    let [any, tagged] = &receives[..] else { panic!("{dup:?}") };
    assert!(any.any_source && any.tag_wild && any.desired_global_rank.is_none());
    assert_eq!((tagged.desired_local_rank, tagged.desired_tag, tagged.desired_length), (Some(1), Some(17), Some(8)));
    assert_eq!((any.status, any.actual_tag), (OperationStatus::Pending, None));

    let world = comm(&outcome.report, "MPI_COMM_WORLD");
    let mut tags: Vec<_> = world.pending_receives.operations.iter().map(|op| op.desired_tag).collect();
    tags.sort();
    assert_eq!(tags, [Some(1000), Some(1001), Some(1002)]);
    let [large] = &world.pending_sends.operations[..] else { panic!("{world:?}") };
    assert_eq!((large.actual_local_rank, large.actual_tag, large.actual_length), (Some(1), Some(55), Some(8_000_000)));
    assert_eq!(world.unexpected_messages.state, QueueState::NoInformation);

    let reversed = comm(&outcome.report, "reversed");
    assert_eq!((reversed.local_rank, reversed.group.clone()), (Some(1), Some([Some(1), Some(0)].into())));
    let [send] = &reversed.pending_sends.operations[..] else { panic!("{reversed:?}") };
    assert_eq!((send.desired_local_rank, send.desired_global_rank), (Some(0), Some(1)));
    assert_eq!(send.actual_global_rank, Some(0), "the plug-in's own mistake");
    assert!(outcome.report.communicators.iter().any(|comm| comm.name == "MPI_COMM_NULL"));

    // With our own reader's communicators the mistakes are gone.
    let mut reader = OpenMpiReader::new(&target, &layouts, Pml::Ob1);
    let known = reader.read_queues().expect("the built-in reader");
    normalise(&mut outcome.report, &known.communicators, dialect::OPEN_MPI);
    let send = comm(&outcome.report, "reversed").pending_sends.operations[0].clone();
    assert_eq!(send.actual_global_rank, Some(1));
    assert!(!outcome.report.communicators.iter().any(|comm| comm.name == "MPI_COMM_NULL"));
    assert_eq!(outcome.report.communicators.len(), known.communicators.len(), "{:?}", outcome.report.problems);
    assert_eq!(outcome.report.problems, [""; 0]);
}

/// A target in which one word in a hundred of the MPI library's heap is random.
struct Damaged<'a> {
    inner: &'a LiveTarget,
    seed: u64,
}

impl Target for Damaged<'_> {
    fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        self.inner.read(addr, buf)?;
        for (word, bytes) in buf.chunks_exact_mut(8).enumerate() {
            let mut mixed = (addr.get() / 8 + word as u64 + self.seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            mixed ^= mixed >> 29;
            if mixed.is_multiple_of(100) {
                bytes.copy_from_slice(&mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9).to_ne_bytes());
            }
        }
        Ok(())
    }
    fn abi(&self) -> TargetAbi {
        self.inner.abi()
    }
    fn symbol(&self, name: &str) -> Result<Option<Symbol>, TargetError> {
        self.inner.symbol(name)
    }
    fn images(&self) -> Result<Vec<Image>, TargetError> {
        self.inner.images()
    }
}

#[test]
#[ignore = "needs Open MPI"]
fn on_damaged_memory_it_ends_in_time_and_hurts_nobody() {
    let job = Job::start(3, 20);
    let (inner, layouts) = (job.target(), job::layouts());
    let image = inner.mpi_image();
    for seed in 0..12 {
        let damaged = Damaged { inner: &inner, seed: seed * 7919 };
        let start = Instant::now();
        let outcome = read_with_plugin(&damaged, &layouts, &image, &request(&plugin(), 1.0));
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
        let all = outcome.report.communicators.iter();
        let texts = all.flat_map(|comm| comm.pending_sends.operations.iter().flat_map(|op| op.extra_text.iter()));
        assert!(texts.into_iter().all(|line| line.to_string().chars().all(|c| !c.is_control())));
    }
    // What is damaged is the copy: the job itself can still be read.
    let outcome = read_with_plugin(&inner, &layouts, &image, &request(&plugin(), 30.0));
    assert_eq!(outcome.failure, None);
}
