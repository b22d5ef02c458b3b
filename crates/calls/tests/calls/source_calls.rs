//! Which calls in the source around a thread's call may have started what it waits for, where no variable can be read.

use std::path::{Path, PathBuf};
use std::time::Duration;

use calls::{Caller, Frames, KeptFiles, NamedFrame, Thread, Unknown, thread_call};
use functions::constants::Family;
use model::{SameObject, SourceCall};
use target::TargetAbi;
use target::files::Reader;

use super::made_up::MadeUpScope;

/// A thread whose one frame of the application stands at a line of a file.
#[derive(Clone)]
pub struct AtLine {
    file: PathBuf,
    line: i64,
}

impl Thread for AtLine {
    type Caller = Self;
    fn abi(&self) -> Result<TargetAbi, Unknown> {
        Ok(TargetAbi::LITTLE_64)
    }
    fn counter(&self, _: usize) -> Result<u64, Unknown> {
        Err(Unknown::new("no counter"))
    }
    fn read(&self, _: u64, _: usize) -> Result<Vec<u8>, Unknown> {
        Err(Unknown::new("no memory"))
    }
    fn function_at(&self, _: u64) -> Result<Option<String>, Unknown> {
        Ok(None)
    }
    fn fingerprint(&self, _: usize, _: usize) -> Result<Option<String>, Unknown> {
        Ok(None)
    }
    fn caller(&self, _: usize) -> Result<Self, Unknown> {
        Ok(self.clone())
    }
}

impl Caller for AtLine {
    type Scope = MadeUpScope;
    fn file(&self) -> Result<Option<PathBuf>, Unknown> {
        Ok(Some(self.file.clone()))
    }
    fn line(&self) -> Result<Option<i64>, Unknown> {
        Ok(Some(self.line))
    }
    fn built(&self) -> Result<Option<f64>, Unknown> {
        Ok(Some(f64::MAX))
    }
    fn reader(&self) -> Result<Option<Reader>, Unknown> {
        Ok(None)
    }
    fn family(&self) -> Result<Option<Family>, Unknown> {
        Ok(Family::named("openmpi"))
    }
    fn symbol(&self, _: &str) -> Result<Option<i128>, Unknown> {
        Ok(None)
    }
    fn scope(&self, _: bool) -> Result<MadeUpScope, Unknown> {
        Ok(MadeUpScope)
    }
    fn frames(&self) -> Result<Frames<'_>, Unknown> {
        Ok(Box::new(std::iter::empty()))
    }
    fn abi(&self) -> Result<TargetAbi, Unknown> {
        Ok(TargetAbi::LITTLE_64)
    }
    fn read(&self, _: u64, _: usize) -> Result<Vec<u8>, Unknown> {
        Err(Unknown::new("no memory"))
    }
    fn read_code(&self, _: u64, _: usize) -> Result<Vec<u8>, Unknown> {
        Err(Unknown::new("no memory"))
    }
    fn processor_time(&self) -> Result<Duration, Unknown> {
        Ok(Duration::ZERO)
    }
}

/// The calls around the function `called` at the line of a source with `@`.
pub fn around(name: &str, text: &str, called: &str) -> Vec<SourceCall> {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("source_calls");
    std::fs::create_dir_all(&directory).unwrap();
    let thread = std::thread::current();
    let file = directory.join(format!("{}-{name}", thread.name().unwrap_or("main").replace(':', "_")));
    std::fs::write(&file, text).unwrap();
    let line = text.lines().position(|line| line.contains('@')).map_or(1, |at| at + 1);
    let frame = |function: &str, application: bool| NamedFrame {
        function: Some(function.to_owned()),
        application,
        mpi: !application,
    };
    let frames = [frame("poll", false), frame(called, false), frame("main", true)];
    let thread = AtLine { file, line: i64::try_from(line).unwrap() };
    let found = thread_call(&frames, &thread, &KeptFiles::new());
    found.around.into_iter().map(|(_, call)| call).collect()
}

/// The lines that come into question: `!` where nothing else can have set the request, `?` where it may be another one; those
/// of other requests are left out.
fn lines(text: &str) -> String {
    told(around("a.c", text, "PMPI_Wait"))
}

