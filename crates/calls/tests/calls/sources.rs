//! Calls of MPI functions in sources: found by the line that a debugger tells, with their arguments.

use std::ffi::OsStr;
use std::fs::Permissions;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use calls::source::{Macros, Source, Sources, constant_in, constant_in_fortran, find};
use calls::{Unknown, parameters};
use functions::constants::Family;
use target::files::Reader;

const C: &str = r##"#include "tags.h"
#define PEER 3
#ifdef OTHER
#define WIDTH 1
#else
#define WIDTH 2
#endif
void f(void) {
    /* MPI_Recv(nothing) */ MPI_Recv(buf, n * (2, 3), // one, two)
        MPI_INT, PEER, g("a,)b", ','), comm, &status);
    CHECK(
        MPI_Send(&x[i], 1, (MPI_Datatype){0}, 1, 2, comm)
    );
    MPI_Recv(a, 1, t, 0, 0, c, s); MPI_Recv(b, 1, t, 0, 0, c, s);
    if (1) PMPI_Barrier(comm);
    text = "MPI_Barrier(no)";
    MPI_Wait(
#ifdef OTHER
        &r,
#else
        &q,
#endif
        s);
}
"##;
const FORTRAN: &str = r"      program p ! call MPI_Recv(no)
      call mpi_recv(x, 1, MPI_REAL, &
        ! a comment, with commas
        MPI_ANY_SOURCE, mod(tag, 7), 'a, ''b', &
        st, ierr)
      if (rank == 0) call MPI_Barrier(comm, ierr)
      end
";
const FIXED: &str = r"C     CALL MPI_RECV(NO)
      CALL MPI_RECV(X, 1,
     &              MPI_REAL, 0, TAG, COMM, ST,
     +              IERR)
";
const TAGS: &str = "#ifndef TAGS_H\n#define TAGS_H\n#define TAG (BASE + 1)\n#define BASE 7\n#define WORLD MPI_COMM_WORLD\n\
    #define CALL(x) x\n#define LONG 1 + \\\n 2 /* no */\n#define TWICE 1\n#undef TWICE\n#endif\n";

fn sources(test: &str) -> PathBuf {
    let base = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sources").join(test);
    std::fs::create_dir_all(&base).unwrap();
    for (name, text) in [("a.c", C), ("tags.h", TAGS), ("a.f90", FORTRAN), ("a.f", FIXED), ("b.F90", FORTRAN)] {
        std::fs::write(base.join(name), text).unwrap();
    }
    base
}

#[allow(clippy::cast_precision_loss)]
fn modified(path: &Path) -> f64 {
    std::fs::metadata(path).unwrap().mtime() as f64
}

fn opened(directory: &Path, name: &str) -> Arc<Source> {
    let path = directory.join(name);
    Sources::new().read(&path, Some(modified(&path) + 10.0), None).unwrap()
}

fn said<T>(result: Result<T, Unknown>) -> String {
    result.err().map(|unknown| unknown.to_string()).unwrap_or_default()
}

#[test]
fn calls_of_c() {
    let source = opened(&sources("c"), "a.c");
    let received = vec!["buf", "n * (2, 3)", "MPI_INT", "PEER", "g(\"a,)b\", ',')", "comm", "&status"];
    let sent = vec!["&x[i]", "1", "(MPI_Datatype){0}", "1", "2", "comm"];
    for (line, function, arguments) in [
        (9, "MPI_Recv", received.clone()),
        (10, "MPI_Recv", received),
        (11, "MPI_Send", sent.clone()),
        (13, "MPI_Send", sent),
        (15, "MPI_Barrier", vec!["comm"]),
    ] {
        assert_eq!(find(&source, function, line).unwrap(), arguments, "{line}");
    }
}

#[test]
fn of_two_calls_in_a_statement_the_one_at_the_line_is_meant() {
    let text = "int f(void) {\n    return MPI_Wait(a, b) +\n        MPI_Wait(c, d);\n}\n";
    let source = Source::new(Path::new("/x/two.c"), text.to_owned());
    assert_eq!(find(&source, "MPI_Wait", 2).unwrap(), ["a", "b"]);
    assert_eq!(find(&source, "MPI_Wait", 3).unwrap(), ["c", "d"]);
}

