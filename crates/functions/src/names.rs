//! Names of MPI functions as they stand on stacks.

use std::borrow::Cow;

/// What a stack tells of an MPI function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MpiFrame {
    /// Its place among the functions.
    pub index: usize,
    /// As its language spells it, without the `P` of the profiling interface.
    pub function: String,
    /// Its name in C.
    pub c_name: String,
}

/// The MPI function whose arguments the source tells: the outermost one of C or Fortran, innermost function first. The bindings
/// of C++ are inline functions around those of C.
pub fn outermost_mpi_function(functions: &[Option<String>]) -> Option<MpiFrame> {
    functions.iter().enumerate().rev().find_map(|(index, name)| {
        let function = mpi_function(name.as_deref()?).filter(|name| !name.contains(':'))?;
        let c_name = c_name(&function).into_owned();
        Some(MpiFrame { index, function, c_name })
    })
}

/// The MPI function behind one of a library's own to which that jumps, so that it has no frame: where its caller jumped as well,
/// as mpi4py's end does, nobody on the stack tells it (ompi/mpi/c/finalize.c, v4.1.4 and v5.0.7; src/binding/c/c_binding.c, MPICH
/// v4.0).
pub fn mpi_function_behind(name: &str) -> Option<&'static str> {
    BEHIND.iter().find(|(inner, _)| *inner == name).map(|(_, function)| *function)
}

const BEHIND: [(&str, &str); 3] =
    [("ompi_mpi_finalize", "MPI_Finalize"), ("MPIR_Finalize_impl", "MPI_Finalize"), ("MPII_Finalize", "MPI_Finalize")];

/// The name by which the application calls an MPI function, `None` for other functions: C's, the profiling names that
/// libraries export (a stripped library shows `PMPI_Recv` at the address of both), Fortran's spellings (`mpi_recv_`,
/// `mpi_recv__`, `mpi_recv_f08_`) and the methods of C++ (`MPI::Comm::Recv`).
pub fn mpi_function(name: &str) -> Option<String> {
    if let Some(scoped) = name.strip_prefix("MPI::") {
        let method = scoped.split("::").all(|part| {
            part.starts_with(|letter: char| letter.is_ascii_uppercase())
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        });
        return method.then(|| name.to_owned());
    }
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

/// A function's name in C.
pub fn c_name(function: &str) -> Cow<'_, str> {
    if let Some(scoped) = function.strip_prefix("MPI::") {
        return c_name_of_method(scoped).into();
    }
    let Some(fortran) = function.strip_prefix("mpi_") else { return function.into() };
    let word = fortran.trim_end_matches('_');
    let word = ["_f08ts", "_f08", "_fts"].iter().find_map(|suffix| word.strip_suffix(suffix)).unwrap_or(word);
    let mut letters = word.chars();
    let capital = letters.next().map(|first| format!("MPI_{}{}", first.to_ascii_uppercase(), letters.as_str()));
    capital.unwrap_or_default().into()
}

/// Of a method of C++ (MPI 2.2, table of chapter 16.1 and the bindings in each chapter).
fn c_name_of_method(scoped: &str) -> String {
    let (class, method) = scoped.rsplit_once("::").unwrap_or(("", scoped));
    match (class, method) {
        ("Win" | "File", _) => format!("MPI_{class}_{}", method.to_ascii_lowercase()),
        (_, "Split" | "Dup" | "Create" | "Free" | "Accept" | "Connect" | "Disconnect" | "Spawn" | "Spawn_multiple")
            if class.ends_with("comm") || class.ends_with("Comm") =>
        {
            format!("MPI_Comm_{}", method.to_ascii_lowercase())
        }
        (_, "Clone") => "MPI_Comm_dup".to_owned(),
        (_, "Merge") => "MPI_Intercomm_merge".to_owned(),
        (_, "Create_intercomm") => "MPI_Intercomm_create".to_owned(),
        (_, "Create_cart") => "MPI_Cart_create".to_owned(),
        (_, "Create_graph") => "MPI_Graph_create".to_owned(),
        ("Request" | "Prequest", "Free") => "MPI_Request_free".to_owned(),
        _ => format!("MPI_{method}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_mpi_functions() {
        for (name, public) in [
            ("MPI_Recv", Some("MPI_Recv")),
            ("PMPI_Recv", Some("MPI_Recv")),
            ("mpi_recv_", Some("mpi_recv_")),
            ("pmpi_recv_f08_", Some("mpi_recv_f08_")),
            ("MPI::Comm::Recv", Some("MPI::Comm::Recv")),
            ("MPI::Finalize", Some("MPI::Finalize")),
            ("MPI::", None),
            ("MPI::Comm::", None),
            ("MPI::comm", None),
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

    #[test]
    fn names_in_c() {
        for (name, c) in [
            ("MPI_Recv", "MPI_Recv"),
            ("mpi_recv_", "MPI_Recv"),
            ("mpi_comm_dup_f08_", "MPI_Comm_dup"),
            ("mpi_recv_f08ts_", "MPI_Recv"),
            ("mpi_", ""),
            ("MPI::Comm::Recv", "MPI_Recv"),
            ("MPI::Request::Waitall", "MPI_Waitall"),
            ("MPI::Intracomm::Split", "MPI_Comm_split"),
            ("MPI::Win::Fence", "MPI_Win_fence"),
            ("MPI::File::Read_all", "MPI_File_read_all"),
            ("MPI::Finalize", "MPI_Finalize"),
        ] {
            assert_eq!(c_name(name), c, "{name}");
        }
    }

    #[test]
    fn arguments_are_those_of_c_below_the_bindings_of_cxx() {
        let names = |names: &[&str]| names.iter().map(|name| Some((*name).to_owned())).collect::<Vec<_>>();
        let found = outermost_mpi_function(&names(&["poll", "PMPI_Recv", "MPI::Comm::Recv", "main"]));
        let expected = MpiFrame { index: 1, function: "MPI_Recv".to_owned(), c_name: "MPI_Recv".to_owned() };
        assert_eq!(found, Some(expected));
        assert_eq!(outermost_mpi_function(&names(&["poll", "main"])), None);
        assert_eq!(outermost_mpi_function(&[None]), None);
    }
}
