//! Blocking sends, whose requests lie on the stack of the thread that sends.
//!
//! The pml makes room for UCX's request there (`mca_pml_ucx_send_nbr`, `PML_UCX_REQ_ALLOCA`, open-mpi/ompi, ompi/mca/pml/ucx/pml_ucx.c,
//! v4.1.4 and v5.0.10), and no list of UCX leads to it. So each stack is searched, from where its thread stands, for what can be
//! nothing else: the flags of a send that goes on, a connection of the pml's worker to a process of the communicator, this process's
//! rank, a communicator of this process. So are receives that were matched: UCX's lists do not have them any more.

use super::decoder::{Decoded, Decoder};
use super::role::Role;
use crate::record::Record;
use crate::ucx::Flags;
use target::address::TargetAddr;
use target::{Reason, zeroed};

/// So much of a stack is searched, in bytes: between a blocking call and where it waits lie some thousand. Recordings keep it.
const SEARCHED: usize = 1 << 14;

/// No process has more threads than this that are looked at.
const MAX_THREADS: usize = 1 << 12;

/// Requests lie at multiples of this.
const STEP: usize = 8;

/// What the stacks have.
#[derive(Default)]
pub struct Found {
    /// Sends.
    pub sends: Vec<Decoded>,
    /// Receives that were matched.
    pub receives: Vec<Decoded>,
}

/// Searches the stacks; `known` says which receives were found already, by their links.
///
/// # Errors
/// Why stacks could not be searched.
pub fn search(decoder: &mut Decoder<'_>, known: impl Fn(TargetAddr) -> bool) -> Result<Found, Reason> {
    let target = decoder.target;
    let pointers = target.stack_pointers()?;
    if pointers.len() > MAX_THREADS {
        return Err(format!("there are {} of them", pointers.len()).into());
    }
    let mut found = Found::default();
    let before = (decoder.impossible, decoder.orphans.clone());
    let mut buffer = zeroed(SEARCHED)?;
    let mut unread = None;
    for pointer in pointers {
        let start = TargetAddr::new(pointer.get() & !(STEP as u64 - 1));
        match read(decoder, start, &mut buffer) {
            Ok(len) => look(decoder, start, &buffer[..len], &known, &mut found),
            Err(reason) => unread = Some(reason),
        }
    }
    // What lies on stacks by chance is no damage.
    (decoder.impossible, decoder.orphans) = before;
    unread.map_or(Ok(found), Err)
}

/// Reads as much of a stack as there is.
fn read(decoder: &Decoder<'_>, start: TargetAddr, buffer: &mut [u8]) -> Result<usize, Reason> {
    const PAGE: u64 = 4096;
    let mut len = 0;
    while len < buffer.len() {
        let at = start.wrapping_add(len as u64);
        let piece = usize::try_from(PAGE - at.get() % PAGE).unwrap_or(STEP).min(buffer.len() - len);
        match decoder.target.read(at, &mut buffer[len..len + piece]) {
            Ok(()) => len += piece,
            Err(error) if len == 0 => return Err(Reason::of(error)),
            Err(_) => break,
        }
    }
    Ok(len)
}

fn look(
    decoder: &mut Decoder<'_>,
    start: TargetAddr,
    stack: &[u8],
    known: &impl Fn(TargetAddr) -> bool,
    found: &mut Found,
) {
    let (size, abi) = (decoder.workers.layout.request.size, decoder.target.abi());
    for offset in (0..stack.len().saturating_sub(size)).step_by(STEP) {
        let record = Record::new(start.wrapping_add(offset as u64), &stack[offset..offset + size], abi);
        let flags = Flags::of(&decoder.workers.layout, &record);
        if !flags.may_be_on_a_stack() {
            continue;
        }
        match decoder.role(flags, &record) {
            Some(role @ Role::Send(false)) => found.sends.extend(decoder.send(&record, flags, role, false)),
            Some(Role::Receive) => {
                let receive = decoder.receive(&record, flags, false);
                let new = |one: &Decoded| one.sender.is_some() && one.link.is_some_and(|link| !known(link));
                found.receives.extend(receive.filter(new));
            }
            _ => {}
        }
    }
}
