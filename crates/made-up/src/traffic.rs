//! Requests and messages of the imitation of Open MPI.

use target::address::TargetAddr;

use super::process::{Comm, ELEMENT, Process};

const BASE: &str = "mca_pml_base_request_t";
const RECEIVE: &str = "mca_pml_ob1_recv_request_t";
const SEND: &str = "mca_pml_ob1_send_request_t";
const PEER: &str = "mca_pml_ob1_comm_proc_t";
const FRAG: &str = "mca_pml_ob1_recv_frag_t";

/// What is received.
#[derive(Debug, Clone, Copy)]
pub struct Receive {
    /// `None`: any.
    pub from: Option<i64>,
    /// `None`: any.
    pub tag: Option<i64>,
    pub count: u64,
    pub kind: &'static str,
    pub persistent: bool,
}

impl Default for Receive {
    fn default() -> Self {
        Self { from: Some(0), tag: Some(7), count: 3, kind: "MCA_PML_REQUEST_RECV", persistent: false }
    }
}

/// What is sent.
#[derive(Debug, Clone, Copy)]
pub struct Send {
    pub to: i64,
    pub tag: i64,
    pub count: u64,
    pub mode: &'static str,
    pub persistent: bool,
}

impl Default for Send {
    fn default() -> Self {
        Self { to: 0, tag: 7, count: 3, mode: "MCA_PML_BASE_SEND_STANDARD", persistent: false }
    }
}

/// A message that arrives.
#[derive(Debug, Clone, Copy)]
pub struct Message {
    pub from: i64,
    pub tag: i64,
    pub bytes: u64,
    /// The name of the header's constant without its beginning: MATCH, RNDV, RGET.
    pub kind: &'static str,
    /// With the extended context id in front, as it stays on messages that came before their communicator.
    pub extended: bool,
}

impl Default for Message {
    fn default() -> Self {
        Self { from: 0, tag: 7, bytes: 20, kind: "MATCH", extended: false }
    }
}

impl Process {
    fn start(&mut self, at: TargetAddr, comm: Comm, count: u64, persistent: bool) -> TargetAddr {
        let buffer = self.mem.alloc(count * ELEMENT, 8);
        let comm = self.addr(comm);
        self.set(at, BASE, "req_ompi.req_state", self.constant("OMPI_REQUEST_ACTIVE"));
        self.set(at, BASE, "req_ompi.req_type", self.constant("OMPI_REQUEST_PML"));
        self.set(at, BASE, "req_ompi.req_complete", 0);
        self.set(at, BASE, "req_ompi.req_status._cancelled", 0);
        self.set(at, BASE, "req_ompi.req_persistent", i64::from(persistent));
        self.set(at, BASE, "req_pml_complete", 0);
        self.set(at, BASE, "req_free_called", 0);
        self.set_pointer(at, BASE, "req_comm", comm);
        self.set_pointer(at, BASE, "req_datatype", self.datatype);
        self.set_pointer(at, BASE, "req_addr", buffer);
        self.set(at, BASE, "req_count", count as i64);
        buffer
    }

    /// Posts a receive; returns its request.
    pub fn receive(&mut self, comm: Comm, receive: Receive) -> TargetAddr {
        let at = self.request(false);
        self.receive_at(at, comm, receive);
        at
    }

    /// Posts a receive whose request lies elsewhere (a probe's lies on the stack).
    pub fn receive_at(&mut self, at: TargetAddr, comm: Comm, receive: Receive) {
        self.start(at, comm, receive.count, receive.persistent);
        let peer = receive.from.unwrap_or(self.constant("MPI_ANY_SOURCE"));
        self.set(at, BASE, "req_type", self.constant(receive.kind));
        self.set(at, BASE, "req_peer", peer);
        self.set(at, BASE, "req_tag", receive.tag.unwrap_or(self.constant("MPI_ANY_TAG")));
        self.set(at, BASE, "req_ompi.req_status.MPI_TAG", self.constant("MPI_ANY_TAG"));
        let (pml, pml_type) = (self.pml_comm(comm), self.pml_type());
        let sequence = self.get(pml, pml_type, "recv_sequence");
        self.set(at, BASE, "req_sequence", sequence as i64);
        self.set(pml, pml_type, "recv_sequence", sequence as i64 + 1);
        self.set(at, RECEIVE, "req_match_received", 0);
        let list = match receive.from {
            Some(rank) => self.specific_list(comm, rank),
            None => self.wild_list(comm),
        };
        self.append(list, at);
    }

    /// A message was found for a receive.
    pub fn matched(&mut self, comm: Comm, at: TargetAddr, from: i64, tag: i64, bytes: u64) {
        let any = self.get(at, BASE, "req_peer") as i32 == self.constant("MPI_ANY_SOURCE") as i32;
        let list = if any { self.wild_list(comm) } else { self.specific_list(comm, from) };
        self.remove(list, at);
        self.set(at, RECEIVE, "req_match_received", 1);
        self.set(at, BASE, "req_ompi.req_status.MPI_SOURCE", from);
        self.set(at, BASE, "req_ompi.req_status.MPI_TAG", tag);
        self.set(at, "mca_pml_base_recv_request_t", "req_bytes_packed", bytes as i64);
    }

    /// All data of a request has moved.
    pub fn complete(&mut self, at: TargetAddr, bytes: u64) {
        self.set(at, BASE, "req_ompi.req_complete", 1);
        self.set(at, BASE, "req_pml_complete", 1);
        self.set(at, BASE, "req_ompi.req_status._ucount", bytes as i64);
    }