#[test]
fn what_is_not_found_is_said() {
    let source = opened(&sources("said"), "a.c");
    for (line, function, reason) in [
        (14, "MPI_Recv", "line 14 of a.c has several calls of MPI_Recv"),
        (16, "MPI_Barrier", "line 16 of a.c has no call of MPI_Barrier"),
        (2, "MPI_Recv", "line 2 of a.c has no call of MPI_Recv"),
        (99, "MPI_Recv", "the source a.c has no line 99"),
        (0, "MPI_Recv", "the source a.c has no line 0"),
        (-1, "MPI_Recv", "the source a.c has no line -1"),
    ] {
        assert_eq!(said(find(&source, function, line)), reason);
    }
    let long = Source::new(Path::new("/x/long.c"), "é".repeat(20_001) + "\nf();");
    assert_eq!(said(find(&long, "MPI_Recv", 1)), "line 1 of long.c has 20,001 characters");
    assert_eq!(said(find(&long, "MPI_Recv", 2)), "line 2 of long.c has no call of MPI_Recv");
}

#[test]
fn a_call_with_conditions_inside_has_too_many_arguments() {
    let source = opened(&sources("conditions"), "a.c");
    assert_eq!(find(&source, "MPI_Wait", 17).unwrap(), ["&r", "&q", "s"]);
}

#[test]
fn calls_of_fortran() {
    let source = opened(&sources("fortran"), "a.f90");
    for line in [2, 4, 5] {
        let found = find(&source, "MPI_Recv", line).unwrap();
        assert_eq!(found, ["x", "1", "MPI_REAL", "MPI_ANY_SOURCE", "mod(tag, 7)", "'a, ''b'", "st", "ierr"]);
        assert_eq!(find(&source, "MPI_Barrier", 6).unwrap(), ["comm", "ierr"]);
    }
}

#[test]
fn the_only_call_of_fortran_may_be_told_with_another_line() {
    let base = sources("only");
    assert_eq!(find(&opened(&base, "a.f90"), "MPI_Barrier", 2).unwrap(), ["comm", "ierr"]);
    assert!(find(&opened(&base, "b.F90"), "MPI_Barrier", 2).is_err());
}

#[test]
fn calls_of_fortran_in_fixed_form() {
    let found = find(&opened(&sources("fixed"), "a.f"), "MPI_Recv", 4).unwrap();
    assert_eq!(found, ["X", "1", "MPI_REAL", "0", "TAG", "COMM", "ST", "IERR"]);
}

#[test]
fn letters_of_any_alphabet() {
    let text = "/* é, ( */ éMPI_Send(no); MPI_Send(\"é,\", 'é', 1, dé, 2, comm); // é";
    let found = find(&Source::new(Path::new("a.c"), text.to_owned()), "MPI_Send", 1).unwrap();
    assert_eq!(found, ["\"é,\"", "'é'", "1", "dé", "2", "comm"]);
    let text = "     é call MPI_Send('é', dé, & ! é\n     &3)\n";
    let found = find(&Source::new(Path::new("a.f"), text.to_owned()), "MPI_Send", 1).unwrap();
    assert_eq!(found, ["'é'", "dé", "3"]);
}

#[test]
fn a_source_that_is_newer_or_not_there_is_not_read() {
    let base = sources("newer");
    let (path, kept) = (base.join("a.c"), Sources::new());
    for (built, reason) in [
        (Some(modified(&path) - 1.0), "the source a.c was changed after the program was built"),
        (None, "not known whether the program was built from this source file a.c"),
    ] {
        assert_eq!(said(kept.read(&path, built, None)), reason);
    }
    let missing = base.join("b.c");
    let reason = format!("the source file {} is not on this machine (`cp -p` it there)", missing.display());
    assert_eq!(said(kept.read(&missing, Some(1.0), None)), reason);
    let odd = Path::new(OsStr::from_bytes(b"/nowhere/\xff.c"));
    let reason = "the source file /nowhere/\\xff.c is not on this machine (`cp -p` it there)";
    assert_eq!(said(kept.read(odd, Some(1.0), None)), reason);
    // A sparse file of any size costs nothing.
    let sparse = base.join("sparse.c");
    std::fs::File::create(&sparse).unwrap().set_len(1 << 40).unwrap();
    let reason = "the source file sparse.c has 1,099,511,627,776 bytes";
    assert_eq!(said(kept.read(&sparse, Some(1.0), None)), reason);
}

