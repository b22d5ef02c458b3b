//! What calls were given, and what files say about them.

#![allow(clippy::unwrap_used)]

mod c_grammar;
mod call_sites;
mod call_target;
mod caller;
mod code_calls;
mod evaluator;
mod flow;
mod linear;
mod made_up;
mod source_calls;
mod sources;
mod system_calls;
mod texts;
mod thread;
