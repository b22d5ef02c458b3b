//! Damaged memory: the reader ends, does not panic, and says what it could not read.

use std::time::{Duration, Instant};

use model::{QueueReport, QueueState};
use proptest::prelude::{ProptestConfig, any};
use readers::ReaderError;
use target::Target;
use target::address::TargetAddr;

use super::one;
use made_up::memory::Memory;
use made_up::process::{ABIS, Comm, Message, Process, Receive, Send, named};
use made_up::rich::{Endless, census, complains, damage, damage_from_seed, fuzz, put, queues, read, rich};
use made_up::share::{rounds, words};

const WORLD: &str = "MPI_COMM_WORLD";
const NOWHERE: TargetAddr = TargetAddr::new(0x10);

#[test]
fn the_rich_process_is_read_without_a_problem() {
    for abi in ABIS {
        for seed in 0..8 {
            let process = rich(abi, seed);
            let report = process.read();
            assert_eq!(census(&report), (26, 17), "{report:?}");
            assert!(queues(&report).all(|queue| queue.state == QueueState::Ok));
        }
    }
}

#[test]
#[ignore = "takes long"]
fn no_garbage_in_any_single_word_makes_an_operation_vanish_in_silence() {
    for (abi, seed) in ABIS.into_iter().zip([0, 1, 2, 3]) {
        let process = rich(abi, seed);
        let layouts = process.layouts();
        let whole = census(&process.read());
        let width = process.width();
        let mut memory = process.mem.clone();
        for (number, (object, size)) in process.mem.objects.clone().into_iter().enumerate() {
            for word in words(number, size / width, 6) {
                let at = object.wrapping_add(word * width);
                let before = process.mem.get(at, width);
                put(&mut memory, at, &0xa5a5_a5a5_a5a5_a5a5_u64.to_le_bytes()[..width as usize]);
                let target = Damaged { process: &process, memory: &memory, stack: TargetAddr::NULL };
                let result = read(&process, &layouts, &target);
                let now = result.as_ref().map(census).unwrap_or_default();
                assert!(now == whole || complains(&result), "{whole:?} became {now:?} by {at} ({word} of {object})");
                put(&mut memory, at, &before);
            }
        }
    }
}

proptest::proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_damage_is_survived(seed in 0..32_u64, pieces in proptest::collection::vec(any::<(u8, u64, u64)>(), 1..12)) {
        let process = rich(ABIS[seed as usize % 4], seed / 4);
        let mut memory = process.mem.clone();
        for (kind, choice, value) in pieces {
            damage(&process, &mut memory, kind, choice, value);
        }
        let start = Instant::now();
        let result = read(&process, &process.layouts(), &Damaged { process: &process, memory: &memory, stack: TargetAddr::NULL });
        proptest::prop_assert!(start.elapsed() < Duration::from_secs(30));
        check_bounds(&result);
    }
}

#[test]
#[ignore = "takes long"]
fn a_few_thousand_rounds_of_the_fuzzer() {
    for seed in 0..rounds(200, 3000) {
        if let Some(result) = fuzz(&damage_from_seed(seed)) {
            check_bounds(&result);
        }
    }
}

/// What is read is printable and not more than there can be.
fn check_bounds(result: &Result<QueueReport, ReaderError>) {
    let Ok(report) = result else { return };
    assert!(report.problems.len() <= 101 && report.notes.len() < 10);
    let names = report.communicators.iter().map(|found| found.name.as_str());
    let sentences = report.problems.iter().chain(&report.notes).map(String::as_str);
    for text in names.chain(sentences) {
        assert!(text.len() < 2000 && !text.chars().any(char::is_control), "{text:?}");
    }
    for queue in queues(report) {
        assert!(queue.operations.len() < 1000);
        assert_eq!(queue.state == QueueState::Ok, queue.detail.is_none());
    }
}

/// A process whose memory is another one's.
pub struct Damaged<'a> {
    pub process: &'a Process,
    pub memory: &'a Memory,
    /// Where its one thread stands.
    pub stack: TargetAddr,
}

