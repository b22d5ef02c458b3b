//! What files say about the frames of a stack, where debuggers disagree or do not tell: the names of source files and
//! functions, where stacks end, and what calls were given.

mod call_sites;
mod call_values;
mod functions;
mod outermost;
mod source_names;
mod variables;

pub use call_sites::{CallSite, call_site};
pub use call_values::{CallFrame, call_values};
pub use functions::{scoped_names, symbol_names};
pub use outermost::is_outermost;
pub use source_names::{SourcePath, source_names};
pub use variables::{OwnVariables, own_variables};
