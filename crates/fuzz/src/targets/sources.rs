//! Sources of programs, in C and Fortran: calls in them, macros, ways through functions, and expressions.

use std::path::Path;
use std::sync::Arc;

use calls::expression::{c_grammar, fortran_grammar};
use calls::source::flow::{Body, Mark, reaching};
use calls::source::{Macros, Source, Sources, blanks, constant_in, constant_in_fortran, find, mentions};

pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let is_type = |_: &str| None;
    let _ = (c_grammar::parse(&text, &is_type, true), fortran_grammar::parse(&text));
    let _ = (constant_in(&text), constant_in_fortran(&text));
    let _ = (blanks::c(&text), blanks::fortran(&text, true));
    for name in ["/nowhere/a.c", "/nowhere/a.f90", "/nowhere/a.f"] {
        let source = Arc::new(Source::new(Path::new(name), text.to_string()));
        for line in [1, 2, 5] {
            let _ = find(&source, "MPI_Send", line);
            if let Some(body) = Body::at(&source, line as usize) {
                let found = mentions(&source, &body.range).unwrap_or_default();
                let marks: Vec<Mark> = found.iter().map(|one| Mark { at: one.at, starts: true, ends: false }).collect();
                reaching(&body, body.range.end.saturating_sub(2), &marks);
            }
        }
        if let Ok(macros) = Macros::of(&source, &Sources::new(), None, None) {
            let _ = (macros.expanded("A + B * a"), macros.expanded(&text));
        }
    }
}

pub fn seeds() -> Vec<Vec<u8>> {
    let texts = [
        "MPI_Send(b, n + 1, MPI_INT, (rank + 1) % size, TAG, comm);\n",
        "#define A 1\n#define B(x) (x + A)\nint main(void) {\n  MPI_Send(b, B(2), t, 0, 7, c);\n}\n",
        "void f() {\n  if (a) { MPI_Irecv(b, 1, t, 0, 7, c, &r); } else goto x;\n  for (;;) switch (a) { case 1: break; }\nx: MPI_Wait(&r, s);\n}\n",
        "subroutine f(r)\n  if (a) then\n    call MPI_Send(b(1:n), n, &\n      MPI_INTEGER, 0, 7, c, r)\n  end if\nend subroutine\n",
        "      CALL MPI_SEND(B, N,\n     & MPI_INTEGER, 0, 7, C, IERR)\n",
        "x->y[3].z + *(int *)p - sizeof(struct s) << 2 ? static_cast<long>(a) : R\"(text)\"",
        "a%b(2, 3:4)%c ** 2 .and. .not. (x /= 1.5d0)",
        "// a comment\n/* another */ \"MPI_Send(\" 'c' 0'1 \\\n",
    ];
    texts.map(|text| text.as_bytes().to_vec()).to_vec()
}
