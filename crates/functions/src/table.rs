//! The functions and their parameters, as the standard has them.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::HandleKind;

/// The file is small; a function's line is taken apart when it is asked for.
const TEXT: &str = include_str!("functions.txt");

/// How the words of parameters end that only functions of large counts have.
const LARGE_ONLY: [&str; 2] = ["+", "+!"];

/// One function of MPI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// In C, such as `MPI_Recv`; without the `_c` of large counts.
    pub name: &'static str,
    /// In Fortran, in capital letters; `None` where Fortran does not have it.
    pub fortran: Option<&'static str>,
    /// Those of C, in order. In Fortran `ierror` follows.
    pub parameters: Vec<Parameter>,
}

/// One parameter of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// In the standard's lower case.
    pub name: &'static str,
    /// What it is, in the words of the Forum's interface: `RANK`, `COMMUNICATOR`.
    pub kind: &'static str,
    /// Whether the function reads or writes it.
    pub direction: Direction,
    /// Whether the function of C is given an address.
    pub address: bool,
    /// Whether it is an array.
    pub array: Option<Array>,
    /// Whether Fortran has it.
    pub in_fortran: bool,
    /// Of an integer: its bytes in C (where handles and addresses are not meant).
    pub bytes: Option<u64>,
}

/// Whether a function reads or writes a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// It reads it.
    In,
    /// It writes it: nothing is there before.
    Out,
    /// It reads and writes it.
    InOut,
}

/// How many elements an array has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Array {
    /// As many as the parameter of this name says.
    Counted(&'static str),
    /// What the standard says in words, such as the size of the communicator.
    Other,
}

impl Parameter {
    /// What it is a handle of.
    pub fn object(&self) -> Option<HandleKind> {
        HandleKind::of_parameter(self.kind)
    }

    /// Whether it stands for an object when the function is called; what it only returns does not yet.
    pub fn gives(&self, object: HandleKind) -> bool {
        self.direction != Direction::Out && self.object() == Some(object)
    }
}

impl Function {
    /// The parameter of that name.
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// Whether it is given requests: it starts, waits for, tests or frees them.
    pub fn takes_requests(&self) -> bool {
        self.parameters.iter().any(|parameter| parameter.gives(HandleKind::Request))
    }

    /// Whether it receives a message before it returns.
    pub fn receives(&self) -> bool {
        let peer =
            self.parameter("source").is_some() || self.parameters.iter().any(|one| one.gives(HandleKind::Message));
        peer && self.moves_data(&[Direction::Out, Direction::InOut])
    }

    /// Whether it sends a message before it returns, or has it kept.
    pub fn sends(&self) -> bool {
        self.parameter("dest").is_some() && self.moves_data(&[Direction::In, Direction::InOut])
    }

    fn moves_data(&self, directions: &[Direction]) -> bool {
        let with_requests = self.parameters.iter().any(|one| one.object() == Some(HandleKind::Request));
        let buffer = |one: &Parameter| one.kind == "BUFFER" && directions.contains(&one.direction);
        !with_requests && self.parameters.iter().any(buffer)
    }
}

/// A function by its name in C, also that with large counts (`MPI_Recv_c`), whose parameters have other widths.
pub fn find(c_name: &str) -> Option<Function> {
    let lines = lines();
    let small = small(c_name);
    let line = lines.functions.get(small)?;
    if small == c_name {
        return Some(parse(line, false));
    }
    let function = parse(line, true);
    let large = |parameter: &Parameter| lines.kinds.get(parameter.kind).is_some_and(|types| types.len() > 1);
    function.parameters.iter().any(large).then_some(function)
}

/// A function's name without the mark of large counts: both take part in the same operations.
pub fn small(c_name: &str) -> &str {
    // A few have names of their own that end so (MPI_Status_f2c).
    let own = || lines().functions.contains_key(c_name);
    c_name.strip_suffix("_c").filter(|_| !own()).unwrap_or(c_name)
}

/// All functions, in the order of their names.
pub fn all() -> impl Iterator<Item = Function> {
    TEXT.lines().filter(|line| line.starts_with("MPI_")).map(|line| parse(line, false))
}

struct Lines {
    functions: HashMap<&'static str, &'static str>,
    /// The types of each kind in C: the usual one, and that of functions with large counts.
    kinds: HashMap<&'static str, Vec<&'static str>>,
}

fn lines() -> &'static Lines {
    static LINES: OnceLock<Lines> = OnceLock::new();
    LINES.get_or_init(|| {
        let mut found = Lines { functions: HashMap::new(), kinds: HashMap::new() };
        for line in TEXT.lines().filter(|line| !line.starts_with('#')) {
            match line.split_once(' ') {
                Some(("kind", rest)) => {
                    let mut words = rest.split(' ');
                    found.kinds.insert(words.next().unwrap_or_default(), words.collect());
                }
                Some((name, _)) => {
                    found.functions.insert(name, line);
                }
                None => {}
            }
        }
        found
    })
}

