//! Whose threads outside MPI are, and what they wait for: made-up stacks of several C libraries, with symbols and without.

use analysis::diagnose::diagnose;
use analysis::waits::{DeviceCall, Whose, device_call, in_lock, reads_input, whose};
use model::{FindingKind, Frame, Outside, Snapshot, Stack, State, SystemCall};

use super::made::{call, counted, job, of_kind, receive, twice};

const LIBC: &str = "/usr/lib/x86_64-linux-gnu/libc.so.6";
const PMIX: &str = "/usr/lib/x86_64-linux-gnu/libpmix.so.2";
const GOMP: &str = "/usr/lib/x86_64-linux-gnu/libgomp.so.1";
const PROGRAM: &str = "/home/a/solver";

/// What glibc has on top of a stack that waits for a lock or for events: 2.36 with its symbols, 2.41 with its symbols, and any
/// without: then only what `.dynsym` has is left.
const WAITS: [&[&str]; 3] = [
    &["__futex_abstimed_wait_common64", "__futex_abstimed_wait_common", "__GI___futex_abstimed_wait_cancelable64"],
    &["__syscall_cancel_arch", "__internal_syscall_cancel", "__syscall_cancel", "__futex_abstimed_wait_common"],
    &[""],
];
const POLLS: [&[&str]; 3] = [
    &["epoll_wait"],
    &["__syscall_cancel_arch", "__internal_syscall_cancel", "__syscall_cancel", "epoll_wait"],
    &["epoll_wait"],
];
/// Where threads begin.
const BEGINS: [&[&str]; 3] = [&["start_thread", "clone3"], &["start_thread", "__clone3"], &["", "clone"]];

fn frames(image: &str, names: &[&str]) -> Vec<Frame> {
    let of = |name: &&str| Frame {
        function: (!name.is_empty()).then(|| (*name).to_owned()),
        application: Some(image == PROGRAM),
        image: Some(image.to_owned()),
        file: (image == PROGRAM).then(|| "a.c".to_owned()),
        line: (image == PROGRAM).then_some(7),
        ..Frame::default()
    };
    names.iter().map(of).collect()
}

fn thread(number: i64, parts: &[Vec<Frame>], call: Option<SystemCall>) -> Stack {
    Stack {
        thread: number,
        main: Some(number == 1),
        complete: true,
        frames: parts.concat(),
        system_call: call,
        ..Stack::default()
    }
}

fn waiting(name: &str) -> Option<SystemCall> {
    Some(SystemCall { name: Some(name.to_owned()), waits: true, timed: false, descriptor: None, waits_for: None })
}

const RUNS: Option<SystemCall> =
    Some(SystemCall { name: None, waits: false, timed: false, descriptor: None, waits_for: None });

fn told(stack: &Stack) -> Outside {
    stack.outside().expect("a thread outside MPI")
}

/// The same without what newer recordings and debuggers tell.
fn older(stack: &Stack) -> Outside {
    let mut stack = Stack { main: None, system_call: None, ..stack.clone() };
    stack.frames.iter_mut().for_each(|frame| frame.image = None);
    told(&stack)
}

#[test]
fn helper_threads_are_the_libraries_whatever_the_c_library_calls_its_waits() {
    for release in 0..3 {
        let helper = thread(
            2,
            &[
                frames(LIBC, POLLS[release]),
                frames("/usr/lib/x86_64-linux-gnu/libevent-2.1.so.7", &["", "event_base_loop"]),
                frames(PMIX, &[""]),
                frames(LIBC, BEGINS[release]),
            ],
            waiting("epoll_wait"),
        );
        let found = told(&helper);
        assert_eq!(whose(&found), Whose::Library, "{release}");
        assert_eq!((found.application, found.start_image.as_deref()), (Some(false), Some(PMIX)));
        // Also while it works, and where neither the system call nor the files are told.
        assert_eq!(whose(&told(&Stack { system_call: RUNS, ..helper.clone() })), Whose::Library, "{release}");
        assert_eq!(whose(&told(&Stack { system_call: None, ..helper.clone() })), Whose::Library, "{release}");
        assert_eq!(whose(&older(&helper)), Whose::Library, "{release}");
        // A worker of OpenMP between two regions spins or sleeps.
        let worker = [frames(GOMP, &["", ""]), frames(LIBC, BEGINS[release])];
        for call in [RUNS, waiting("futex"), None] {
            assert_eq!(whose(&told(&thread(3, &worker, call))), Whose::Library, "{release}");
        }
    }
}

