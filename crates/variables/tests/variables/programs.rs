//! Programs of C, C++ and Fortran in all kinds of builds.

use made_up::share::every;

use crate::compared::compared;
use crate::stopped::{Asked, Build, stopped};

const LEVELS: [&str; 5] = ["-O0", "-Og", "-O1", "-O2", "-O3"];
const FORMS: [&str; 2] = ["-gdwarf-5", "-gdwarf-4"];

const NO_BOUNDS: &str = "the bounds of the array are not known";

/// What gdb answers and we do not.
fn is_allowed(asked: &Asked, why: &str) -> bool {
    has_no_bounds(asked, why) || was_jumped_to(asked) || has_only_a_size(asked, why) || has_a_hidden_symbol(asked)
}

/// With link-time optimisation the place of a template's static member is in no debug information; gdb takes a symbol that the
/// linker has made local, of which the name alone does not say whose it is.
fn has_a_hidden_symbol(asked: &Asked) -> bool {
    asked.function.starts_with("space::Outer") && asked.text == "shared"
}

/// Of a variable that is optimised away gdb knows the size, its adapter nothing.
fn has_only_a_size(asked: &Asked, why: &str) -> bool {
    asked.text.starts_with("sizeof") && why == "optimised away"
}

/// gdb makes up frames of functions that ended with a jump, where only one way of jumps leads from the call to the function.
fn was_jumped_to(asked: &Asked) -> bool {
    asked.function == "jumped_to"
}

/// Of `a(*)`, and of an array whose bounds the compiler has lost, we know no bounds. gdb counts
/// from what it takes for them (and its adapter finds no index inside).
fn has_no_bounds(asked: &Asked, why: &str) -> bool {
    let of = ["given(", "explicit", "automatic", "lbound(explicit", "ubound(explicit"];
    why == NO_BOUNDS && of.iter().any(|of| asked.text.contains(of))
}

/// Compares a program in one build; adds what is wrong.
fn one_build(build: &Build<'_>, fortran: bool, wrong: &mut Vec<String>) -> usize {
    let what = format!("{} {}", build.compiler, build.options.join(" "));
    let stopped = stopped(build, &format!("{}{}", build.expressions, build.options.concat()));
    // gcc 14 loses the bounds of arrays of variable length where it keeps to DWARF 3.
    let is_strict = build.options.contains(&"-gdwarf-3");
    let is_lost = |asked: &Asked, why: &str| is_strict && asked.function == "sized" && why == NO_BOUNDS;
    let (counts, found) =
        compared(&stopped, fortran, &what, &|asked, why| is_allowed(asked, why) || is_lost(asked, why));
    println!("{what}: {counts:?}");
    wrong.extend(found);
    counts.equal + counts.more
}

fn none_is(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Compares a program in each build; at least so many of its expressions must be known in that without optimisation.
fn all_builds(compiler: &str, sources: &[&str], more: &[&str], expressions: &str, fortran: bool, known: usize) {
    let mut wrong = Vec::new();
    for (form, level) in FORMS.into_iter().flat_map(|form| LEVELS.map(|level| (form, level))).step_by(every(4)) {
        let options: Vec<_> = [form, level].iter().chain(more).copied().collect();
        let build = Build { library: &[], compiler, sources, options: &options, expressions };
        let found = one_build(&build, fortran, &mut wrong);
        assert!(level != "-O0" || found >= known, "{compiler} {form}: {found} are known");
    }
    none_is(&wrong);
}

#[test]
#[ignore = "needs gdb"]
fn programs_of_c() {
    all_builds("gcc", &["plain.c", "other.c"], &[], "plain.txt", false, 170);
}

#[test]
#[ignore = "needs gdb"]
fn programs_of_cxx() {
    all_builds("g++", &["classes.cpp", "classes_other.cpp"], &["-std=c++17", "-w"], "classes.txt", false, 150);
}

#[test]
#[ignore = "needs gdb"]
fn programs_of_fortran() {
    let more = ["-fallow-argument-mismatch", "-w"];
    all_builds("gfortran", &["arrays.f90", "fortran_stop.c"], &more, "arrays.txt", true, 80);
}

#[test]
#[ignore = "needs gdb"]
fn what_functions_were_given() {
    all_builds("gcc", &["given.c", "other.c"], &["-w"], "given.txt", false, 55);
}

/// Older forms, types in units of their own, descriptions that stand in another unit than the code, fixed addresses.
#[test]
#[ignore = "needs gdb"]
fn other_forms() {
    let mut wrong = Vec::new();
    let sources = ["plain.c", "other.c"];
    for options in [
        ["-gdwarf-2", "-gstrict-dwarf", "-O0"],
        ["-gdwarf-2", "-g", "-O2"],
        ["-gdwarf-3", "-gstrict-dwarf", "-O1"],
        ["-g", "-no-pie", "-O2"],
        ["-g", "-flto", "-O2"],
        ["-gdwarf-4", "-flto", "-O1"],
        ["-gdwarf-4", "-fdebug-types-section", "-O1"],
        ["-gdwarf-5", "-fdebug-types-section", "-O2"],
    ]
    .into_iter()
    .step_by(every(3))
    {
        let build =
            Build { library: &[], compiler: "gcc", sources: &sources, options: &options, expressions: "plain.txt" };
        assert!(one_build(&build, false, &mut wrong) > 60);
    }
    let sources = ["classes.cpp", "classes_other.cpp"];
    for options in [
        ["-std=c++17", "-w", "-g", "-flto", "-O1"],
        ["-std=c++17", "-w", "-gdwarf-4", "-fdebug-types-section", "-O0"],
        ["-std=c++17", "-w", "-gdwarf-5", "-fdebug-types-section", "-O2"],
        ["-std=c++17", "-w", "-gdwarf-3", "-gstrict-dwarf", "-O1"],
    ]
    .into_iter()
    .step_by(every(2))
    {
        let build =
            Build { library: &[], compiler: "g++", sources: &sources, options: &options, expressions: "classes.txt" };
        assert!(one_build(&build, false, &mut wrong) > 60);
    }
    let sources = ["given.c", "other.c"];
    let build = Build {
        library: &[],
        compiler: "gcc",
        sources: &sources,
        options: &["-g", "-flto", "-O2", "-w"],
        expressions: "given.txt",
    };
    assert!(one_build(&build, false, &mut wrong) > 20);
    none_is(&wrong);
}

/// Variables and types that another file defines; one that the program has its own copy of.
#[test]
#[ignore = "needs gdb"]
fn a_library() {
    let mut wrong = Vec::new();
    for level in ["-O0", "-O2"] {
        let options = ["-g", level, "-w"];
        let (sources, library) = (["with_library.c"], ["library.c"]);
        let build = Build {
            compiler: "gcc",
            library: &library,
            sources: &sources,
            options: &options,
            expressions: "library.txt",
        };
        assert!(one_build(&build, false, &mut wrong) > 20);
    }
    none_is(&wrong);
}
