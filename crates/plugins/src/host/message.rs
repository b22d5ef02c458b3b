//! Messages of a helper as types. The fields of each stand once, so that both sides agree on their order.

use super::wire::{Failure, Kind, Put, Take};

/// What a message consists of: how it is written, and how it is read again.
pub trait Part<'a>: Sized {
    /// Appends it.
    fn put(&self, out: &mut Vec<u8>);
    /// The next one; `None` where what is left is too short for it, or is none.
    fn take(from: &mut Take<'a>) -> Option<Self>;
}

/// What a helper sends.
pub trait Message {
    /// The kind of its frame.
    fn kind(&self) -> Kind;
    /// Appends its fields.
    fn write(&self, out: &mut Vec<u8>);
}

macro_rules! part {
    ($($type:ty: $name:ident),*) => {
        $(impl Part<'_> for $type {
            fn put(&self, out: &mut Vec<u8>) {
                out.$name(*self);
            }
            fn take(from: &mut Take<'_>) -> Option<Self> {
                from.$name()
            }
        })*
    };
}

part!(u8: u8, u32: u32, i32: i32, u64: u64, i64: i64);

impl Part<'_> for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.u8(u8::from(*self));
    }
    fn take(from: &mut Take<'_>) -> Option<Self> {
        Some(from.u8()? != 0)
    }
}

impl<'a> Part<'a> for &'a [u8] {
    fn put(&self, out: &mut Vec<u8>) {
        out.text(self);
    }
    fn take(from: &mut Take<'a>) -> Option<Self> {
        from.text()
    }
}

/// Parts that are one of a list, by the number in it.
#[macro_export]
macro_rules! numbered {
    ($($type:ty: $all:expr);*) => {
        $(impl $crate::host::message::Part<'_> for $type {
            fn put(&self, out: &mut Vec<u8>) {
                $crate::host::wire::Put::u8(out, *self as u8);
            }
            fn take(from: &mut $crate::host::wire::Take<'_>) -> Option<Self> {
                $all.get(usize::from(from.u8()?)).copied()
            }
        })*
    };
}

numbered!(Failure: Failure::ALL);

impl<'a, T: Part<'a>> Part<'a> for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        self.iter().for_each(|part| part.put(out));
    }
    fn take(from: &mut Take<'a>) -> Option<Self> {
        if bool::take(from)? { T::take(from).map(Some) } else { Some(None) }
    }
}

/// An enum of messages, each with the number of its [`Kind`].
#[macro_export]
macro_rules! messages {
    ($(#[$doc:meta])* $name:ident<$life:lifetime> {
        $($(#[$of:meta])* $variant:ident = $number:literal {
            $($(#[$about:meta])* $field:ident: $type:ty),* $(,)?
        })*
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum $name<$life> {
            $($(#[$of])* $variant { $($(#[$about])* $field: $type),* },)*
        }

        impl<$life> $name<$life> {
            /// `None` where the kind is none of these, or the payload makes no sense.
            pub fn read(kind: $crate::host::wire::Kind, payload: &$life [u8]) -> Option<Self> {
                let mut from = $crate::host::wire::Take(payload);
                match kind.0 {
                    $($number => Some(Self::$variant { $($field: $crate::host::message::Part::take(&mut from)?),* }),)*
                    _ => None,
                }
            }
        }

        impl $crate::host::message::Message for $name<'_> {
            fn kind(&self) -> $crate::host::wire::Kind {
                $crate::host::wire::Kind(match self {
                    $(Self::$variant { .. } => $number,)*
                })
            }
            fn write(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$variant { $($field),* } => { $($crate::host::message::Part::put($field, out);)* })*
                }
            }
        }
    };
}

/// A part that has parts itself.
macro_rules! record {
    ($(#[$doc:meta])* $name:ident<$life:lifetime> { $($(#[$about:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name<$life> {
            $($(#[$about])* pub $field: $type,)*
        }

        impl<$life> Part<$life> for $name<$life> {
            fn put(&self, out: &mut Vec<u8>) {
                $(self.$field.put(out);)*
            }
            fn take(from: &mut Take<$life>) -> Option<Self> {
                Some(Self { $($field: Part::take(from)?),* })
            }
        }
    };
}
pub(crate) use record;

messages! {
    /// What is told whatever the interface of the plug-in.
    Told<'a> {
        /// What the plug-in prints for debugging.
        Print = 6 {
            /// The text.
            text: &'a [u8],
        }
        /// A fetch that made no sense.
        BadFetch = 7 {
            /// Where.
            addr: u64,
            /// How many bytes.
            len: u64,
        }
        /// A function failed; the helper stops here.
        Failed = 8 {
            /// How.
            failure: Failure,
            /// The number of the function in its interface; `u32::MAX`: none.
            function: u32,
            /// Its error code.
            code: i32,
            /// The plug-in's text for it.
            text: &'a [u8],
        }
        /// All was read.
        Done = 9 {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_read_again_and_never_half() {
        let messages = [
            Told::Print { text: b"fine" },
            Told::BadFetch { addr: u64::MAX, len: 7 },
            Told::Failed { failure: Failure::TooMany, function: u32::MAX, code: -1, text: b"why" },
            Told::Done {},
        ];
        for message in messages {
            let mut payload = Vec::new();
            message.write(&mut payload);
            assert_eq!(Told::read(message.kind(), &payload).as_ref(), Some(&message));
            for len in 0..payload.len() {
                assert_eq!(Told::read(message.kind(), &payload[..len]), None, "{message:?}");
            }
        }
    }

    #[test]
    fn numbers_that_do_not_exist_are_refused() {
        assert_eq!(Told::read(Kind(8), &[99; 40]), None);
        assert_eq!(Told::read(Kind::REPLY, &[]), None);
    }
}
