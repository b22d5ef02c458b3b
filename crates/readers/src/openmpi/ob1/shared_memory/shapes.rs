//! The structures of the BTLs for shared memory: opal/mca/btl/vader/btl_vader{,_endpoint,_fifo,_frag}.h (v4.1.4) and
//! opal/mca/btl/sm/btl_sm_types.h (v5.0.7), which have the same fields.

use crate::record::{Record, shapes};
use layouts::{LayoutError, Layouts};
use target::Target;
use target::address::TargetAddr;

shapes! {
    /// The BTL's state in this process.
    Component = ["mca_btl_vader_component_t", "mca_btl_sm_component_t"] {
        segment: "my_segment",
        segment_size: "segment_size",
        box_size: "fbox_size",
        endpoints: "endpoints",
        boxes: "fbox_in_endpoints",
        num_boxes: "num_fbox_in_endpoints",
        fifo: "my_fifo",
    };
    /// A peer on this node.
    Endpoint = ["mca_btl_vader_endpoint_t", "mca_btl_sm_endpoint_t"] {
        class: "super.super.obj_class",
        number: "peer_smp_rank",
        segment: "segment_base",
        fifo: "fifo",
        box_at: "fbox_in.buffer",
        box_start: "fbox_in.start",
        box_sequence: "fbox_in.seq",
    };
    /// What stands in front of the data of a fragment.
    FragmentHeader = ["mca_btl_vader_hdr_t", "mca_btl_sm_hdr_t"] {
        next: "next",
        tag: "tag",
        flags: "flags",
        len: "len",
        apart_len: "sc_iov.iov_len",
        fast_box: "fbox_base",
    };
    /// A queue of fragments.
    Fifo = ["vader_fifo_t", "sm_fifo_t"] { head: "fifo_head", tail: "fifo_tail" };
}

/// One BTL for shared memory.
#[derive(Debug)]
pub struct Btl {
    /// Where the component is.
    pub at: TargetAddr,
    /// The class of its endpoints.
    pub endpoint_class: TargetAddr,
    pub component: Component,
    pub endpoint: Endpoint,
    pub fragment: FragmentHeader,
    pub fifo: Fifo,
    /// The flag of fragments that come back to their owner.
    pub complete: u64,
    /// The flag of fragments whose data stays in the sender's memory.
    pub single_copy: u64,
    /// The flag of fragments whose sender has made a fast box.
    pub makes_box: u64,
}

/// Until 4.1, and since 5.0.
const NAMES: &[(&str, &str, &str)] = &[
    ("mca_btl_vader_component", "mca_btl_vader_endpoint_t_class", "MCA_BTL_VADER_FLAG_"),
    ("mca_btl_sm_component", "mca_btl_sm_endpoint_t_class", "MCA_BTL_SM_FLAG_"),
];

impl Btl {
    /// The one that the process has; `None` where it has none.
    ///
    /// # Errors
    /// Where its structures are not known, which is also so where they were left out because their sizes differ.
    pub fn find(target: &dyn Target, layouts: &Layouts) -> Result<Option<Self>, LayoutError> {
        for (component, class, flag) in NAMES {
            let symbol = |name: &str| target.symbol(name).ok().flatten().map(|symbol| symbol.addr);
            let (Some(at), Some(endpoint_class)) = (symbol(component), symbol(class)) else { continue };
            let flag = |name: &str| layouts.constant(&format!("{flag}{name}")).map(|value| value as u64);
            return Ok(Some(Self {
                at,
                endpoint_class,
                component: Component::resolve(layouts)?,
                endpoint: Endpoint::resolve(layouts)?,
                fragment: FragmentHeader::resolve(layouts)?,
                fifo: Fifo::resolve(layouts)?,
                complete: flag("COMPLETE")?,
                single_copy: flag("SINGLE_COPY")?,
                makes_box: flag("SETUP_FBOX")?,
            }));
        }
        Ok(None)
    }

    /// Whether its state can be read: recordings from before anybody asked for it lack it.
    pub fn is_held(&self, target: &dyn Target) -> bool {
        target.is_held(self.at, self.component.size)
    }

    /// The BTL's state.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn read<'b>(&self, target: &dyn Target, buffer: &'b mut Vec<u8>) -> Result<Record<'b>, target::TargetError> {
        Record::read(target, self.at, self.component.size, buffer)
    }
}
