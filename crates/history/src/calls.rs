//! The latest calls of threads.

use std::mem::offset_of;

use model::{Given, PastCall, ThreadHistory};
use record_format as format;
use record_format::{COUNT_BITS, SECOND_HALF};
use target::Target;

use crate::rows::Row;
use crate::tables::{Named, elements, given, handle};
use crate::{CALLS_TOLD, Reading};

impl<T: Target> Reading<'_, T> {
    pub(crate) fn threads(&self, named: &Named) -> Vec<ThreadHistory> {
        use format::Thread as Row_;
        let mut found = Vec::new();
        for (place, row) in (0_u64..).zip(self.header.threads.each(&self.threads)) {
            let state = row.u32(offset_of!(Row_, state));
            if state == format::thread_state::FREE {
                continue;
            }
            let begun = row.u64(offset_of!(Row_, calls));
            let current = row.u64(offset_of!(Row_, current));
            found.push(ThreadHistory {
                kernel_thread: i64::from(row.u32(offset_of!(Row_, id))),
                ended: state == format::thread_state::ENDED,
                begun,
                current: (current != 0).then_some(current),
                calls: self.calls(&row, place << COUNT_BITS, named),
            });
        }
        found
    }

    /// Those of a thread; `place`: its row, where numbers have it.
    fn calls(&self, thread: &Row<'_>, place: u64, named: &Named) -> Vec<PastCall> {
        let begun = thread.u64(offset_of!(format::Thread, calls));
        let first = begun.saturating_sub(CALLS_TOLD) + 1;
        let rows = (first..=begun).filter_map(|number| Some((number, self.call_row(thread, number)?)));
        rows.map(|(number, bytes)| self.call(number, place, Row(&bytes), named)).collect()
    }

    /// The row of a thread's call; `None` where the ring does not have it any more, or it is torn.
    pub(crate) fn call_row(&self, thread: &Row<'_>, number: u64) -> Option<Vec<u8>> {
        self.row_in_ring(thread, number).or_else(|| self.row_in_frame(thread, number))
    }

    pub(crate) fn row_in_ring(&self, thread: &Row<'_>, number: u64) -> Option<Vec<u8>> {
        use format::Thread as Row_;
        let capacity = u64::from(thread.u32(offset_of!(Row_, capacity)));
        let place = number.checked_sub(1)?.checked_rem(capacity)?;
        let row = u64::from(thread.u32(offset_of!(Row_, ring))) + place;
        let bytes = self.header.calls.row(self.target, row).ok()?;
        (Row(&bytes).u64(offset_of!(format::Call, number)) == number).then_some(bytes)
    }

    fn call(&self, number: u64, place: u64, row: Row<'_>, named: &Named) -> PastCall {
        use format::Call as Row_;
        let count = row.u64(offset_of!(Row_, count));
        let (function, on_communicator) = self.function(count);
        let object = row.u64(offset_of!(Row_, object));
        let mut given = Given {
            communicator: Some(object).filter(|_| on_communicator).and_then(|one| named.at(one, place | number)),
            peer: given(row.i32(offset_of!(Row_, peer))),
            tag: given(row.i32(offset_of!(Row_, tag))),
            count: elements(count),
            datatype: None,
            ..Given::default()
        };
        // Of functions that are given requests it is their address.
        if on_communicator {
            given.datatype = handle(row.u64(offset_of!(Row_, datatype)));
        }
        self.places.tell(row.u64(offset_of!(Row_, site)), &mut given);
        PastCall {
            number,
            began_at: self.header.clock.told(row.u64(offset_of!(Row_, time))).into(),
            function,
            receives: (count >> COUNT_BITS) as u16 & SECOND_HALF != 0,
            given,
        }
    }
}
