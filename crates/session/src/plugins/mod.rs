//! Vendors' plug-ins as readers of a session. Nothing else of the session knows them.

mod handles;
mod queues;

pub use queues::{Named, PluginChoice, PluginSettings};
