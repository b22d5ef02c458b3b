/* A tool by MPI's profiling interface: it counts calls, and is asked how many there were. */
#include <mpi.h>

int tool_calls;

int MPI_Init(int *argc, char ***argv)
{
    tool_calls++;
    return PMPI_Init(argc, argv);
}

int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    tool_calls++;
    return PMPI_Irecv(buf, count, datatype, source, tag, comm, request);
}
