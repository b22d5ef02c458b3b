//! Functions, communicators and requests of a record.

use std::collections::{BTreeMap, HashMap};
use std::mem::offset_of;
use std::rc::Rc;

use model::{
    Given, HandleWord, MessageCount, PastCollective, RecordedCommunicator, RecordedRequest, RecordedState, Text,
};
use record_format as format;
use record_format::{COUNT_BITS, FUNCTION_NAME, FUNCTION_NUMBER, MessageKey};
use target::{Target, printable};

use crate::header::Header;
use crate::rows::Row;
use crate::{COLLECTIVES_TOLD, HistoryError, Reading};

/// More requests or communicators are not told.
const MOST_REQUESTS: usize = 1 << 14;
const MOST_COMMUNICATORS: usize = 1 << 12;

/// So many requests are read one by one.
const FEW_REQUESTS: usize = 64;

/// The bits of an address of a program. Those above are its signature, where the machine signs return addresses.
const ADDRESS: u64 = (1 << 48) - 1;

/// A function by its number.
pub(crate) struct FunctionRow {
    pub name: Text,
    /// Whether the object of its calls is a communicator.
    pub on_communicator: bool,
}

pub(crate) fn functions<T: Target>(target: &T, header: &Header) -> Result<Rc<[FunctionRow]>, HistoryError> {
    // Their numbers have no more bits.
    let bytes = header.functions.rows(target, 0, u64::from(FUNCTION_NUMBER) + 1)?;
    let read = |Row(row): Row<'_>| {
        let name = row.get(..FUNCTION_NAME).unwrap_or_default();
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        let object = row.get(offset_of!(format::FunctionName, object)).copied();
        FunctionRow { name: printable(name).into(), on_communicator: object == Some(format::object::COMMUNICATOR) }
    };
    Ok(header.functions.each(&bytes).map(read).collect())
}

/// The numbers of the rows that are in use, by the keys of a table.
fn used<T: Target>(target: &T, keys: &crate::rows::Table, most: usize) -> Result<Vec<(u64, u64)>, HistoryError> {
    let bytes = keys.rows(target, 0, keys.count)?;
    let keys = keys.each(&bytes).map(|row| row.u64(0));
    Ok((0..).zip(keys).filter(|(_, key)| *key != 0).take(most).collect())
}

