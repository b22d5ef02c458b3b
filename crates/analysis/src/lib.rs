//! What follows from snapshots alone, without the processes that they were read from.
//!
//! [`diagnose`] answers why a job is stuck, in steps of which each knows only those before it: [`call_arguments`] (what only
//! the arguments of calls say of operations), [`job`] (who is there, and which communicators of different processes are one),
//! [`matching`] (which sends and receives belong together), [`waits`] (what each thread waits for; these are [`worked`] out once
//! where a second look is the same), [`graph`] and [`stuck`] (who can never go on), [`findings`] (what is wrong), [`blame`]
//! (which calls), [`advice`] (what to change), [`cause`] (what comes first), [`verdict`]. [`movement`] has what two looks say of
//! each process. [`named`] completes sends by what their receivers have of them, [`recorded`] adds what flight recorders know
//! together, [`stacks`] merges where all stand into one tree.

pub mod advice;
pub mod alike;
pub mod awaited;
pub mod blame;
pub mod call_arguments;
pub mod cause;
pub mod compare;
mod datatypes;
pub mod diagnose;
pub mod findings;
pub mod graph;
pub mod job;
mod live_lock;
pub mod matching;
pub mod movement;
pub mod named;
mod parallel;
pub mod recorded;
pub mod stacks;
pub mod stuck;
pub mod universe;
pub mod verdict;
pub mod waits;
pub mod words;
pub mod worked;
