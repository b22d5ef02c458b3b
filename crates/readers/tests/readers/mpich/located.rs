//! Communicators of a library whose layouts nobody has, found by what MPI_COMM_WORLD and MPI_COMM_SELF must say.

use model::{QueueReport, QueueState};
use readers::mpich::handle_value::{HandleValue, ObjectKind, Place};
use readers::mpich::located::{locate, read};
use readers::mpich::pool_layout::HeadLayout;
use readers::mpich::pools::Pools;
use target::address::TargetAddr;
use target::mock::MockTarget;
use target::{Range, TargetAbi};

use made_up::memory::Memory;
use made_up::process::ABIS;
use made_up::rng::Rng;

const STRIDE: u64 = 808;
const DIRECT: u64 = 8;
const HEAD: u64 = 64;
const BUILTINS: u64 = 512;
const POOL: u64 = BUILTINS + 3 * STRIDE;
const LEN: u64 = POOL + DIRECT * STRIDE;
/// Where this library has the members of a communicator; the name's kind stands before it.
const NUMBERS: u64 = 104;
const PART: u64 = 240;
const NAME: u64 = 420;

/// How releases order the numbers.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    /// remote_size, rank, a pointer, local_size.
    Older,
    /// rank, local_size.
    Newer,
}

struct Library {
    mem: Memory,
    at: TargetAddr,
    order: Order,
    made: u64,
}

impl Library {
    /// With MPI_COMM_WORLD of four processes, of which this is rank 2.
    fn new(abi: TargetAbi, order: Order) -> Self {
        let mut mem = Memory::new(abi, 5);
        let at = mem.alloc(LEN, 64);
        let head = HeadLayout::all(abi)[1];
        let mut library = Self { mem, at, order, made: 0 };
        let words = [
            (head.kind, ObjectKind::Comm as u64),
            (head.size, STRIDE),
            (head.direct_size, DIRECT),
            (head.initialized, 1),
            (head.num_allocated.unwrap(), DIRECT),
            (head.num_avail.unwrap(), 1),
        ];
        for (slot, value) in words {
            library.mem.put_int(library.at.wrapping_add(HEAD + slot as u64), 4, value as i64);
        }
        let pool = library.at.wrapping_add(POOL);
        library.mem.put_pointer(library.at.wrapping_add(HEAD + head.direct as u64), pool);
        let mut noise = Rng::new(3);
        for index in 0..3 + DIRECT {
            let object = library.at.wrapping_add(BUILTINS + index * STRIDE);
            for word in (16..STRIDE).step_by(4) {
                library.mem.put_int(object.wrapping_add(word), 4, 0x6000_0000 + noise.below(0x1000_0000) as i64);
            }
            library.mem.put(object.wrapping_add(NAME), &[0]);
            let (place, index) = if index < 3 { (Place::Builtin, index) } else { (Place::Direct, index - 3) };
            let handle = HandleValue::first(place, ObjectKind::Comm).0 | index as u32;
            library.mem.put_int(object, 4, i64::from(handle));
        }
        library.object(BUILTINS, "MPI_COMM_WORLD", [2, 4, 4], 0);
        library.object(BUILTINS + STRIDE, "MPI_COMM_SELF", [0, 1, 1], 0);
        library.object(BUILTINS + 2 * STRIDE, "", [2, 4, 4], 0);
        library.free(0);
        library
    }

    fn object(&mut self, place: u64, name: &str, [rank, size, remote]: [i64; 3], kind: i64) -> TargetAddr {
        let at = self.at.wrapping_add(place);
        self.mem.put_int(at.wrapping_add(4), 4, 1);
        let numbers = match self.order {
            Order::Older => [(0, remote), (4, rank), (16, size)].to_vec(),
            // Two context ids stand before these.
            Order::Newer => [(0, place as i64), (4, place as i64), (8, rank), (12, size)].to_vec(),
        };
        for (offset, value) in numbers {
            self.mem.put_int(at.wrapping_add(NUMBERS + offset), 4, value);
        }
        self.mem.put_int(at.wrapping_add(NAME - 4), 4, kind);
        self.mem.put(at.wrapping_add(NAME), name.as_bytes());
        self.mem.put(at.wrapping_add(NAME + name.len() as u64), &[0]);
        self.mem.put_pointer(at.wrapping_add(PART), TargetAddr::NULL);
        at
    }

    /// Makes the objects of the pool from the `first`th on free ones.
    fn free(&mut self, first: u64) {
        let at = |index: u64, library: &Self| match index < DIRECT {
            true => library.at.wrapping_add(POOL + index * STRIDE),
            false => TargetAddr::NULL,
        };
        let head = self.at.wrapping_add(HEAD + HeadLayout::all(self.mem.abi)[1].avail as u64);
        let to = at(first, self);
        self.mem.put_pointer(head, to);
        for index in first..DIRECT {
            let (here, next) = (at(index, self), at(index + 1, self));
            self.mem.put_int(here.wrapping_add(4), 4, 0);
            self.mem.put_pointer(here.wrapping_add(8), next);
        }
    }

    /// A communicator of the program's.
    fn comm(&mut self, name: &str, numbers: [i64; 3], kind: i64) -> TargetAddr {
        let at = self.object(POOL + self.made * STRIDE, name, numbers, kind);
        self.made += 1;
        self.free(self.made);
        at
    }