fn parse(line: &'static str, large: bool) -> Function {
    let mut words = line.split(' ');
    let name = words.next().unwrap_or_default();
    let fortran = words.next().filter(|name| *name != "-");
    // Some functions of large counts have parameters more (MPI_Type_get_contents_c).
    let has = |word: &&str| large || !LARGE_ONLY.iter().any(|end| word.ends_with(end));
    Function { name, fortran, parameters: words.filter(has).filter_map(|word| parameter(word, large)).collect() }
}

/// `array_of_requests:REQUEST:inout*[count]`.
fn parameter(word: &'static str, large: bool) -> Option<Parameter> {
    let mut parts = word.splitn(3, ':');
    let (name, kind, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let letters = rest.find(|letter: char| !letter.is_ascii_lowercase()).unwrap_or(rest.len());
    let (direction, marks) = rest.split_at(letters);
    let direction = match direction {
        "in" => Direction::In,
        "out" => Direction::Out,
        _ => Direction::InOut,
    };
    let array = marks.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(count, _)| match count {
        "" => Array::Other,
        count => Array::Counted(count),
    });
    let types = lines_of_kind(kind);
    let type_ = if large { types.last() } else { types.first() };
    let bytes = match type_.copied() {
        Some("int") => Some(4),
        Some("MPI_Aint" | "MPI_Count" | "MPI_Offset") => Some(8),
        _ => None,
    };
    Some(Parameter {
        name,
        kind,
        direction,
        address: marks.starts_with('*'),
        array,
        in_fortran: !marks.ends_with('!'),
        bytes,
    })
}

fn lines_of_kind(kind: &str) -> &'static [&'static str] {
    lines().kinds.get(kind).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn function(name: &str) -> Function {
        find(name).unwrap()
    }

    fn names(of: impl Fn(&Function) -> bool) -> Vec<&'static str> {
        all().filter(of).map(|function| function.name).collect()
    }

    #[test]
    fn parameters_are_those_of_the_standard() {
        let receive = function("MPI_Recv");
        let found: Vec<&str> = receive.parameters.iter().map(|one| one.name).collect();
        assert_eq!(found, ["buf", "count", "datatype", "source", "tag", "comm", "status"]);
        assert_eq!(receive.fortran, Some("MPI_RECV"));
        let count = receive.parameter("count").copied();
        assert_eq!(count.map(|one| (one.address, one.bytes, one.direction)), Some((false, Some(4), Direction::In)));
        let large = function("MPI_Recv_c").parameter("count").and_then(|one| one.bytes);
        assert_eq!(large, Some(8));
        let wait = function("MPI_Waitall");
        let requests = wait.parameter("array_of_requests").copied();
        let expected = (true, Some(Array::Counted("count")), Some(HandleKind::Request), Direction::InOut);
        assert_eq!(requests.map(|one| (one.address, one.array, one.object(), one.direction)), Some(expected));
        assert_eq!(function("MPI_Init").parameters.iter().filter(|one| one.in_fortran).count(), 0);
        assert_eq!(function("MPI_Wtime").parameters, []);
    }

    #[test]
    fn large_counts_have_only_functions_with_counts() {
        assert!(find("MPI_Get_count_c").is_some());
        let contents = |name| function(name).parameters.iter().map(|one| one.name).collect::<Vec<_>>();
        let small = contents("MPI_Type_get_contents");
        assert!(small.len() == 7 && !small.contains(&"max_large_counts"), "{small:?}");
        let large = contents("MPI_Type_get_contents_c");
        assert!(large.len() == 9 && large.contains(&"max_large_counts"), "{large:?}");
        assert_eq!((find("MPI_Barrier_c"), find("MPI_Frobnicate"), find("MPI_"), find("")), (None, None, None, None));
        // A name of its own.
        assert_eq!(function("MPI_Status_f2c").name, "MPI_Status_f2c");
    }

    #[test]
    fn every_line_is_understood() {
        assert!(all().count() > 500);
        for function in all() {
            for one in &function.parameters {
                assert!(!lines_of_kind(one.kind).is_empty(), "{} {one:?}", function.name);
                if let Some(Array::Counted(count)) = one.array {
                    assert!(function.parameter(count).is_some(), "{} {one:?}", function.name);
                }
            }
        }
    }

    #[test]
    fn who_sends_receives_and_is_given_requests() {
        let receives = ["MPI_Mrecv", "MPI_Recv", "MPI_Sendrecv", "MPI_Sendrecv_replace"];
        assert_eq!(names(Function::receives), receives);
        let sends = ["MPI_Bsend", "MPI_Rsend", "MPI_Send", "MPI_Sendrecv", "MPI_Sendrecv_replace", "MPI_Ssend"];
        assert_eq!(names(Function::sends), sends);
        let given = names(Function::takes_requests);
        for name in ["MPI_Wait", "MPI_Testsome", "MPI_Start", "MPI_Request_free", "MPI_Cancel", "MPI_Pready"] {
            assert!(given.contains(&name), "{name}");
        }
        assert!(!given.contains(&"MPI_Isend") && !given.contains(&"MPI_Send_init"));
    }
}
