//! What strangers wrote takes linear time, whatever stands there, and no more stack than there is.

use std::path::Path;
use std::time::Duration;

use made_up::rng::Rng;
use made_up::share::{every, rounds};

use super::source_calls::around;
use super::texts;

/// Bytes of one text, and what nobody minds. Quadratic time is far more than a second here.
const SHORT: usize = 40_000;
const UNSUSPICIOUS: Duration = Duration::from_millis(50);

/// What is repeated: pieces of sources.
const PIECES: [&str; 97] = [
    "a",
    " ",
    "0",
    "\t",
    "\n",
    "\"",
    "'",
    "\\",
    "/",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    "=",
    ",",
    ";",
    ":",
    ".",
    "-",
    "_",
    "#",
    "*",
    "&",
    "$",
    "@",
    "!",
    "%",
    "x",
    "a ",
    "a.",
    "a->",
    "a::",
    "0'1",
    "/*",
    "//",
    "*/",
    "R\"(",
    "R\"x(",
    ")\"",
    "\\\n",
    "\\a",
    "(a",
    "a(",
    "a[",
    "(a)",
    "()",
    "((",
    "- ",
    "MPI_A",
    "MPI_A(",
    "PMPI_Send (",
    "MPI_Send(",
    "MPI_Send(MPI_Send(a),",
    "#define a",
    "# ",
    "\n#",
    " #",
    "\n ",
    "const ",
    "static_cast<",
    "a=",
    "==",
    "a,",
    "unsigned long ",
    "é",
    "#define A ",
    "#define B A A\n",
    "#if 1\n",
    "#endif\n",
    "#ifndef A\n#define A\n",
    "#undef A\n",
    "#include \"a.h\"\n",
    "(const unsigned long",
    "if (a) ",
    "else ",
    "do ",
    "for (;;) ",
    "switch (a) {",
    "case a: ",
    "a: ",
    "a?b:c:",
    "x={}",
    "f(){",
    "f(a) {",
    "goto a;",
    "MPI_Irecv(b, 1, t, 0, 7, c, &r);",
    "f(&r);",
    "if (a) then\n",
    "end if\n",
    "do i\n",
    "select case (a)\ncase (1)\n",
    "subroutine a\n",
    "a &\n",
];

/// Everything that goes over a text.
fn look(text: &str) {
    texts::look(text, [1, 2, 1000], text.get(..20_000).unwrap_or_default());
}

/// Processor time that looking takes: what else the machine does is no text's fault.
fn time(text: &str) -> Duration {
    let started = on_processor();
    look(text);
    on_processor() - started
}

/// For how long this thread has been on a processor (proc(5), schedstat: nanoseconds).
fn on_processor() -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(told.split(' ').next().unwrap().parse().unwrap())
}

#[test]
#[ignore = "takes long"]
fn nothing_takes_more_than_linear_time() {
    let around = [
        ("", "!"),
        ("a(", "\n"),
        ("MPI_Send(", ")"),
        ("#define A ", "\n"),
        ("int f() {", "}"),
        ("program a\n", "\nend\n"),
    ];
    let all = PIECES.iter().flat_map(|piece| around.map(|around| (piece, around)));
    for (piece, (begin, end)) in all.step_by(every(11)) {
        let text = |length: usize| format!("{begin}{}{end}", piece.repeat(length / piece.len()));
        // Caches are cold, or others': it is slow each time.
        let slow = (0..3).all(|_| {
            let (short, long) = (time(&text(SHORT)), time(&text(4 * SHORT)));
            long > UNSUSPICIOUS && long > 10 * short
        });
        assert!(!slow, "{begin:?} + {piece:?} * n + {end:?}");
    }
}

#[test]
#[ignore = "takes long"]
fn a_long_source_takes_a_moment() {
    for piece in PIECES.iter().step_by(every(9)) {
        let text = format!("{0}\nMPI_Send(a, A, b, 1, 2, c);\n{0}", piece.repeat((1 << 18) / piece.len()));
        let slow = (0..3).all(|_| time(&text) > Duration::from_secs(3));
        assert!(!slow, "{piece:?}");
    }
}

#[test]
#[ignore = "takes long"]
fn a_mix_of_pieces_takes_a_moment() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("source_calls");
    std::fs::create_dir_all(&directory).unwrap();
    for seed in 0..rounds(6, 300) {
        let mut rng = Rng::new(seed);
        let mixed: String = (0..=rng.index(5)).map(|_| PIECES[rng.index(PIECES.len())]).collect();
        let many = mixed.repeat((1 << 20) / mixed.len());
        // It may include this.
        std::fs::write(directory.join("a.h"), &many[..1 << 16]).unwrap();
        let text = format!("{many}\nMPI_Send(a, A, b, 1, 2, c); // @\n{many}");
        let started = on_processor();
        around(["a.c", "a.cc", "a.f90", "a.f"][rng.index(4)], &text, "PMPI_Send");
        assert!(on_processor() - started < Duration::from_secs(5), "{seed}: {mixed:?}");
    }
}

#[test]
#[ignore = "takes long"]
fn what_started_a_request_is_found_in_a_moment() {
    let c = PIECES.iter().map(|piece| ("a.c", piece, "void f() {", "}"));
    let fortran = PIECES.iter().map(|piece| ("a.f90", piece, "subroutine f()\n", "\nend\n"));
    for (name, piece, open, close) in c.chain(fortran).step_by(every(5)) {
        let body = piece.repeat(150_000 / piece.len());
        let text =
            format!("{open}{body}\nMPI_Wait(&r, s); // ! @\n{close}{0}", format!("{open}f(&r){close}").repeat(2000));
        let started = on_processor();
        around(name, &text, "PMPI_Wait");
        assert!(on_processor() - started < Duration::from_secs(5), "{name} {piece:?}");
    }
}

#[test]
#[ignore = "takes long"]
fn nothing_needs_more_stack_than_there_is() {
    let nested = std::thread::Builder::new().stack_size(1 << 20).spawn(|| {
        for (open, close) in [("(", ")"), ("[", "]"), ("{", "}"), ("a(", ")"), ("-", ""), ("a?", ":a"), ("2**", "2")] {
            let text = format!("{}a{}", open.repeat(200_000), close.repeat(200_000));
            look(&text);
            look(&format!("MPI_Send({text});"));
            // As deep as the grammars go.
            for depth in [49, 50, 60, 99] {
                look(&format!("{}a{}", open.repeat(depth), close.repeat(depth)));
            }
        }
    });
    nested.unwrap().join().unwrap();
}
