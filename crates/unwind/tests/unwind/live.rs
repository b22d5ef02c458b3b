//! Real programs on this machine: our frames are those of gdb.

use crate::recorded::{Directory, Hidden, Recorded, Stop, compiled, recorded};
use made_up::share::{every, rounds};
use unwind::{End, Found, Frame, Machine, Stack};

/// Compares pcs, canonical frame addresses and the registers that functions keep. Where gdb guesses, or we do, only what the
/// guess says counts.
fn same_as_gdb(recorded: &Recorded, stop: &Stop) -> Stack {
    let ours = recorded.unwound(stop);
    let pcs: Vec<_> = ours.frames.iter().map(|frame| frame.pc()).collect();
    let theirs: Vec<_> = stop.frames.iter().map(|frame| frame.pc).collect();
    assert_eq!(hex(&pcs), hex(&theirs), "{:?}", ours.end);
    let sure = ours.first_guess().unwrap_or(usize::MAX);
    for (index, (our, their)) in ours.frames.iter().zip(&stop.frames).enumerate() {
        if let (Some(our), Some(their)) = (our.cfa, their.cfa) {
            assert_eq!(our, their, "canonical address of frame {index}: {pcs:x?}");
        }
        assert!(our.cfa.is_some() || index >= sure);
        for (name, value) in &their.registers {
            let known = our.registers.get(Machine::X86_64.number(name).unwrap());
            assert!(
                known == Some(*value) || known.is_none() && index >= sure,
                "{name} of {index}: {our:x?} {their:x?}"
            );
        }
    }
    ours
}

fn hex(pcs: &[u64]) -> String {
    format!("{pcs:#x?}")
}

fn one_stop(name: &str, source: &str, flags: &[&str], arguments: &str) -> Stack {
    let directory = Directory::new(name);
    let program = compiled(&directory, source, flags);
    let recorded = recorded(&directory, &program, arguments, &[], 0);
    assert_eq!(recorded.stops.len(), 1);
    let stack = same_as_gdb(&recorded, &recorded.stops[0]);
    assert_eq!(stack.end, End::Outermost);
    stack
}