impl<T: Target> Reading<'_, T> {
    /// Those that can be used, and what calls may call them.
    pub(crate) fn communicators(&self) -> Result<(Vec<RecordedCommunicator>, Named), HistoryError> {
        use format::Communicator as Row_;
        let (mut found, mut named) = (Vec::new(), Named::default());
        let rows = used(self.target, &self.header.communicator_keys, MOST_COMMUNICATORS)?;
        let mut messages = self.messages(&rows)?;
        for (number, key) in rows {
            let bytes = self.header.communicators.row(self.target, number)?;
            let row = Row(&bytes);
            let live = row.u32(offset_of!(Row_, state)) == format::communicator_state::LIVE;
            if !live || row.u64(offset_of!(Row_, handle)) != key {
                continue;
            }
            let count = row.u64(offset_of!(Row_, collectives));
            let flags = row.u32(offset_of!(Row_, flags));
            let is_shared = flags & format::communicator_flags::OWN_NAME == 0;
            let identity = Some(row.u64(offset_of!(Row_, identity))).filter(|identity| *identity != 0 && is_shared);
            let known = |at: usize| Some(i64::from(row.i32(at))).filter(|number| *number >= 0);
            let made = row.u64(offset_of!(Row_, made));
            let name = (self.name)(HandleWord(key)).or_else(|| self.given_name(number));
            named.names.insert(key, (made, name.clone()));
            let fortran = row.u64(offset_of!(Row_, fortran));
            if fortran != 0 {
                named.names.insert(fortran, (made, name.clone()));
                named.fortran.insert(fortran, key);
            }
            let side = flags & format::communicator_flags::INTER != 0;
            found.push(RecordedCommunicator {
                handle: HandleWord(key),
                name,
                identity: identity.map(HandleWord),
                local_rank: known(offset_of!(Row_, rank)),
                size: known(offset_of!(Row_, size)),
                remote_size: known(offset_of!(Row_, remote_size)),
                made_by: self.function_of_call(made),
                collectives: count,
                order: HandleWord(row.u64(offset_of!(Row_, order))),
                contents: HandleWord(row.u64(offset_of!(Row_, contents))),
                latest: self.collectives(number, count, &mut named)?.into(),
                second: side.then_some(flags & format::communicator_flags::SECOND != 0),
                messages: messages.as_mut().map(|all| all.remove(&number).unwrap_or_default().into()),
                untold: row.u32(offset_of!(Row_, untold)).into(),
                started: row.u32(offset_of!(Row_, started)).into(),
            });
        }
        Ok((found, named))
    }

    /// What the program called the communicator of a row.
    fn given_name(&self, communicator: u64) -> Option<Text> {
        let row = self.header.names.as_ref()?.row(self.target, communicator).ok()?;
        let name = row.get(..format::COMMUNICATOR_NAME)?.split(|byte| *byte == 0).next()?;
        (!name.is_empty()).then(|| printable(name).into())
    }

    /// The latest collectives of a communicator, which has the row `communicator`.
    fn collectives(
        &self,
        communicator: u64,
        count: u64,
        named: &mut Named,
    ) -> Result<Vec<PastCollective>, HistoryError> {
        use format::Collective as Row_;
        let ring = format::COLLECTIVES as u64;
        let mut found = Vec::new();
        let bytes = self.header.collectives.rows(self.target, communicator * ring, ring)?;
        let rows: Vec<Row<'_>> = self.header.collectives.each(&bytes).collect();
        for number in count.saturating_sub(ring) + 1..=count {
            let place = usize::try_from((number - 1) % ring).unwrap_or(usize::MAX);
            let Some(row) = rows.get(place).filter(|row| row.u64(offset_of!(Row_, number)) == number) else { continue };
            let started = u64::from(row.u32(offset_of!(Row_, started)));
            named.collectives.insert(row.u64(offset_of!(Row_, call)), started);
            if number + COLLECTIVES_TOLD <= count {
                continue;
            }
            let count = row.u64(offset_of!(Row_, count));
            let mut given = Given {
                peer: given(row.i32(offset_of!(Row_, root))),
                count: elements(count),
                datatype: handle(row.u64(offset_of!(Row_, datatype))),
                ..Given::default()
            };
            self.places.tell(row.u64(offset_of!(Row_, site)), &mut given);
            let op = handle(row.u64(offset_of!(Row_, op)));
            let inside = self.is_inside(row.u64(offset_of!(Row_, call)));
            found.push(PastCollective {
                number,
                started,
                function: self.function(count).0,
                inside,
                op,
                given,
                op_name: None,
            });
        }
        Ok(found)
    }

    /// The numbers of messages, by the row of their communicator; `None` where the record does not count them. `communicators`: the
    /// rows in use and their keys.
    fn messages(&self, communicators: &[(u64, u64)]) -> Result<Option<HashMap<u64, Vec<MessageCount>>>, HistoryError> {
        let Some((keys, counts)) = &self.header.messages else { return Ok(None) };
        let mut all: BTreeMap<(u64, i64, i64), (u64, u64)> = BTreeMap::new();
        let bytes = counts.rows(self.target, 0, counts.count)?;
        let numbers: Vec<u64> = counts.each(&bytes).map(|row| row.u64(0)).collect();
        for (row, word) in used(self.target, keys, usize::MAX)? {
            let key = MessageKey::of(word);
            let number = usize::try_from(row).ok().and_then(|row| numbers.get(row)).copied().unwrap_or(0);
            let entry = all.entry((key.communicator, key.peer.into(), key.tag.into())).or_default();
            let counted = if key.received { &mut entry.1 } else { &mut entry.0 };
            *counted = counted.saturating_add(number);
        }
        for (communicator, peer, tag) in self.being_sent() {
            if let Some((row, _)) = communicators.iter().find(|(_, key)| *key == communicator) {
                let entry = all.entry((*row, peer.into(), tag.into())).or_default();
                entry.0 = entry.0.saturating_add(1);
            }
        }
        let mut found: HashMap<u64, Vec<MessageCount>> = HashMap::new();
        for ((communicator, peer, tag), (sent, received)) in all {
            found.entry(communicator).or_default().push(MessageCount { peer, tag, sent, received });
        }
        Ok(Some(found))
    }

    /// The rows of open requests. Of many the whole table is read at once.
    pub(crate) fn request_rows(&self) -> Result<Vec<Vec<u8>>, HistoryError> {
        use format::Request as Row_;
        let (table, target) = (&self.header.requests, self.target);
        let used = used(target, &self.header.request_keys, MOST_REQUESTS)?;
        let whole = if used.len() > FEW_REQUESTS { table.rows(target, 0, table.count)? } else { Vec::new() };
        let all: Vec<Row<'_>> = table.each(&whole).collect();
        let mut found = Vec::with_capacity(used.len());
        for (number, key) in used {
            let bytes = match usize::try_from(number).ok().and_then(|number| all.get(number)) {
                Some(row) => row.0.to_vec(),
                None => table.row(target, number)?,
            };
            let row = Row(&bytes);
            // Else it is torn, or another one by now.
            if row.u64(offset_of!(Row_, number)) != 0 && row.u64(offset_of!(Row_, request)) == key {
                found.push(bytes);
            }
        }
        Ok(found)
    }

    pub(crate) fn requests(&self, rows: &[Vec<u8>], named: &Named) -> Vec<RecordedRequest> {
        use format::Request as Row_;
        let mut found = Vec::new();
        for bytes in rows {
            let row = Row(bytes);
            let made_by = row.u64(offset_of!(Row_, number));
            let key = row.u64(offset_of!(Row_, request));
            let state = row.u32(offset_of!(Row_, state));
            let count = row.u64(offset_of!(Row_, count));
            let (function, on_communicator) = self.function(count);
            let object = row.u64(offset_of!(Row_, object));
            let mut made = Given {
                communicator: Some(object).filter(|_| on_communicator).and_then(|one| named.at(one, made_by)),
                peer: given(row.i32(offset_of!(Row_, peer))),
                tag: given(row.i32(offset_of!(Row_, tag))),
                count: elements(count),
                datatype: handle(row.u64(offset_of!(Row_, datatype))),
                ..Given::default()
            };
            self.places.tell(row.u64(offset_of!(Row_, site)), &mut made);
            let at = |address: u64| {
                let mut place = Given::default();
                self.places.tell(address, &mut place);
                Box::new(place)
            };
            let called_at =
                Some(at(row.u64(offset_of!(Row_, caller)) & ADDRESS)).filter(|one| **one != Given::default());
            let started =
                (row.u64(offset_of!(Row_, started)) != 0).then(|| at(row.u64(offset_of!(Row_, started_site))));
            let time = row.u64(offset_of!(Row_, time));
            let inactive = state == format::request_state::INACTIVE;
            let request = RecordedRequest {
                request: HandleWord(key),
                state: if inactive { RecordedState::Inactive } else { RecordedState::Active },
                function,
                began_at: self.header.clock.told(time).into(),
                given: made,
                called_at,
                started,
            };
            found.push((time, request));
        }
        found.sort_by_key(|(time, _)| *time);
        found.into_iter().map(|(_, request)| request).collect()
    }

    /// The function of a row by what its count has above it, and whether its object is a communicator.
    pub(crate) fn function(&self, count: u64) -> (Text, bool) {
        let number = usize::from((count >> COUNT_BITS) as u16 & FUNCTION_NUMBER);
        self.functions.get(number).map_or((Text::default(), false), |row| (row.name.clone(), row.on_communicator))
    }

    /// Whether a thread is in a call, by the call's number, which has the thread's row above it.
    fn is_inside(&self, call: u64) -> bool {
        let current = self.thread_of(call).map_or(0, |thread| thread.u64(offset_of!(format::Thread, current)));
        current != 0 && current == low(call)
    }

    /// The thread of a call, by the call's number.
    fn thread_of(&self, call: u64) -> Option<Row<'_>> {
        self.header.threads.each(&self.threads).nth(usize::try_from(call >> COUNT_BITS).ok()?)
    }

    /// The function of a call by the call's number, which has its thread's row above it; where its thread's ring still has it.
    fn function_of_call(&self, call: u64) -> Option<Text> {
        if call == 0 {
            return None;
        }
        let row = self.call_row(&self.thread_of(call)?, low(call))?;
        Some(self.function(Row(&row).u64(offset_of!(format::Call, count))).0)
    }
}

