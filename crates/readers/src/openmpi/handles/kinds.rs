//! Where Open MPI keeps the objects of each kind of handle: symbols and structures.
//!
//! A handle's value is the address of its object (ompi/include/mpi.h.in, v4.1.4 and v5.0.7).

use model::HandleKind;

/// The symbols and names of one kind.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// Which.
    pub kind: HandleKind,
    /// The type of its objects, which is also the name of their class.
    pub type_name: &'static str,
    /// The member that holds the Fortran integer.
    pub index: &'static str,
    /// The symbol of the object behind the null handle.
    pub null: &'static str,
    /// The name of the null handle.
    pub null_name: &'static str,
    /// The table from Fortran integers to objects.
    pub table: &'static str,
    /// Whether the symbol is a pointer to the table, not the table.
    pub table_is_pointer: bool,
    /// Whether every object is in the table from its creation to its end; otherwise only those that Fortran knows.
    pub registered: bool,
}

const fn kind(
    kind: HandleKind,
    type_name: &'static str,
    index: &'static str,
    null: (&'static str, &'static str),
    table: &'static str,
    registered: bool,
) -> Kind {
    Kind { kind, type_name, index, null: null.0, null_name: null.1, table, table_is_pointer: false, registered }
}

/// All kinds but MPI_Status, which is no handle.
///
/// Constructors that register: ompi/communicator/comm_init.c, ompi/group/group_init.c, ompi/errhandler/errhandler.c,
/// ompi/info/info.c, ompi/file/file.c, ompi/win/win.c, ompi/op/op.c, ompi/instance/instance.c (v4.1.4, v5.0.7).
pub const KINDS: &[Kind] = &[
    kind(
        HandleKind::Comm,
        "ompi_communicator_t",
        "c_f_to_c_index",
        ("ompi_mpi_comm_null", "MPI_COMM_NULL"),
        "ompi_comm_f_to_c_table",
        true,
    ),
    kind(
        HandleKind::Datatype,
        "ompi_datatype_t",
        "d_f_to_c_index",
        ("ompi_mpi_datatype_null", "MPI_DATATYPE_NULL"),
        "ompi_datatype_f_to_c_table",
        false,
    ),
    kind(
        HandleKind::Errhandler,
        "ompi_errhandler_t",
        "eh_f_to_c_index",
        ("ompi_mpi_errhandler_null", "MPI_ERRHANDLER_NULL"),
        "ompi_errhandler_f_to_c_table",
        true,
    ),
    kind(
        HandleKind::File,
        "ompi_file_t",
        "f_f_to_c_index",
        ("ompi_mpi_file_null", "MPI_FILE_NULL"),
        "ompi_file_f_to_c_table",
        true,
    ),
    kind(
        HandleKind::Group,
        "ompi_group_t",
        "grp_f_to_c_index",
        ("ompi_mpi_group_null", "MPI_GROUP_NULL"),
        "ompi_group_f_to_c_table",
        true,
    ),
    kind(
        HandleKind::Info,
        "ompi_info_t",
        "i_f_to_c_index",
        ("ompi_mpi_info_null", "MPI_INFO_NULL"),
        "ompi_info_f_to_c_table",
        true,
    ),
    kind(
        HandleKind::Message,
        "ompi_message_t",
        "m_f_to_c_index",
        ("ompi_message_null", "MPI_MESSAGE_NULL"),
        "ompi_message_f_to_c_table",
        false,
    ),
    Kind {
        table_is_pointer: true,
        ..kind(
            HandleKind::Op,
            "ompi_op_t",
            "o_f_to_c_index",
            ("ompi_mpi_op_null", "MPI_OP_NULL"),
            "ompi_op_f_to_c_table",
            true,
        )
    },
    kind(
        HandleKind::Request,
        "ompi_request_t",
        "req_f_to_c_index",
        ("ompi_request_null", "MPI_REQUEST_NULL"),
        "ompi_request_f_to_c_table",
        false,
    ),
    kind(
        HandleKind::Session,
        "ompi_instance_t",
        "i_f_to_c_index",
        ("ompi_mpi_instance_null", "MPI_SESSION_NULL"),
        "ompi_instance_f_to_c_table",
        true,
    ),
    kind(
        HandleKind::Win,
        "ompi_win_t",
        "w_f_to_c_index",
        ("ompi_mpi_win_null", "MPI_WIN_NULL"),
        "ompi_mpi_windows",
        true,
    ),
];

/// The symbols of a kind; `None` for MPI_Status.
pub fn of(kind: HandleKind) -> Option<&'static Kind> {
    KINDS.iter().find(|entry| entry.kind == kind)
}
