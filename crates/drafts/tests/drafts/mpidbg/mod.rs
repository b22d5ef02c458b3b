//! The host of vendor plug-ins for handles: life cycle, conversion, hostile plug-ins, the ABI, discovery.

mod abi;
mod discovery;
mod good;
mod hostile;
mod toy;
