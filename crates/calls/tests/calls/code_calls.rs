//! Calls of MPI in machine code, as a real compiler and linker write them.

use std::path::{Path, PathBuf};
use std::process::Command;

use calls::code_calls;
use object::read::{Object, ObjectSection, ObjectSymbol};

const SOURCE: &str = r#"
int MPI_Irecv(void *), PMPI_Isend(void *), MPI_Wait(void *), other(void *);
int f(int x) {
    int r, q;
    MPI_Irecv(&r);
    if (x)
        PMPI_Isend(&q);
    other(&r);
    int e = MPI_Wait(&r);
    return e + r + q;
}
int g(void) { int r; return other(&r) + r; }
int main(int argc, char **argv) { (void)argv; return f(argc) + g(); }
"#;

const LIBRARY: &str = "int MPI_Irecv(void *p) { return !p; } int PMPI_Isend(void *p) { return !p; }\n\
                       int MPI_Wait(void *p) { return !p; } int other(void *p) { return !p; }\n";

fn compile(test: &str, flags: &[&str]) -> PathBuf {
    let base = Path::new(env!("CARGO_TARGET_TMPDIR")).join("code_calls").join(test);
    std::fs::create_dir_all(&base).unwrap();
    std::fs::write(base.join("input.c"), SOURCE).unwrap();
    std::fs::write(base.join("library.c"), LIBRARY).unwrap();
    let gcc = |arguments: &[&str]| {
        assert!(Command::new("gcc").current_dir(&base).args(arguments).status().unwrap().success());
    };
    let shared = !flags.contains(&"-static");
    if shared {
        gcc(&["-shared", "-fPIC", "-o", "liblibrary.so", "library.c"]);
    }
    let library = if shared { "liblibrary.so" } else { "library.c" };
    gcc(&[flags, &["-o", "output", "input.c", library]].concat());
    base.join("output")
}

/// Functions and lines of the calls in a function.
fn calls(path: &Path, function: &str) -> Vec<(String, Option<i64>)> {
    let bytes = std::fs::read(path).unwrap();
    let file = object::File::parse(bytes.as_slice()).unwrap();
    let text = file.section_by_name(".text").unwrap().address();
    let symbol = file.symbols().find(|symbol| symbol.name() == Ok(function)).unwrap();
    let found = code_calls(path, symbol.address() + 1 - text, None).unwrap();
    found.into_iter().map(|call| (call.function, call.line)).collect()
}

#[test]
fn calls_through_tables_and_directly() {
    let all = [("MPI_Irecv", 5), ("MPI_Isend", 7), ("MPI_Wait", 9)];
    let expected: Vec<_> = all.iter().map(|(name, line)| ((*name).to_owned(), Some(*line))).collect();
    for flags in [
        &["-g", "-O0"][..],
        &["-g", "-O0", "-fcf-protection=full"],
        &["-g", "-O0", "-fno-plt"],
        &["-g", "-O0", "-static"],
        &["-gdwarf-4", "-O0", "-no-pie"],
    ] {
        let program = compile(&flags.join(""), flags);
        let mut found = calls(&program, "f");
        found.sort();
        assert_eq!(found, expected, "{flags:?}");
        assert_eq!(calls(&program, "g"), [], "{flags:?}");
    }
    let optimised = compile("optimised", &["-g", "-O2"]);
    let mut found = calls(&optimised, "f");
    found.sort();
    assert_eq!(found, expected);
}

#[test]
fn without_debug_information_there_are_no_lines() {
    let program = compile("plain", &["-O0"]);
    let found = calls(&program, "f");
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|(_, line)| line.is_none()));
}

#[test]
fn what_is_no_such_file_tells_nothing() {
    let program = compile("other", &["-g"]);
    assert_eq!(code_calls(&program, 1 << 40, None), None);
    assert_eq!(code_calls(&program, 0, Some("0123")), None);
    assert_eq!(code_calls(Path::new("/nowhere"), 0, None), None);
    // Damage, byte by byte.
    let bytes = std::fs::read(&program).unwrap();
    let damaged = program.with_file_name("damaged");
    for at in (0..bytes.len()).step_by(97) {
        let mut some = bytes.clone();
        some[at] ^= 0xff;
        std::fs::write(&damaged, some).unwrap();
        for offset in [0, 0x100] {
            let _ = code_calls(&damaged, offset, None);
        }
    }
}
