//! What files say about frames: names of sources and functions from what a real compiler writes, and damaged files.

#![allow(clippy::unwrap_used)]

mod c_grammar;
mod call_sites;
mod call_target;
mod caller;
mod code_calls;
mod evaluator;
mod flow;
mod linear;
mod made_up;
mod source_calls;
mod sources;
mod texts;
mod thread;

use std::path::{Path, PathBuf};
use std::process::Command;

use calls::{SourcePath, is_outermost, scoped_names, source_names, symbol_names};
use object::read::{Object, ObjectSymbol};

const HEADER: &str = "static inline int twice(int x) { volatile int y = x; return y + y; }\n";
const SOURCE: &str = r#"
#include "helper.h"
int solve(int x) { return twice(x); }
int SOLVE(int) __attribute__((alias("solve")));
int solve_(int) __attribute__((alias("solve")));
int main(void) { return solve(0); }
"#;

/// Compiles `src/input.c` in the directory `from`, under the name `named`.
fn compile(test: &str, from: &str, named: &str, flags: &[&str]) -> (PathBuf, PathBuf) {
    let base = Path::new(env!("CARGO_TARGET_TMPDIR")).join("frames").join(test);
    for part in ["src", "build"] {
        std::fs::create_dir_all(base.join(part)).unwrap();
    }
    std::fs::write(base.join("src/input.c"), SOURCE).unwrap();
    std::fs::write(base.join("src/helper.h"), HEADER).unwrap();
    let output = base.join("output");
    let name = named.replace("BASE", base.to_str().unwrap());
    let mut command = Command::new("gcc");
    command.current_dir(base.join(from)).arg("-o").arg(&output).arg(name).args(flags);
    assert!(command.status().unwrap().success());
    (base, output)
}

fn address(program: &Path, name: &str) -> u64 {
    let bytes = std::fs::read(program).unwrap();
    let file = object::File::parse(bytes.as_slice()).unwrap();
    file.symbols().find(|symbol| symbol.name() == Ok(name)).unwrap().address()
}

#[test]
fn sources_are_named_as_the_compiler_was_given_them() {
    for (number, (from, named, header)) in [
        ("src", "input.c", "helper.h"),
        ("build", "../src/input.c", "../src/helper.h"),
        ("build", "BASE/src/input.c", "BASE/src/helper.h"),
    ]
    .into_iter()
    .enumerate()
    {
        for version in ["-gdwarf-4", "-gdwarf-5"] {
            let (base, program) = compile(&format!("names{number}{version}"), from, named, &["-g", version]);
            let base = base.to_str().unwrap();
            let path =
                |file: &str| SourcePath { unit: format!("{base}/src/input.c"), file: format!("{base}/src/{file}") };
            let told = source_names(&program, &[path("input.c"), path("helper.h"), path("other.h")]);
            // Before DWARF 5 a header beside the file has no directory; in it, it has that of the compilation.
            let header = match (header, version) {
                ("helper.h", "-gdwarf-5") => "BASE/src/helper.h",
                (header, _) => header,
            };
            let expected = [Some(named.replace("BASE", base)), Some(header.replace("BASE", base)), None];
            assert_eq!(told, expected, "{from} {named} {version}");
        }
    }
}

#[test]
fn of_several_symbols_the_last_in_order_is_taken() {
    let (_, program) = compile("symbols", "src", "input.c", &[]);
    let start = address(&program, "SOLVE");
    assert_eq!(symbol_names(&program, &[start, start + 1]), [Some("solve_".to_owned()), None]);
}

#[test]
fn functions_have_their_names_in_the_source() {
    let (base, program) = compile("scopes", "src", "input.c", &["-g"]);
    let unit = format!("{}/src/input.c", base.display());
    let start = address(&program, "solve");
    assert_eq!(scoped_names(&program, &unit, &[start, 1]), [Some("solve".to_owned()), None]);
    assert_eq!(scoped_names(&program, "/other.c", &[start]), [None]);
}

#[test]
fn damaged_files_give_fewer_answers_and_no_panic() {
    let (base, program) = compile("damage", "src", "input.c", &["-g"]);
    let bytes = std::fs::read(&program).unwrap();
    let unit = format!("{}/src/input.c", base.display());
    let start = address(&program, "solve");
    let wanted = [SourcePath { unit: unit.clone(), file: unit.clone() }];
    let copy = base.join("damaged");
    let mut state = 1_u64;
    for round in 0..200 {
        let mut damaged = bytes.clone();
        for _ in 0..40 {
            // Numerical Recipes' generator: the rounds are the same on every machine.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = usize::try_from(state >> 33).unwrap() % damaged.len();
            damaged[at] = (state >> 20) as u8;
        }
        damaged.truncate(if round % 4 == 0 { damaged.len() * (round + 1) / 200 } else { damaged.len() });
        std::fs::write(&copy, &damaged).unwrap();
        assert_eq!(source_names(&copy, &wanted).len(), 1);
        assert_eq!(symbol_names(&copy, &[start]).len(), 1);
        assert_eq!(scoped_names(&copy, &unit, &[start]).len(), 1);
        is_outermost(&copy, start + 4);
    }
    let missing = base.join("missing");
    assert_eq!(source_names(&missing, &wanted), [None]);
    assert_eq!(symbol_names(&missing, &[start]), [None]);
    assert_eq!(scoped_names(&missing, &unit, &[start]), [None]);
}
