"""The parameters of MPI functions, with the names of the MPI standard (4.0), for C and Fortran."""

from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional

#: One function a line; a line that begins with a space continues the one before.
#: ``*``: an address is given; ``[count]``: of an array with as many elements.
_TABLE = """
Allgather sendbuf* sendcount sendtype recvbuf* recvcount recvtype comm
Allgather_init sendbuf* sendcount sendtype recvbuf* recvcount recvtype comm info request*
Allgatherv sendbuf* sendcount sendtype recvbuf* recvcounts* displs* recvtype comm
Allgatherv_init sendbuf* sendcount sendtype recvbuf* recvcounts* displs* recvtype comm info request*
Allreduce sendbuf* recvbuf* count datatype op comm
Allreduce_init sendbuf* recvbuf* count datatype op comm info request*
Alltoall sendbuf* sendcount sendtype recvbuf* recvcount recvtype comm
Alltoall_init sendbuf* sendcount sendtype recvbuf* recvcount recvtype comm info request*
Alltoallv sendbuf* sendcounts* sdispls* sendtype recvbuf* recvcounts* rdispls* recvtype comm
Alltoallv_init sendbuf* sendcounts* sdispls* sendtype recvbuf* recvcounts* rdispls* recvtype comm info
  request*
Alltoallw sendbuf* sendcounts* sdispls* sendtypes* recvbuf* recvcounts* rdispls* recvtypes* comm
Alltoallw_init sendbuf* sendcounts* sdispls* sendtypes* recvbuf* recvcounts* rdispls* recvtypes* comm info
  request*
Barrier comm
Barrier_init comm info request*
Bcast buffer* count datatype root comm
Bcast_init buffer* count datatype root comm info request*
Exscan sendbuf* recvbuf* count datatype op comm
Exscan_init sendbuf* recvbuf* count datatype op comm info request*
Gather sendbuf* sendcount sendtype recvbuf* recvcount recvtype root comm
Gather_init sendbuf* sendcount sendtype recvbuf* recvcount recvtype root comm info request*
Gatherv sendbuf* sendcount sendtype recvbuf* recvcounts* displs* recvtype root comm
Gatherv_init sendbuf* sendcount sendtype recvbuf* recvcounts* displs* recvtype root comm info request*
Iallgather sendbuf* sendcount sendtype recvbuf* recvcount recvtype comm request*
Iallgatherv sendbuf* sendcount sendtype recvbuf* recvcounts* displs* recvtype comm request*
Iallreduce sendbuf* recvbuf* count datatype op comm request*
Ialltoall sendbuf* sendcount sendtype recvbuf* recvcount recvtype comm request*
Ialltoallv sendbuf* sendcounts* sdispls* sendtype recvbuf* recvcounts* rdispls* recvtype comm request*
Ialltoallw sendbuf* sendcounts* sdispls* sendtypes* recvbuf* recvcounts* rdispls* recvtypes* comm request*
Ibarrier comm request*
Ibcast buffer* count datatype root comm request*
Iexscan sendbuf* recvbuf* count datatype op comm request*
Igather sendbuf* sendcount sendtype recvbuf* recvcount recvtype root comm request*
Igatherv sendbuf* sendcount sendtype recvbuf* recvcounts* displs* recvtype root comm request*
Ineighbor_allgather sendbuf* sendcount sendtype recvbuf* recvcount recvtype comm request*
Ineighbor_allgatherv sendbuf* sendcount sendtype recvbuf* recvcounts* displs* recvtype comm request*
Ineighbor_alltoall sendbuf* sendcount sendtype recvbuf* recvcount recvtype comm request*
Ineighbor_alltoallv sendbuf* sendcounts* sdispls* sendtype recvbuf* recvcounts* rdispls* recvtype comm
  request*
Ineighbor_alltoallw sendbuf* sendcounts* sdispls* sendtypes* recvbuf* recvcounts* rdispls* recvtypes* comm
  request*
Ireduce sendbuf* recvbuf* count datatype op root comm request*
Ireduce_scatter sendbuf* recvbuf* recvcounts* datatype op comm request*
Ireduce_scatter_block sendbuf* recvbuf* recvcount datatype op comm request*
Iscan sendbuf* recvbuf* count datatype op comm request*
Iscatter sendbuf* sendcount sendtype recvbuf* recvcount recvtype root comm request*
Iscatterv sendbuf* sendcounts* displs* sendtype recvbuf* recvcount recvtype root comm request*
Neighbor_allgather sendbuf* sendcount sendtype recvbuf* recvcount recvtype comm
Neighbor_allgather_init sendbuf* sendcount sendtype recvbuf* recvcount recvtype comm info request*
Neighbor_allgatherv sendbuf* sendcount sendtype recvbuf* recvcounts* displs* recvtype comm
Neighbor_allgatherv_init sendbuf* sendcount sendtype recvbuf* recvcounts* displs* recvtype comm info request*
Neighbor_alltoall sendbuf* sendcount sendtype recvbuf* recvcount recvtype comm
Neighbor_alltoall_init sendbuf* sendcount sendtype recvbuf* recvcount recvtype comm info request*
Neighbor_alltoallv sendbuf* sendcounts* sdispls* sendtype recvbuf* recvcounts* rdispls* recvtype comm
Neighbor_alltoallv_init sendbuf* sendcounts* sdispls* sendtype recvbuf* recvcounts* rdispls* recvtype comm
  info request*
Neighbor_alltoallw sendbuf* sendcounts* sdispls* sendtypes* recvbuf* recvcounts* rdispls* recvtypes* comm
Neighbor_alltoallw_init sendbuf* sendcounts* sdispls* sendtypes* recvbuf* recvcounts* rdispls* recvtypes* comm
  info request*
Reduce sendbuf* recvbuf* count datatype op root comm
Reduce_init sendbuf* recvbuf* count datatype op root comm info request*
Reduce_local inbuf* inoutbuf* count datatype op
Reduce_scatter sendbuf* recvbuf* recvcounts* datatype op comm
Reduce_scatter_block sendbuf* recvbuf* recvcount datatype op comm
Reduce_scatter_block_init sendbuf* recvbuf* recvcount datatype op comm info request*
Reduce_scatter_init sendbuf* recvbuf* recvcounts* datatype op comm info request*
Scan sendbuf* recvbuf* count datatype op comm
Scan_init sendbuf* recvbuf* count datatype op comm info request*
Scatter sendbuf* sendcount sendtype recvbuf* recvcount recvtype root comm
Scatter_init sendbuf* sendcount sendtype recvbuf* recvcount recvtype root comm info request*
Scatterv sendbuf* sendcounts* displs* sendtype recvbuf* recvcount recvtype root comm
Scatterv_init sendbuf* sendcounts* displs* sendtype recvbuf* recvcount recvtype root comm info request*
Comm_create comm group newcomm*
Comm_dup comm newcomm*
Comm_free comm*
Comm_idup comm newcomm* request*
Comm_split comm color key newcomm*
Comm_split_type comm split_type key info newcomm*
Comm_test_inter comm flag*
Intercomm_create local_comm local_leader peer_comm remote_leader tag newintercomm*
Intercomm_create_from_groups local_group local_leader remote_group remote_leader stringtag* info errhandler
  newintercomm*
Intercomm_merge intercomm high newintracomm*
Abort comm errorcode
Finalize
Init argc* argv*
Init_thread argc* argv* required provided*
Session_finalize session*
Session_init info errhandler session*
Parrived request partition flag*
Pready partition request
Pready_list length array_of_partitions* request
Pready_range partition_low partition_high request
Precv_init buf* partitions count datatype dest tag comm info request*
Psend_init buf* partitions count datatype dest tag comm info request*
Bsend buf* count datatype dest tag comm
Bsend_init buf* count datatype dest tag comm request*
Buffer_attach buffer* size
Buffer_detach buffer_addr* size*
Ibsend buf* count datatype dest tag comm request*
Improbe source tag comm flag* message* status*
Imrecv buf* count datatype message* request*
Iprobe source tag comm flag* status*
Irecv buf* count datatype source tag comm request*
Irsend buf* count datatype dest tag comm request*
Isend buf* count datatype dest tag comm request*
Isendrecv sendbuf* sendcount sendtype dest sendtag recvbuf* recvcount recvtype source recvtag comm request*
Isendrecv_replace buf* count datatype dest sendtag source recvtag comm request*
Issend buf* count datatype dest tag comm request*
Mprobe source tag comm message* status*
Mrecv buf* count datatype message* status*
Probe source tag comm status*
Recv buf* count datatype source tag comm status*
Recv_init buf* count datatype source tag comm request*
Rsend buf* count datatype dest tag comm
Rsend_init buf* count datatype dest tag comm request*
Send buf* count datatype dest tag comm
Send_init buf* count datatype dest tag comm request*
Sendrecv sendbuf* sendcount sendtype dest sendtag recvbuf* recvcount recvtype source recvtag comm status*
Sendrecv_replace buf* count datatype dest sendtag source recvtag comm status*
Ssend buf* count datatype dest tag comm
Ssend_init buf* count datatype dest tag comm request*
Cancel request*
Request_free request*
Request_get_status request flag* status*
Start request*
Startall count array_of_requests[count]
Test request* flag* status*
Test_cancelled status* flag*
Testall count array_of_requests[count] flag* array_of_statuses*
Testany count array_of_requests[count] indx* flag* status*
Testsome incount array_of_requests[incount] outcount* array_of_indices* array_of_statuses*
Wait request* status*
Waitall count array_of_requests[count] array_of_statuses*
Waitany count array_of_requests[count] indx* status*
Waitsome incount array_of_requests[incount] outcount* array_of_indices* array_of_statuses*
Accumulate origin_addr* origin_count origin_datatype target_rank target_disp target_count target_datatype op
  win
Compare_and_swap origin_addr* compare_addr* result_addr* datatype target_rank target_disp win
Fetch_and_op origin_addr* result_addr* datatype target_rank target_disp op win
Get origin_addr* origin_count origin_datatype target_rank target_disp target_count target_datatype win
Get_accumulate origin_addr* origin_count origin_datatype result_addr* result_count result_datatype target_rank
  target_disp target_count target_datatype op win
Put origin_addr* origin_count origin_datatype target_rank target_disp target_count target_datatype win
Raccumulate origin_addr* origin_count origin_datatype target_rank target_disp target_count target_datatype op
  win request*
Rget origin_addr* origin_count origin_datatype target_rank target_disp target_count target_datatype win
  request*
Rget_accumulate origin_addr* origin_count origin_datatype result_addr* result_count result_datatype
  target_rank target_disp target_count target_datatype op win request*
Rput origin_addr* origin_count origin_datatype target_rank target_disp target_count target_datatype win
  request*
Win_allocate size disp_unit info comm baseptr* win*
Win_allocate_shared size disp_unit info comm baseptr* win*
Win_attach win base* size
Win_complete win
Win_create base* size disp_unit info comm win*
Win_create_dynamic info comm win*
Win_detach win base*
Win_fence assert win
Win_flush rank win
Win_flush_all win
Win_flush_local rank win
Win_flush_local_all win
Win_free win*
Win_lock lock_type rank assert win
Win_lock_all assert win
Win_post group assert win
Win_shared_query win rank size* disp_unit* baseptr*
Win_start group assert win
Win_sync win
Win_test win flag*
Win_unlock rank win
Win_unlock_all win
Win_wait win
Comm_accept port_name* info root comm newcomm*
Comm_connect port_name* info root comm newcomm*
Comm_disconnect comm*
Comm_get_parent parent*
Comm_join fd intercomm*
Comm_spawn command* argv* maxprocs info root comm intercomm* array_of_errcodes*
Comm_spawn_multiple count array_of_commands* array_of_argv* array_of_maxprocs* array_of_info* root comm
  intercomm* array_of_errcodes*
Cart_create comm_old ndims dims* periods* reorder comm_cart*
Cart_sub comm remain_dims* newcomm*
Dist_graph_create comm_old n sources* degrees* destinations* weights* info reorder comm_dist_graph*
Dist_graph_create_adjacent comm_old indegree sources* sourceweights* outdegree destinations* destweights* info
  reorder comm_dist_graph*
Graph_create comm_old nnodes indx* edges* reorder comm_graph*
"""

