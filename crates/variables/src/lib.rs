//! The variables and types of a stopped process by DWARF, without a debugger: what `calls` asks to work out the expressions
//! that stand in a program's source.
//!
//! Files, registers and memory are handed in. Debug information may be damaged or made to hurt: each look-up ends after a time
//! and so many steps, and what cannot be understood is not known, with a sentence.

mod arrays;
mod die;
mod entry_values;
mod frame;
mod handles;
mod held;
mod hosts;
mod info;
mod limits;
mod locate;
mod lookup;
mod members;
mod names;
mod plain_types;
mod scope;
mod types;
mod value;
mod variable;

pub use frame::{FrameFacts, Memory, Outer, OuterFrame};
pub use info::{DebugInfo, Section};
pub use scope::FrameScope;
pub use value::Value;
