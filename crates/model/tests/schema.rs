//! docs/schema.json is that of the types.

#![allow(clippy::unwrap_used)]

#[test]
fn the_schema_of_the_documentation_is_that_of_the_types() {
    let kept = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema.json")).unwrap();
    assert!(kept == model::schema(), "docs/schema.json is not that of the types; type: make schema");
}
