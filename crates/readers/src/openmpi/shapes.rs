//! The structures of Open MPI that every pml shares, field by field.
//!
//! Names are those of the MPI's source (open-mpi/ompi, releases 4.1 and 5.0). Which file each stands in:
//! opal/class/opal_{object,list,free_list,pointer_array}.h, ompi/communicator/communicator.h, ompi/group/group.h,
//! ompi/proc/proc.h, ompi/datatype/ompi_datatype.h.

use crate::record::shape;
use layouts::{LayoutError, Layouts};

shape!(
    /// The header of every OPAL object.
    Object = ["opal_object_t"] { class: "obj_class" }
);
shape!(
    /// A table that maps small integers to pointers.
    PointerArray = ["opal_pointer_array_t"] { len: "size", addr: "addr" }
);
shape!(
    /// A link of a list.
    ListItem = ["opal_list_item_t"] { next: "opal_list_next" }
);
shape!(
    /// A circular list with a sentinel.
    List = ["opal_list_t"] { sentinel: "opal_list_sentinel", len: "opal_list_length" }
);
shape!(
    /// A pool of objects, allocated in chunks.
    FreeList = ["opal_free_list_t"] {
        allocated: "fl_num_allocated",
        per_alloc: "fl_num_per_alloc",
        item_size: "fl_frag_size",
        alignment: "fl_frag_alignment",
        class: "fl_frag_class",
        allocations: "fl_allocations",
    }
);
shape!(
    /// The head of each chunk of a pool.
    FreeListMemory = ["opal_free_list_memory_t", "opal_free_list_item_t"] {}
);
shape!(
    /// A communicator.
    Communicator = ["ompi_communicator_t"] {
        name: "c_name",
        my_rank: "c_my_rank",
        flags: "c_flags",
        local_group: "c_local_group",
        remote_group: "c_remote_group",
        local_comm: "c_local_comm",
        pml_comm: "c_pml_comm",
    } optional {
        // Until 4.1 the context id is one number; since 5.0 it is a pair, and the index is the number that ob1 sends.
        context: "c_contextid",
        context_base: "c_contextid.cid_base",
        context_sub: "c_contextid.cid_sub.u64",
        index: "c_index",
        // Only the bits to which a component has subscribed mean anything: nobody clears the others when a communicator is
        // made (ompi/communicator/comm_init.c, v4.1.4).
        assertions: "c_assertions",
        next_tag: "c_nbc_tag",
    }
);
shape!(
    /// A group of processes, dense or sparse.
    Group = ["ompi_group_t"] {
        count: "grp_proc_count",
        procs: "grp_proc_pointers",
        flags: "grp_flags",
        parent: "grp_parent_group_ptr",
        sporadic: "sparse_data.grp_sporadic.grp_sporadic_list",
        sporadic_len: "sparse_data.grp_sporadic.grp_sporadic_list_len",
        strided_offset: "sparse_data.grp_strided.grp_strided_offset",
        strided_stride: "sparse_data.grp_strided.grp_strided_stride",
        bitmap: "sparse_data.grp_bitmap.grp_bitmap_array",
        bitmap_len: "sparse_data.grp_bitmap.grp_bitmap_array_len",
    }
);
shape!(
    /// A range of ranks in a sporadic group.
    SporadicRange = ["ompi_group_sporadic_list_t"] { first: "rank_first", len: "length" }
);
shape!(
    /// A process.
    Proc = ["ompi_proc_t"] { job: "super.proc_name.jobid", vpid: "super.proc_name.vpid" }
);
shape!(
    /// A datatype.
    Datatype = ["ompi_datatype_t"] { name: "name", bytes: "super.size" }
);

/// All of them, and the constants. Each field is the shape of the structure of that name.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Shapes {
    pub object: Object,
    pub pointer_array: PointerArray,
    pub list_item: ListItem,
    pub list: List,
    pub communicator: Communicator,
    pub group: Group,
    pub sporadic_range: SporadicRange,
    pub proc: Proc,
    pub datatype: Datatype,
    pub constants: Constants,
}

/// The pools that objects of the library come from.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct PoolShapes {
    pub free_list: FreeList,
    pub free_list_memory: FreeListMemory,
}

/// Constants of the MPI's headers, under their own names.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Constants {
    pub comm_inter: u64,
    pub comm_name_is_set: u64,
    pub comm_intrinsic: u64,
    /// All flags that say that a communicator has a topology.
    pub comm_topology: u64,
    /// Since 5.0.
    pub comm_global_index: Option<u64>,
    /// Profiles of users that were made earlier do not have it.
    pub comm_may_overtake: Option<u64>,
    pub group_dense: u64,
    pub group_sporadic: u64,
    pub group_strided: u64,
    pub group_bitmap: u64,
    pub any_source: i64,
    pub any_tag: i64,
}

impl Shapes {
    /// Resolves every field and constant.
    ///
    /// # Errors
    /// Names the first that no layout source has.
    pub fn resolve(layouts: &Layouts) -> Result<Self, LayoutError> {
        let flag = |name: &str| layouts.constant(name).map(|value| value as u64);
        Ok(Self {
            object: Object::resolve(layouts)?,
            pointer_array: PointerArray::resolve(layouts)?,
            list_item: ListItem::resolve(layouts)?,
            list: List::resolve(layouts)?,
            communicator: Communicator::resolve(layouts)?,
            group: Group::resolve(layouts)?,
            sporadic_range: SporadicRange::resolve(layouts)?,
            proc: Proc::resolve(layouts)?,
            datatype: Datatype::resolve(layouts)?,
            constants: Constants {
                comm_inter: flag("OMPI_COMM_INTER")?,
                comm_name_is_set: flag("OMPI_COMM_NAMEISSET")?,
                comm_intrinsic: flag("OMPI_COMM_INTRINSIC")?,
                comm_topology: ["OMPI_COMM_CART", "OMPI_COMM_GRAPH", "OMPI_COMM_DIST_GRAPH"]
                    .iter()
                    .filter_map(|name| flag(name).ok())
                    .fold(0, |all, one| all | one),
                comm_global_index: flag("OMPI_COMM_GLOBAL_INDEX").ok(),
                comm_may_overtake: flag("OMPI_COMM_ASSERT_ALLOW_OVERTAKE").ok(),
                group_dense: flag("OMPI_GROUP_DENSE")?,
                group_sporadic: flag("OMPI_GROUP_SPORADIC")?,
                group_strided: flag("OMPI_GROUP_STRIDED")?,
                group_bitmap: flag("OMPI_GROUP_BITMAP")?,
                any_source: layouts.constant("MPI_ANY_SOURCE")?,
                any_tag: layouts.constant("MPI_ANY_TAG")?,
            },
        })
    }
}

impl PoolShapes {
    /// Resolves every field.
    ///
    /// # Errors
    /// Names the first that no layout source has.
    pub fn resolve(layouts: &Layouts) -> Result<Self, LayoutError> {
        Ok(Self { free_list: FreeList::resolve(layouts)?, free_list_memory: FreeListMemory::resolve(layouts)? })
    }
}
