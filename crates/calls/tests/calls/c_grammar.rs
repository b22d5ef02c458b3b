//! Expressions of C that only look: what they are taken for, and what is refused.

use calls::expression::c_grammar;
use calls::expression::tree::{Asked, Node, Operator, Prefix, TypeName};

/// `nix` is not known at all, one-letter names are variables.
fn parse(text: &str) -> Result<Node, String> {
    let is_type = |name: &str| match name {
        "MPI_Comm" | "grid::own" => Some(true),
        "nix" => None,
        _ => Some(false),
    };
    c_grammar::parse(text, &is_type, true).map_err(|problem| problem.to_string())
}

fn name(text: &str) -> Node {
    Node::Name(text.to_owned())
}

fn a() -> Node {
    name("a")
}

fn b() -> Node {
    name("b")
}

fn number(value: i128) -> Node {
    Node::Number(value)
}

fn member(base: Node, name: &str) -> Node {
    Node::Member(base.into(), name.to_owned())
}

fn element(base: Node, index: Node) -> Node {
    Node::Element(base.into(), index.into())
}

fn unary(prefix: Prefix, operand: Node) -> Node {
    Node::Unary(prefix, operand.into())
}

fn binary(operator: Operator, left: Node, right: Node) -> Node {
    Node::Binary(operator, left.into(), right.into())
}

fn of_type(name: &str, pointers: usize) -> TypeName {
    TypeName { name: name.to_owned(), pointers }
}

fn cast(name: &str, pointers: usize, operand: Node) -> Node {
    Node::Cast(of_type(name, pointers), operand.into())
}

#[test]
fn what_is_taken() {
    use Operator::{Add, And, BitAnd, Divide, Equal, Multiply, ShiftLeft, Subtract};
    use Prefix::{AddressOf, At, Complement, Minus, Not};
    let size_of = |operand: Node| Node::SizeOf(operand.into());
    let container = |base: Node, asked| Node::Container(base.into(), asked);
    for (text, node) in [
        ("a", a()),
        (" a ", a()),
        ("::a", name("::a")),
        ("grid :: b", name("grid::b")),
        ("$rsp", name("$rsp")),
        ("17", number(17)),
        ("0x1F", number(31)),
        ("017", number(15)),
        ("0", number(0)),
        ("3UL", number(3)),
        ("a.b", member(a(), "b")),
        ("a->b.c[1]", element(member(member(a(), "b"), "c"), number(1))),
        ("a [ b + 1 ]", element(a(), binary(Add, b(), number(1)))),
        ("*a", unary(At, a())),
        ("*a[1]", unary(At, element(a(), number(1)))),
        ("(*a).b", member(unary(At, a()), "b")),
        ("&a.b", unary(AddressOf, member(a(), "b"))),
        ("-1", unary(Minus, number(1))),
        ("a - b - 1", binary(Subtract, binary(Subtract, a(), b()), number(1))),
        ("a - (b - 1)", binary(Subtract, a(), binary(Subtract, b(), number(1)))),
        ("(MPI_Comm)0x10", cast("MPI_Comm", 0, number(16))),
        ("(grid::own)a", cast("grid::own", 0, a())),
        ("(a)-1", binary(Subtract, a(), number(1))),
        ("(a)", a()),
        ("(const MPI_Comm *const)a", cast("MPI_Comm", 1, a())),
        ("(struct s **) a->b", cast("s", 2, member(a(), "b"))),
        ("(unsigned long)a", cast("unsigned long", 0, a())),
        ("*(MPI_Comm *)(a + 8)", unary(At, cast("MPI_Comm", 1, binary(Add, a(), number(8))))),
        ("(nix)&a", cast("nix", 0, unary(AddressOf, a()))),
        ("(nix)(a)", cast("nix", 0, a())),
        ("(int)(long)a", cast("int", 0, cast("long", 0, a()))),
        ("int(a)", cast("int", 0, a())),
        ("static_cast<unsigned long>(a + 1)", cast("unsigned long", 0, binary(Add, a(), number(1)))),
        ("(a) * b", binary(Multiply, a(), b())),
        ("(a) & 1", binary(BitAnd, a(), number(1))),
        ("a.data()", container(a(), Asked::Data)),
        ("(int)a.b.size() - 1", binary(Subtract, cast("int", 0, container(member(a(), "b"), Asked::Size)), number(1))),
        ("sizeof(int)", Node::SizeOfType(of_type("int", 0))),
        ("sizeof(MPI_Comm *)", Node::SizeOfType(of_type("MPI_Comm", 1))),
        ("sizeof(a) / sizeof a[0]", binary(Divide, size_of(a()), size_of(element(a(), number(0))))),
        ("a ? b : a", Node::Choice(a().into(), b().into(), a().into())),
        ("a == b", binary(Equal, a(), b())),
        ("a + b * 2 << 1", binary(ShiftLeft, binary(Add, a(), binary(Multiply, b(), number(2))), number(1))),
        ("!a && ~b", binary(And, unary(Not, a()), unary(Complement, b()))),
        ("'x'", number(120)),
        ("'\\n'", number(10)),
        ("1'000'000", number(1_000_000)),
        ("0x1'F", number(31)),
        ("NULL", number(0)),
        ("true", number(1)),
    ] {
        assert_eq!(parse(text), Ok(node), "{text}");
    }
}

