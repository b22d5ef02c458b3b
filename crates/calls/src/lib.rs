//! What the calls on a stack were given, by the source and by the debug information of the call.

mod arguments;
mod call_sites;
mod call_target;
mod call_values;
mod caller;
mod code_calls;
mod code_file;
mod described;
pub mod expression;
mod kept_places;
mod matched;
mod signatures;
pub mod source;
mod source_calls;
mod standing;
pub mod system_calls;
mod thread;
mod unknown;
mod variables;
mod words;

pub use arguments::{CallArguments, KeptFiles, LONGEST, TIME_LIMIT, call_arguments};
pub use call_sites::{CallSite, call_site};
pub use call_target::{Read, call_target};
pub use call_values::{CallFrame, call_values};
pub use caller::{Caller, Frame, Frames};
pub use code_calls::{CodeCall, code_calls};
pub use described::{ORIGIN, Sites};
pub use signatures::{Parameter, parameters};
pub use thread::{NamedFrame, Thread, ThreadCall, thread_call};
pub use unknown::Unknown;
pub use variables::{OwnVariables, own_variables};
