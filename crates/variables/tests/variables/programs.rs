//! Programs of C, C++ and Fortran in all kinds of builds.

use crate::compared::compared;
use crate::stopped::{Asked, Build, stopped};

const LEVELS: [&str; 5] = ["-O0", "-Og", "-O1", "-O2", "-O3"];
const FORMS: [&str; 2] = ["-gdwarf-5", "-gdwarf-4"];

/// What gdb answers and we do not.
fn is_allowed(asked: &Asked, why: &str) -> bool {
    has_no_bounds(asked, why) || was_jumped_to(asked)
}

/// gdb makes up frames of functions that ended with a jump, where only one way of jumps leads from the call to the function.
fn was_jumped_to(asked: &Asked) -> bool {
    asked.function == "jumped_to"
}

/// Of `a(*)`, and of an array whose bounds the compiler has lost, we know no bounds. gdb counts
/// from what it takes for them (and its adapter finds no index inside).
fn has_no_bounds(asked: &Asked, why: &str) -> bool {
    let of = ["given(", "explicit", "automatic", "lbound(explicit", "ubound(explicit"];
    why == "the bounds of the array are not known" && of.iter().any(|of| asked.text.contains(of))
}

/// Compares a program in each build; at least so many of its expressions must be known in that without optimisation.
fn all_builds(compiler: &str, sources: &[&str], more: &[&str], expressions: &str, fortran: bool, known: usize) {
    let mut wrong = Vec::new();
    for form in FORMS {
        for level in LEVELS {
            let options: Vec<_> = [form, level].iter().chain(more).copied().collect();
            let build = Build { compiler, sources, options: &options, expressions };
            let what = format!("{compiler} {form} {level}");
            let stopped = stopped(&build, &format!("{expressions}{form}{level}{}", more.len()));
            let (counts, found) = compared(&stopped, fortran, &what, &is_allowed);
            println!("{what}: {counts:?}");
            wrong.extend(found);
            if level == "-O0" {
                assert!(counts.equal + counts.more >= known, "{what}: {counts:?}");
            }
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn programs_of_c() {
    all_builds("gcc", &["plain.c", "other.c"], &[], "plain.txt", false, 170);
}

#[test]
fn programs_of_cxx() {
    all_builds("g++", &["classes.cpp", "classes_other.cpp"], &["-std=c++17"], "classes.txt", false, 150);
}

#[test]
fn programs_of_fortran() {
    let more = ["-fallow-argument-mismatch", "-w"];
    all_builds("gfortran", &["arrays.f90", "fortran_stop.c"], &more, "arrays.txt", true, 80);
}

#[test]
fn what_functions_were_given() {
    all_builds("gcc", &["given.c", "other.c"], &["-w"], "given.txt", false, 55);
}
