//! The cells in shared memory of the imitation of MPICH: what others have queued for this process.

use target::address::TargetAddr;

use super::mpich::Mpich;

/// Processes on the node, the place of this one, cells of each, and bytes of a cell.
pub const PROCS: u64 = 4;
pub const RANK: u64 = 1;
pub const CELLS: u64 = 8;
pub const CELL: u64 = 256;

/// How the structure of the pool has changed: in 4.0, 4.2, 4.3 and 5.0.
pub const RELEASES: [usize; 4] = [0, 1, 2, 3];

const HEADER: &str = "MPIDIG_hdr_t";
const CELL_HEAD: u64 = 16;

/// Where the parts are.
#[derive(Debug, Clone)]
pub struct Cells {
    pub transport: TargetAddr,
    pub pool: TargetAddr,
    pub terminal: TargetAddr,
    pub slab: TargetAddr,
    alloc: u64,
    /// How many cells of each process are used.
    used: Vec<u64>,
    last: Option<TargetAddr>,
}

/// A message in a cell.
#[derive(Debug, Clone, Copy)]
pub struct Letter {
    pub source: i64,
    pub tag: i64,
    pub context: i64,
    pub bytes: i64,
    pub flags: i64,
    /// The sender's request, null where it has none.
    pub request: i64,
}

impl Mpich {
    fn cells_width(&self) -> u64 {
        self.mem.abi.pointer_width.bytes()
    }

    /// Sets up the cells as a release does; nothing is queued.
    pub fn cells(&mut self, release: usize) -> Cells {
        let width = self.cells_width();
        let front = 4 * width;
        let alloc = if release == 3 { (front + CELL).next_multiple_of(64) } else { front + CELL };
        let queues = if release >= 2 { 2 } else { 1 };
        let queue_len = if release == 3 { (CELLS * alloc).next_multiple_of(4096) } else { CELLS * alloc };
        let total = PROCS * queues * queue_len;
        let slab = self.mem.alloc(total + PROCS * queues * 192, 64);
        let terminals = self.mem.alloc(PROCS * 192, 64);
        let pool = self.mem.alloc(13 * width, 8);
        let (cell, cells, base) = (CELL, CELLS, slab.get());
        let free = slab.get() + total;
        let words: Vec<u64> = match release {
            0 => vec![cell, alloc, cells, PROCS, RANK, base, base, 0x77, free],
            1 => vec![cell, alloc, cells, PROCS, RANK, base, 0, base, 0x77, free],
            2 => vec![cell, alloc, cells, PROCS, queues, RANK, base, 0, base, 0x77, free],
            _ => vec![cell, alloc, cells, queue_len, PROCS, queues, total, RANK, base, 0, base, 0x77, free],
        };
        for (index, word) in (0..).zip(words) {
            // The rank is an int.
            let size = if word == RANK { 4 } else { width };
            self.mem.put_int(pool.wrapping_add(index * width), size, word as i64);
        }
        let terminal = terminals.wrapping_add(RANK * 192);
        self.mem.put_int(terminal.wrapping_add(128), 4, 2);
        let transport = self.range().start.wrapping_add(2048);
        self.mem.put_int(transport, 4, CELLS as i64);
        self.mem.put_int(transport.wrapping_add(4), 4, CELL as i64);
        for (index, to) in (0..).zip([terminals, terminal, pool]) {
            self.mem.put_pointer(transport.wrapping_add(8 + index * width), to);
        }
        Cells { transport, pool, terminal, slab, alloc, used: vec![0; PROCS as usize], last: None }
    }

    /// A peer queues a cell of that type with a header for a handler; returns where the cell's header is.
    pub fn queue_cell(&mut self, cells: &mut Cells, from: u64, kind: i64, handler: i64, letter: Letter) -> TargetAddr {
        let width = self.cells_width();
        let used = &mut cells.used[from as usize];
        let offset = (from * CELLS + *used) * cells.alloc;
        *used += 1;
        let at = cells.slab.wrapping_add(offset);
        let handle = offset as i64 + 1;
        self.mem.put_int(at, width, handle);
        let cell = at.wrapping_add(4 * width);
        let len = self.types.size(HEADER) as i64;
        let head = [(0, 2, kind), (2, 2, from as i64), (4, 4, len + letter.bytes), (9, 1, handler), (10, 2, len)];
        for (offset, size, value) in head {
            self.mem.put_int(cell.wrapping_add(offset), size, value);
        }
        let payload = cell.wrapping_add(CELL_HEAD);
        let fields = [
            ("src_rank", letter.source),
            ("tag", letter.tag),
            ("context_id", letter.context),
            ("flags", letter.flags),
            ("sreq_ptr", letter.request),
            ("data_sz", letter.bytes),
        ];
        for (field, value) in fields {
            self.set(payload, HEADER, field, value);
        }
        match cells.last.replace(at) {
            Some(last) => self.mem.put_int(last.wrapping_add(2 * width), width, handle),
            None => self.mem.put_int(cells.terminal, width, handle),
        }
        self.mem.put_int(cells.terminal.wrapping_add(64), width, handle);
        at
    }
}
