//! Python's frames in processes that are made up in memory, of every release from 3.8 on, whole and damaged.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod damage;
mod hostile;
mod made;
mod shapes;
mod whole;
