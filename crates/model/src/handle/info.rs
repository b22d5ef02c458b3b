//! Info objects.

use super::facts::facts;
use super::{Entry, Handle, Known, References};

facts! {
    /// All that an info object has.
    Info {
        /// The number of its keys.
        count: Known<usize>,
        /// Its keys and values.
        entries: Vec<Entry>,
        /// Objects that use it.
        used_by: Known<References>,
    }
}

impl Info {
    /// Those of an object that MPI_Info_set and its like made: other objects do not refer to it.
    pub fn new(count: Known<usize>, entries: Vec<Entry>) -> Self {
        Self { count, entries, used_by: Err("objects copy the keys of an info object, they do not keep it".into()) }
    }
}

impl Handle {
    /// Gives an info object its name, if it has one, and its line.
    pub fn name_info(&mut self, constant: Option<&str>, count: u64) {
        let keys = if count == 1 { "1 key".to_owned() } else { format!("{count} keys") };
        self.name = constant.map(str::to_owned);
        self.summary = format!("{} {keys}", constant.map_or_else(|| "info with".to_owned(), |name| format!("{name},")));
    }
}