#[test]
fn threads_of_the_application_are_its_own_wherever_they_stand() {
    for release in 0..3 {
        for (top, call) in [
            (frames(LIBC, POLLS[release]), waiting("epoll_wait")),
            (frames(LIBC, &["clock_nanosleep"]), waiting("clock_nanosleep")),
            (Vec::new(), RUNS),
        ] {
            let parts = [top, frames(PROGRAM, &["serve"]), frames(LIBC, BEGINS[release])];
            assert_eq!(whose(&told(&thread(2, &parts, call))), Whose::Application);
        }
        // One that has just begun is not in the application yet, and not known to be a library's.
        assert_eq!(whose(&told(&thread(2, &[frames(LIBC, BEGINS[release])], RUNS))), Whose::Unknown);
        // Not where the C library has begun it for itself, to wait.
        let timers = thread(2, &[frames(LIBC, BEGINS[release])], waiting("rt_sigtimedwait"));
        assert_eq!(whose(&told(&timers)), Whose::Library);
    }
    assert_eq!(whose(&told(&thread(1, &[frames(LIBC, &["pause"])], waiting("pause")))), Whose::Application);
}

#[test]
fn a_stack_that_was_not_seen_to_its_end_is_nobodys() {
    for number in [1, 2] {
        for image in [LIBC, PROGRAM] {
            let stack = Stack { complete: false, ..thread(number, &[frames(image, &["poll"])], waiting("poll")) };
            assert_eq!(whose(&told(&stack)), Whose::Unknown, "{number} {image}");
        }
    }
    let nameless = Frame::default();
    let stack = Stack { thread: 2, complete: false, frames: vec![nameless], ..Stack::default() };
    assert_eq!(whose(&told(&stack)), Whose::Unknown);
}

#[test]
fn locks_are_known_by_the_system_call_and_by_what_the_application_called() {
    let functions = [
        "pthread_mutex_lock",
        "__pthread_cond_wait",
        "sem_wait",
        "pthread_join",
        "pthread_rwlock_wrlock",
        "GOMP_critical_start",
    ];
    for (release, waits) in WAITS.iter().enumerate() {
        for function in functions {
            let parts = [frames(LIBC, waits), frames(LIBC, &[function]), frames(PROGRAM, &["work", "main"])];
            let stack = thread(1, &parts, waiting("futex"));
            assert!(in_lock(&told(&stack)), "{release} {function}");
            assert!(in_lock(&told(&Stack { system_call: None, ..stack.clone() })), "{release} {function}");
            assert!(in_lock(&older(&stack)), "{release} {function}");
            // Without any name.
            let nameless = [frames(LIBC, &["", ""]), frames(PROGRAM, &["work", "main"])];
            assert!(in_lock(&told(&thread(1, &nameless, waiting("futex")))));
        }
        // It comes back by itself.
        let parts = [frames(LIBC, waits), frames(LIBC, &["pthread_cond_timedwait"]), frames(PROGRAM, &["main"])];
        let timed = Some(SystemCall {
            name: Some("futex".to_owned()),
            waits: true,
            timed: true,
            descriptor: None,
            waits_for: None,
        });
        assert!(!in_lock(&told(&thread(1, &parts, timed))));
        assert!(!in_lock(&told(&thread(1, &parts, None))), "{release}");
    }
    // A lock further out, from which the application was called back, is not what it waits for.
    let parts = [
        frames(LIBC, &["clock_nanosleep"]),
        frames(PROGRAM, &["callback"]),
        frames(LIBC, &["pthread_mutex_lock"]),
        frames(PROGRAM, &["main"]),
    ];
    assert!(!in_lock(&told(&thread(1, &parts, waiting("clock_nanosleep")))));
    let input = [frames(LIBC, POLLS[1]), frames(LIBC, &["read"]), frames(PROGRAM, &["main"])];
    assert!(reads_input(&told(&thread(1, &input, waiting("read")))));
    assert!(!reads_input(&told(&thread(1, &input, RUNS))));
}

