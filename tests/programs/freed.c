/* Stops twice in stop_here: with a communicator, a receive and a send to itself on another, and after the communicator was
 * freed. */
#include <mpi.h>

__attribute__((noinline)) void stop_here(int time)
{
    __asm__ volatile("" : : "r"(time) : "memory");
}

int main(int argc, char **argv)
{
    MPI_Comm gone, kept;
    MPI_Request requests[2];
    int number = 0, received;

    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &gone);
    MPI_Comm_set_name(gone, "soon gone");
    MPI_Comm_dup(MPI_COMM_WORLD, &kept);
    MPI_Comm_set_name(kept, "kept");
    MPI_Irecv(&received, 1, MPI_INT, 0, 41, kept, &requests[0]);
    MPI_Isend(&number, 1, MPI_INT, 0, 42, kept, &requests[1]);
    stop_here(1);
    MPI_Comm_free(&gone);
    stop_here(2);
    MPI_Cancel(&requests[0]);
    MPI_Recv(&received, 1, MPI_INT, 0, 42, kept, MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Comm_free(&kept);
    MPI_Finalize();
    return 0;
}
