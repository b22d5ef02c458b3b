//! What is remarked about an operation beyond its numbers: a type for code, a sentence for people.

use std::borrow::Cow;
use std::fmt;

use serde::de::Deserializer;
use serde::{Deserialize, Serialize, Serializer};

/// A remark about an operation.
///
/// Code asks for the variant; people read the [`fmt::Display`] of it. So does the JSON (`extra_text`), which is the only
/// place where a variant is found by its sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remark {
    /// An unexpected message that has arrived whole: nothing of it is left at its sender.
    Eager,
    /// An unexpected message of which only the announcement has arrived.
    Rendezvous,
    /// An unexpected message that overtook an earlier one of its sender.
    OutOfOrder,
    /// A message to this process itself.
    ToItself,
    /// A send in buffered mode.
    BufferedSend,
    /// A send in synchronous mode: it is done when it is received.
    SynchronousSend,
    /// A send in ready mode.
    ReadySend,
    /// A send of which a part has not left yet.
    WaitsForRoom,
    /// The memory of a send fits a large one of so many bytes to that rank, which waits, and a synchronous one of so many bytes
    /// that has gone.
    EitherSend {
        /// Bytes of the large one.
        large: u64,
        /// Where that one goes.
        to: i64,
        /// Bytes of the other.
        synchronous: u64,
    },
    /// Cancelled, and not waited for yet.
    Cancelled,
    /// Done with an error of MPI.
    ErrorCode(i64),
    /// MPI_Request_free was called for its request.
    RequestFreed,
    /// What MPI_Mprobe or MPI_Improbe has taken.
    MatchedMessage,
    /// A probe, which waits for a message and receives none.
    Probe,
    /// Its peers are those of the local group of an intercommunicator.
    WithinLocalGroup,
    /// It is posted on a communicator that the MPI library has made for itself; ranks are that one's.
    WithinLibrarysCommunicator,
    /// A message of a blocking collective, with the MPI function that such messages are made by, and the tag.
    Collective(Option<(Cow<'static, str>, i64)>),
    /// A message of a non-blocking or neighbourhood collective: its tag is a number of the communicator's.
    NumberedCollective(i64),
    /// Posted by the MPI library, with a tag of which nothing more is known.
    Library(i64),
    /// Whatever else, in words; a plug-in's.
    Other(Cow<'static, str>),
}

/// The variants that say nothing more.
const FIXED: &[(Remark, &str)] = &[
    (Remark::Eager, "eager"),
    (Remark::Rendezvous, "rendezvous: the sender waits for a receive"),
    (Remark::OutOfOrder, "out of order: arrived before an earlier message of the same sender"),
    (Remark::ToItself, "a message to this process itself; its data is with the sender"),
    (Remark::BufferedSend, "buffered send"),
    (Remark::SynchronousSend, "synchronous send"),
    (Remark::ReadySend, "ready send"),
    (Remark::WaitsForRoom, "only part of it has gone: it waits for space"),
    (Remark::Cancelled, "cancelled"),
    (Remark::RequestFreed, "the application has freed the request"),
    (Remark::MatchedMessage, "a matched message that no MPI_Mrecv has received yet"),
    (Remark::Probe, "a probe: waits for a message, receives none"),
    (Remark::WithinLocalGroup, "within the local group of the intercommunicator"),
    (
        Remark::WithinLibrarysCommunicator,
        "within a communicator that the library made for its collectives; ranks are its",
    ),
    (Remark::Collective(None), COLLECTIVE),
];

const COLLECTIVE: &str = "part of a collective";
const NUMBERED: &str = "part of a non-blocking or neighbourhood collective";
const LIBRARY: &str = "posted by the MPI library for itself";
const ERROR: &str = "complete with the MPI error code ";
const EITHER: &str = "either ";
const BYTES_TO: &str = " bytes to ";
const OR: &str = ", or ";
const OF_SYNCHRONOUS: &str = " bytes of a synchronous send";

impl fmt::Display for Remark {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ErrorCode(code) => write!(out, "{ERROR}{code}"),
            Self::EitherSend { large, to, synchronous } => {
                write!(out, "{EITHER}{large}{BYTES_TO}{to}{OR}{synchronous}{OF_SYNCHRONOUS}")
            }
            Self::Collective(Some((function, tag))) => write!(out, "{COLLECTIVE}: {function} (tag {tag})"),
            Self::NumberedCollective(tag) => write!(out, "{NUMBERED} (tag {tag})"),
            Self::Library(tag) => write!(out, "{LIBRARY} (tag {tag})"),
            Self::Other(text) => out.write_str(text),
            fixed => {
                let found = FIXED.iter().find(|(remark, _)| remark == fixed);
                out.write_str(found.map_or("", |(_, text)| text))
            }
        }
    }
}