impl Target for Damaged<'_> {
    fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), target::TargetError> {
        const PAGE: u64 = made_up::memory::PAGE;
        let fault = target::TargetError::Fault { addr, len: buf.len() as u64 };
        let mut done = 0;
        while done < buf.len() {
            let at = addr.get().checked_add(done as u64).ok_or_else(|| fault.clone())?;
            let page = self.memory.pages.get(&(at / PAGE * PAGE)).ok_or_else(|| fault.clone())?;
            let rest = page.get((at % PAGE) as usize..).filter(|rest| !rest.is_empty()).ok_or_else(|| fault.clone())?;
            let len = rest.len().min(buf.len() - done);
            buf[done..done + len].copy_from_slice(&rest[..len]);
            done += len;
        }
        Ok(())
    }
    fn abi(&self) -> target::TargetAbi {
        self.memory.abi
    }
    fn symbol(&self, name: &str) -> Result<Option<target::Symbol>, target::TargetError> {
        let found = self.process.symbols.iter().find(|(known, _)| *known == name);
        Ok(found.map(|(_, addr)| target::Symbol { addr: *addr, size: None }))
    }
    fn images(&self) -> Result<Vec<target::Image>, target::TargetError> {
        Ok(Vec::new())
    }
    fn stack_pointers(&self) -> Result<Vec<TargetAddr>, target::Reason> {
        Ok(vec![self.stack])
    }
}

// ---- Single pieces of damage, and where they show.

/// Three receives, three messages and three sends, then damage.
fn damaged(spoil: impl Fn(&mut Process, Comm, &Busy)) -> QueueReport {
    let (mut process, world) = one();
    let mut busy = Busy::default();
    for tag in 0..3 {
        busy.receives.push(process.receive(world, Receive { tag: Some(tag), ..Receive::default() }));
        busy.sends.push(process.send(world, Send { tag, ..Send::default() }));
        busy.messages.push(process.arrive(world, Message { tag, ..Message::default() }));
    }
    spoil(&mut process, world, &busy);
    process.try_read().unwrap()
}

#[derive(Default)]
struct Busy {
    receives: Vec<TargetAddr>,
    sends: Vec<TargetAddr>,
    messages: Vec<TargetAddr>,
}

/// The states of the queues of MPI_COMM_WORLD: sends, receives, messages.
fn states(report: &QueueReport) -> [bool; 3] {
    let found = named(report, WORLD);
    assert!(!report.problems.is_empty(), "{report:?}");
    [&found.pending_sends, &found.pending_receives, &found.unexpected_messages].map(|queue| {
        assert_eq!(queue.detail.is_some(), queue.state == QueueState::Error);
        queue.state == QueueState::Ok
    })
}

fn next(process: &mut Process, from: TargetAddr, to: TargetAddr) {
    process.set_pointer(from, "opal_list_item_t", "opal_list_next", to);
}

#[test]
fn broken_links_of_messages() {
    let targets: [fn(&Busy) -> TargetAddr; 5] =
        [|_| NOWHERE, |_| TargetAddr::NULL, |busy| busy.messages[1], |busy| busy.messages[0], |busy| busy.receives[0]];
    for target in targets {
        let report = damaged(|process, _, busy| next(process, busy.messages[1], target(busy)));
        assert_eq!(states(&report), [true, true, false]);
        assert!(named(&report, WORLD).unexpected_messages.operations.len() >= 2);
    }
}

#[test]
fn a_list_that_lost_its_elements_is_not_empty() {
    for list in ["unexpected_frags", "specific_receives"] {
        let report = damaged(|process, world, _| {
            let peer = process.peer(world, 0);
            let list = process.field(peer, "mca_pml_ob1_comm_proc_t", list);
            let sentinel = process.field(list, "opal_list_t", "opal_list_sentinel");
            next(process, sentinel, sentinel);
            if list == process.specific_list(world, 0) {
                // Without a request outside the pool nobody needs this list.
                process.set(list, "opal_list_t", "opal_list_length", 4);
            }
        });
        assert_eq!(states(&report), [true, list != "specific_receives", list != "unexpected_frags"]);
    }
}

