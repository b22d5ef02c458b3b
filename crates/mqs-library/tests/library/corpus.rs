//! The corpus of recordings behind a debugger's callbacks: what the library gives is what the built-in reader reads, fact by fact.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};

use model::{Communicator, Operation, OperationStatus, QueueKind, QueueState};
use mqs_interface::{END_OF_LIST, NO_INFORMATION, PendingOperation};
use recording::{RecordingFile, Replay};
use session::{LayoutChoice, Session};
use target::address::TargetAddr;
use target::mock::MockTarget;
use target::{Image, PageCache, Symbol, Target, TargetAbi, TargetError};

use crate::host::{Host, Manners, Read, lines};
use crate::pack::recordings;

/// What the interface can tell of a recorded process: memory, and symbols by their names. The dynamic linker's list, which no
/// recording has, is made again.
pub struct Debuggable<'a> {
    process: &'a dyn Target,
    linker: MockTarget,
}

/// Where nothing of a process lies.
const LINKER: u64 = 0x7fff_ff00_0000;

impl<'a> Debuggable<'a> {
    pub fn new(process: &'a dyn Target) -> Self {
        let mut bytes = Vec::new();
        let mut linker = MockTarget::new(TargetAbi::LITTLE_64);
        let images = process.images().unwrap();
        let entry = |number: usize| LINKER + 4096 + 4096 * number as u64;
        bytes.extend([1, entry(0)].iter().flat_map(|word: &u64| word.to_le_bytes()));
        bytes.resize(4096, 0);
        linker.add_segment(TargetAddr::new(LINKER), bytes);
        for (number, image) in images.iter().enumerate() {
            let at = entry(number);
            let next = if number + 1 < images.len() { entry(number + 1) } else { 0 };
            let mut bytes: Vec<u8> =
                [image.bias.get(), at + 64, 0, next, 0].iter().flat_map(|word| word.to_le_bytes()).collect();
            bytes.resize(64, 0);
            bytes.extend(image.path.as_bytes());
            bytes.resize(4096, 0);
            linker.add_segment(TargetAddr::new(at), bytes);
        }
        linker.add_symbol("_r_debug", TargetAddr::new(LINKER), None);
        Self { process, linker }
    }
}

impl Target for Debuggable<'_> {
    fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        self.linker.read(addr, buf).or_else(|_| self.process.read(addr, buf))
    }
    fn abi(&self) -> TargetAbi {
        self.process.abi()
    }
    fn symbol(&self, name: &str) -> Result<Option<Symbol>, TargetError> {
        match self.linker.symbol(name) {
            Ok(None) => self.process.symbol(name),
            found => found,
        }
    }
    fn images(&self) -> Result<Vec<Image>, TargetError> {
        self.process.images()
    }
}

/// What the built-in reader can have of it besides stacks and names of functions, which the interface does not tell.
struct Plain<'a>(&'a dyn Target);

impl Target for Plain<'_> {
    fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        self.0.read(addr, buf)
    }
    fn abi(&self) -> TargetAbi {
        self.0.abi()
    }
    fn symbol(&self, name: &str) -> Result<Option<Symbol>, TargetError> {
        self.0.symbol(name)
    }
    fn images(&self) -> Result<Vec<Image>, TargetError> {
        self.0.images()
    }
}

/// A process of each of the first recordings of an MPI, now the first, now a later one.
pub fn each(mpi: &str, most: usize, mut body: impl FnMut(&str, &Replay)) {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mqs-{}-{number}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    for (number, (name, bytes)) in recordings(mpi).into_iter().take(most).enumerate() {
        let path = directory.join("one.mpirec");
        fs::write(&path, bytes).unwrap();
        let file = Rc::new(RecordingFile::open(&path).unwrap());
        let index = number % file.sections.len();
        body(&format!("{mpi} {name} {index}"), &Replay::open(&file, index).unwrap());
    }
    fs::remove_dir_all(&directory).unwrap();
}

fn word(number: Option<i64>) -> i64 {
    number.unwrap_or(-1)
}

fn bytes(number: Option<u64>) -> i64 {
    number.map_or(-1, |number| number as i64)
}

