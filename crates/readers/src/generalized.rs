//! What all MPIs say alike of generalized requests (MPI-4.1, 13.2).

use serde_json::{Map, Value};

/// The fact `functions`, from what is told of each.
pub fn functions(query: Value, free: Value, cancel: Value) -> Map<String, Value> {
    [("query", query), ("free", free), ("cancel", cancel)]
        .map(|(name, told)| (name.to_owned(), told))
        .into_iter()
        .collect()
}

/// The name of its query function as summaries have it, in parentheses after a space; empty where it has none.
pub fn called(query: &Value) -> String {
    query.get("symbol").and_then(Value::as_str).map_or_else(String::new, |name| format!(" ({name})"))
}
