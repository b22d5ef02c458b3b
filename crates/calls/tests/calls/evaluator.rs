//! The values of expressions of C, C++ and Fortran on made-up variables, and what has none.

use calls::Unknown;
use calls::expression::{Evaluated, given_in_c, given_in_fortran};

use super::made_up::MadeUpScope;

const INT: i128 = 4;

fn constant(name: &str) -> Result<Option<i128>, Unknown> {
    Ok(name.eq_ignore_ascii_case("MPI_PROC_NULL").then_some(-2))
}

fn c(text: &str) -> Result<Evaluated, Unknown> {
    given_in_c(text, &MadeUpScope, &constant)
}

fn fortran(text: &str) -> Result<Evaluated, Unknown> {
    given_in_fortran(text, &MadeUpScope, &constant)
}

#[test]
fn numbers_of_c() {
    for (text, value) in [
        ("(a + 1) % b", 0),
        ("a-b*2", -1),
        ("-a / 2", -2),
        ("-a % 3", -2),
        ("a ? b : 1", 3),
        ("a == 5 ? MPI_PROC_NULL : gone", -2),
        ("a != 5 && gone", 0),
        ("a || gone", 1),
        ("x->n+v[a - 3]", 18),
        ("x[0].n", 7),
        ("(*x).n", 7),
        ("(int)a % 2", 1),
        ("(int)(long)a", 5),
        ("*p * *p", 4),
        ("p[1] + *(p + 2)", 10),
        ("c.d[2] - 1", 8),
        ("*&a", 5),
        ("a & 1 | 8", 9),
        ("(a) & 1", 1),
        ("!a == 0 && b", 1),
        ("a << 2 >> 1", 10),
        ("'A'", 65),
        ("0x10 + 010 + 1UL + 1'0", 35),
        ("(a)-(b)", 2),
        ("-(a)", -5),
        ("~a + +1", -5),
        ("(int)(a + b) * 2", 16),
        ("sizeof v / sizeof v[0]", 5),
        ("sizeof(long) + sizeof(a)", 12),
        ("vec.size() - 1", 2),
        ("(int)vec.size()", 3),
        ("vec[2]", 7),
        ("*vec.data()", 5),
        ("static_cast<int>(a)", 5),
        ("int(a) + 1", 6),
        ("&v[3] - &v[1]", 2),
        ("NULL", 0),
    ] {
        assert_eq!(c(text).map(|found| found.number), Ok(value), "{text}");
    }
}

#[test]
fn addresses_of_c() {
    for (text, place) in [
        ("v", 0x2000),
        ("v + 1", 0x2004),
        ("&v[a - 3]", 0x2008),
        ("p", 0x5000),
        ("p + 2", 0x5008),
        ("&x->n", 0x1234),
        ("c.d", 0x4000),
        ("vec.data()", 0x3000),
        ("vec.data() + 1", 0x3004),
        ("&vec[1]", 0x3004),
    ] {
        let found = c(text).unwrap();
        assert_eq!((found.number, found.width), (place, Some(INT)), "{text}");
    }
}

#[test]
fn numbers_of_fortran() {
    for (text, value) in [
        ("A + b", 8),
        ("mod(rank + 1, b)", 2),
        ("MODULO(-a, b) + max(1, a, 2)", 6),
        ("min(a,b)", 3),
        ("-a**2", -25),
        ("2**3**2", 512),
        ("2**(-1)", 0),
        ("-7/2", -3),
        ("grid(2, 6)", 6),
        ("grid(0,5)", 1),
        ("size(grid)", 6),
        ("size(grid, 2)", 2),
        ("ubound(grid, 2) - lbound(grid, 2)", 1),
        ("req%mpi_val", 77),
        ("req", 77),
        ("x%n", 7),
        ("5_8 + 1_MPI_COUNT_KIND", 6),
        ("merge(1, 2, .true.)", 1),
        ("MPI_Proc_Null", -2),
    ] {
        assert_eq!(fortran(text).map(|found| found.number), Ok(value), "{text}");
    }
}

