//! Tests of the MPI2DD interface on jobs that are made up: both widths, both byte orders, and anything as tables.

mod damage;
mod hostile;
mod job;
mod naming;
mod support;
