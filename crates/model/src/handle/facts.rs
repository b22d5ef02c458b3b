//! Facts of handles with types, and how they get their names.

use reason::Reason;
use serde_json::Value;

use super::Handle;

/// A fact, or why it is not known. A fact that is an `Option` may also be none, such as the topology of a communicator
/// without one.
pub type Known<T> = Result<T, Reason>;

/// What can be told of a handle under a name.
pub trait Fact {
    /// Adds it to the facts of the handle, and what is not known of it to `unknown`.
    fn tell(self, name: &str, handle: &mut Handle);
}

impl<F: Fact> Fact for Known<F> {
    fn tell(self, name: &str, handle: &mut Handle) {
        match self {
            Ok(fact) => fact.tell(name, handle),
            Err(reason) => handle.unknown(name, reason),
        }
    }
}

impl<F: Fact> Fact for Option<F> {
    fn tell(self, name: &str, handle: &mut Handle) {
        match self {
            Some(fact) => fact.tell(name, handle),
            None => handle.fact(name, Value::Null),
        }
    }
}

impl<T> Fact for Vec<T>
where
    Value: From<Vec<T>>,
{
    fn tell(self, name: &str, handle: &mut Handle) {
        handle.fact(name, self);
    }
}

/// These are told as they are in JSON.
macro_rules! as_in_json {
    ($($type:ty),*) => { $(
        impl $crate::handle::Fact for $type {
            fn tell(self, name: &str, handle: &mut $crate::handle::Handle) {
                handle.fact(name, self);
            }
        }
    )* };
}
pub(super) use as_in_json;

as_in_json!(bool, i64, u64, usize, String, &'static str, Value);

/// A structure whose members are facts, told under the members' names in their order.
macro_rules! facts {
    ($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $member:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name { $($(#[$about])* pub $member: $type,)* }

        impl $name {
            /// Adds the facts to those of a handle.
            pub fn tell(self, handle: &mut $crate::handle::Handle) {
                $($crate::handle::Fact::tell(self.$member, stringify!($member), handle);)*
            }
        }
    };
}
pub(super) use facts;
