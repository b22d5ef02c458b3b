//! The schema of the profile format, the shipped profiles and the program agree.

use layouts::{Profile, shipped_profiles};
use serde_json::{Map, Value, json};

const SCHEMA: &str = include_str!("../../../../layouts/schema.json");

/// Checks `value` against the part of JSON Schema that our schema uses; a keyword that is not known here fails, so that
/// nothing in the schema goes unchecked.
fn check(schema: &Value, value: &Value, root: &Value, path: &str) -> Result<(), String> {
    let fail = |what: String| Err(format!("{path}: {what}"));
    // The other keywords only make sense for a value of the right type.
    let right = match schema.get("type").map(|name| name.as_str().unwrap()) {
        None => true,
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some(other) => panic!("unknown type {other}"),
    };
    if !right {
        return fail(format!("not of the type {}", schema["type"]));
    }
    for (keyword, rule) in schema.as_object().unwrap() {
        let number = || value.as_i64().unwrap_or(i64::MIN);
        match keyword.as_str() {
            "type" | "$schema" | "$defs" | "title" | "description" | "examples" => {}
            "$ref" => {
                let target = rule.as_str().unwrap().strip_prefix('#').unwrap();
                check(root.pointer(target).unwrap(), value, root, path)?;
            }
            "const" if value != rule => return fail(format!("not {rule}")),
            "enum" if !rule.as_array().unwrap().contains(value) => return fail(format!("not one of {rule}")),
            "const" | "enum" => {}
            "minimum" if number() < rule.as_i64().unwrap() => return fail(format!("less than {rule}")),
            "maximum" if number() > rule.as_i64().unwrap() => return fail(format!("more than {rule}")),
            "minimum" | "maximum" => {}
            "minLength" if (value.as_str().unwrap().len() as i64) < rule.as_i64().unwrap() => {
                return fail("too short".to_owned());
            }
            "minLength" => {}
            "pattern" if !matches_pattern(rule.as_str().unwrap(), value.as_str().unwrap()) => {
                return fail(format!("does not match {rule}"));
            }
            "pattern" => {}
            "required" => {
                for name in rule.as_array().unwrap() {
                    if value.get(name.as_str().unwrap()).is_none() {
                        return fail(format!("lacks {name}"));
                    }
                }
            }
            "properties" => {
                for (name, inner) in rule.as_object().unwrap() {
                    if let Some(member) = value.get(name) {
                        check(inner, member, root, &format!("{path}/{name}"))?;
                    }
                }
            }
            "additionalProperties" => {
                for (name, member) in value.as_object().unwrap() {
                    check(rule, member, root, &format!("{path}/{name}"))?;
                }
            }
            "items" => {
                for item in value.as_array().unwrap() {
                    check(rule, item, root, path)?;
                }
            }
            other => panic!("unknown keyword {other}"),
        }
    }
    Ok(())
}

/// The three patterns of the schema, each written out.
fn matches_pattern(pattern: &str, text: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    match pattern {
        r"^1\.[0-9]+$" => text.strip_prefix("1.").is_some_and(digits),
        r"^[0-9]+(\.[0-9]+){0,2}$" => text.split('.').count() <= 3 && text.split('.').all(digits),
        "^[0-9a-f]*$" => text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')),
        other => panic!("unknown pattern {other}"),
    }
}

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

#[test]
fn every_shipped_profile_is_of_the_schema() {
    for shipped in shipped_profiles() {
        let value: Value = serde_json::from_str(&shipped.text().unwrap()).unwrap();
        check(&schema(), &value, &schema(), shipped.name).unwrap();
    }
}

/// Every place in a value, as a JSON pointer.
fn places(value: &Value, at: &str, out: &mut Vec<String>) {
    if let Some(members) = value.as_object() {
        for (name, member) in members {
            let path = format!("{at}/{name}");
            out.push(path.clone());
            places(member, &path, out);
        }
    }
}

fn small() -> Value {
    json!({
        "schema": "mpi-queues-layout", "format": "1.0", "name": "small",
        "producer": {"tool": "a test", "command": "none", "sources": ["nothing"]},
        "identity": {"implementation": "Open MPI", "version": "1.2.3", "fits": ["1.2"], "build_ids": ["00ff"]},
        "target": {"byte_order": "big", "pointer_width": 4},
        "constants": {"MPI_ANY_TAG": -1},
        "types": {"pair_t": {"size": 8, "fields": {
            "first": {"offset": 0, "size": 4, "kind": "pointer", "type": "void *"}}}}
    })
}

#[test]
fn the_schema_and_the_program_accept_and_refuse_the_same() {
    let both = |value: &Value| {
        let by_schema = check(&schema(), value, &schema(), "").is_ok();
        let by_program = Profile::from_json(&value.to_string()).is_ok();
        (by_schema, by_program)
    };
    assert_eq!(both(&small()), (true, true));
    let mut all = Vec::new();
    places(&small(), "", &mut all);
    assert!(all.len() > 20, "{all:?}");
    // Entries of the three maps may be absent, everything else must be there.
    let may_lack = ["/constants/MPI_ANY_TAG", "/types/pair_t", "/types/pair_t/fields/first"];
    for place in &all {
        let (parent, name) = place.rsplit_once('/').unwrap();
        let mut without = small();
        let members: &mut Map<String, Value> = without.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        members.remove(name);
        let expected = may_lack.contains(&place.as_str());
        assert_eq!(both(&without), (expected, expected), "without {place}");
        for wrong in [json!(null), json!(1.5), json!(["wrong", 1]), json!({"wrong": 1})] {
            let mut with = small();
            *with.pointer_mut(place).unwrap() = wrong.clone();
            // A map of constants may hold a constant of any name.
            let expected = place == "/constants" && wrong.is_object();
            assert_eq!(both(&with), (expected, expected), "{place} = {wrong}");
        }
    }
}

#[test]
fn the_schema_names_the_kinds_that_the_program_knows() {
    let schema = schema();
    let kinds = schema.pointer("/$defs/field/properties/kind/enum").unwrap().as_array().unwrap();
    for kind in kinds {
        let mut value = small();
        *value.pointer_mut("/types/pair_t/fields/first/kind").unwrap() = kind.clone();
        Profile::from_json(&value.to_string()).unwrap();
    }
    let mut shipped: Vec<String> = shipped_profiles()
        .flat_map(|shipped| shipped.profile().unwrap().types.into_values().collect::<Vec<_>>())
        .flat_map(|layout| std::sync::Arc::unwrap_or_clone(layout.fields).into_values())
        .map(|field| serde_json::to_value(field.kind).unwrap().as_str().unwrap().to_owned())
        .collect();
    shipped.sort();
    shipped.dedup();
    assert!(shipped.iter().all(|kind| kinds.contains(&json!(kind))), "{shipped:?}");
}
