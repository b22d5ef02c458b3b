//! The jumps of a process that lead from one function to the next, by the debug information of its files.

use std::rc::Rc;
use std::sync::Arc;

use super::chain::{Jumps, Site, chain};
use crate::images::Loaded;
use crate::process::Process;
use crate::stacks::Shared;

/// More symbols of one process are not looked up in all of its files.
const MAX_SYMBOLS: usize = 1 << 12;

/// The jumps, each by the address behind it, which led from the call before `after` to the function that has `callee`, from the
/// innermost. Only those that are certain.
pub(super) fn between<P: Process>(shared: &Shared<P>, callee: u64, after: u64) -> Vec<u64> {
    let found = || {
        let of_callee = shared.images.loaded(callee)?;
        let begin = of_callee.file.as_ref()?.object.function_begin(callee.wrapping_sub(of_callee.bias))?;
        let of_caller = shared.images.loaded(after.checked_sub(1)?)?;
        let call = of_caller.file.as_ref()?.object.call_before(after.wrapping_sub(of_caller.bias))?;
        let begins = Begins { own: &of_callee, begin };
        if begins.is_target(&call.target, &of_caller) {
            return None;
        }
        let call = site(shared, &of_caller, &call);
        Some(chain(call, begin.wrapping_add(of_callee.bias), &Described { shared }))
    };
    found().unwrap_or_default()
}

/// Where a function begins, in its file.
struct Begins<'l> {
    own: &'l Loaded,
    begin: u64,
}

impl Begins<'_> {
    /// Whether a call leads to it, as nearly all do, without a look at other files.
    fn is_target(&self, target: &symbols::Target, caller: &Loaded) -> bool {
        match target {
            symbols::Target::Unknown => true,
            symbols::Target::Addresses(begins) => {
                let begin = self.begin.wrapping_add(self.own.bias).wrapping_sub(caller.bias);
                begins.contains(&begin)
            }
            symbols::Target::Symbol(name) => {
                let file = self.own.file.as_ref();
                file.is_some_and(|file| file.object.exported(name) == Some(self.begin))
            }
        }
    }
}

/// A call of a file, where that is loaded.
fn site<P: Process>(shared: &Shared<P>, loaded: &Loaded, call: &symbols::Call) -> Site {
    let targets = match &call.target {
        symbols::Target::Unknown => None,
        symbols::Target::Addresses(begins) => {
            Some(begins.iter().map(|begin| begin.wrapping_add(loaded.bias)).collect())
        }
        symbols::Target::Symbol(name) => by_symbol(shared, loaded, name).map(|address| vec![address]),
    };
    Site { after: call.after.wrapping_add(loaded.bias), targets }
}

/// The function that a symbol means in a file: that of the first file that tells it to others, as the dynamic linker takes it,
/// or else that of the file itself.
fn by_symbol<P: Process>(shared: &Shared<P>, own: &Loaded, name: &str) -> Option<u64> {
    let key = (own.image.start, name.to_owned());
    if let Some(known) = shared.symbols.borrow().get(&key) {
        return *known;
    }
    let of_own = || own.file.as_ref()?.object.own_symbol(name).map(|address| address.wrapping_add(own.bias));
    let exported = |start: u64| {
        let loaded = shared.images.loaded(start)?;
        let address = loaded.file.as_ref()?.object.exported(name)?;
        Some(address.wrapping_add(loaded.bias))
    };
    let found = shared.in_order().find_map(exported).or_else(of_own);
    let mut known = shared.symbols.borrow_mut();
    if known.len() < MAX_SYMBOLS {
        known.insert(key, found);
    }
    found
}

struct Described<'s, P: Process> {
    shared: &'s Shared<P>,
}

impl<P: Process> Jumps for Described<'_, P> {
    fn of(&self, begin: u64) -> Option<Vec<Rc<Site>>> {
        let loaded: Arc<Loaded> = self.shared.images.loaded(begin)?;
        let jumps = loaded.file.as_ref()?.object.jumps_of(begin.wrapping_sub(loaded.bias))?;
        Some(jumps.iter().map(|jump| Rc::new(site(self.shared, &loaded, jump))).collect())
    }
}
