//! What one call was given, of a frame at a line of a source and of frames that a real compiler describes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use calls::{CallArguments, Caller, Frame, Frames, KeptFiles, Unknown, call_arguments, call_site};
use functions::constants::Family;
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
    fn read(&self, _: u64, _: usize) -> Result<Vec<u8>, Unknown> {
        Err(Unknown::new("no memory"))
    }
    fn read_code(&self, address: u64, length: usize) -> Result<Vec<u8>, Unknown> {
        let begin = usize::try_from(address.wrapping_sub(LOADED)).map_err(|_| Unknown::new("no code"))?;
        let code = self.code.get(begin..).and_then(|code| code.get(..length));
        code.map(<[u8]>::to_vec).ok_or_else(|| Unknown::new("no code"))
    }
    fn processor_time(&self) -> Result<Duration, Unknown> {
        Ok(Duration::ZERO)
    }
}

#[test]
fn what_is_written_as_a_number_is_fixed_but_no_address_is() {
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixed.c");
    std::fs::write(&source, "void f(void) { MPI_Send(0, 3, MPI_INT, b, 7, MPI_COMM_WORLD); }\n").unwrap();
    let caller = MadeUpCaller { source: Some(source), ..MadeUpCaller::default() };
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
    call_arguments("MPI_Send", &MadeUpCaller { source: None, frames, code }, &KeptFiles::new())
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
