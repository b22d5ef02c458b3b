//! Frames of functions that ended with a jump, beside gdb's.

use std::path::PathBuf;

use made_up::share::every;

use crate::programs::{Directory, Running};

/// What is told of a program, which must be what gdb tells.
fn told(directory: &Directory, program: &str, argument: usize, threads: usize) -> Vec<Vec<String>> {
    let running = Running::new(directory, program, &argument.to_string(), threads);
    let path: PathBuf = directory.0.join(program);
    let (mut here, mut by_gdb) = (running.told_here(&path), running.told_by_gdb());
    // The first is the main thread. gdb 16 has the others in another order.
    for stacks in [&mut here, &mut by_gdb] {
        stacks[1..].sort();
    }
    assert_eq!(here, by_gdb, "{program} {argument}");
    here
}

fn functions(stack: &[String]) -> Vec<&str> {
    stack.iter().map(|frame| frame.split(' ').next().unwrap_or_default()).collect()
}

#[test]
#[ignore = "needs gdb"]
fn of_one_program() {
    for (options, ways) in [("-g -O2", 13), ("-gdwarf-4 -O2", 9), ("-g1 -O2", 2), ("-O2", 2)] {
        let directory = Directory::new();
        directory.compile(&format!("gcc {options} -o program jumps.c"));
        let all: Vec<_> = (0..ways).step_by(every(3)).map(|way| told(&directory, "program", way, 1)).collect();
        if options.contains("-g ") {
            // Before these are those of libc, whose number depends on its release.
            let frames = functions(&all[0][0]);
            assert!(frames.ends_with(&["stop_here", "u3", "u2", "u1", "main"]), "{frames:?}");
            let told = told(&directory, "program", 1, 1);
            let frames = functions(&told[0]);
            assert!(frames.ends_with(&["stop_here", "a4", "a1", "main"]), "what all ways have in common: {frames:?}");
        }
    }
}

/// Threads that wait in libc, whose own debug information tells of jumps where it is installed.
#[test]
#[ignore = "needs gdb"]
fn in_libc() {
    for options in ["-g -O2", "-g -O0 -no-pie"] {
        let directory = Directory::new();
        directory.compile(&format!("gcc {options} -pthread -o program waiting.c"));
        let all = told(&directory, "program", 0, 7);
        assert_eq!(all.len(), 7);
        if all.iter().flatten().any(|frame| frame.contains("pthread_join_common.c")) {
            let main = functions(&all[0]);
            assert!(main.contains(&"__GI___futex_abstimed_wait_cancelable64"), "{main:?}");
            // What was compiled without optimisation has no calls written down.
            assert_eq!(main.contains(&"___pthread_join"), options.contains("-O2"), "{main:?}");
        }
    }
}

/// Jumps from a program to its libraries, between those, and back.
#[test]
#[ignore = "needs gdb"]
fn from_file_to_file() {
    let builds = [
        ("gcc", "-g -O2", 3),
        ("g++", "-g -O2", 6),
        ("gcc", "-g -O2 -fno-plt", 2),
        ("gcc", "-g -O2 -no-pie", 2),
        ("gcc", "-g -O2 -flto", 2),
    ];
    for (compiler, options, ways) in builds.into_iter().step_by(every(2)) {
        let directory = Directory::new();
        let source = if compiler == "gcc" { "c" } else { "cpp" };
        let library = format!("{compiler} {options} -fPIC -shared");
        directory.compile(&format!("{library} -DINNER -o libinner.so files.{source}"));
        directory.compile(&format!("{library} -DOUTER -o libouter.so files.{source} -L. -linner -Wl,-rpath,$ORIGIN"));
        directory
            .compile(&format!("{compiler} {options} -o program files.{source} -L. -louter -linner -Wl,-rpath,$ORIGIN"));
        for way in (0..ways).step_by(every(2)) {
            told(&directory, "program", way, 1);
        }
    }
}
