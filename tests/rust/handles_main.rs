//! The host of vendor plug-ins for handles: life cycle, conversion, hostile plug-ins, the ABI, discovery.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod handles_abi;
mod handles_discovery;
mod handles_good;
mod handles_hostile;
mod handles_toy;
