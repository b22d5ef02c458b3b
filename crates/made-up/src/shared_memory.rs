//! The BTL for shared memory of the imitation of Open MPI: what peers have sent and this process has not taken out.

use target::PointerWidth;
use target::address::TargetAddr;

use super::process::Process;
use super::traffic::Message;

/// Bytes of each peer's segment, and of each fast box.
pub const SEGMENT: u64 = 1 << 16;
pub const BOX: u64 = 1024;
const ALIGNMENT: u64 = 32;

/// Peers on the node, this process among them.
pub const PEERS: u64 = 4;
pub const OWN: u64 = 1;

const FRAGMENT: u64 = 0xfe;
const SKIP: u64 = 0xff;

/// The BTL of a process.
#[derive(Debug, Clone)]
pub struct SharedMemory {
    pub component: TargetAddr,
    pub endpoints: TargetAddr,
    pub segments: Vec<TargetAddr>,
    /// How much of each segment is used.
    used: Vec<u64>,
    /// The last fragment of the queue.
    last: Option<TargetAddr>,
    /// By peer.
    boxes: Vec<Option<Ring>>,
}

/// A fast box as its sender knows it.
#[derive(Debug, Clone, Copy)]
struct Ring {
    at: TargetAddr,
    /// Where its next entry goes and which number it has.
    end: u64,
    number: u16,
    /// How far it was read.
    start: u64,
}