impl From<Cow<'static, str>> for Remark {
    /// The variant whose sentence this is; what is none of them is `Other`.
    fn from(text: Cow<'static, str>) -> Self {
        if let Some((remark, _)) = FIXED.iter().find(|(_, known)| *known == text) {
            return remark.clone();
        }
        let tagged = |text: &str| -> Option<(String, i64)> {
            let (words, tag) = text.strip_suffix(')')?.rsplit_once(" (tag ")?;
            Some((words.to_owned(), tag.parse().ok()?))
        };
        let either = |text: &str| -> Option<Self> {
            let (first, last) = text.strip_prefix(EITHER)?.strip_suffix(OF_SYNCHRONOUS)?.split_once(OR)?;
            let (large, to) = first.split_once(BYTES_TO)?;
            Some(Self::EitherSend { large: large.parse().ok()?, to: to.parse().ok()?, synchronous: last.parse().ok()? })
        };
        let found = match (text.strip_prefix(ERROR), tagged(&text)) {
            _ if text.starts_with(EITHER) => either(&text),
            (Some(code), _) => code.parse().ok().map(Self::ErrorCode),
            (None, Some((words, tag))) if words == NUMBERED => Some(Self::NumberedCollective(tag)),
            (None, Some((words, tag))) if words == LIBRARY => Some(Self::Library(tag)),
            (None, Some((words, tag))) => words
                .strip_prefix(COLLECTIVE)
                .and_then(|rest| rest.strip_prefix(": "))
                .map(|function| Self::Collective(Some((Cow::Owned(function.to_owned()), tag)))),
            (None, None) => None,
        };
        // Only where nothing of the words is lost.
        found.filter(|found| found.to_string() == text).unwrap_or(Self::Other(text))
    }
}

impl From<&'static str> for Remark {
    fn from(text: &'static str) -> Self {
        Cow::Borrowed(text).into()
    }
}

impl From<String> for Remark {
    fn from(text: String) -> Self {
        Cow::<'static, str>::Owned(text).into()
    }
}

impl Serialize for Remark {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Remark {
    fn schema_name() -> Cow<'static, str> {
        "Remark".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

impl<'de> Deserialize<'de> for Remark {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_remark_is_found_again_by_its_sentence() {
        let with_facts = [
            Remark::ErrorCode(15),
            Remark::ErrorCode(-1),
            Remark::Collective(Some((Cow::Borrowed("MPI_Bcast"), -17))),
            Remark::NumberedCollective(289),
            Remark::Library(i64::MIN),
            Remark::Other(Cow::Borrowed("of a plug-in")),
        ];
        for remark in FIXED.iter().map(|(remark, _)| remark).chain(&with_facts) {
            let text = remark.to_string();
            assert!(!text.is_empty());
            assert_eq!(&Remark::from(text), remark);
        }
    }

    #[test]
    fn words_that_are_nearly_a_remark_stay_as_they_are() {
        for text in [
            "",
            "Eager",
            "cancelled ",
            "part of a collective: MPI_Bcast",
            "part of a collective: MPI_Bcast (tag x)",
            "part of a collective (tag 5)",
            "complete with the MPI error code 015",
            "posted by the MPI library for itself (tag +5)",
            "(tag 5)",
        ] {
            assert_eq!(Remark::from(text), Remark::Other(Cow::Borrowed(text)));
        }
    }
}
