//! What one call was given, of a frame at a line of a source and of frames that a real compiler describes.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use calls::{CallArguments, Caller, Frame, Frames, KeptFiles, Unknown, call_arguments, call_site};
use functions::constants::Family;
use model::Argument;
use object::read::{Object, ObjectSection};
use target::TargetAbi;
use target::files::Reader;

use super::call_sites::{LOADED, Program, compile, program};
use super::made_up::MadeUpScope;

/// The frame that calls MPI, and those that called it.
#[derive(Default)]
struct MadeUpCaller {
    source: Option<PathBuf>,
    frames: Vec<Frame>,
    /// `.text` of the program, which is loaded at [`LOADED`].
    code: Vec<u8>,
    /// An address, and the memory there.
    memory: (u64, Vec<u8>),
    /// What each look takes of the processor.
    looks: Duration,
    /// What it takes by the clock before the first one.
    pause: Duration,
    spent: Cell<Duration>,
}

impl Caller for MadeUpCaller {
    type Scope = MadeUpScope;
    fn file(&self) -> Result<Option<PathBuf>, Unknown> {
        Ok(self.source.clone())
    }
    fn line(&self) -> Result<Option<i64>, Unknown> {
        Ok(Some(1))
    }
    fn built(&self) -> Result<Option<f64>, Unknown> {
        Ok(Some(f64::MAX))
    }
    fn reader(&self) -> Result<Option<Reader>, Unknown> {
        Ok(None)
    }
    fn family(&self) -> Result<Option<Family>, Unknown> {
        std::thread::sleep(self.pause);
        Ok(Some(Family::Mpich))
    }
    fn symbol(&self, _: &str) -> Result<Option<i128>, Unknown> {
        Ok(None)
    }
    fn scope(&self, _: bool) -> Result<MadeUpScope, Unknown> {
        Ok(MadeUpScope)
    }
    fn frames(&self) -> Result<Frames<'_>, Unknown> {
        Ok(Box::new(self.frames.iter().cloned().map(Ok)))
    }
    fn abi(&self) -> Result<TargetAbi, Unknown> {
        Ok(TargetAbi::LITTLE_64)
    }
    fn read(&self, address: u64, length: usize) -> Result<Vec<u8>, Unknown> {
        let found = Some(&self.memory.1).filter(|bytes| self.memory.0 == address && bytes.len() == length);
        found.cloned().ok_or_else(|| Unknown::new("no memory"))
    }
    fn read_code(&self, address: u64, length: usize) -> Result<Vec<u8>, Unknown> {
        let begin = usize::try_from(address.wrapping_sub(LOADED)).map_err(|_| Unknown::new("no code"))?;
        let code = self.code.get(begin..).and_then(|code| code.get(..length));
        code.map(<[u8]>::to_vec).ok_or_else(|| Unknown::new("no code"))
    }
    fn processor_time(&self) -> Result<Duration, Unknown> {
        self.spent.set(self.spent.get() + self.looks);
        Ok(self.spent.get())
    }
}

impl MadeUpCaller {
    /// One that stands in the first line of a source.
    fn at(name: &str, text: &str) -> Self {
        let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&source, text).unwrap();
        Self { source: Some(source), ..Self::default() }
    }

    /// The arguments, each with its value, what it is or holds, and why it is not known; else why none is.
    fn told(&self, function: &str) -> Vec<String> {
        let found = call_arguments(function, self, &KeptFiles::new());
        let words = |one: &Argument| {
            let value = one.value.map(|value| value.to_string());
            let values = one.values.as_ref().map(|values| format!("{values:?}"));
            let meaning = one.meaning.as_ref().map(ToString::to_string);
            let unknown = one.unknown.as_ref().map(ToString::to_string);
            let known: Vec<String> = [value, values, meaning, unknown].into_iter().flatten().collect();
            format!("{}: {}", one.name, known.join(" "))
        };
        found.arguments.iter().map(words).chain(found.unknown).collect()
    }
}

#[test]
fn a_call_of_c() {
    let text = "void f(void) { MPI_Send(v, a + 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD); }\n\
        #define TAG (BASE + 1)\n#define BASE 7\n";
    let told = MadeUpCaller::at("call.c", text).told("MPI_Send");
    let datatype = "datatype: MPI_INT";
    let [dest, comm] = ["dest: -1 MPI_PROC_NULL", "comm: 1140850688 MPI_COMM_WORLD"];
    assert_eq!(told, ["buf: 8192", "count: 6", datatype, dest, "tag: 8", comm]);
    // Numbers of any size are told by 64 bits.
    let told = MadeUpCaller::at("large.c", "MPI_Send(gone, (1 << 62) * 4 + 1, nix, 3 +, -1, 1);").told("MPI_Send");
    let [buffer, datatype, dest] =
        ["buf: optimised away", "datatype: no variable nix", "dest: something is missing at its end"];
    assert_eq!(told, [buffer, "count: 1", datatype, dest, "tag: -1 MPI_ANY_TAG", "comm: 1"]);
}

#[test]
fn a_call_of_fortran() {
    let text = "call MPI_Recv(a, a + 1, tag=-1, datatype=req, source=MPI_ANY_SOURCE, comm=b, status=b)\n";
    let told = MadeUpCaller::at("call.f90", text).told("MPI_Recv");
    let [source, tag] = ["source: -2 MPI_ANY_SOURCE", "tag: -1 MPI_ANY_TAG"];
    assert_eq!(told, ["buf: 4096", "count: 6", "datatype: 77", source, tag, "comm: 3", "status: 4096"]);
}