#[test]
fn names_with_a_dollar_sign_are_only_for_users() {
    let problem = c_grammar::parse("$rsp", &|_| None, false).unwrap_err();
    assert_eq!(problem.to_string(), "a name with a dollar sign means something else to debuggers");
}

#[test]
fn nothing_is_changed() {
    for text in
        ["a = 3", "a=b", "a.b += 1", "a++", "a--", "++a", "--a", "*a = 1", "a[b = 1]", "(a = 1)", "a <<= 2", "a--1"]
    {
        assert_eq!(parse(text).unwrap_err(), "it changes the program", "{text}");
    }
}

#[test]
fn nothing_is_called() {
    for text in ["f()", "a.f(1)", "a[f(1)]", "MPI_Comm(1)", "a.data(1)", "data()", "a.begin()"] {
        assert_eq!(parse(text).unwrap_err(), "it calls a function", "{text}");
    }
}

#[test]
fn what_is_refused() {
    let around = |count: usize, inner: &str| format!("{}{inner}{}", "(".repeat(count), ")".repeat(count));
    for (text, problem) in [
        (String::new(), "something is missing at its end"),
        ("(".to_owned(), "something is missing at its end"),
        ("a +".to_owned(), "something is missing at its end"),
        ("a.".to_owned(), "a name is missing at its end"),
        ("a->1".to_owned(), "a name is missing before '1'"),
        ("a[1".to_owned(), "']' is missing at its end"),
        ("(a".to_owned(), "')' is missing at its end"),
        ("a b".to_owned(), "not 'b' here"),
        ("a ? b".to_owned(), "':' is missing at its end"),
        ("a == ".to_owned(), "something is missing at its end"),
        ("&&a".to_owned(), "not '&&' here"),
        ("'x".to_owned(), "has no meaning here"),
        ("0'1 + f() + 0'1".to_owned(), "it calls a function"),
        ("'\\x41'".to_owned(), "has no meaning here"),
        ("\"s\"".to_owned(), "'\"' has no meaning here"),
        ("static_cast<std::vector<int>>(a)".to_owned(), "the type of a cast is not understood"),
        ("99999999999999999999999".to_owned(), "a number in it is larger than a program's"),
        ("9".repeat(1999), "a number in it is larger than a program's"),
        ("09".to_owned(), "09 is not a number"),
        ("3.5".to_owned(), "'3' has no meaning here"),
        ("a@3".to_owned(), "'@' has no meaning here"),
        ("a\0".to_owned(), "has no meaning here"),
        ("é".to_owned(), "'é' has no meaning here"),
        (around(60, "a"), "nested more than 50 deep"),
        (around(200_000, "a"), "more than 2000 characters"),
        ("*".repeat(60) + "a", "nested more than 50 deep"),
        ("(int)".repeat(60) + "a", "nested more than 50 deep"),
        ("a".to_owned() + &".b".repeat(60), "nested more than 50 deep"),
        (("*".repeat(40) + "(").repeat(6) + "a" + &")".repeat(6), "more than 200 words and signs"),
        ("a".to_owned() + &"+1".repeat(60), "more than 50 summands"),
        ("a".repeat(3000), "more than 2000 characters"),
    ] {
        let found = parse(&text).unwrap_err();
        assert!(found.contains(problem), "{text:.80}: {found}");
    }
}

#[test]
fn the_deepest_trees_leave_stack() {
    // A thread of a debugger has less of it than the first.
    let nested = std::thread::Builder::new().stack_size(1 << 20).spawn(|| {
        for text in ["a?b:".repeat(49) + "a", "a?".repeat(99) + "a", "sizeof ".repeat(49) + "a", "a[".repeat(49) + "a"]
        {
            let _ = parse(&text);
        }
    });
    nested.unwrap().join().unwrap();
}
