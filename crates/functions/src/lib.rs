//! MPI's functions: their names in each language, their parameters, and how they wait.
//!
//! What the standard says of them stands in `functions.txt`, which `make functions` makes; how they wait in `waits.txt`.

pub mod constants;
mod handle_kind;
mod names;
mod started;
mod table;
mod waits;
pub mod wrapping;

pub use handle_kind::HandleKind;
pub use names::{MpiFrame, c_name, mpi_function, mpi_function_behind, outermost_mpi_function};
pub use started::Started;
pub use table::{Array, Direction, Function, Parameter, all, find, small};
pub use waits::{Chapter, Reach, WaitKind, polls, wait_kind};