#[test]
fn a_handle_in_memory() {
    let mut caller = MadeUpCaller::at("handle.c", "MPI_Wait(p, nix);");
    assert_eq!(caller.told("MPI_Wait"), ["request: 20480 no memory", "status: no variable nix"]);
    caller.memory = (0x5000, b"\x07\0\0\xff".to_vec());
    assert_eq!(caller.told("MPI_Wait"), ["request: 20480 [-16777209]", "status: no variable nix"]);
}

#[test]
fn why_nothing_is_known_of_a_call() {
    let caller = MadeUpCaller::at("none.c", "MPI_Barrier(comm, 1);");
    let reason = "the call of MPI_Barrier has 2 arguments in the source, not 1, and the debug information does not \
        describe the call (with -O1 and higher it does)";
    assert_eq!(caller.told("MPI_Barrier"), [reason]);
    for (function, reason) in [
        ("MPI_Nothing", "the parameters of MPI_Nothing are not known here, and "),
        ("MPI_Send", "the application has no debug information there, and "),
    ] {
        let told = MadeUpCaller::default().told(function);
        assert!(told.len() == 1 && told[0].starts_with(reason), "{told:?}");
    }
}

#[test]
fn finding_it_out_takes_no_longer_than_ranks_can_wait() {
    let caller = || MadeUpCaller::at("slow.c", "MPI_Send(b, 1, nix, 3, 4, c);");
    let (busy, waiting) = (Duration::from_millis(150), Duration::from_millis(2100));
    let [busy, waiting] = [MadeUpCaller { looks: busy, ..caller() }, MadeUpCaller { pause: waiting, ..caller() }]
        .map(|one| one.told("MPI_Send"));
    for (told, late) in [(busy, 5), (waiting, 6)] {
        let found = told.iter().filter(|one| one.ends_with(": it would take too long to find out")).count();
        assert_eq!((found, told.len()), (late, 6), "{told:?}");
    }
}

#[test]
fn what_is_written_as_a_number_is_fixed_but_no_address_is() {
    let caller = MadeUpCaller::at("fixed.c", "void f(void) { MPI_Send(0, 3, MPI_INT, b, 7, MPI_COMM_WORLD); }\n");
    let found = call_arguments("MPI_Send", &caller, &KeptFiles::new());
    let fixed: Vec<_> = found.arguments.iter().map(|one| (&*one.name, one.value, one.fixed)).collect();
    let [buffer, count, _, dest, tag, _] = fixed.as_slice() else { unreachable!("{found:?}") };
    // Two calls with an address of zero need not be one.
    assert_eq!(*buffer, ("buf", Some(0), false));
    assert_eq!((*count, *tag), (("count", Some(3), true), ("tag", Some(7), true)));
    assert_eq!(*dest, ("dest", Some(3), false));
}

/// `straight` is entered by calls alone, `jumping` also hands on by a jump what it was given: its frame may be of such a one.
const SOURCE: &str = r"
#define KEPT __attribute__((noipa))
int data[4];
KEPT int MPI_Send(void *buf, int count, int type, int dest, int tag, int comm) { return count + type + dest + tag + comm; }
KEPT int straight(int d) { return MPI_Send(data, 1, 2, d + 3, 7, 5) + 1; }
KEPT int other(int d) { return d * 2; }
KEPT int jumping(int d) { return d > 3 ? MPI_Send(data, 1, 2, d + 3, 7, 5) + 1 : other(d + 2); }
KEPT int nobody(void) { return MPI_Send(data, 1, 2, -1, 7, 5) + 1; }
int main(void) { return straight(40) + jumping(50) + nobody() + 1; }
";

/// The arguments of MPI_Send in `function`, which `main` has called.
fn sent(path: &Path, program: &Program, function: &str) -> CallArguments {
    let after = |within: &str, target: &str| {
        let (begin, end) = program.functions[within];
        let is_call = |offset: &u64| {
            call_site(path, *offset, None)
                .is_some_and(|site| site.target.as_deref() == Some(target) && site.entry == begin)
        };
        (begin..=end).find(is_call).unwrap()
    };
    let frame = |offset: u64| Frame {
        path: path.to_owned(),
        build_id: None,
        pc: LOADED + offset,
        text: LOADED,
        registers: std::collections::HashMap::new(),
        cfa: None,
    };
    let bytes = std::fs::read(path).unwrap();
    let file = object::File::parse(bytes.as_slice()).unwrap();
    let code = file.section_by_name(".text").unwrap().data().unwrap().to_vec();
    let frames = vec![frame(after(function, "MPI_Send")), frame(after("main", function))];
    call_arguments("MPI_Send", &MadeUpCaller { frames, code, ..MadeUpCaller::default() }, &KeptFiles::new())
}

#[test]
fn a_number_has_the_meaning_that_it_has_in_the_mpi() {
    let path = compile("caller-null", SOURCE, &["-g"]);
    let found = sent(&path, &program(&path), "nobody");
    let dest = found.arguments.iter().find(|one| &*one.name == "dest").unwrap();
    assert_eq!((dest.value, dest.meaning.as_deref()), (Some(-1), Some("MPI_PROC_NULL")));
}

#[test]
fn a_function_that_may_have_been_jumped_to_has_nothing_of_its_caller() {
    let path = compile("caller", SOURCE, &["-g"]);
    let program = program(&path);
    let values = |function| {
        let found = sent(&path, &program, function);
        let value = |name| found.arguments.iter().find(|one| &*one.name == name).and_then(|one| one.value);
        (value("tag"), value("dest"))
    };
    assert_eq!(values("straight"), (Some(7), Some(43)));
    assert_eq!(values("jumping"), (Some(7), None));
}
