//! How far this process has come with each sender: `MPID_nem_recv_seqno` (mpid_nem_mpich.c, v3.4.3 to v5.0.1) is a variable of a
//! stripped library. It is found beside others of the same file, which say what they are.

use super::region::Region;
use crate::mpich::variables;
use target::address::TargetAddr;
use target::{Range, Target, TargetError};

/// In the file `MPID_nem_fboxq_elem_list`, `_list_last`, `MPID_nem_curr_fboxq_elem`, `MPID_nem_curr_fbox_all_poll`,
/// `MPID_nem_prefetched_cell` and `MPID_nem_recv_seqno` follow each other; compilers lay them out in this order, or in the other.
const DISTANCE: u64 = 5;

/// Words of an element of the list (`MPID_nem_fboxq_elem_t`, mpid_nem_fbox.h), and those of them that name the sender's rank
/// and its fast box.
const WORDS: u64 = 5;
const RANK: usize = 3;
const FAST_BOX: usize = 4;

/// More processes (4 Mi) than any job has.
const MAX_PROCS: u64 = 1 << 22;

/// The numbers of the cells that are taken out next, by ranks in MPI_COMM_WORLD; `None` where they are not found.
///
/// # Errors
/// Where the process is gone.
pub fn find(target: &dyn Target, ranges: &[Range], region: &Region) -> Result<Option<Vec<u16>>, TargetError> {
    let abi = target.abi();
    let width = abi.pointer_width.bytes();
    let size = usize::try_from(width).unwrap_or(8);
    let span = region.local().saturating_sub(1) * WORDS * width;
    if region.procs > MAX_PROCS {
        return Ok(None);
    }
    variables::find(target, ranges, 2 * size, |record| {
        let word = |index: usize| abi.uint(record.part(index * size, size));
        let (first, second) = (word(0), word(1));
        let (list, place) = match (second.checked_sub(first), first.checked_sub(second)) {
            (Some(ahead), _) if ahead == span => (first, record.addr.wrapping_add(DISTANCE * width)),
            (_, Some(behind)) if behind == span => {
                (second, record.addr.wrapping_add(width).wrapping_add((DISTANCE * width).wrapping_neg()))
            }
            _ => return None,
        };
        if !is_list(target, TargetAddr::new(list), region) {
            return None;
        }
        let at = target.read_pointer(place).ok()?;
        let numbers = target.read_bytes(at, usize::try_from(2 * region.procs).ok()?).ok()?;
        Some(numbers.chunks_exact(2).map(|number| abi.uint(number) as u16).collect())
    })
}

/// Whether the elements at `list` are those of the node's processes.
fn is_list(target: &dyn Target, list: TargetAddr, region: &Region) -> bool {
    let abi = target.abi();
    let size = usize::try_from(abi.pointer_width.bytes()).unwrap_or(8);
    let words = usize::try_from(WORDS).unwrap_or(0);
    let len = usize::try_from(region.local()).unwrap_or(usize::MAX).saturating_mul(words * size);
    let Ok(bytes) = target.read_bytes(list, len) else { return false };
    (0..).zip(bytes.chunks_exact(words * size)).all(|(local, element)| {
        let part = |word: usize, len: usize| element.get(word * size..word * size + len).unwrap_or_default();
        Some(abi.int(part(RANK, 4))) == region.rank_of(local)
            && abi.uint(part(FAST_BOX, size)) == region.fast_box(local).get()
    })
}
