//! The JSON Schema of a snapshot, made from the types.

use super::Snapshot;

/// The schema of what is written (draft 2020-12): a member that is left out where it says nothing is not required. Members
/// may be added within `mpi-queues/1`, so others are allowed.
pub fn schema() -> String {
    let generator = schemars::generate::SchemaSettings::draft2020_12().for_serialize().into_generator();
    let schema = generator.into_root_schema_for::<Snapshot>();
    serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
}