#[test]
fn addresses_of_fortran() {
    for (text, place) in [
        ("grid", 0x6000),
        ("grid(:,5)", 0x6000),
        ("grid(1:2,6)", 0x6010),
        ("grid(:,5:6)", 0x6000),
        ("grid(1:,5)", 0x6004),
    ] {
        let found = fortran(text).unwrap();
        assert_eq!((found.number, found.width), (place, Some(INT)), "{text}");
    }
}

fn around(inner: &str) -> String {
    format!("{}{inner}{}", "(".repeat(80), ")".repeat(80))
}

#[test]
fn what_has_no_value_in_c() {
    let attacks = ["$_shell(\"id\")", "$pc", "f()", "(a = 3)", "a++", "v.begin()"];
    let attacks = attacks.iter().map(|attack| format!("0'1 + {attack} + 0'1"));
    let texts = [
        "nix",
        "gone",
        "gone + 1",
        "a b",
        "a +",
        "(a",
        "a[",
        "a[0]",
        "a.n",
        "v[7]",
        "vec[3]",
        "c.vec.size()",
        "1.5",
        "\"s\"",
        "a/0",
        "a % (b - 3)",
        "a<<99",
        "a<<63<<63",
        "",
        "*",
        "*a",
        "*5",
        "&5",
        "a?b",
        "é",
        "x->",
        "x + x",
        "c",
        "i++",
        "a = 3",
        "f(x)",
        "a(1)",
        "$rax",
        "a <<= 1",
        "(nix)a",
        "1 ? 2",
    ];
    for text in texts.map(str::to_owned).into_iter().chain(attacks).chain([around("a")]) {
        assert!(c(&text).is_err(), "{text}");
    }
}

#[test]
fn what_has_no_value_in_fortran() {
    let texts = [
        "nix",
        "gone",
        "mod(a)",
        "mod(a, 0)",
        "max()",
        "max(a b)",
        "grid(3, 5)",
        "grid(1)",
        "grid(0:1, 5:6)",
        "grid(1, 5:6)",
        "grid(:, 7)",
        "sparse(1:2)",
        "grid(:,5) + 1",
        "a**99",
        "a(1)",
        "system('id')",
        "call system",
        "$x = 4711",
        "a = 3",
        "'text'",
        "1.5",
        "a(",
        "a%",
        "grid(0, 5",
    ];
    for text in texts.map(str::to_owned).into_iter().chain([around("a"), "2**".repeat(80) + "2"]) {
        assert!(fortran(&text).is_err(), "{text}");
    }
}

#[test]
fn why_an_expression_has_no_value() {
    for (text, reason) in [
        ("gone", "optimised away"),
        ("nix", "no variable nix"),
        ("*5", "a number points at nothing; say of which type it is: *(MPI_Comm *)NUMBER"),
        ("a / 0", "the expression divides by zero"),
        ("vec[3]", "the container has no element 3: there are 3"),
        ("(nix)a", "no type nix"),
        ("c", "a value of the type made-up RECORD is not a number"),
    ] {
        assert_eq!(c(text).unwrap_err().to_string(), reason, "{text}");
    }
    for (text, reason) in [
        ("grid(3, 5)", "the array has no element 3: they go from 0 to 2"),
        ("grid(1)", "an array of 2 dimensions with 1 indices"),
        ("sparse(1:2)", "a section that is not one piece of memory may have been copied for the call"),
        ("a(1)", "what is indexed is not an array"),
        ("nix(1)", "nix is a function, or is not known here"),
        ("mod(a)", "mod is not understood with these arguments"),
        ("a = 3", "it changes the program"),
    ] {
        assert_eq!(fortran(text).unwrap_err().to_string(), reason, "{text}");
    }
}

#[test]
fn a_section_of_a_sparse_array_is_its_first_element_only_alone() {
    assert_eq!(fortran("sparse(2:2)").map(|found| found.number), Ok(0x7008));
}
