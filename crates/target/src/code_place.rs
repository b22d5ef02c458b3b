//! Where code is from.

use serde::{Deserialize, Serialize};

/// What the source of an address is, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CodePlace {
    /// The function that has it, as its source names it: the innermost one that is inlined there.
    pub function: Option<String>,
    /// The source file, as the compiler was given it.
    pub file: Option<String>,
    /// The line.
    pub line: Option<i64>,
}