    fn read_of(&self, target: &MockTarget) -> Result<QueueReport, String> {
        let pools = Pools::find(target, &[Range { start: self.at, len: LEN }]).map_err(|error| error.to_string())?;
        let offsets =
            locate(target, &pools).map_err(|error| error.to_string())?.map_err(|reason| reason.to_string())?;
        read(target, &pools, &offsets, false, "nobody knows").map_err(|error| error.to_string())
    }

    fn read(&self) -> Result<QueueReport, String> {
        self.read_of(&self.mem.target())
    }
}

fn everywhere(test: impl Fn(Library)) {
    for abi in ABIS {
        for order in [Order::Older, Order::Newer] {
            test(Library::new(abi, order));
        }
    }
}

#[test]
fn names_ranks_and_sizes_are_those_of_the_objects_and_queues_are_not_known() {
    everywhere(|mut library| {
        let mine = library.comm("mine", [2, 4, 4], 0);
        let part = library.comm("", [0, 2, 2], 0);
        library.comm("", [1, 2, 2], 0);
        library.mem.put_pointer(mine.wrapping_add(PART), part);
        let report = library.read().unwrap();
        let found: Vec<_> = report.communicators.iter().map(|comm| (&*comm.name, comm.local_rank, comm.size)).collect();
        // The third predefined one is the library's own, and so is what another one points to.
        let expected = [
            ("MPI_COMM_WORLD", Some(2), Some(4)),
            ("MPI_COMM_SELF", Some(0), Some(1)),
            ("mine", Some(2), Some(4)),
            ("", Some(1), Some(2)),
        ];
        assert_eq!(found, expected);
        let groups: Vec<_> = report.communicators.iter().map(|comm| comm.group.clone()).collect();
        assert_eq!(groups, [Some((0..4).map(Some).collect()), Some([Some(2)].into()), None, None]);
        for comm in &report.communicators {
            for queue in [&comm.pending_sends, &comm.pending_receives, &comm.unexpected_messages] {
                assert_eq!((queue.state, queue.detail.as_deref()), (QueueState::NoInformation, Some("nobody knows")));
            }
        }
    });
}

#[test]
fn intercommunicators_are_told_only_where_their_mark_makes_sense_everywhere() {
    everywhere(|mut library| {
        let bridge = library.comm("bridge", [0, 1, 3], 1);
        let told = library.read().unwrap();
        let remote = told.communicators[2].remote_group.clone();
        let note =
            told.notes.iter().any(|note| note.contains("which communicators are intercommunicators is not known"));
        match library.order {
            Order::Older => assert_eq!((remote, note), (Some([None; 3].into()), false)),
            Order::Newer => assert_eq!((remote, note), (None, true)),
        }
        // Another number in one place: that it stands there everywhere was chance.
        library.mem.put_int(bridge.wrapping_add(NAME - 4), 4, 7);
        let told = library.read().unwrap();
        assert_eq!(told.communicators[2].remote_group, None);
        assert!(told.notes.iter().any(|note| note.contains("is not known")));
    });
}

#[test]
fn what_is_not_sure_is_refused() {
    everywhere(|mut library| {
        // A second place whose numbers could be ranks and sizes as well, and are others.
        for index in 0..3 {
            let at = library.at.wrapping_add(BUILTINS + index * STRIDE + 600);
            let size = if index == 1 { 1 } else { 9 };
            let numbers = match library.order {
                Order::Older => [(0, size), (4, 0), (16, size)].to_vec(),
                Order::Newer => [(0, index as i64), (4, index as i64), (8, 0), (12, size)].to_vec(),
            };
            for (offset, number) in numbers {
                library.mem.put_int(at.wrapping_add(offset), 4, number);
            }
        }
        assert!(library.read().unwrap_err().contains("several places"));
    });
    everywhere(|mut library| {
        let name = library.at.wrapping_add(BUILTINS + NAME);
        library.mem.put(name, b"mpi_comm_world");
        assert!(library.read().unwrap_err().contains("names of MPI_COMM_WORLD"));
    });
    everywhere(|mut library| {
        // No rank is as large as its communicator.
        library.comm("broken", [5, 4, 4], 0);
        assert!(library.read().unwrap_err().contains("no place in the objects"));
    });
}

#[test]
fn damage_is_survived() {
    let mut rng = Rng::new(11);
    for abi in ABIS {
        let mut library = Library::new(abi, Order::Older);
        library.comm("mine", [2, 4, 4], 0);
        for _ in 0..400 {
            let mut broken = Library { mem: library.mem.clone(), ..library };
            for _ in 0..=rng.below(4) {
                let at = broken.at.wrapping_add(rng.below(LEN / 4) * 4);
                let value = [0, 1, -1, 4, i64::from(i32::MAX), i64::from(i32::MIN)][rng.below(6) as usize];
                broken.mem.put_int(at, 4, value);
            }
            if let Ok(report) = broken.read() {
                for comm in report.communicators {
                    let (rank, size) = (comm.local_rank.unwrap(), comm.size.unwrap());
                    assert!((0..size).contains(&rank), "{rank} of {size}");
                }
            }
        }
    }
}