impl Process {
    fn btl(&self, part: &str) -> &'static str {
        match (self.build.extended, part) {
            (false, "component") => "mca_btl_vader_component_t",
            (false, "endpoint") => "mca_btl_vader_endpoint_t",
            (false, "fragment") => "mca_btl_vader_hdr_t",
            (false, _) => "vader_fifo_t",
            (true, "component") => "mca_btl_sm_component_t",
            (true, "endpoint") => "mca_btl_sm_endpoint_t",
            (true, "fragment") => "mca_btl_sm_hdr_t",
            (true, _) => "sm_fifo_t",
        }
    }

    /// The value of a flag of fragments.
    pub fn btl_flag(&self, name: &str) -> i64 {
        let start = if self.build.extended { "MCA_BTL_SM_FLAG_" } else { "MCA_BTL_VADER_FLAG_" };
        self.types.constant(&format!("{start}{name}"))
    }

    /// Opens the BTL; nothing has been sent.
    pub fn shared_memory(&mut self) -> SharedMemory {
        let (component_type, endpoint_type) = (self.btl("component"), self.btl("endpoint"));
        let names = match self.build.extended {
            false => ("mca_btl_vader_component", "mca_btl_vader_endpoint_t_class"),
            true => ("mca_btl_sm_component", "mca_btl_sm_endpoint_t_class"),
        };
        let (component, class) = (self.object(component_type), self.mem.alloc(64, 16));
        self.symbols.extend([(names.0, component), (names.1, class)]);
        let size = self.types.size(endpoint_type);
        let endpoints = self.mem.alloc(size * PEERS, 8);
        let segments: Vec<TargetAddr> = (0..PEERS).map(|_| self.mem.alloc(SEGMENT, 64)).collect();
        for (number, segment) in (0..).zip(&segments) {
            let at = endpoints.wrapping_add(number * size);
            self.set_pointer(at, endpoint_type, "super.super.obj_class", class);
            self.set(at, endpoint_type, "peer_smp_rank", number as i64);
            self.set_pointer(at, endpoint_type, "segment_base", *segment);
            self.set_pointer(at, endpoint_type, "fifo", *segment);
        }
        let own = segments[OWN as usize];
        for (field, to) in [("my_segment", own), ("my_fifo", own), ("endpoints", endpoints)] {
            self.set_pointer(component, component_type, field, to);
        }
        self.set(component, component_type, "segment_size", SEGMENT as i64);
        self.set(component, component_type, "fbox_size", BOX as i64);
        let boxes = self.mem.alloc(PEERS * self.width(), 8);
        self.set_pointer(component, component_type, "fbox_in_endpoints", boxes);
        for end in ["fifo_head", "fifo_tail"] {
            self.set(own, self.btl("fifo"), end, -2);
        }
        let used = vec![128; PEERS as usize];
        SharedMemory { component, endpoints, segments, used, last: None, boxes: vec![None; PEERS as usize] }
    }

    /// A message as its sender sends it: the header, and the data of an eager one.
    pub fn sent(&mut self, message: Message, context: i64, sequence: u16) -> (u64, Vec<u8>) {
        const HEADER: &str = "mca_pml_ob1_hdr_t";
        let at = self.object(HEADER);
        let inner = if message.extended { "hdr_ext_match.hdr_match" } else { "hdr_match" };
        let kind = self.types.constant(&format!("MCA_PML_OB1_HDR_TYPE_{}", message.kind));
        let fields = [
            ("hdr_common.hdr_type", kind),
            ("hdr_ctx", context),
            ("hdr_src", message.from),
            ("hdr_tag", message.tag),
            ("hdr_seq", i64::from(sequence)),
        ];
        for (field, value) in fields {
            self.set(at, HEADER, &format!("{inner}.{field}"), value);
        }
        let mut tag = kind;
        if message.extended {
            tag = self.types.constant("MCA_PML_OB1_HDR_TYPE_CID");
            self.set(at, HEADER, "hdr_common.hdr_type", tag);
            self.set(at, HEADER, "hdr_ext_match.hdr_ext_cid.hdr_cid.cid_base", 0x1111_2222);
            self.set(at, HEADER, "hdr_ext_match.hdr_ext_cid.hdr_cid.cid_sub.u64", context);
        }
        let front = if message.extended { self.types.size("mca_pml_ob1_cid_hdr_t") } else { 0 };
        let (len, data) = if message.kind == "MATCH" {
            let end = self.types.field("mca_pml_ob1_match_hdr_t", "hdr_seq").0 + 2;
            (front + end + 2 * u64::from(self.build.padded), message.bytes)
        } else {
            let field = if message.extended { "hdr_ext_rndv.hdr_rndv" } else { "hdr_rndv" };
            self.set(at, HEADER, &format!("{field}.hdr_msg_length"), message.bytes as i64);
            (front + self.types.size("mca_pml_ob1_rendezvous_hdr_t"), 0)
        };
        let mut bytes = self.mem.get(at, len);
        bytes.resize((len + data) as usize, 0xda);
        (tag as u64, bytes)
    }

    /// The relative pointer to a place in a peer's segment.
    fn relative(&self, shm: &SharedMemory, peer: u64, at: TargetAddr) -> i64 {
        let bits = if self.mem.abi.pointer_width == PointerWidth::Eight { 32 } else { 24 };
        ((at.get() - shm.segments[peer as usize].get()) | (peer << bits)) as i64
    }

    fn in_segment(shm: &mut SharedMemory, peer: u64, size: u64) -> TargetAddr {
        let used = &mut shm.used[peer as usize];
        let at = shm.segments[peer as usize].wrapping_add(*used);
        *used = (*used + size).next_multiple_of(64);
        assert!(*used <= SEGMENT);
        at
    }

    /// A fragment in a peer's segment that nobody names.
    pub fn fragment_of(&mut self, shm: &mut SharedMemory, peer: u64, tag: u64, bytes: &[u8], flags: i64) -> TargetAddr {
        let kind = self.btl("fragment");
        let size = self.types.size(kind);
        let at = Self::in_segment(shm, peer, size + bytes.len() as u64);
        self.set(at, kind, "next", -2);
        self.set(at, kind, "tag", tag as i64);
        self.set(at, kind, "flags", flags);
        self.set(at, kind, "len", bytes.len() as i64);
        self.mem.put(at.wrapping_add(size), bytes);
        at
    }

    /// Links a fragment into the queue of this process.
    pub fn queue(&mut self, shm: &mut SharedMemory, peer: u64, at: TargetAddr) {
        let (fifo, value) = (shm.segments[OWN as usize], self.relative(shm, peer, at));
        match shm.last.replace(at) {
            Some(last) => self.set(last, self.btl("fragment"), "next", value),
            None => self.set(fifo, self.btl("fifo"), "fifo_head", value),
        }
        self.set(fifo, self.btl("fifo"), "fifo_tail", value);
    }

    /// A peer makes its fast box: a fragment says where it is, which is queued, or was taken already.
    pub fn make_box(&mut self, shm: &mut SharedMemory, peer: u64, fragment: TargetAddr, taken: bool) {
        let at = Self::in_segment(shm, peer, BOX);
        shm.boxes[peer as usize] = Some(Ring { at, end: ALIGNMENT, number: 0, start: ALIGNMENT });
        if !taken {
            let kind = self.btl("fragment");
            let flags = self.get(fragment, kind, "flags") as i64 | self.btl_flag("SETUP_FBOX");
            self.set(fragment, kind, "flags", flags);
            self.set(fragment, kind, "fbox_base", self.relative(shm, peer, at));
            return;
        }
        let (kind, width) = (self.btl("component"), self.width());
        let endpoint = shm.endpoints.wrapping_add(peer * self.types.size(self.btl("endpoint")));
        self.set_pointer(endpoint, self.btl("endpoint"), "fbox_in.buffer", at);
        self.set(endpoint, self.btl("endpoint"), "fbox_in.start", ALIGNMENT as i64);
        let number = self.get(shm.component, kind, "num_fbox_in_endpoints");
        let table = self.mem.get_pointer(self.field(shm.component, kind, "fbox_in_endpoints"));
        self.mem.put_pointer(table.wrapping_add(number * width), endpoint);
        self.set(shm.component, kind, "num_fbox_in_endpoints", number as i64 + 1);
    }

    /// A peer puts an entry into its fast box. Where it does not fit behind the others, the rest is skipped.
    pub fn put_in_box(&mut self, shm: &mut SharedMemory, peer: u64, tag: u64, bytes: &[u8]) {
        let Ring { at, mut end, mut number, start } = shm.boxes[peer as usize].unwrap();
        let size = (bytes.len() as u64 + 8).next_multiple_of(ALIGNMENT);
        if BOX - end < size {
            self.entry(at.wrapping_add(end), BOX - end - 8, SKIP, number);
            (end, number) = (ALIGNMENT, number.wrapping_add(1));
        }
        let place = at.wrapping_add(end);
        self.mem.put(place.wrapping_add(8), bytes);
        end += size;
        if end == BOX {
            end = ALIGNMENT;
        } else if end != start {
            // Where it is full, what comes next was not read yet.
            self.entry(at.wrapping_add(end), 0, 0, 0);
        }
        self.entry(place, bytes.len() as u64, tag, number);
        shm.boxes[peer as usize] = Some(Ring { at, end, number: number.wrapping_add(1), start });
    }

    fn entry(&mut self, at: TargetAddr, size: u64, tag: u64, number: u16) {
        self.mem.put_int(at, 4, size as i64);
        self.mem.put_int(at.wrapping_add(4), 2, tag as i64);
        self.mem.put_int(at.wrapping_add(6), 2, i64::from(number));
    }

    /// A peer names one of its fragments in its fast box.
    pub fn name_in_box(&mut self, shm: &mut SharedMemory, peer: u64, at: TargetAddr) {
        let value = self.mem.alloc(8, 8);
        self.mem.put_int(value, self.width(), self.relative(shm, peer, at));
        let bytes = self.mem.get(value, self.width());
        self.put_in_box(shm, peer, FRAGMENT, &bytes);
    }

    /// This process has taken all entries of a fast box so far; `noted`: and has noted where it is.
    pub fn took(&mut self, shm: &mut SharedMemory, peer: u64, noted: bool) {
        let Ring { end, number, .. } = shm.boxes[peer as usize].unwrap();
        let endpoint = shm.endpoints.wrapping_add(peer * self.types.size(self.btl("endpoint")));
        self.set(endpoint, self.btl("endpoint"), "fbox_in.seq", i64::from(number));
        if noted {
            shm.boxes[peer as usize].as_mut().unwrap().start = end;
            self.set(endpoint, self.btl("endpoint"), "fbox_in.start", end as i64);
        }
    }

    /// Sets a field of a part of the BTL: `component`, `endpoint`, `fragment`, `fifo`.
    pub fn set_btl(&mut self, at: TargetAddr, part: &str, field: &str, value: i64) {
        self.set(at, self.btl(part), field, value);
    }
}
