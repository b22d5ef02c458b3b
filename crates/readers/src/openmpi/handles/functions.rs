//! Functions of the program that the library calls back.

use serde_json::{Value, json};

use super::HandleReader;
use target::address::TargetAddr;
use target::printable;

impl HandleReader<'_> {
    /// The function whose code starts at `addr`, as a fact: `address` and `symbol`, or in place of that null and the
    /// `reason`. Null for a null pointer.
    pub(super) fn function(&self, addr: TargetAddr) -> Value {
        if addr.is_null() {
            return Value::Null;
        }
        let reason = match self.target.function_at(addr) {
            Ok(Some(name)) => {
                return json!({ "address": addr.to_string(), "symbol": printable(name.as_bytes()) });
            }
            Ok(None) => "no symbol table has a function that starts there (a stripped program?)".to_owned(),
            Err(error) => error.to_string(),
        };
        json!({ "address": addr.to_string(), "symbol": Value::Null, "reason": reason })
    }
}
