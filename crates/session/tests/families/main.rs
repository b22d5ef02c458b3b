//! A further MPI is a folder, and a line in the list of families.

#![allow(clippy::panic, clippy::unwrap_used)]

mod third;

use model::{HandleKind, HandleState, SourceKind, Stage};
use readers::Depth;
use session::{Designator, Family, LayoutChoice, Session, SessionError};
use target::address::TargetAddr;
use target::mock::MockTarget;
use target::{Image, TargetAbi};

static FAMILIES: &[&dyn Family] = &[&third::Third];

/// A process with the library `name`, in whose memory stand a rank and a size.
fn process(name: &str) -> MockTarget {
    let mut target = MockTarget::new(TargetAbi::LITTLE_64);
    let path = format!("/opt/third/lib/{name}");
    target.add_image(Image { path, bias: TargetAddr::new(0x1000), build_id: None, is_executable: false });
    target.add_symbol("third_mpi_world", TargetAddr::new(0x2000), Some(16));
    target.add_segment(TargetAddr::new(0x2000), [5_u64.to_le_bytes(), 8_u64.to_le_bytes()].concat());
    target
}

#[test]
fn a_session_reads_an_mpi_that_only_its_family_knows() {
    let session = Session::of_families(FAMILIES, process("libmpi.so.3"), LayoutChoice::default());
    let read = session.read_builtin(true).unwrap();
    assert_eq!((read.rank, read.world_size, read.stage), (Some(5), Some(8), Some(Stage::Initialized)));
    assert_eq!(read.mpi.unwrap().implementation, "Third MPI");
    assert_eq!(read.source.unwrap().kind, SourceKind::Builtin);
    let handle = session.describe_handle(HandleKind::Comm, &Designator::Handle(1), Depth::Short).unwrap();
    assert_eq!((handle.state, handle.summary.as_str()), (HandleState::Live, "MPI_COMM_WORLD"));
    assert_eq!(session.capabilities(&session.detected().unwrap()).len(), 1);
    session.resumed();
    assert_eq!(session.detected().unwrap().mpi.version.as_deref(), Some("after it ran"));
}

#[test]
fn without_its_family_the_library_is_named() {
    let session = Session::new(process("libmpi.so.3"), LayoutChoice::default());
    let error = session.read_builtin(true).err().unwrap();
    let SessionError::UnsupportedMpi { library } = &error else { panic!("{error}") };
    assert_eq!(library, "/opt/third/lib/libmpi.so.3");
}

#[test]
fn an_open_mpi_of_before_what_is_read_says_so_and_what_to_type() {
    let mut target = process("libmpi.so.12");
    target.add_symbol("ompi_mpi_comm_world", TargetAddr::new(0x2000), Some(16));
    let error = Session::new(target, LayoutChoice::default()).read_builtin(true).err().unwrap();
    assert_eq!(
        error.to_string(),
        "/opt/third/lib/libmpi.so.12 has no ompi_mpi_state, which Open MPI has since 4.0, and this version reads no \
         earlier ones"
    );
    assert_eq!(error.kind(), "unsupported_mpi");
    assert!(error.help().contains("`mpi-queues run -- mpirun ...`"));
}
