//! Functions, files, lines and symbols of every address of programs, compared with gdb's.

use std::path::PathBuf;
use std::process::Command;

use made_up::share::every;
use symbols::{DebugPlaces, ObjectFile};

use super::compiled::Directory;
use super::gdb::{ask, ask_some, differences};

fn compare(source: &str, options: &str) {
    let directory = Directory::new();
    let path = directory.compile(source, options, "program");
    let answers = ask(&directory, &path, &[]);
    let file = ObjectFile::open(&path, &DebugPlaces::none()).unwrap();
    let found = differences(&answers, &file);
    assert!(
        found.is_empty(),
        "{source} {options}: {} of {}\n{}",
        found.len(),
        answers.len(),
        found[..found.len().min(8)].join("\n")
    );
}

#[test]
#[ignore = "needs gdb"]
fn c() {
    for options in [
        "-g -O0",
        "-g -O2",
        "-g1 -O2",
        "-gdwarf-4 -O2",
        "-gdwarf-3 -O1",
        "-gdwarf-2 -O2",
        "-g -O2 -gz",
        "-g -O3 -no-pie -fcf-protection=none",
    ]
    .into_iter()
    .step_by(every(3))
    {
        compare("plain.c", options);
    }
}

#[test]
#[ignore = "needs gdb"]
fn cpp() {
    for options in [
        "-g -O0",
        "-g -O2",
        "-g1 -O2",
        "-gdwarf-4 -fdebug-types-section -O1",
        "-g -O2 -flto",
        "-g -O2 -D_GLIBCXX_USE_CXX11_ABI=0",
    ]
    .into_iter()
    .step_by(every(3))
    {
        compare("grid.cpp", options);
    }
}

#[test]
#[ignore = "needs gdb"]
fn fortran() {
    for options in ["-g -O0", "-g -O1", "-gdwarf-4 -O0"] {
        compare("field.f90", options);
    }
}

#[test]
#[ignore = "needs gdb"]
fn without_debug_information() {
    let options = ["-O0", "-O2", "-O2 -s", "-O2 -shared -fPIC", "-O2 -s -no-pie", "-O2 -s -rdynamic", "-O2 -Wl,-z,now"];
    let all = ["plain.c", "grid.cpp", "field.f90"].iter().flat_map(|source| options.map(|options| (source, options)));
    for (source, options) in all.step_by(every(4)) {
        compare(source, options);
    }
}

/// The library that the compiler would link.
fn library(name: &str) -> PathBuf {
    let told =
        Command::new("gcc").arg(format!("-print-file-name={name}")).output().expect("gcc is needed by this test");
    PathBuf::from(String::from_utf8(told.stdout).unwrap().trim()).canonicalize().unwrap()
}

#[test]
#[ignore = "needs gdb"]
fn libraries() {
    for (name, step) in [("libc.so.6", 211), ("libstdc++.so.6", 151), ("libgfortran.so.5", 211)] {
        let directory = Directory::new();
        let path = library(name);
        let answers = ask_some(&directory, &path, &[], step);
        let file = ObjectFile::open(&path, &DebugPlaces::default()).unwrap();
        let found = differences(&answers, &file);
        let shown = found[..found.len().min(8)].join("\n");
        assert!(found.is_empty(), "{name}: {} of {}\n{shown}", found.len(), answers.len());
    }
}
