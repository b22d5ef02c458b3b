/* A few calls, with a tool or without: how many the tool has seen. With -DTOOL it is a tool itself. */
#define _GNU_SOURCE
#include "common/noted.h"

#include <dlfcn.h>

#ifdef TOOL
#include "tool.c"
#endif

int main(int argc, char **argv)
{
    int rank, buffer;
    MPI_Request one, two;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Irecv(&buffer, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &one);
    MPI_Irecv(&buffer, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &two);
    int *calls = dlsym(RTLD_DEFAULT, "tool_calls");
    noted_begin(rank);
    noted_number("tool", calls != NULL ? *calls : -1);
    noted_number("sessions", dlsym(RTLD_DEFAULT, "MPI_Session_init") != NULL);
    noted_number("nothing", dlsym(RTLD_DEFAULT, "MPI_Abi_get_version") != NULL);
    noted_end(rank);
    if (argc > 1) {
        MPI_Cancel(&one), MPI_Wait(&one, MPI_STATUS_IGNORE);
        MPI_Cancel(&two), MPI_Wait(&two, MPI_STATUS_IGNORE);
        MPI_Finalize();
        told_hang();
    }
    MPI_Recv(&buffer, 1, MPI_INT, MPI_ANY_SOURCE, 31999, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