#[test]
fn what_is_no_regular_file_is_no_source() {
    let fifo = sources("irregular").join("fifo.c");
    let _ = std::fs::remove_file(&fifo);
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let kernel = "a file that the kernel makes up";
    for (path, kind) in [
        (fifo.as_path(), "a FIFO"),
        (Path::new("/dev/null"), "a device"),
        (Path::new("/dev/zero"), "a device"),
        (Path::new("/proc/kmsg"), kernel),
        (Path::new("/proc/self/mem"), kernel),
    ] {
        let reason = format!("the source file {} cannot be read: it is {kind}, not a regular file", path.display());
        assert_eq!(said(Sources::new().read(path, Some(f64::MAX), None)), reason);
    }
}

#[test]
fn a_source_is_read_for_a_user_who_may_read_it() {
    let path = std::env::temp_dir().join(format!("mpi-queues-source-{}.c", std::process::id()));
    let (kept, nobody) = (Sources::new(), Reader { uid: 65534, gid: 65534, groups: Vec::new() });
    std::fs::write(&path, C).unwrap();
    // What was read for one is not told another; who is not root reads with his own rights.
    let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    let forbidden = |mode: u32| is_root && mode == 0o600;
    for mode in [0o600, 0o644] {
        std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        assert!(kept.read(&path, Some(f64::MAX), None).is_ok());
        let why = said(kept.read(&path, Some(f64::MAX), Some(&nobody)));
        assert_eq!(why.ends_with("the user 65534 of the process may not read it"), forbidden(mode), "{why}");
        assert_eq!(why.is_empty(), !forbidden(mode), "{why}");
    }
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn no_more_sources_are_read_at_once_than_ranks_can_wait_for() {
    let base = sources("many");
    let kept = Sources::new();
    let mut read = 0;
    let refused = (0..9).find_map(|number| {
        let path = base.join(format!("{number}.c"));
        std::fs::File::create(&path).unwrap().set_len(10 << 20).unwrap();
        let found = kept.read(&path, Some(f64::MAX), None);
        read += usize::from(found.is_ok());
        found.err()
    });
    assert_eq!(refused.unwrap().to_string(), "more than 64 MiB of sources would have to be read");
    assert_eq!(read, 6);
    // What was read before costs nothing.
    assert!(kept.read(&base.join("0.c"), Some(f64::MAX), None).is_ok());
}

#[test]
fn names_of_the_preprocessor() {
    let base = sources("macros");
    let found = opened(&base, "a.c");
    let tags = modified(&base.join("tags.h"));
    let kept = Sources::new();
    let macros = Macros::of(&found, &kept, Some(tags + 10.0), None).unwrap();
    let expanded = |text: &str| macros.expanded(text).unwrap();
    assert_eq!(expanded("TAG * 2").as_deref(), Some("(((7) + 1)) * 2"));
    assert_eq!(expanded("WORLD").as_deref(), Some("(MPI_COMM_WORLD)"));
    assert_eq!(constant_in(&expanded("WORLD").unwrap()).as_deref(), Some("MPI_COMM_WORLD"));
    assert_eq!(expanded("LONG").as_deref(), Some("(1 +   2)"));
    for text in ["CALL", "x.TAG", "n + 1", "x->TAG", "1TAG", "éTAG", "MYTAG"] {
        assert_eq!(expanded(text), None, "{text}");
    }
    for name in ["WIDTH", "TWICE"] {
        let reason = format!("{name} is defined in several ways, or under a condition");
        assert_eq!(said(macros.expanded(name)), reason);
    }
    let older = Macros::of(&found, &kept, Some(tags - 1.0), None);
    assert_eq!(said(older), "the source tags.h was changed after the program was built");
}

#[test]
fn definitions_that_grow_are_not_followed() {
    let base = sources("growing");
    let path = base.join("growing.c");
    std::fs::write(&path, "#define A A A A A A A A A A A A A A A A A A A A\n#define B B\n").unwrap();
    let source = opened(&base, "growing.c");
    let macros = Macros::of(&source, &Sources::new(), Some(f64::MAX), None).unwrap();
    assert_eq!(said(macros.expanded("A")), "the definitions in it are too long");
    assert_eq!(macros.expanded("B").unwrap().as_deref(), Some("((((((((B))))))))"));
}

#[test]
fn constants_of_mpi() {
    for (text, name) in [
        ("MPI_COMM_WORLD", Some("MPI_COMM_WORLD")),
        ("((MPI_COMM_SELF))", Some("MPI_COMM_SELF")),
        ("((MPI_Comm)(MPI_COMM_SELF))", Some("MPI_COMM_SELF")),
        ("(MPI_COMM_SELF)(", None),
        ("(MPI_A) + (MPI_B)", None),
        ("(MPI_COMM_SELF)", Some("MPI_COMM_SELF")),
        ("(MPI_Comm) MPI_COMM_SELF", Some("MPI_COMM_SELF")),
        ("(void *)MPI_BOTTOM", Some("MPI_BOTTOM")),
        ("(const unsigned  long) MPIX_BOTTOM ", Some("MPIX_BOTTOM")),
        ("::MPI_BOTTOM", Some("MPI_BOTTOM")),
        ("(unsigned)MPI_BOTTOM", None),
        ("MPI::INT", None),
        ("MPI_Comm", None),
        ("MPI_ANY_TAG + 1", None),
        ("comm", None),
        ("", None),
    ] {
        assert_eq!(constant_in(text).as_deref(), name, "{text}");
    }
    assert_eq!(constant_in_fortran(" mpi_Comm_World").as_deref(), Some("MPI_COMM_WORLD"));
    assert_eq!(constant_in_fortran("(MPI_COMM_WORLD)"), None);
}

#[test]
fn parameters_of_the_standard() {
    let names = |function: &str| -> Option<Vec<&str>> {
        Some(parameters(function, false)?.iter().map(|one| one.name).collect())
    };
    let receive = names("MPI_Recv").unwrap();
    assert_eq!(receive, ["buf", "count", "datatype", "source", "tag", "comm", "status"]);
    assert_eq!(names("MPI_Recv_c"), Some(receive));
    assert_eq!(names("MPI_Finalize"), Some(Vec::new()));
    for name in ["MPI_Nothing", "MPI_", "", "c", "MPI__c", "PMPI_Recv"] {
        assert_eq!(parameters(name, false), None, "{name}");
    }
    let waitall = parameters("MPI_Waitall", false).unwrap();
    let requests = waitall.iter().find(|one| one.name == "array_of_requests").unwrap();
    assert_eq!(requests.length, Some("count"));
    let wrapped = names("MPI_Rget_accumulate").unwrap();
    assert_eq!((wrapped.last(), wrapped.len()), (Some(&"request"), 13));
}

#[test]
fn constants_by_the_family() {
    let openmpi = |name: &str| Ok::<_, Unknown>((name == "ompi_mpi_comm_world").then_some(0x1000));
    let mpich = |name: &str| Ok::<_, Unknown>((name == "MPI_UNWEIGHTED").then_some(1));
    let nothing = |_: &str| Ok::<Option<i128>, Unknown>(None);
    let known = Family::of(&openmpi, "libmpi.so.40").unwrap().unwrap();
    assert_eq!(known, Family::OpenMpi);
    assert_eq!(known.value("MPI_COMM_WORLD", false, &openmpi), Ok(Some(0x1000)));
    assert_eq!(known.value("MPI_COMM_WORLD", true, &openmpi), Ok(Some(0)));
    assert_eq!(known.meaning("source", -1), Some("MPI_ANY_SOURCE"));
    assert_eq!(known.meaning("dest", -2), Some("MPI_PROC_NULL"));
    let other = Family::of(&mpich, "libmpich.so.12").unwrap().unwrap();
    assert_eq!(other.meaning("source", -2), Some("MPI_ANY_SOURCE"));
    assert_eq!(other.meaning("root", -3), Some("MPI_ROOT"));
    assert_eq!(other.meaning("recvtag", -1), Some("MPI_ANY_TAG"));
    assert_eq!(other.meaning("count", -1), None);
    assert_eq!(Family::of(&nothing, "libfoo.so"), Ok(None));
    let abi = Family::of(&nothing, "/x/libmpi_abi.so.0").unwrap().unwrap();
    assert_eq!(abi.value("MPI_COMM_SELF", false, &nothing), Ok(Some(0x102)));
    for family in [Family::OpenMpi, Family::Mpich, Family::Abi] {
        assert_eq!(Family::named(family.word()), Some(family));
    }
    assert_eq!(Family::named(""), None);
}
