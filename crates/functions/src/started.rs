//! What the functions start that return a request.

use super::table::{find, small};
use super::waits::{WaitKind, wait_kind};
use super::{Direction, Function, HandleKind};

/// What a request stands for, by the function that returns it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Started {
    /// A send.
    Send,
    /// A receive.
    Receive,
    /// Both: MPI_Isendrecv.
    SendReceive,
    /// A collective of a communicator.
    Collective,
    /// An operation on a window.
    OneSided,
    /// An operation on a file.
    File,
    /// What the application completes itself.
    Generalized,
    /// Partitioned communication.
    Partitioned,
    /// Something else: what is in a buffer of MPI_Bsend.
    Other,
}

impl Function {
    /// What the request stands for that it returns; `None` where it returns none.
    pub fn starts(&self) -> Option<Started> {
        let returns = |one: &super::Parameter| {
            one.object() == Some(HandleKind::Request) && one.direction == Direction::Out && one.array.is_none()
        };
        if !self.parameters.iter().any(returns) {
            return None;
        }
        let has = |object: HandleKind| self.parameters.iter().any(|one| one.object() == Some(object));
        let named = |name: &str| self.parameter(name).is_some();
        Some(if has(HandleKind::Win) {
            Started::OneSided
        } else if has(HandleKind::File) {
            Started::File
        } else if named("partitions") {
            Started::Partitioned
        } else if named("query_fn") {
            Started::Generalized
        } else {
            match (named("dest"), named("source") || has(HandleKind::Message)) {
                (true, true) => Started::SendReceive,
                (true, false) => Started::Send,
                (false, true) => Started::Receive,
                (false, false) if matches!(blocking(self.name), Some(WaitKind::Collective(..))) => Started::Collective,
                (false, false) => Started::Other,
            }
        })
    }

    /// Whether the request that it returns is persistent: made once, and to be started each time.
    pub fn is_persistent(&self) -> bool {
        small(self.name).ends_with("_init") && self.starts().is_some()
    }
}

/// How the blocking function waits that does what a non-blocking or persistent one starts: MPI_Allreduce for MPI_Iallreduce
/// and MPI_Allreduce_init. `None` where there is none.
fn blocking(c_name: &str) -> Option<WaitKind> {
    let name = small(c_name);
    let other = match name {
        "MPI_Comm_idup" | "MPI_Comm_idup_with_info" => "MPI_Comm_dup".to_owned(),
        _ => match name.strip_suffix("_init") {
            Some(made) => made.to_owned(),
            None => {
                let mut rest = name.strip_prefix("MPI_I")?.chars();
                format!("MPI_{}{}", rest.next()?.to_ascii_uppercase(), rest.as_str())
            }
        },
    };
    find(&other).map(|function| wait_kind(function.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Chapter;

    #[test]
    fn what_functions_start() {
        for (name, expected) in [
            ("MPI_Isend", Some(Started::Send)),
            ("MPI_Recv_init", Some(Started::Receive)),
            ("MPI_Imrecv", Some(Started::Receive)),
            ("MPI_Isendrecv", Some(Started::SendReceive)),
            ("MPI_Ibcast", Some(Started::Collective)),
            ("MPI_Comm_idup", Some(Started::Collective)),
            ("MPI_Rput", Some(Started::OneSided)),
            ("MPI_File_iread_all", Some(Started::File)),
            ("MPI_Grequest_start", Some(Started::Generalized)),
            ("MPI_Psend_init", Some(Started::Partitioned)),
            ("MPI_Request_f2c", None),
            ("MPI_Wait", None),
            ("MPI_Send", None),
        ] {
            assert_eq!(find(name).and_then(|function| function.starts()), expected, "{name}");
        }
    }

    #[test]
    fn all_collectives_are_known_as_such() {
        let collective = |name: &str| find(name).and_then(|function| function.starts()) == Some(Started::Collective);
        for function in crate::all() {
            let name = function.name;
            let waits =
                matches!(wait_kind(name), WaitKind::Collective(Chapter::Communication | Chapter::Neighborhood, _));
            let small: String = name.strip_prefix("MPI_").unwrap_or_default().to_lowercase();
            assert!(!waits || collective(&format!("MPI_I{small}")), "{name}");
            assert!(!waits || collective(&format!("{name}_init")), "{name}");
        }
        assert_eq!(find("MPI_Buffer_iflush").and_then(|function| function.starts()), Some(Started::Other));
    }
}
