/* An MPI that does nothing, with the handles of MPICH: what is left of a call is what the recorder adds to it. */
typedef int MPI_Comm, MPI_Datatype, MPI_Op, MPI_Request;

static unsigned next;

#define EMPTY(name, ...)                                                                                               \
    int P##name(__VA_ARGS__) { return 0; }                                                                             \
    int name(__VA_ARGS__) __attribute__((weak, alias("P" #name)))

EMPTY(MPI_Init, int *argc, char ***argv);
EMPTY(MPI_Finalize, void);
EMPTY(MPI_Initialized, int *flag);
EMPTY(MPI_Send, const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
EMPTY(MPI_Recv, void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, void *status);
EMPTY(MPI_Allreduce, const void *from, void *to, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

int PMPI_Comm_rank(MPI_Comm comm, int *rank) { return *rank = 0; }
int PMPI_Comm_size(MPI_Comm comm, int *size) { return *size = 1, 0; }
int PMPI_Comm_test_inter(MPI_Comm comm, int *flag) { return *flag = 0; }

/* A request of a pool: as many as are open at once have numbers of their own. */
int PMPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    *request = (int)(0x98000000u + (next++ & 63));
    return 0;
}
int MPI_Isend(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *)
    __attribute__((weak, alias("PMPI_Isend")));

int PMPI_Wait(MPI_Request *request, void *status) { return *request = 0x2c000000, 0; }
int MPI_Wait(MPI_Request *, void *) __attribute__((weak, alias("PMPI_Wait")));

int PMPI_Waitall(int count, MPI_Request *requests, void *statuses)
{
    for (int at = 0; at < count; at++)
        requests[at] = 0x2c000000;
    return 0;
}
int MPI_Waitall(int, MPI_Request *, void *) __attribute__((weak, alias("PMPI_Waitall")));
