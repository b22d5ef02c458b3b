//! What reports show of jobs that never ran.

mod graphs;
mod layouts;
mod tables;
