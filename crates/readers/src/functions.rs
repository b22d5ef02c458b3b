//! Functions of the program that the library calls back.

use model::handle::Function;
use target::address::TargetAddr;
use target::{Target, printable};

/// The function whose code starts at `addr`; none for a null pointer.
pub fn at(target: &dyn Target, addr: TargetAddr) -> Option<Function> {
    if addr.is_null() {
        return None;
    }
    let found = match target.function_at(addr) {
        Ok(Some(name)) => Ok(printable(name.as_bytes())),
        Ok(None) => Err("no symbol table has a function that starts there (a stripped program?)".to_owned()),
        Err(error) => Err(error.to_string()),
    };
    Some(Function { address: addr.to_string(), reason: found.as_ref().err().cloned(), symbol: found.ok() })
}