fn told(mut calls: Vec<SourceCall>) -> String {
    // These are told of all requests.
    calls.retain(|call| call.way.is_none());
    let word = |call: SourceCall| match (call.request.same, call.request.alone) {
        (SameObject::No, _) => None,
        (SameObject::Unknown, _) => Some(format!("{}?", call.line)),
        (SameObject::Yes, false) => Some(call.line.to_string()),
        (SameObject::Yes, true) => Some(format!("{}!", call.line)),
    };
    calls.into_iter().filter_map(word).collect::<Vec<_>>().join(" ")
}

/// A function with statements in lines of their own, from line 3 on.
fn main(declarations: &str, statements: &[&str]) -> String {
    format!("{declarations}\nint main() {{\n{}\n}}\n", statements.join("\n"))
}

const REQUEST: &str = "MPI_Request r;";
const RECEIVE: &str = "MPI_Irecv(b, 1, MPI_INT, 0, 7, c, &r);";
const WAIT: &str = "MPI_Wait(&r, s); // @";

#[test]
fn a_variable_of_the_function() {
    assert_eq!(lines(&main("", &[REQUEST, RECEIVE, WAIT])), "4!");
    assert_eq!(lines(&main("", &["MPI_Request q, r = MPI_REQUEST_NULL;", RECEIVE, WAIT])), "4!");
    assert_eq!(lines(&main("", &[REQUEST, RECEIVE, "if (r != MPI_REQUEST_NULL)", WAIT])), "4!");
    assert_eq!(lines(&main("", &[REQUEST, RECEIVE, RECEIVE, WAIT])), "5!");
    assert_eq!(lines(&main("", &[REQUEST, "MPI_Ibarrier(c, &q);", RECEIVE, WAIT])), "5!");
    assert_eq!(lines(&main("", &[REQUEST, RECEIVE, "MPI_Wait(&r, s);", WAIT])), "");
    assert_eq!(lines(&main("", &[REQUEST, "for (;;) {", RECEIVE, WAIT, "}"])), "5!");
}

#[test]
fn what_others_may_have_set_is_not_sure() {
    for other in ["start(&r);", "r = q;", "MPI_Request *p = &r;", "std::swap(r, q);", "*(&r) = q;"] {
        assert_eq!(lines(&main("", &[REQUEST, RECEIVE, other, WAIT])), "4", "{other}");
    }
    assert_eq!(lines(&main("", &["static MPI_Request r;", WAIT, RECEIVE])), "5");
    assert_eq!(lines(&main("", &["{ MPI_Request r; }", REQUEST, RECEIVE, WAIT])), "5");
    assert_eq!(lines(&main("MPI_Request r;", &[RECEIVE, WAIT])), "3");
    assert_eq!(
        lines(&main("", &["MPI_Request *r;", "MPI_Irecv(b, 1, MPI_INT, 0, 7, c, r);", "MPI_Wait(r, s); // @"])),
        "4!"
    );
}

#[test]
fn other_functions_of_the_source() {
    let helper = "void start(int n, MPI_Request *to) { MPI_Irecv(b, 1, MPI_INT, 0, 7, c, to); }";
    assert_eq!(lines(&main(helper, &[REQUEST, "start(3, &r);", WAIT])), "1");
    assert_eq!(lines(&main(helper, &[REQUEST, "start(3, &q);", WAIT])), "");
    let global = "static MPI_Request r; void start() { MPI_Irecv(b, 1, MPI_INT, 0, 7, c, &r); }";
    assert_eq!(lines(&main(global, &["start();", WAIT])), "1");
    // Their own variables are others.
    assert_eq!(lines(&main(global, &[REQUEST, "start();", WAIT])), "");
    let own = "void start() { MPI_Request r; MPI_Irecv(b, 1, MPI_INT, 0, 7, c, &r); }";
    assert_eq!(lines(&main(own, &["start();", WAIT])), "");
    let member = "void start(halo *h) { MPI_Irecv(b, 1, MPI_INT, 0, 7, c, &h->r); }";
    assert_eq!(lines(&main(member, &["start(x);", "MPI_Wait(&x->r, s); // @"])), "1");
    assert_eq!(lines(&main(member, &["start(x);", "MPI_Wait(&x->q, s); // @"])), "");
    // Those are not looked for where the function has one itself.
    assert_eq!(lines(&main(global, &[RECEIVE, WAIT])), "3");
}