#[test]
#[ignore = "needs gdb"]
fn frames_of_code_with_tables_are_those_of_gdb() {
    let ways: [&[&str]; 9] = [
        &["-O0"],
        &["-O2"],
        &["-O2", "-fomit-frame-pointer", "-fasynchronous-unwind-tables"],
        &["-O3", "-g", "-fno-omit-frame-pointer"],
        &["-O2", "-g", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"],
        &["-O2", "-Wl,--no-eh-frame-hdr"],
        &["-O1", "-static"],
        &["-O2", "-no-pie", "-fcf-protection=full", "-Wl,-z,now"],
        &["-O2", "-static-pie"],
    ];
    for (number, flags) in ways.iter().enumerate().step_by(every(3)) {
        let stack = one_stop(&format!("nested-{number}"), "nested.c", flags, "");
        assert!(stack.frames.len() >= 8, "{flags:?}");
        assert_eq!(stack.first_guess(), None, "{flags:?}");
    }
}

#[test]
#[ignore = "needs gdb"]
fn frames_of_stripped_code_are_those_of_gdb() {
    let directory = Directory::new("stripped");
    let program = compiled(&directory, "nested.c", &["-O2", "-no-pie"]);
    let whole = recorded(&directory, &program, "", &[], 0);
    let status = std::process::Command::new("strip").arg(&program).status().unwrap();
    assert!(status.success());
    // Without symbols the breakpoint is set by its address: that of the program which is the same but for them.
    let place = format!("break *{}", whole.stops[0].frames[0].pc);
    let stripped = recorded(&directory, &program, "", &[&place, "run"], 0);
    let stack = same_as_gdb(&stripped, &stripped.stops[0]);
    assert_eq!((stack.first_guess(), stack.end), (None, End::Outermost));
    assert!(stack.frames.len() >= 8);
}

#[test]
#[ignore = "needs gdb"]
fn what_a_signal_interrupted_is_what_gdb_finds() {
    for (number, (way, own)) in
        ["raise", "address", "call"].iter().flat_map(|way| [(way, ""), (way, " own")]).enumerate().step_by(every(2))
    {
        for flags in [&["-O0"][..], &["-O2", "-static"]] {
            let name = format!("signal-{number}-{}", flags.len());
            let stack = one_stop(&name, "signal.c", flags, &format!("{way}{own}"));
            let trampoline = stack.frames.iter().position(|frame| frame.signal_trampoline).unwrap();
            let interrupted: &Frame = &stack.frames[trampoline + 1];
            assert_eq!(interrupted.found, Found::SignalFrame);
            assert!(interrupted.interrupted);
            assert_eq!(interrupted.lookup(), interrupted.pc());
            assert_eq!(interrupted.pc() == 0, *way == "call");
            // All registers are known there, not only those that functions keep.
            assert_eq!(interrupted.registers.iter().count(), 17);
        }
    }
}

#[test]
#[ignore = "needs gdb"]
fn every_instruction_of_calls_through_linkage_tables_is_unwound_as_gdb_does() {
    let directory = Directory::new("steps");
    let program = compiled(&directory, "steps.c", &["-O2", "-Wl,-z,lazy"]);
    let most = rounds(200, 2000) as u32;
    let recorded = recorded(&directory, &program, "", &[], most);
    assert!(recorded.stops.len() >= most as usize);
    let mut longest = 0;
    for stop in &recorded.stops {
        let stack = same_as_gdb(&recorded, stop);
        assert_eq!((stack.first_guess(), stack.end), (None, End::Outermost), "{:x?}", stop.frames);
        longest = longest.max(stack.frames.len());
    }
    assert!(longest > 7);
}

#[test]
#[ignore = "needs gdb"]
fn stacks_of_threads_end_where_they_were_started() {
    let directory = Directory::new("threads");
    let program = compiled(&directory, "threads.c", &["-O1", "-pthread"]);
    let recorded = recorded(&directory, &program, "", &["python stop_in_thread_start()"], 0);
    assert_eq!(recorded.stops.len(), 3);
    let stacks: Vec<_> = recorded.stops.iter().map(|stop| same_as_gdb(&recorded, stop)).collect();
    // The one that started them may stand behind the system call of glibc's clone, where there are no tables.
    let started = &stacks[1..];
    assert!(started.iter().all(|stack| stack.end == End::Outermost && stack.first_guess().is_none()));
    // One of them has called nothing yet.
    assert_eq!(started.iter().filter(|stack| stack.frames.len() == 1).count(), 1);
}

#[test]
#[ignore = "needs gdb"]
fn code_without_tables_is_guessed_by_its_frame_pointers() {
    let directory = Directory::new("guessed");
    let flags = ["-O0", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fno-omit-frame-pointer"];
    let program = compiled(&directory, "nested.c", &flags);
    let recorded = recorded(&directory, &program, "", &[], 0);
    let stack = same_as_gdb(&recorded, &recorded.stops[0]);
    let found: Vec<_> = stack.frames.iter().map(|frame| frame.found).collect();
    assert_eq!(found[..2], [Found::Innermost, Found::ReturnAddress]);
    assert!(found[2..].contains(&Found::FramePointer));
    assert_eq!(stack.first_guess(), Some(1));
}

#[test]
#[ignore = "needs gdb"]
fn guesses_at_every_instruction_of_code_with_frame_pointers_are_what_its_tables_say() {
    let directory = Directory::new("hidden");
    let program = compiled(&directory, "steps.c", &["-O0"]);
    let recorded = recorded(&directory, &program, "", &[], rounds(200, 600) as u32);
    let (mut guessed, mut wrong) = (0, Vec::new());
    for stop in &recorded.stops {
        let (guess, sure) = (recorded.unwound_by(stop, &Hidden(&recorded)), recorded.unwound(stop));
        let pcs = |stack: &Stack| stack.frames.iter().map(|frame| (frame.pc(), frame.cfa)).collect::<Vec<_>>();
        // The start of the program is the last frame; it has no frame pointer.
        let (mut told, mut known) = (pcs(&guess), pcs(&sure));
        known.pop();
        told.truncate(known.len());
        guessed += guess.frames.iter().filter(|frame| frame.found.is_guess()).count();
        if told != known {
            wrong.push((sure, guess));
        }
    }
    assert!(guessed > 300, "{guessed}");
    assert!(wrong.is_empty(), "{}: {:x?}", wrong.len(), wrong[0]);
}
