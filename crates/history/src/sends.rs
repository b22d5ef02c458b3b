//! Calls that send and whose row is not written yet: what they were given stands in their frame on the stack.

use std::mem::offset_of;

use functions::constants::Family;
use record_format as format;
use record_format::{MESSAGE_COMMUNICATOR, MESSAGE_COUNT, MESSAGE_DATATYPE, MESSAGE_PEER, MESSAGE_TAG};
use target::Target;
use target::address::TargetAddr;

use crate::Reading;
use crate::clock;
use crate::rows::Row;

/// The site stands behind all else that is read.
const LONGEST_FRAME: u32 = 4096;

/// A word of the kernel's time, and of the arguments (bytes).
const WORD: usize = 8;

impl<T: Target> Reading<'_, T> {
    /// The row of the call that a thread is in, made from its frame; `None` where it has none there.
    pub(crate) fn row_in_frame(&self, thread: &Row<'_>, number: u64) -> Option<Vec<u8>> {
        let layout = self.header.frame?;
        if thread.u64(offset_of!(format::Thread, current)) != number || layout.site > LONGEST_FRAME {
            return None;
        }
        let at = thread.u64(offset_of!(format::Thread, frame));
        let length = usize::try_from(layout.site).ok()? + WORD;
        let bytes = self.target.read_bytes(TargetAddr::new(at), length).ok()?;
        let frame = Row(&bytes);
        // Whatever else stands there by now, it is not the frame of this call.
        if frame.u64(layout.call as usize) != number {
            return None;
        }
        let argument = |place: u8| frame.u64(usize::from(place) * WORD);
        let handles = if self.header.family == Some(Family::Mpich) { u64::from(u32::MAX) } else { u64::MAX };
        let count = i64::from(argument(MESSAGE_COUNT) as i32) as u64;
        let counted = format::Call::counted(count, frame.u32(layout.function as usize) as u16);
        let (seconds, nanoseconds) = (frame.u64(layout.time as usize), frame.u64(layout.time as usize + WORD));
        let mut row = [0; size_of::<format::Call>()];
        let mut set = |place: usize, value: u64| row[place..place + WORD].copy_from_slice(&value.to_le_bytes());
        set(offset_of!(format::Call, number), number);
        set(offset_of!(format::Call, time), clock::in_frame(seconds, nanoseconds));
        set(offset_of!(format::Call, site), frame.u64(layout.site as usize));
        set(offset_of!(format::Call, object), argument(MESSAGE_COMMUNICATOR) & handles);
        set(offset_of!(format::Call, datatype), argument(MESSAGE_DATATYPE) & handles);
        set(offset_of!(format::Call, count), counted);
        let low = |place: u8| argument(place) & u64::from(u32::MAX);
        set(offset_of!(format::Call, peer), low(MESSAGE_PEER) | low(MESSAGE_TAG) << 32);
        Some(row.to_vec())
    }

    /// Messages that are being sent by such calls: the communicator's handle, the destination and the tag of each.
    pub(crate) fn being_sent(&self) -> Vec<(u64, i32, i32)> {
        use format::Call as Row_;
        let rows = self.header.threads.each(&self.threads).filter_map(|thread| {
            let number = thread.u64(offset_of!(format::Thread, current));
            let is_live = thread.u32(offset_of!(format::Thread, state)) == format::thread_state::LIVE;
            let is_in_one = is_live && number != 0 && self.row_in_ring(&thread, number).is_none();
            if is_in_one { self.row_in_frame(&thread, number) } else { None }
        });
        let told = rows.map(|row| {
            let row = Row(&row);
            (row.u64(offset_of!(Row_, object)), row.i32(offset_of!(Row_, peer)), row.i32(offset_of!(Row_, tag)))
        });
        told.filter(|(_, peer, tag)| *peer >= 0 && *tag >= 0).collect()
    }
}