/// What stands below the mark in a number that has another above it.
fn low(number: u64) -> u64 {
    number & ((1 << COUNT_BITS) - 1)
}

/// How many elements, of a count with the function above it; `None` where it is negative, which no call can mean.
pub(crate) fn elements(count: u64) -> Option<u64> {
    let sign = 1 << (COUNT_BITS - 1);
    Some(low(count)).filter(|count| count & sign == 0)
}

/// What was given; wildcards and MPI_PROC_NULL are negative numbers, which differ from MPI to MPI.
pub(crate) fn given(number: i32) -> Option<i64> {
    (number >= 0).then(|| i64::from(number))
}

pub(crate) fn handle(word: u64) -> Option<HandleWord> {
    (word != 0).then_some(HandleWord(word))
}

/// What calls were given, by its handle.
#[derive(Default)]
pub(crate) struct Named {
    /// Communicators: by which call each was made (0: it was there from the beginning), and its name.
    names: HashMap<u64, (u64, Option<Text>)>,
    /// Fortran's handles, and what C calls the same.
    fortran: HashMap<u64, u64>,
    /// Collectives by the numbers of their calls: which of those of their communicator they are that return a request.
    collectives: HashMap<u64, u64>,
}

impl Named {
    /// What a call was given, by the call's number with its thread's row above it: a name where it can only have been this
    /// communicator. MPIs give a handle again that was freed, so that it may have been another one before this was made.
    pub(crate) fn at(&self, object: u64, call: u64) -> Option<Text> {
        let handle = handle(object)?;
        let is_later = |made: u64| made == 0 || made >> COUNT_BITS == call >> COUNT_BITS && call > made;
        let name = self.names.get(&object).filter(|(made, _)| is_later(*made)).and_then(|(_, name)| name.clone());
        Some(name.unwrap_or_else(|| handle.to_string().into()))
    }

    /// Which of those of its communicator's collectives a call was that return a request.
    pub(crate) fn collective(&self, call: u64) -> Option<u64> {
        self.collectives.get(&call).copied().filter(|number| *number > 0)
    }

    /// The handle in C of what a call was given now; `None` where it was given none.
    pub(crate) fn in_c(&self, object: u64) -> Option<HandleWord> {
        handle(self.fortran.get(&object).copied().unwrap_or(object))
    }
}