#: Handles that a function gets by their address; their present value is of use.
_POINTED_HANDLES = frozenset(("request*", "message*", "comm*", "win*"))


class Parameter(NamedTuple):
    """One parameter of a function."""

    name: str
    #: Whether the function of C gets an address.
    address: bool
    #: The parameter with the number of elements, where it is an array of which each element is of use.
    length: Optional[str]
    #: Whether the address is that of one handle.
    handle: bool


def _parameter(word: str) -> Parameter:
    name, _, length = word.partition("[")
    return Parameter(name.rstrip("*"), word[-1] in "*]", length[:-1] or None, word in _POINTED_HANDLES)


#: Parameters that are handles given by their value; those through which one is returned have addresses.
_HANDLES = frozenset(
    (
        *("comm", "comm_old", "local_comm", "peer_comm", "intercomm", "group", "local_group", "remote_group"),
        *("datatype", "sendtype", "recvtype", "origin_datatype", "result_datatype", "target_datatype"),
        *("info", "errhandler", "op", "win", "request"),
    )
)


def width(function: str, parameter: Parameter) -> Optional[int]:
    """Bytes of an integer that a function gets (4: a C int or INTEGER; 8: MPI_Aint, MPI_Count); None for addresses, and
    for handles, in whose widths the MPIs differ."""
    if parameter.address or parameter.name in _HANDLES:
        return None
    large = function.endswith("_c") and ("count" in parameter.name or parameter.name in ("size", "disp_unit"))
    displacement = parameter.name == "target_disp" or (parameter.name == "size" and function.startswith("MPI_Win_"))
    partitioned = parameter.name == "count" and function in ("MPI_Psend_init", "MPI_Precv_init")
    return 8 if large or displacement or partitioned else 4


def in_fortran(known: List[Parameter], function: str) -> List[Parameter]:
    """The parameters of a function in Fortran but for ``ierror``, of those in C."""
    # mpi_init and mpi_init_thread have no arguments of a command line.
    if function.startswith("MPI_Comm_spawn"):
        return known
    return [one for one in known if one.name not in ("argc", "argv")]


_BY_NAME: Dict[str, List[str]] = {
    line.split()[0]: line.split()[1:] for line in _TABLE.replace("\n ", " ").split("\n") if line
}


def parameters(function: str) -> Optional[List[Parameter]]:
    """The parameters of a function by its name in C; in Fortran ``ierror`` follows. None: not in the table."""
    name = function[len("MPI_") :] if function.startswith("MPI_") else ""
    # Functions with large counts (MPI 4.0, 2.5.8) have the parameters of the others.
    words = _BY_NAME.get(name) or _BY_NAME.get(name[: -len("_c")] if name.endswith("_c") else "")
    if words is None and name not in _BY_NAME:
        return None
    return [_parameter(word) for word in words or []]