    /// Starts a send that needs the receiver; returns its request.
    pub fn send(&mut self, comm: Comm, send: Send) -> TargetAddr {
        let at = self.request(true);
        let buffer = self.start(at, comm, send.count, send.persistent);
        self.set(at, BASE, "req_type", self.constant("MCA_PML_REQUEST_SEND"));
        self.set(at, BASE, "req_peer", send.to);
        self.set(at, BASE, "req_tag", send.tag);
        let peer = self.peer(comm, send.to);
        let sequence = self.get(peer, PEER, "send_sequence") as i64 + 1;
        self.set(peer, PEER, "send_sequence", sequence);
        self.set(at, BASE, "req_sequence", sequence & 0xffff);
        self.set(at, "mca_pml_base_send_request_t", "req_send_mode", self.constant(send.mode));
        self.set_pointer(at, "mca_pml_base_send_request_t", "req_addr", buffer);
        self.set(at, "mca_pml_base_send_request_t", "req_bytes_packed", (send.count * ELEMENT) as i64);
        self.set(at, SEND, "req_recv", 0);
        at
    }

    // ---- Messages.

    /// A fragment as it is kept; it lies in no list yet.
    pub fn fragment(&mut self, message: Message, context: i64, sequence: u16) -> TargetAddr {
        let at = self.object(FRAG);
        let prefix = if message.extended { "hdr.hdr_ext_match.hdr_match" } else { "hdr.hdr_match" };
        let mut set = |field: &str, value: i64| self.set(at, FRAG, field, value);
        set(&format!("{prefix}.hdr_ctx"), context);
        set(&format!("{prefix}.hdr_src"), message.from);
        set(&format!("{prefix}.hdr_tag"), message.tag);
        set(&format!("{prefix}.hdr_seq"), i64::from(sequence));
        let kind = self.constant(&format!("MCA_PML_OB1_HDR_TYPE_{}", message.kind));
        self.set(at, FRAG, &format!("{prefix}.hdr_common.hdr_type"), kind);
        if message.extended {
            let kind = self.constant("MCA_PML_OB1_HDR_TYPE_CID");
            self.set(at, FRAG, "hdr.hdr_common.hdr_type", kind);
            self.set(at, FRAG, "hdr.hdr_cid.hdr_cid.cid_base", 0x1111_2222);
            self.set(at, FRAG, "hdr.hdr_cid.hdr_cid.cid_sub.u64", context);
        }
        if message.kind != "MATCH" {
            let field = if message.extended { "hdr.hdr_ext_rndv.hdr_rndv" } else { "hdr.hdr_rndv" };
            self.set(at, FRAG, &format!("{field}.hdr_msg_length"), message.bytes as i64);
        }
        let header = self.types.field("mca_pml_ob1_match_hdr_t", "hdr_seq").0 + 2 + 2 * u64::from(self.build.padded);
        let front = if message.extended { self.types.size("mca_pml_ob1_cid_hdr_t") } else { 0 };
        let carried = if message.kind == "MATCH" { message.bytes } else { 0 };
        let data = self.mem.alloc(front + header + carried, 8);
        let segment = self.field(at, FRAG, "segments");
        // ob1 moves the address behind the extended part, but leaves the length (pml_ob1.c, v5.0.7).
        self.set_pointer(segment, "mca_btl_base_segment_t", "seg_addr", data.wrapping_add(front));
        self.set(segment, "mca_btl_base_segment_t", "seg_len", (front + header + carried) as i64);
        self.set(at, FRAG, "num_segments", 1);
        at
    }

    /// A message arrives in order and no receive takes it.
    pub fn arrive(&mut self, comm: Comm, message: Message) -> TargetAddr {
        let peer = self.peer(comm, message.from);
        let sequence = self.get(peer, PEER, "expected_sequence");
        self.set(peer, PEER, "expected_sequence", sequence as i64 + 1);
        let at = self.fragment(message, comm.0 as i64 + 10, sequence as u16);
        let list = self.unexpected_list(comm, message.from);
        self.append(list, at);
        at
    }

    /// Rings of fragments that came too early: each inner slice is a range of directly following numbers.
    pub fn out_of_order(&mut self, comm: Comm, from: i64, expected: u16, ranges: &[&[TargetAddr]]) {
        for range in ranges {
            for (index, at) in range.iter().enumerate().skip(1) {
                // The head of a range points to a ring of the others.
                let next = *range.get(index + 1).unwrap_or(&range[1]);
                self.link(*at, next);
            }
            if range.len() > 1 {
                self.set_pointer(range[0], FRAG, "range", range[1]);
            }
        }
        for (index, range) in ranges.iter().enumerate() {
            self.link(range[0], ranges[(index + 1) % ranges.len()][0]);
        }
        let peer = self.peer(comm, from);
        self.set(peer, PEER, "expected_sequence", i64::from(expected));
        self.set_pointer(peer, PEER, "frags_cant_match", ranges[0][0]);
    }

    /// A message for a communicator that does not exist yet.
    pub fn unplaced(&mut self, message: Message, context: i64) {
        let at = self.fragment(message, context, 1);
        let module = self.symbol_at("mca_pml_ob1");
        self.append(self.field(module, "mca_pml_ob1_t", "non_existing_communicator_pending"), at);
    }
}
