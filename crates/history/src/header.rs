//! The start of a record.

use std::mem::{offset_of, size_of};

use functions::constants::Family;
use record_format as format;
use record_format::{FrameLayout, MAGIC, SYMBOL, Section, VERSION};
use target::address::TargetAddr;
use target::{ByteOrder, PointerWidth, Target};

use crate::HistoryError;
use crate::clock::Clock;
use crate::rows::{Row, Table};

/// No record is larger (bytes): one with the longest rings has 16 MB.
const LARGEST: u64 = 256 << 20;

/// No table has longer rows (bytes), or more of them.
const LONGEST_ROW: u32 = 4096;
const MOST_ROWS: u32 = 1 << 22;

pub(crate) struct Header {
    pub forked_from: u32,
    /// Whose constants and handles it has.
    pub family: Option<Family>,
    pub stage: u32,
    pub world_rank: Option<i64>,
    pub world_size: Option<i64>,
    pub clock: Clock,
    pub functions: Table,
    pub threads: Table,
    pub calls: Table,
    pub request_keys: Table,
    pub requests: Table,
    pub communicator_keys: Table,
    pub communicators: Table,
    pub collectives: Table,
    /// The numbers of messages by their keys; `None` in a record that does not count them.
    pub messages: Option<(Table, Table)>,
    pub lost_messages: u64,
    /// What the program called communicators.
    pub names: Option<Table>,
    /// What stands in the frames of calls that send; `None` in a record whose rows are all written before.
    pub frame: Option<FrameLayout>,
    pub lost_calls: u64,
    pub lost_requests: u64,
    pub lost_communicators: u64,
    pub bypassed: bool,
}

impl Header {
    /// Finds it by its symbol; `None` where there is no record.
    pub(crate) fn read<T: Target>(target: &T) -> Result<Option<Self>, HistoryError> {
        let Some(symbol) = target.symbol(SYMBOL)? else { return Ok(None) };
        let abi = target.abi();
        if abi.byte_order != ByteOrder::Little || abi.pointer_width != PointerWidth::Eight {
            return Err(HistoryError::Machine);
        }
        let at = target.read_pointer(symbol.addr)?.get();
        if at == 0 {
            return Ok(None);
        }
        let mut bytes = [0; size_of::<format::Header>()];
        target.read(TargetAddr::new(at), &mut bytes)?;
        let length = Row(&bytes).u32(offset_of!(format::Header, header_bytes));
        let counts_messages = length as usize >= offset_of!(format::Header, frame);
        if !bytes.starts_with(&MAGIC) {
            return Err(HistoryError::Damaged("it does not begin as a record does"));
        }
        let row = Row(&bytes);
        let found = row.u32(offset_of!(format::Header, version));
        if found != VERSION {
            return Err(HistoryError::Version { found });
        }
        let total = row.u64(offset_of!(format::Header, total_bytes));
        if total > LARGEST || at.checked_add(total).is_none() {
            return Err(HistoryError::Damaged("it says that it is larger than records are"));
        }
        let table = |place: usize, least: usize| {
            let offset = row.u64(place + offset_of!(Section, offset));
            let (stride, count) =
                (row.u32(place + offset_of!(Section, stride)), row.u32(place + offset_of!(Section, count)));
            let length = u64::from(stride) * u64::from(count);
            let inside = offset.checked_add(length).is_some_and(|end| end <= total);
            if (stride as usize) < least || stride > LONGEST_ROW || count > MOST_ROWS || !inside {
                return Err(HistoryError::Damaged("a table does not lie in it"));
            }
            Ok(Table { at: at + offset, stride: u64::from(stride), count: u64::from(count) })
        };
        let lost = |place: usize| row.u64(place);
        let frame = offset_of!(format::Header, frame);
        let in_frame = |place: usize| row.u32(frame + place);
        let known = |place: usize| Some(i64::from(row.i32(place))).filter(|number| *number >= 0);
        let messages = if counts_messages {
            let keys = table(offset_of!(format::Header, message_keys), 8)?;
            Some((keys, table(offset_of!(format::Header, message_counts), 8)?))
        } else {
            None
        };
        Ok(Some(Self {
            forked_from: row.u32(offset_of!(format::Header, forked_from)),
            family: match row.u32(offset_of!(format::Header, family)) {
                format::family::OPEN_MPI => Some(Family::OpenMpi),
                format::family::MPICH => Some(Family::Mpich),
                format::family::ABI => Some(Family::Abi),
                _ => None,
            },
            stage: row.u32(offset_of!(format::Header, stage)),
            world_rank: known(offset_of!(format::Header, world_rank)),
            world_size: known(offset_of!(format::Header, world_size)),
            clock: Clock::new(row, offset_of!(format::Header, latest)),
            functions: table(offset_of!(format::Header, functions), size_of::<format::FunctionName>())?,
            threads: table(offset_of!(format::Header, threads), size_of::<format::Thread>())?,
            calls: table(offset_of!(format::Header, calls), size_of::<format::Call>())?,
            request_keys: table(offset_of!(format::Header, request_keys), 8)?,
            requests: table(offset_of!(format::Header, requests), size_of::<format::Request>())?,
            communicator_keys: table(offset_of!(format::Header, communicator_keys), 8)?,
            communicators: table(offset_of!(format::Header, communicators), size_of::<format::Communicator>())?,
            collectives: table(offset_of!(format::Header, collectives), size_of::<format::Collective>())?,
            names: if counts_messages {
                Some(table(offset_of!(format::Header, communicator_names), format::COMMUNICATOR_NAME)?)
            } else {
                None
            },
            frame: (length as usize >= size_of::<format::Header>()).then(|| FrameLayout {
                call: in_frame(offset_of!(FrameLayout, call)),
                time: in_frame(offset_of!(FrameLayout, time)),
                function: in_frame(offset_of!(FrameLayout, function)),
                site: in_frame(offset_of!(FrameLayout, site)),
            }),
            lost_messages: if counts_messages { lost(offset_of!(format::Header, lost_messages)) } else { 0 },
            messages,
            lost_calls: lost(offset_of!(format::Header, lost_calls)),
            lost_requests: lost(offset_of!(format::Header, lost_requests))
                .saturating_add(lost(offset_of!(format::Header, early_requests))),
            lost_communicators: lost(offset_of!(format::Header, lost_communicators)),
            bypassed: lost(offset_of!(format::Header, bypassed)) != 0,
        }))
    }
}
