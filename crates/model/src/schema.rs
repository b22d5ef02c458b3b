//! The JSON Schema of a snapshot, made from the types.

use serde_json::Value;

use super::Snapshot;

/// The schema of what is written (draft 2020-12): a member that is left out where it says nothing is not required. Members
/// may be added within `mpi-queues/1`, so others are allowed.
pub fn schema() -> String {
    let generator = schemars::generate::SchemaSettings::draft2020_12().for_serialize().into_generator();
    let schema = generator.into_root_schema_for::<Snapshot>();
    let mut schema = serde_json::to_value(schema).unwrap_or_default();
    in_words_of_json(&mut schema);
    serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
}

/// What Rust and Python call None is null in the JSON.
fn in_words_of_json(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(text) if name == "description" => *text = text.replace("None", "null"),
                    other => in_words_of_json(other),
                }
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(in_words_of_json),
        _ => {}
    }
}
