//! Operators.

use super::facts::facts;
use super::{Function, Known, Language};

facts! {
    /// All that an operator has but its users.
    Op {
        /// The application's function; none of a predefined one.
        function: Known<Option<Function>>,
        /// What that is written in; none of a predefined one.
        language: Known<Option<Language>>,
        /// Whether it commutes.
        commutative: Known<bool>,
    }
}

/// A summary shows at most this many characters of a function's name.
const SHOWN: usize = 60;

impl Op {
    /// The line of one that the application made.
    pub fn summary(&self) -> String {
        let language = self.language.as_ref().ok().copied().flatten();
        let order = match self.commutative {
            Ok(true) => ", commutative",
            Ok(false) => ", not commutative",
            Err(_) => "",
        };
        match (&self.function, language) {
            // Which function it is, nobody can tell.
            (Err(_), Some(language)) => format!("an operator of {}{order}", language.word()),
            (function, language) => {
                let function = function.as_ref().ok().and_then(Option::as_ref);
                let name: String = function.map_or("no function", Function::word).chars().take(SHOWN).collect();
                let spoken = language.map(|language| format!(" in {}", language.word())).unwrap_or_default();
                format!("operator {name}{spoken}{order}")
            }
        }
    }
}