#[test]
fn elements_of_arrays() {
    let array = "MPI_Request r[4];";
    let receive = |request: &str| format!("MPI_Irecv(b, 1, MPI_INT, 0, 7, c, {request});");
    let waits = |wait: &str, requests: [&str; 2]| {
        let [one, two] = requests.map(receive);
        told(around("a.c", &main("", &[array, &one, &two, wait]), "PMPI_Wait"))
    };
    assert_eq!(waits("MPI_Wait(&r[1], s); // @", ["&r[0]", "&r[1]"]), "5!");
    assert_eq!(waits("MPI_Wait(r + 1, s); // @", ["&r[0]", "&r[1]"]), "5!");
    assert_eq!(waits("MPI_Wait(&r[i], s); // @", ["&r[0]", "&r[i]"]), "4? 5!");
    let all = |requests| {
        told(around("a.c", &main("", &[array, &receive(requests), "MPI_Waitall(n, r, s); // @"]), "PMPI_Waitall"))
    };
    assert_eq!(all("&r[2]"), "4!");
    assert_eq!(all("&r[i]"), "4!");
    // A name alone may be a pointer to the other.
    assert_eq!(all("&q[i]"), "4?");
}

#[test]
fn fortran() {
    let unit =
        |statements: &str| format!("subroutine a(n)\ntype(MPI_Request) :: r, q(3)\n{statements}\nend subroutine\n");
    let waits = |statements: &str| told(around("a.f90", &unit(statements), "mpi_wait_"));
    assert_eq!(waits("call MPI_Irecv(b, 1, MPI_INTEGER, 0, 7, c, R, e)\ncall mpi_wait(r, s, e) ! @"), "3!");
    assert_eq!(waits("call MPI_Irecv(b, 1, MPI_INTEGER, 0, 7, c, q(1), e)\ncall mpi_wait(r, s, e) ! @"), "");
    assert_eq!(
        waits("call start(r)\ncall MPI_Irecv(b, 1, MPI_INTEGER, 0, 7, c, r, e)\ncall mpi_wait(r, s, e) ! @"),
        "4"
    );
}

/// The non-blocking collectives that control may have come by, the last one first, by their lines: each way, with `.` where there
/// was none before.
fn ways(text: &str, called: &str) -> String {
    let mut ways: Vec<(Option<u32>, String)> = Vec::new();
    for call in around("a.c", text, called).into_iter().filter(|call| call.way.is_some()) {
        let end = if call.first { "." } else { "" };
        match ways.last_mut().filter(|(way, _)| *way == call.way) {
            Some((_, told)) => told.push_str(&format!(" {}{end}", call.line)),
            None => ways.push((call.way, format!("{}{end}", call.line))),
        }
    }
    ways.into_iter().map(|(_, told)| told).collect::<Vec<_>>().join(" | ")
}

#[test]
fn collectives_that_may_have_been_started_before() {
    let before = |statements: &[&str]| ways(&main("", statements), "PMPI_Wait");
    let [sum, barrier] = ["MPI_Iallreduce(b, d, 1, MPI_INT, MPI_SUM, c, &r);", "MPI_Ibarrier(c, &r);"];
    assert_eq!(before(&[REQUEST, sum, barrier, WAIT, sum]), "5 4.");
    assert_eq!(
        before(&[REQUEST, RECEIVE, "MPI_Barrier(c);", "MPI_Allreduce_init(b, d, 1, t, o, c, i, &r);", WAIT]),
        ""
    );
    assert_eq!(before(&[sum, "if (odd) {", barrier, "} else {", sum, WAIT, "}"]), "7 3.");
    assert_eq!(before(&[sum, "if (odd) {", barrier, "} else {", sum, "}", WAIT]), "5 3. | 7 3.");
    assert_eq!(before(&[sum, "if (odd)", barrier, WAIT]), "3. | 5 3.");
    // How often a loop went round nobody knows, nor where a jump came from.
    let many = before(&["while (more()) {", sum, "}", WAIT]);
    assert!(many.starts_with("4") && many.len() > 4, "{many}");
    assert_eq!(before(&[sum, "goto end;", barrier, "end:", WAIT]), "");
    // They are too many further back, where none is told to be the first.
    let branches: Vec<&str> = std::iter::repeat_n(["if (odd)", sum], 6).flatten().chain([barrier, WAIT]).collect();
    assert_eq!(before(&branches), "15. | 15 4 | 15 6 | 15 8 | 15 10 | 15 12 | 15 14");
}
