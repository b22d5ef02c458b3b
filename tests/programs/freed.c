/* Stops twice in stop_here: with a communicator and a receive on another, and after the communicator was freed. */
#include <mpi.h>

__attribute__((noinline)) void stop_here(int time)
{
    __asm__ volatile("" : : "r"(time) : "memory");
}

int main(int argc, char **argv)
{
    MPI_Comm gone, kept;
    MPI_Request request;
    int number;

    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &gone);
    MPI_Comm_set_name(gone, "soon gone");
    MPI_Comm_dup(MPI_COMM_WORLD, &kept);
    MPI_Comm_set_name(kept, "kept");
    MPI_Irecv(&number, 1, MPI_INT, 0, 41, kept, &request);
    stop_here(1);
    MPI_Comm_free(&gone);
    stop_here(2);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&kept);
    MPI_Finalize();
    return 0;
}