/// Where an operation of ours is not what the library gives.
fn differences(ours: &Operation, theirs: &PendingOperation) -> Vec<String> {
    let status = match ours.status {
        OperationStatus::Pending | OperationStatus::InTransit => 0,
        OperationStatus::Matched => 1,
        OperationStatus::Complete => 2,
    };
    let numbers = [
        ("status", status, theirs.status.into()),
        ("desired_local_rank", word(ours.desired_local_rank), theirs.desired_local_rank),
        ("desired_global_rank", word(ours.desired_global_rank), theirs.desired_global_rank),
        ("tag_wild", ours.tag_wild.into(), theirs.tag_wild.into()),
        ("desired_tag", word(ours.desired_tag), theirs.desired_tag),
        ("desired_length", bytes(ours.desired_length), theirs.desired_length),
        ("system_buffer", ours.system_buffer.into(), theirs.system_buffer.into()),
        ("buffer", ours.buffer.unwrap_or(0) as i64, theirs.buffer as i64),
        ("actual_local_rank", word(ours.actual_local_rank), theirs.actual_local_rank),
        ("actual_global_rank", word(ours.actual_global_rank), theirs.actual_global_rank),
        ("actual_tag", word(ours.actual_tag), theirs.actual_tag),
        ("actual_length", bytes(ours.actual_length), theirs.actual_length),
    ];
    let wrong = numbers.iter().filter(|(_, ours, theirs)| ours != theirs);
    let mut wrong: Vec<String> = wrong.map(|(what, ours, theirs)| format!("{what} is {ours}, not {theirs}")).collect();
    let text = lines(theirs).join("\n");
    let mut says = vec![];
    says.extend(ours.call.as_deref().map(str::to_owned));
    says.extend(ours.count.map(|count| count.to_string()));
    says.extend(ours.datatype.as_ref().map(|name| name.chars().take(20).collect()));
    says.extend(ours.request.map(|request| format!("request {request:#x}")));
    says.extend(ours.persistent.then(|| "persistent".to_owned()));
    says.extend((ours.status == OperationStatus::InTransit).then(|| "in transit".to_owned()));
    wrong
        .extend(says.iter().filter(|word| !text.contains(*word)).map(|word| format!("the text has no {word}: {text}")));
    wrong
}

fn compare(place: &str, ours: &[Communicator], theirs: &[Read], counted: &mut BTreeMap<&'static str, usize>) {
    assert_eq!(ours.len(), theirs.len(), "{place}: communicators");
    for (ours, theirs) in ours.iter().zip(theirs) {
        let place = format!("{place}, {}", ours.name);
        let name = theirs.communicator.name;
        let name = std::str::from_utf8(&name[..name.iter().position(|byte| *byte == 0).unwrap()]).unwrap();
        assert!(*ours.name == *name || ours.name.starts_with(name.trim_end_matches('.')), "{place}: {name}");
        let numbers = (ours.unique_id, word(ours.local_rank), word(ours.size));
        let given = &theirs.communicator;
        assert_eq!(numbers, (given.unique_id, given.local_rank, given.size), "{place}");
        let group = ours.group.as_ref().map(|group| group.iter().map(|rank| word(*rank) as i32).collect::<Vec<_>>());
        assert_eq!(theirs.group.clone().ok(), group, "{place}: group");
        for (kind, given) in QueueKind::ALL.into_iter().zip(&theirs.queues) {
            let queue = kind.of(ours);
            let place = format!("{place}, {}", kind.name());
            let whole = queue.state == QueueState::Ok && queue.dropped == 0;
            let no_information = queue.state == QueueState::NoInformation;
            assert_eq!(given.end == END_OF_LIST, whole, "{place}: {}", crate::host::text(given.end));
            assert_eq!(given.end == NO_INFORMATION, no_information, "{place}");
            let shown: Vec<&Operation> = queue.operations.iter().filter(|operation| !operation.internal).collect();
            assert_eq!(shown.len(), given.operations.len(), "{place}");
            for (ours, theirs) in shown.iter().zip(&given.operations) {
                assert_eq!(differences(ours, theirs), [""; 0], "{place}");
                *counted.entry(kind.name()).or_default() += 1;
            }
        }
        *counted.entry("communicators").or_default() += 1;
    }
}

fn whole_corpus(mpi: &str) {
    let mut counted = BTreeMap::new();
    each(mpi, usize::MAX, |place, replay| {
        let plain = PageCache::new(Plain(replay));
        let ours = Session::new(&plain, LayoutChoice::default()).read_builtin(true);
        let target = Debuggable::new(replay);
        let theirs = Host::new(&target, Manners::default()).run();
        match (ours, theirs) {
            (Ok(ours), Ok(theirs)) => compare(place, &ours.communicators, &theirs, &mut counted),
            (Err(ours), Err((_, theirs))) => assert_eq!(ours.to_string(), theirs, "{place}"),
            (ours, theirs) => panic!("{place}: {:?}, {:?}", ours.map(|_| ()), theirs.map(|_| ())),
        }
    });
    println!("{mpi}: {counted:?}");
    assert!(counted["communicators"] > 250 && counted["pending receives"] > 30, "{counted:?}");
}

#[test]
fn open_mpi_reads_as_the_built_in_reader_does() {
    whole_corpus("openmpi");
}

#[test]
fn mpich_reads_as_the_built_in_reader_does() {
    whole_corpus("mpich");
}
