//! Stacks, and where they stand in MPI.

use serde::{Deserialize, Serialize};

use super::{Argument, Call, Outside};

/// One frame of a stack.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Frame {
    /// Name of the function without parameters; `None` where the debugger knows none there.
    pub function: Option<String>,
    /// Source file as the compiler was given it, where debug information says it.
    pub file: Option<String>,
    /// Line in it.
    pub line: Option<i64>,
}

/// The stack of one thread.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Stack {
    /// The debugger's number of the thread.
    pub thread: i64,
    /// Whether it was seen down to its outermost frame.
    pub complete: bool,
    /// Innermost first.
    pub frames: Vec<Frame>,
    /// What the application gave the outermost MPI function on the stack, in the order of its parameters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<Argument>,
    /// Why `arguments` is empty, where the thread is in MPI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments_unknown: Option<String>,
    /// `Call::fingerprint`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

impl Stack {
    /// The outermost MPI function on the stack and the frame that called it. Outermost: a library that wraps MPI calls
    /// PMPI functions from its own MPI ones.
    pub fn call(&self) -> Option<Call> {
        let name = |frame: &Frame| frame.function.as_deref().and_then(mpi_function);
        let (index, function) =
            self.frames.iter().enumerate().rev().find_map(|(index, frame)| Some((index, name(frame)?)))?;
        let caller = self.frames.get(index + 1);
        Some(Call {
            thread: self.thread,
            function,
            file: caller.and_then(|frame| frame.file.clone()),
            line: caller.and_then(|frame| frame.line),
            caller: caller.and_then(|frame| frame.function.clone()),
            arguments: self.arguments.clone(),
            arguments_unknown: self.arguments_unknown.clone(),
            fingerprint: self.fingerprint.clone(),
            ..Call::default()
        })
    }

    /// Where a thread stands that is not in MPI: its innermost function, and the innermost frame with a source file.
    pub fn outside(&self) -> Option<Outside> {
        let innermost = self.frames.first()?;
        if self.call().is_some() {
            return None;
        }
        let own = self.frames.iter().find(|frame| frame.file.is_some());
        Some(Outside {
            thread: self.thread,
            function: innermost.function.clone(),
            caller: own.and_then(|frame| frame.function.clone()),
            file: own.and_then(|frame| frame.file.clone()),
            line: own.and_then(|frame| frame.line),
            fingerprint: self.fingerprint.clone(),
        })
    }
}

/// The name by which the application calls an MPI function, `None` for other functions: C's, the profiling names that
/// libraries export (a stripped library shows `PMPI_Recv` at the address of both), and Fortran's spellings (`mpi_recv_`,
/// `mpi_recv__`, `mpi_recv_f08_`).
fn mpi_function(name: &str) -> Option<String> {
    let (prefix, public) = match name.as_bytes().first()? {
        b'P' | b'p' => (1, &name[1..]),
        _ => (0, name),
    };
    let letter = public.as_bytes().get(4)?;
    let word = public.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let c = public.starts_with("MPI_") && letter.is_ascii_uppercase() && (prefix == 0 || name.starts_with('P'));
    let fortran = public.starts_with("mpi_")
        && letter.is_ascii_lowercase()
        && public.ends_with('_')
        && (prefix == 0 || name.starts_with('p'));
    (word && (c || fortran)).then(|| public.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(functions: &[&str]) -> Stack {
        let frame = |name: &&str| Frame { function: Some((*name).to_owned()), file: None, line: Some(7) };
        Stack { thread: 1, complete: true, frames: functions.iter().map(frame).collect(), ..Stack::default() }
    }

    #[test]
    fn the_outermost_mpi_function_is_the_call() {
        let call = stack(&["poll", "PMPI_Recv", "MPI_Recv", "exchange", "main"]).call().unwrap_or_default();
        assert_eq!((call.function.as_str(), call.caller.as_deref()), ("MPI_Recv", Some("exchange")));
        assert_eq!(stack(&["poll", "main"]).call(), None);
        assert_eq!(stack(&["poll", "PMPI_Wait"]).call().unwrap_or_default().caller, None);
    }

    #[test]
    fn names_of_mpi_functions() {
        for (name, public) in [
            ("MPI_Recv", Some("MPI_Recv")),
            ("PMPI_Recv", Some("MPI_Recv")),
            ("mpi_recv_", Some("mpi_recv_")),
            ("pmpi_recv_f08_", Some("mpi_recv_f08_")),
            ("mpi_recv", None),
            ("pMPI_Recv", None),
            ("Pmpi_recv_", None),
            ("MPI_recv", None),
            ("MPI_", None),
            ("MPI_Récv", None),
            ("é", None),
            ("", None),
            ("MPI_Recv(int)", None),
            ("ompi_MPI_Recv", None),
        ] {
            assert_eq!(mpi_function(name).as_deref(), public, "{name}");
        }
    }
}