#[test]
fn unreadable_heads_and_impossible_counts() {
    type Spoil = fn(&mut Process, Comm);
    let both: [Spoil; 5] = [
        |process, world| process.set_pointer(process.addr(world), "ompi_communicator_t", "c_pml_comm", NOWHERE),
        |process, world| process.set_pointer(process.pml_comm(world), process.pml_type(), "procs", NOWHERE),
        |process, world| process.set(process.pml_comm(world), process.pml_type(), "num_procs", i64::MAX),
        |process, world| process.set(process.pml_comm(world), process.pml_type(), "num_procs", 3),
        |process, world| {
            let procs = process.get(process.pml_comm(world), process.pml_type(), "procs");
            process.mem.put_pointer(TargetAddr::new(procs), NOWHERE);
        },
    ];
    for spoil in both {
        assert_eq!(states(&damaged(|process, world, _| spoil(process, world))), [true, false, false]);
    }
    let pools: [(&str, i64); 6] = [
        ("fl_frag_size", 0),
        ("fl_frag_size", i64::MAX),
        ("fl_num_allocated", i64::MAX),
        ("fl_frag_alignment", 1 << 40),
        ("fl_frag_class", 5),
        ("fl_num_allocated", 40),
    ];
    for (field, value) in pools {
        let report = damaged(|process, _, _| {
            process.set(process.symbol_at("mca_pml_base_send_requests"), "opal_free_list_t", field, value);
        });
        assert_eq!(states(&report), [false, true, true], "{field} {value}");
        let report = damaged(|process, _, _| {
            process.set(process.symbol_at("mca_pml_base_recv_requests"), "opal_free_list_t", field, value);
        });
        assert_eq!(states(&report), [true, false, true], "{field} {value}");
    }
}

#[test]
fn posted_receives_need_the_part_of_ob1() {
    let report = damaged(|process, world, _| {
        process.set_pointer(process.addr(world), "ompi_communicator_t", "c_pml_comm", TargetAddr::NULL);
    });
    assert_eq!(states(&report), [true, false, false]);
    let report = damaged(|process, world, _| {
        let procs = process.get(process.pml_comm(world), process.pml_type(), "procs");
        process.mem.put_pointer(TargetAddr::new(procs), TargetAddr::NULL);
    });
    assert_eq!(states(&report), [true, false, true]);
}

#[test]
fn a_probe_is_not_lost_by_a_length_or_a_flag_that_happens_to_fit() {
    for spoil in 0..3 {
        let (mut process, world) = one();
        let receive = Receive { from: Some(0), ..Receive::default() };
        let matched = process.receive(world, receive);
        process.matched(world, matched, 0, 7, 8);
        let kind = "MCA_PML_REQUEST_PROBE";
        let stack = process.object("mca_pml_ob1_recv_request_t");
        process.receive_at(stack, world, Receive { from: Some(2), kind, ..receive });
        match spoil {
            0 => process.set(matched, "mca_pml_ob1_recv_request_t", "req_match_received", 0),
            1 => {
                let list = process.specific_list(world, 2);
                process.set(list, "opal_list_t", "opal_list_length", 0);
            }
            _ => process.set(stack, "mca_pml_base_request_t", "req_peer", 3),
        }
        let report = process.try_read().unwrap();
        assert_eq!(named(&report, WORLD).pending_receives.operations.len(), 2);
        assert_eq!(states(&report), [true, false, true], "{spoil}");
    }
}

#[test]
fn absurd_strides_and_steps_lose_nothing_in_silence() {
    for (field, value) in [("fl_num_per_alloc", 0), ("fl_num_per_alloc", i64::MAX), ("fl_frag_alignment", 0)] {
        let report = damaged(|process, _, _| {
            process.set(process.symbol_at("mca_pml_base_send_requests"), "opal_free_list_t", field, value);
        });
        let sends = &named(&report, WORLD).pending_sends;
        assert!(sends.operations.len() == 3 || sends.state == QueueState::Error, "{field} {value}: {sends:?}");
    }
}

#[test]
fn a_pool_that_is_not_whole_says_so() {
    let spoils: [fn(&mut Process, &Busy); 4] = [
        |process, busy| process.set(busy.sends[1], "opal_object_t", "obj_class", 0x1234),
        |process, busy| process.set(busy.sends[1], "mca_pml_base_request_t", "req_ompi.req_state", 0x77),
        |process, busy| process.set(busy.sends[1], "mca_pml_base_request_t", "req_type", 0x77),
        |process, busy| process.set_pointer(busy.sends[1], "mca_pml_base_request_t", "req_comm", NOWHERE),
    ];
    for spoil in spoils {
        assert_eq!(states(&damaged(|process, _, busy| spoil(process, busy))), [false, true, true]);
    }
}

