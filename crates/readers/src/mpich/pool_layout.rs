//! The head of a pool of objects, which every MPICH has one of for each kind (`MPIR_Object_alloc_t`).
//!
//! Its members and their order have changed twice (pmodels/mpich, src/include/mpihandlemem.h of v3.0,
//! src/include/mpir_objects.h of v4.0 and v4.3); they are all numbers and pointers, so the order tells the offsets.

use super::handle_value::ObjectKind;
use target::TargetAbi;

/// Where the members of a pool's head lie, in bytes from its start. `None`: that release has no such member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadLayout {
    /// The first free object.
    pub avail: usize,
    /// Whether the direct block has been set up.
    pub initialized: usize,
    /// Pointer to the table of indirect blocks.
    pub indirect: usize,
    /// How many indirect blocks there are.
    pub indirect_size: usize,
    /// Objects in each indirect block.
    pub block_size: Option<usize>,
    /// Objects in all blocks together.
    pub num_allocated: Option<usize>,
    /// How many of them are free.
    pub num_avail: Option<usize>,
    /// The kind of the objects.
    pub kind: usize,
    /// Bytes of an object.
    pub size: usize,
    /// Pointer to the direct block.
    pub direct: usize,
    /// Objects in it.
    pub direct_size: usize,
    /// Bytes of the head.
    pub total: usize,
}

/// Which members a release has besides those that all have.
struct Release {
    block_size: bool,
    counts: bool,
}

impl HeadLayout {
    fn new(abi: TargetAbi, release: &Release) -> Self {
        let pointer = usize::try_from(abi.pointer_width.bytes()).unwrap_or(8);
        let mut end = 0_usize;
        let mut place = |size: usize| {
            let at = end.next_multiple_of(size);
            end = at + size;
            at
        };
        let avail = place(pointer);
        let initialized = place(4);
        let indirect = place(pointer);
        let indirect_size = place(4);
        let block_size = release.block_size.then(|| place(4));
        let num_allocated = release.counts.then(|| place(4));
        let num_avail = release.counts.then(|| place(4));
        let kind = place(4);
        let size = place(4);
        let direct = place(pointer);
        let direct_size = place(4);
        let total = end.next_multiple_of(pointer);
        Self {
            avail,
            initialized,
            indirect,
            indirect_size,
            block_size,
            num_allocated,
            num_avail,
            kind,
            size,
            direct,
            direct_size,
            total,
        }
    }

    /// Those of all releases, the newest first.
    pub fn all(abi: TargetAbi) -> [Self; 3] {
        [(true, true), (false, true), (false, false)]
            .map(|(block_size, counts)| Self::new(abi, &Release { block_size, counts }))
    }

    /// Reads a head from its bytes; `None` where they contradict one another or are no head at all.
    pub fn decode(&self, bytes: &[u8], abi: TargetAbi) -> Option<Head> {
        let pointer = usize::try_from(abi.pointer_width.bytes()).unwrap_or(8);
        let number = |at: usize, size: usize| bytes.get(at..at + size).map(|bytes| abi.uint(bytes));
        let word = |at: usize| number(at, 4);
        let optional = |at: Option<usize>| at.map_or(Some(None), |at| word(at).map(Some));
        let head = Head {
            kind: ObjectKind::from_number(u32::try_from(word(self.kind)?).ok()?)?,
            size: word(self.size)?,
            avail: number(self.avail, pointer)?,
            initialized: match word(self.initialized)? {
                0 => false,
                1 => true,
                _ => return None,
            },
            indirect: number(self.indirect, pointer)?,
            blocks: word(self.indirect_size)?,
            block_size: optional(self.block_size)?,
            num_allocated: optional(self.num_allocated)?,
            num_avail: optional(self.num_avail)?,
            direct: number(self.direct, pointer)?,
            direct_size: word(self.direct_size)?,
        };
        head.is_consistent().then_some(head)
    }
}

/// The smallest and largest object of a pool in bytes: the header alone; more than any release's request.
const OBJECT_SIZES: std::ops::RangeInclusive<u64> = 16..=65_536;

/// More objects in the direct block do not fit its handles' index.
const MAX_DIRECT: u64 = 4096;

/// A table of indirect blocks has at most this many (`HANDLE_NUM_BLOCKS`).
const MAX_BLOCKS: u64 = 16_384;

/// Objects of an indirect block where the head does not say it (`HANDLE_NUM_INDICES`).
pub const DEFAULT_BLOCK: u64 = 1024;

/// What the head of a pool says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The kind of its objects.
    pub kind: ObjectKind,
    /// Bytes of an object.
    pub size: u64,
    /// Address of the first free object.
    pub avail: u64,
    /// Whether an object was ever allocated since MPI_Init.
    pub initialized: bool,
    /// Address of the table of indirect blocks.
    pub indirect: u64,
    /// How many indirect blocks there are.
    pub blocks: u64,
    /// Objects in each of them, where the head says it.
    pub block_size: Option<u64>,
    /// Objects in all blocks, where the head says it.
    pub num_allocated: Option<u64>,
    /// Free objects, where the head says it.
    pub num_avail: Option<u64>,
    /// Address of the direct block.
    pub direct: u64,
    /// Objects in it.
    pub direct_size: u64,
}

impl Head {
    fn is_consistent(&self) -> bool {
        let sizes = OBJECT_SIZES.contains(&self.size)
            && self.size.is_multiple_of(4)
            && self.direct_size <= MAX_DIRECT
            && self.blocks <= MAX_BLOCKS
            && (self.indirect == 0) == (self.blocks == 0)
            && (self.direct == 0) == (self.direct_size == 0)
            // Without a direct block, as datatypes are since 5.0, only blocks on the heap tell a pool from zeros.
            && (self.direct != 0 || (self.blocks > 0 && self.num_allocated.is_some()));
        // Those of a pool that was never used, or that MPI_Finalize has taken down.
        let unused = !self.initialized && self.avail == 0 && self.blocks == 0;
        let counts = match (self.num_allocated, self.num_avail) {
            (Some(allocated), Some(free)) if self.initialized => {
                allocated == self.direct_size + self.blocks * self.objects_in_block() && free <= allocated
            }
            (Some(allocated), Some(free)) => allocated == 0 && free == 0,
            _ => true,
        };
        sizes && counts && (self.initialized || unused)
    }

    /// Objects in each indirect block.
    pub fn objects_in_block(&self) -> u64 {
        if self.blocks == 0 {
            return self.block_size.unwrap_or(DEFAULT_BLOCK);
        }
        let counted = self.num_allocated.and_then(|all| all.checked_sub(self.direct_size));
        self.block_size.or_else(|| counted.map(|all| all / self.blocks)).unwrap_or(DEFAULT_BLOCK).clamp(1, 4096)
    }
}
