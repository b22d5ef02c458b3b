//! Which calls may have been passed last before a place in a function is reached.

use std::path::Path;

use calls::source::Source;
use calls::source::flow::{Body, Mark, reaching};
use calls::source::mentions;

/// The marks that may have been passed last before `WAIT`: `S1`, `S2`, ... start something and end what was before, `A1`
/// start something only, `E` end it.
fn reached(name: &str, text: &str) -> Vec<String> {
    let source = Source::new(Path::new(name), text.to_owned());
    let wait = source.code.find("WAIT").unwrap();
    let body = Body::at(&source, source.line_of(wait)).unwrap();
    let mut marks = Vec::new();
    let mut names = Vec::new();
    let code = &source.code[body.range.clone()];
    let starts = |c: char| "SAE".contains(c);
    for (at, word) in code.match_indices(starts).filter_map(|(at, _)| {
        let word: String = code[at..].chars().take_while(char::is_ascii_alphanumeric).collect();
        let apart = !code[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        (apart && word.len() <= 2 && (word == "E" || word[1..].parse::<u8>().is_ok())).then_some((at, word))
    }) {
        marks.push(Mark { at: body.range.start + at, starts: !word.starts_with('E'), ends: !word.starts_with('A') });
        names.push(word);
    }
    let mut found: Vec<String> = reaching(&body, wait, &marks).into_iter().map(|at| names[at].clone()).collect();
    found.sort();
    found
}

fn c(statements: &str) -> String {
    reached("a.c", &format!("int n;\nint main(int a, char **b) {{\n{statements}\n}}\nvoid other(void) {{ S9(); }}\n"))
        .join(" ")
}

fn fortran(statements: &str) -> String {
    reached("a.f90", &format!("program a\n{statements}\nend program a\nsubroutine b()\n call S9()\nend subroutine\n"))
        .join(" ")
}

#[test]
fn the_last_of_a_row() {
    assert_eq!(c("S1(); S2(); WAIT(); S3();"), "S2");
    assert_eq!(c("S1(); { S2(); } WAIT();"), "S2");
    assert_eq!(c("A1(); A2(); WAIT();"), "A1 A2");
    assert_eq!(c("S1(); E(); A2(); WAIT();"), "A2");
    assert_eq!(c("int e = S1(); if (e) return 1; x = 3; WAIT();"), "S1");
    assert_eq!(c("WAIT(); S1();"), "");
    assert_eq!(fortran("call S1()\ncall S2()\ncall WAIT()\ncall S3()"), "S2");
}

#[test]
fn branches_beside_the_place_were_not_taken() {
    assert_eq!(c("if (rank == 0) { S1(); WAIT(); } else { S2(); }"), "S1");
    assert_eq!(c("if (rank == 0) { S1(); } else if (rank == 1) { S2(); WAIT(); } else S3();"), "S2");
    assert_eq!(c("S4(); if (rank == 0) S1(); else { S2(); WAIT(); }"), "S2");
    assert_eq!(c("S4(); if (rank == 0) S1(); WAIT();"), "S1 S4");
    assert_eq!(c("S4(); if (rank == 0) S1(); else S2(); WAIT();"), "S1 S2");
    assert_eq!(c("S4(); if (rank == 0) { S1(); return 0; } WAIT();"), "S4");
    assert_eq!(
        c("S4(); switch (x) { case 0: S1(); break; case 1: case 2: S2(); WAIT(); break; default: S3(); }"),
        "S2"
    );
    assert_eq!(c("S4(); switch (x) { case 0: S1(); break; default: S2(); } WAIT();"), "S1 S2");
    assert_eq!(c("S4(); x == 3 && S1(); WAIT();"), "S1 S4");
    assert_eq!(c("S4(); x ? S1() : S2(); WAIT();"), "S1 S2 S4");
    assert_eq!(c("S4(); IF_RANK(0) S1(); WAIT();"), "S1 S4");
    assert_eq!(c("if (!S1()) { WAIT(); }"), "S1");
    let branches = "call S4()\nif (rank == 0) then\n call S1()\nelse if (rank == 1) then\n call S2()\n call WAIT()\nelse\n call S3()\nend if";
    assert_eq!(fortran(branches), "S2");
    assert_eq!(fortran("call S4()\nif (rank == 0) call S1()\ncall WAIT()"), "S1 S4");
    assert_eq!(
        fortran("call S4()\nselect case (n)\ncase (1)\n call S1()\ncase default\n call S2()\nend select\ncall WAIT()"),
        "S1 S2"
    );
}

#[test]
fn loops_come_around() {
    assert_eq!(c("S4(); for (;;) { S1(); WAIT(); S2(); }"), "S1");
    assert_eq!(c("S4(); for (;;) { WAIT(); S2(); }"), "S2 S4");
    assert_eq!(c("S4(); while (x) S1(); WAIT();"), "S1 S4");
    assert_eq!(c("S4(); do { S1(); } while (x); WAIT();"), "S1");
    assert_eq!(c("S4(); do { WAIT(); S1(); } while (x);"), "S1 S4");
    assert_eq!(c("for (;;) { if (x) { S1(); } else { S2(); WAIT(); } }"), "S2");
    assert_eq!(c("S4(); FOR_EACH(x) { S1(); } WAIT();"), "S1 S4");
    assert_eq!(fortran("call S4()\ndo i = 1, n\n call S1()\nend do\ncall WAIT()"), "S1 S4");
    assert_eq!(fortran("do i = 1, &\n n\n call WAIT()\n call S1()\nenddo"), "S1");
}

#[test]
fn where_control_jumps_all_come_into_question() {
    let all = "S1 S2";
    assert_eq!(c("S1(); goto end; end: if (x) { S2(); WAIT(); }"), all);
    assert_eq!(c("S1();\n#ifdef X\nif (x)\n#else\nif (y)\n#endif\n{ S2(); WAIT(); }"), all);
    assert_eq!(c("switch (x) { case 0: S1(); case 1: S2(); WAIT(); }"), all);
    assert_eq!(c("auto f = [&]() { S1(); }; S2(); WAIT();"), all);
    assert_eq!(fortran("call S1()\ngoto 10\n10 continue\ncall S2()\ncall WAIT()"), all);
    // Damage is no reason to fail: the function ends before the place.
    assert_eq!(c("if S1(); else ) } S2(); WAIT();"), "S1");
}

#[test]
fn functions_are_found_by_their_lines() {
    let text = "namespace a {\nstruct S {\n  int f(int x) const noexcept {\n    MPI_Wait(0, 0);\n  }\n  int v = g(3);\n};\n\
                int table[] = { 1, 2 };\nextern \"C\" void h()\n{\n  PMPI_Barrier(c);\n}\n}\n";
    let source = Source::new(Path::new("a.cpp"), text.to_owned());
    let called = |line: usize| {
        let body = Body::at(&source, line)?;
        let found = mentions(&source, &body.range)?;
        Some(found.into_iter().map(|one| one.function).collect::<Vec<_>>().join(" "))
    };
    assert_eq!(called(4).as_deref(), Some("MPI_Wait"));
    assert_eq!(called(9).as_deref(), Some("MPI_Barrier"));
    assert_eq!(called(11).as_deref(), Some("MPI_Barrier"));
    assert_eq!(called(8), None);
    let text = "module m\ncontains\n  integer function f(x)\n    call MPI_Wait(a, b, c)\n  end function f\n  subroutine g\n    \
                Call mpi_barrier (c, e)\n  end\nend module\n";
    let source = Source::new(Path::new("a.f90"), text.to_owned());
    let called = |line: usize| {
        let body = Body::at(&source, line)?;
        let found = mentions(&source, &body.range)?;
        Some(found.into_iter().map(|one| one.function).collect::<Vec<_>>().join(" "))
    };
    assert_eq!(called(4).as_deref(), Some("MPI_Wait"));
    assert_eq!(called(7).as_deref(), Some("MPI_Barrier"));
    assert_eq!(called(1), None);
}