#[test]
fn messages_that_make_no_sense() {
    let report = damaged(|process, _, busy| {
        process.set(busy.messages[1], "mca_pml_ob1_recv_frag_t", "hdr.hdr_common.hdr_type", 3);
    });
    assert_eq!(states(&report), [true, true, false]);
    assert_eq!(named(&report, WORLD).unexpected_messages.operations.len(), 2);
    let report = damaged(|process, _, busy| {
        let segment = process.field(busy.messages[0], "mca_pml_ob1_recv_frag_t", "segments");
        process.set(segment, "mca_btl_base_segment_t", "seg_len", 3);
    });
    assert_eq!(states(&report), [true, true, false]);
    let report = damaged(|process, _, busy| {
        process.set(busy.messages[0], "mca_pml_ob1_recv_frag_t", "hdr.hdr_match.hdr_src", 3);
    });
    assert_eq!(states(&report), [true, true, false]);
}

#[test]
fn rings_of_early_messages_that_are_no_rings() {
    let field = |process: &mut Process, at, to| process.set_pointer(at, "mca_pml_ob1_recv_frag_t", "range", to);
    for broken in 0..6 {
        let (mut process, world) = one();
        let mut early = |sequence| process.fragment(Message { from: 2, ..Message::default() }, 10, sequence);
        let ring = [early(4), early(5), early(6)];
        let single = [early(9)];
        process.out_of_order(world, 2, 2, &[&ring, &single]);
        assert_eq!(named(&process.read(), WORLD).unexpected_messages.operations.len(), 4);
        match broken {
            0 => field(&mut process, ring[0], ring[0]),
            1 => field(&mut process, single[0], ring[1]),
            2 => field(&mut process, ring[2], NOWHERE),
            3 => next(&mut process, ring[0], NOWHERE),
            4 => next(&mut process, ring[2], TargetAddr::NULL),
            _ => next(&mut process, ring[2], ring[2]),
        }
        let report = process.try_read().unwrap();
        assert_eq!(states(&report), [true, true, false], "{broken}");
    }
}

#[test]
fn lists_that_run_into_one_another() {
    let (mut process, world) = one();
    let first = process.arrive(world, Message { from: 0, ..Message::default() });
    let second = process.arrive(world, Message { from: 2, ..Message::default() });
    next(&mut process, first, second);
    next(&mut process, second, first);
    let report = process.try_read().unwrap();
    assert_eq!(states(&report), [true, true, false]);
    // Two peers with one state.
    let (mut process, world) = one();
    let peer = process.peer(world, 0);
    let procs = TargetAddr::new(process.get(process.pml_comm(world), process.pml_type(), "procs"));
    process.arrive(world, Message::default());
    process.mem.put_pointer(procs.wrapping_add(process.width()), peer);
    assert_eq!(states(&process.try_read().unwrap()), [true, false, false]);
}

#[test]
fn groups_that_cannot_be() {
    type Spoil = fn(&mut Process, TargetAddr, TargetAddr);
    let spoils: [Spoil; 8] = [
        |process, _, group| process.set(group, "ompi_group_t", "grp_proc_count", i64::from(i32::MAX)),
        |process, _, group| process.set(group, "ompi_group_t", "grp_proc_count", -1),
        |process, _, group| process.set_pointer(group, "ompi_group_t", "grp_parent_group_ptr", group),
        |process, _, group| process.set_pointer(group, "ompi_group_t", "grp_parent_group_ptr", NOWHERE),
        |process, list, _| process.set(list, "ompi_group_sporadic_list_t", "length", i64::from(i32::MIN)),
        |process, list, _| process.set(list, "ompi_group_sporadic_list_t", "rank_first", i64::from(i32::MAX)),
        |process, _, group| process.set(group, "ompi_group_t", "sparse_data.grp_sporadic.grp_sporadic_list_len", -1),
        |process, _, group| process.set(group, "ompi_group_t", "sparse_data.grp_sporadic.grp_sporadic_list_len", 0),
    ];
    for (number, spoil) in spoils.into_iter().enumerate() {
        let (mut process, world) = one();
        let parent = TargetAddr::new(process.get(process.addr(world), "ompi_communicator_t", "c_local_group"));
        let group = process.sporadic(parent, &[(1, 2)]);
        let list = process.get(group, "ompi_group_t", "sparse_data.grp_sporadic.grp_sporadic_list");
        process.comm("sparse", group, 0);
        spoil(&mut process, TargetAddr::new(list), group);
        let report = process.try_read().unwrap();
        assert!(report.problems.iter().any(|problem| problem.contains("group of \"sparse\"")), "{number}: {report:?}");
        assert_eq!((&named(&report, "sparse").group, named(&report, "sparse").size), (&None, None));
    }
}

