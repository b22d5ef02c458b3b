//! The structures of Open MPI that every pml shares, field by field.
//!
//! Names are those of the MPI's source (open-mpi/ompi, releases 4.1 and 5.0). Which file each stands in:
//! opal/class/opal_{object,list,free_list,pointer_array}.h, ompi/communicator/communicator.h, ompi/group/group.h,
//! ompi/proc/proc.h, ompi/datatype/ompi_datatype.h.

use crate::record::{composite, shapes};

shapes! {
    /// The header of every OPAL object.
    Object = ["opal_object_t"] { class: "obj_class" };
    /// A table that maps small integers to pointers.
    PointerArray = ["opal_pointer_array_t"] { len: "size", addr: "addr" };
    /// A link of a list.
    ListItem = ["opal_list_item_t"] { next: "opal_list_next" };
    /// A circular list with a sentinel.
    List = ["opal_list_t"] { sentinel: "opal_list_sentinel", len: "opal_list_length" };
    /// A pool of objects, allocated in chunks.
    FreeList = ["opal_free_list_t"] {
        allocated: "fl_num_allocated",
        per_alloc: "fl_num_per_alloc",
        item_size: "fl_frag_size",
        alignment: "fl_frag_alignment",
        class: "fl_frag_class",
        allocations: "fl_allocations",
    };
    /// The head of each chunk of a pool.
    FreeListMemory = ["opal_free_list_memory_t", "opal_free_list_item_t"] {};
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
    };
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
    };
    /// A range of ranks in a sporadic group.
    SporadicRange = ["ompi_group_sporadic_list_t"] { first: "rank_first", len: "length" };
    /// A process.
    Proc = ["ompi_proc_t"] { job: "super.proc_name.jobid", vpid: "super.proc_name.vpid" };
    /// A datatype.
    Datatype = ["ompi_datatype_t"] { name: "name", bytes: "super.size" };
}

composite! {
    /// All of them, and the constants.
    Shapes {
        object: Object,
        pointer_array: PointerArray,
        list_item: ListItem,
        list: List,
        communicator: Communicator,
        group: Group,
        sporadic_range: SporadicRange,
        proc: Proc,
        datatype: Datatype,
        constants: Constants,
    }
}
composite! {
    /// The pools that objects of the library come from.
    PoolShapes { free_list: FreeList, free_list_memory: FreeListMemory }
}
composite! {
    /// Constants of the MPI's headers.
    Constants {
        comm_inter: u64 = "OMPI_COMM_INTER",
        comm_name_is_set: u64 = "OMPI_COMM_NAMEISSET",
        comm_intrinsic: u64 = "OMPI_COMM_INTRINSIC",
        comm_cart: Option<u64> = "OMPI_COMM_CART",
        comm_graph: Option<u64> = "OMPI_COMM_GRAPH",
        comm_dist_graph: Option<u64> = "OMPI_COMM_DIST_GRAPH",
        /// Since 5.0.
        comm_global_index: Option<u64> = "OMPI_COMM_GLOBAL_INDEX",
        /// Profiles of users that were made earlier do not have it.
        comm_may_overtake: Option<u64> = "OMPI_COMM_ASSERT_ALLOW_OVERTAKE",
        group_dense: u64 = "OMPI_GROUP_DENSE",
        group_sporadic: u64 = "OMPI_GROUP_SPORADIC",
        group_strided: u64 = "OMPI_GROUP_STRIDED",
        group_bitmap: u64 = "OMPI_GROUP_BITMAP",
        any_source: i64 = "MPI_ANY_SOURCE",
        any_tag: i64 = "MPI_ANY_TAG",
    }
}

impl Constants {
    /// All flags that say that a communicator has a topology.
    pub fn comm_topology(&self) -> u64 {
        [self.comm_cart, self.comm_graph, self.comm_dist_graph].into_iter().flatten().fold(0, |all, one| all | one)
    }
}
