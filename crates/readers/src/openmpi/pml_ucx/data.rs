//! Where the data of an operation lies, and of which datatype it is.

use super::decoder::Decoder;
use crate::record::Record;
use crate::ucx::Data;
use model::{Operation, Unknown};
use target::address::TargetAddr;

const NO_DATATYPE: &str = "UCX keeps bytes, not datatypes, of data that lies in one piece";
const NOT_PACKED: &str = "what packs the data could not be read";

/// Why no datatype is known of data that lies in one piece.
pub(super) fn no_datatype() -> Unknown {
    let mut operation = Operation::default();
    for fact in ["datatype", "count"] {
        operation.not_known(fact, NO_DATATYPE);
    }
    operation.unknown
}

impl Decoder<'_> {
    /// Fills in buffer, length and datatype; returns the datatype object, where it is known.
    pub(super) fn data(&mut self, data: Data, operation: &mut Operation) -> TargetAddr {
        operation.desired_length = Some(data.length);
        operation.buffer = data.buffer.map(TargetAddr::get);
        let Some(packed) = data.packed else {
            if operation.unknown.is_empty() {
                operation.unknown = self.no_datatype.clone();
            } else {
                operation.unknown.extend(self.no_datatype.iter().map(|(fact, reason)| (fact.clone(), reason.clone())));
            }
            if data.buffer.is_none() {
                operation.not_known("buffer", "the data is in several pieces");
            }
            return TargetAddr::NULL;
        };
        let shape = self.workers.layout.packed.as_ref();
        let context = shape.and_then(|shape| shape.context.read_pointer(self.target, packed.datatype).ok());
        // The pml packs with a convertor of its own, which has all of it (pml_ucx_datatype.c, v4.1.4 and v5.0.10).
        let shape = &self.ucx.convertor;
        let convertor = Record::owned(self.target, packed.state, shape.size).ok().filter(|convertor| {
            self.convertor == Some(convertor.pointer(shape.class))
                && context.is_none_or(|context| context == convertor.pointer(shape.datatype))
        });
        let datatype = context.or_else(|| convertor.as_ref().map(|convertor| convertor.pointer(shape.datatype)));
        let of_convertor = |slot| convertor.as_ref().map(|convertor| convertor.uint(slot));
        operation.count = packed.count.or_else(|| of_convertor(shape.count));
        operation.buffer = operation.buffer.or_else(|| of_convertor(shape.buffer));
        let known = datatype.map(|datatype| self.datatypes.of(datatype));
        operation.datatype = known.and_then(|known| known.name).map(Into::into);
        for (fact, missing) in [
            ("count", operation.count.is_none()),
            ("buffer", operation.buffer.is_none()),
            ("datatype", datatype.is_none()),
        ] {
            if missing {
                operation.not_known(fact, NOT_PACKED);
            }
        }
        datatype.unwrap_or_default()
    }
}