/// Two ranks that wait for one another; each has the threads that are given.
fn stuck(threads: &[Stack]) -> Snapshot {
    let mut snapshot = job(2);
    for rank in 0..2 {
        call(&mut snapshot, rank, "MPI_Recv", 10);
        receive(&mut snapshot, rank, Some(1 - rank as i64), 17);
        snapshot.processes[rank].outside = threads.iter().filter_map(Stack::outside).collect();
        snapshot.processes[rank].all_threads = Some(threads.iter().all(|thread| thread.complete));
    }
    counted(&mut snapshot);
    snapshot
}

#[test]
fn helper_threads_hide_no_deadlock() {
    for release in 0..3 {
        let parts = [frames(LIBC, POLLS[release]), frames(PMIX, &[""]), frames(LIBC, BEGINS[release])];
        let (_, verdict) = diagnose(&stuck(&[thread(2, &parts, waiting("epoll_wait"))]), None);
        assert_eq!(verdict.state, State::Deadlock, "{release}: {verdict:?}");
        let parts = [frames(LIBC, POLLS[release]), frames(PROGRAM, &["serve"]), frames(LIBC, BEGINS[release])];
        // The application's own might call MPI: nothing is certain, however long it waits.
        let idle = stuck(&[thread(2, &parts, waiting("epoll_wait"))]);
        for (findings, verdict) in [diagnose(&idle, None), twice(&idle)] {
            assert_eq!(verdict.state, State::Suspect, "{release}: {verdict:?}");
            assert_eq!(
                verdict.limits,
                ["Ranks 0 and 1: another thread of the process waits outside MPI, and may call MPI."]
            );
            assert!(findings.iter().all(|finding| !finding.certain), "{findings:?}");
        }
        // One that works, and the first one, which the others serve, are about to do something.
        for (number, call) in [(2, RUNS), (1, waiting("epoll_wait"))] {
            let (_, verdict) = diagnose(&stuck(&[thread(number, &parts, call)]), None);
            assert_eq!(verdict.state, State::Running, "{release} {number}: {verdict:?}");
        }
    }
}

#[test]
fn a_stack_without_an_end_neither_proves_nor_denies_a_deadlock() {
    let lost = Stack { complete: false, ..thread(2, &[frames(LIBC, &["poll"])], waiting("poll")) };
    for (findings, verdict) in
        [diagnose(&stuck(std::slice::from_ref(&lost)), None), twice(&stuck(std::slice::from_ref(&lost)))]
    {
        assert_eq!(verdict.state, State::Suspect, "{verdict:?}");
        assert!(findings.iter().all(|finding| !finding.certain), "{findings:?}");
    }
    // Rank 0 of which only such a stack is known; rank 1 waits for it.
    let mut snapshot = stuck(&[]);
    snapshot.processes[0].calls.clear();
    snapshot.processes[0].outside.extend(Stack { thread: 1, main: Some(true), ..lost }.outside());
    snapshot.processes[0].all_threads = Some(false);
    let (findings, verdict) = diagnose(&snapshot, None);
    assert_eq!(verdict.state, State::Unknown, "{findings:?} {verdict:?}");
    assert_eq!(
        verdict.headline,
        "Not known whether it is a deadlock: rank 1 is in MPI_Recv and waits for rank 0 to send tag 17 on \
         MPI_COMM_WORLD; where rank 0 stands is not known."
    );
    assert!(findings.iter().all(|finding| !finding.summary.contains("outside MPI")), "{findings:?}");
}

#[test]
fn a_rank_in_a_lock_is_stuck_outside_with_and_without_symbols() {
    for waits in WAITS {
        let mut snapshot = stuck(&[]);
        snapshot.processes[0].calls.clear();
        let parts = [frames(LIBC, waits), frames(LIBC, &["pthread_mutex_lock"]), frames(PROGRAM, &["work", "main"])];
        snapshot.processes[0].outside.extend(thread(1, &parts, waiting("futex")).outside());
        let (findings, _) = diagnose(&snapshot, None);
        assert_eq!(of_kind(&findings, FindingKind::StuckOutside).len(), 1, "{findings:?}");
        assert!(findings[0].advice.as_deref().unwrap_or_default().contains("which one holds what"), "{findings:?}");
    }
}

