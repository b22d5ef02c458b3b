//! Communicators.

use super::facts::facts;
use super::{Attribute, Entry, Handle, Known, Reference, References, Topology, Typed, WorldRanks};

facts! {
    /// What the line of a communicator needs.
    #[derive(Copy)]
    Communicator {
        /// This process's rank; none in one of other processes.
        rank: Option<i64>,
        /// The number of processes, of an intercommunicator in the local group.
        size: i64,
        /// Whether it is an intercommunicator.
        inter: bool,
        /// The number of processes in the remote group.
        remote_size: Option<i64>,
        /// Whether the application or the standard named it.
        name_set: bool,
    }
}

facts! {
    /// The rest.
    CommunicatorDetails {
        /// How it was made, as far as a name that the library generated says.
        origin: Option<String>,
        /// This process's rank in MPI_COMM_WORLD.
        world_rank: Known<Option<i64>>,
        /// World ranks in rank order.
        group: Known<Option<WorldRanks>>,
        /// The same of the remote group.
        remote_group: Known<Option<WorldRanks>>,
        /// The group.
        group_handle: Known<Option<Reference>>,
        /// The remote group.
        remote_group_handle: Option<Reference>,
        /// Its topology.
        topology: Known<Option<Topology>>,
        /// Its error handler.
        errhandler: Option<Reference>,
        /// The library's context id.
        context_id: Known<Option<String>>,
        /// Hints.
        info: Known<Vec<Entry>>,
        /// Attributes.
        attributes: Known<Vec<Attribute>>,
        /// Requests that are on it.
        requests: Known<References>,
        /// Windows that use it.
        windows: Known<References>,
        /// Files that use it.
        files: Known<References>,
        /// The object of the library that has it for its own use.
        internal: Option<Reference>,
    }
}

impl Communicator {
    /// What sentences call one with that name: in quotation marks where the application gave it.
    pub fn label(&self, name: &str, predefined: bool) -> String {
        match (name, self.name_set && !predefined) {
            ("", _) => if self.inter { "unnamed intercommunicator" } else { "unnamed communicator" }.to_owned(),
            (name, true) => format!("\"{name}\""),
            (name, false) => name.to_owned(),
        }
    }

    /// Tells it, with its name and line; whether it is predefined is known.
    pub fn describe(self, name: String, handle: &mut Handle) {
        let label = self.label(&name, handle.predefined == Some(true));
        let size = self.size;
        let place = self.rank.map_or_else(|| format!("{size} others"), |rank| format!("rank {rank} of {size}"));
        let beyond = self.remote_size.map(|remote| format!(", {remote} remote")).unwrap_or_default();
        handle.summary = format!("{label}, {place}{beyond}");
        handle.name = Some(name).filter(|name| !name.is_empty());
        handle.typed = Typed::Communicator(self);
        self.tell(handle);
    }
}