#[test]
fn slots_that_hold_no_communicator_are_told() {
    let (mut process, _) = one();
    for slot in 5..9 {
        let garbage = process.object("ompi_communicator_t");
        process.set_slot(slot, garbage);
    }
    process.set_slot(9, NOWHERE);
    let report = process.try_read().unwrap();
    assert_eq!((report.communicators.len(), report.problems.len()), (1, 5), "{report:?}");
}

#[test]
fn a_table_that_cannot_be_is_an_error() {
    for size in [-1, 1 << 30] {
        let (mut process, _) = one();
        process.set(process.symbol_at("ompi_mpi_communicators"), "opal_pointer_array_t", "size", size);
        assert!(process.try_read().unwrap_err().to_string().contains("slots"));
    }
    let (mut process, _) = one();
    process.set_pointer(process.symbol_at("ompi_mpi_communicators"), "opal_pointer_array_t", "addr", NOWHERE);
    assert!(process.try_read().is_err());
}

#[test]
fn memory_without_end_ends() {
    // Whatever a damaged pointer names is readable; words of it point to one another, are zero, or are all ones.
    for (number, abi) in ABIS.into_iter().enumerate() {
        let process = rich(abi, number as u64);
        let itself = process.mem.objects[40].0;
        let mut patterns = vec![vec![0; 8], vec![0xff; 8], vec![1; 8]];
        patterns.push(process.mem.get(itself, 64));
        patterns.push(process.mem.get(process.symbol_at("ompi_mpi_comm_world"), 64));
        for (seed, pattern) in (0..).zip(patterns) {
            for round in 0..12 {
                let mut memory = process.mem.clone();
                for (kind, choice) in [(1, 1), (7, 2), (7, 3), (2, 4)] {
                    let mut rng = made_up::rng::Rng::new(seed * 100 + round * 10 + choice);
                    damage(&process, &mut memory, kind, rng.next(), rng.next());
                }
                let inner = Damaged { process: &process, memory: &memory, stack: TargetAddr::NULL };
                let start = Instant::now();
                let result = read(&process, &process.layouts(), &Endless { inner, pattern: pattern.clone() });
                assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
                if let Ok(report) = &result {
                    assert!(report.problems.len() <= 101);
                }
            }
        }
    }
}

#[test]
fn millions_of_slots_and_requests_are_read_in_bounded_time() {
    let (mut process, _) = one();
    // A table of the largest size, whose memory repeats one pointer to a communicator.
    let table = process.symbol_at("ompi_mpi_communicators");
    process.set(table, "opal_pointer_array_t", "size", 1 << 20);
    process.set_pointer(table, "opal_pointer_array_t", "addr", TargetAddr::new(0x1000_0000_0000));
    // A pool that says it has 16 million objects, in chunks of one.
    let pool = process.symbol_at("mca_pml_base_send_requests");
    process.set(pool, "opal_free_list_t", "fl_num_allocated", 1 << 24);
    process.set(pool, "opal_free_list_t", "fl_num_per_alloc", 1);
    let pattern = process.symbol_at("ompi_mpi_comm_world").get().to_le_bytes().to_vec();
    let start = Instant::now();
    let report = read(&process, &process.layouts(), &Endless { inner: process.target(), pattern }).unwrap();
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    assert_eq!(report.communicators.len(), 1);
    assert_eq!(named(&report, WORLD).pending_sends.state, QueueState::Error);
}