#[test]
fn what_was_not_read_leaves_the_verdict_open() {
    let mut snapshot = stuck(&[]);
    snapshot.processes.truncate(1);
    let (_, verdict) = diagnose(&snapshot, None);
    assert_eq!(
        (verdict.state, verdict.headline.as_str()),
        (
            State::Unknown,
            "Not known whether it is a deadlock: rank 0 is in MPI_Recv and waits for rank 1 to send tag 17 on \
             MPI_COMM_WORLD; rank 1 was not read."
        )
    );
    // Nobody waits; but one could not be read, told by its group, by the size of the world, or by a problem only.
    let mut alone = job(2);
    call(&mut alone, 0, "MPI_Recv", 3);
    alone.processes.truncate(1);
    let mut sized = alone.clone();
    sized.processes[0].communicators.clear();
    let mut failed = sized.clone();
    failed.processes[0].world_size = None;
    assert_eq!(diagnose(&failed, None).1.state, State::Running);
    failed.problems.push("process 77 could not be read".to_owned());
    for snapshot in [alone, sized, failed] {
        let (_, verdict) = diagnose(&snapshot, None);
        assert_eq!(verdict.state, State::Unknown, "{verdict:?}");
        assert!(!verdict.headline.contains("Nobody"), "{verdict:?}");
    }
}

#[test]
fn in_a_static_program_a_helper_of_a_library_is_none_of_the_application() {
    let own = |names: &[&str]| {
        let mut frames = frames(PROGRAM, names);
        frames.iter_mut().for_each(|frame| (frame.file, frame.line) = (None, None));
        frames
    };
    let helper = ["epoll_wait", "ucs_event_set_wait", "ucs_async_thread_func", "start_thread", "clone3"];
    let waits = told(&thread(2, &[own(&helper)], waiting("epoll_wait")));
    assert_eq!((waits.caller.as_deref(), whose(&waits)), (Some("ucs_async_thread_func"), Whose::Library));
    // One that runs does something, and others may be the application's.
    assert_eq!(whose(&told(&thread(2, &[own(&helper)], RUNS))), Whose::Application);
    let other = ["epoll_wait", "wait_for_orders", "serve", "start_thread", "clone3"];
    let other = told(&thread(2, &[own(&other)], waiting("epoll_wait")));
    assert_eq!((other.caller.as_deref(), whose(&other)), (Some("serve"), Whose::Application));
    let with_lines = frames(PROGRAM, &["ucs_async_thread_func"]);
    let with_lines = told(&thread(2, &[own(&["epoll_wait"]), with_lines], waiting("epoll_wait")));
    assert_eq!(whose(&with_lines), Whose::Application);
}

#[test]
fn calls_of_the_libraries_of_gpus_are_known_by_their_names() {
    for (names, expected) in [
        (&["", "", "cudaStreamSynchronize"][..], Some((DeviceCall::Waits, "cudaStreamSynchronize"))),
        (&["ioctl", "", "cuMemcpyDtoH_v2", "cudaMemcpy_ptds"], Some((DeviceCall::Waits, "cudaMemcpy"))),
        (&["sched_yield", "cuStreamSynchronize_ptsz"], Some((DeviceCall::Waits, "cuStreamSynchronize"))),
        (&["hipEventQuery"], Some((DeviceCall::Asks, "hipEventQuery"))),
        (&["poll", "", "ncclCommInitRankConfig"], Some((DeviceCall::Meets, "ncclCommInitRankConfig"))),
        (&["my_cudaStreamSynchronize"], None),
        (&["cudaStreamSynchronizer", "v2"], None),
    ] {
        let stack =
            thread(1, &[frames("/usr/lib/libcudart.so.12", names), frames(PROGRAM, &["advance", "main"])], RUNS);
        assert_eq!(device_call(&told(&stack)), expected, "{names:?}");
    }
}
