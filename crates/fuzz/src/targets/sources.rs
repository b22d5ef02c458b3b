//! Sources of programs, in C and Fortran: calls in them, macros, ways through functions, and expressions.

#[path = "../../../calls/tests/calls/texts.rs"]
mod texts;

pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    texts::look(&text, [1, 2, 5], &text);
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
