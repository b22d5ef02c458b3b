/* A job of two ranks in which rank 0 has known operations pending, for tests and benchmarks of plug-ins.
 *
 *   mpirun -n 2 job [RECEIVES [COMMUNICATORS]]
 *
 * Rank 0 posts: a receive from any source with any tag and one from 1 with tag 17 on "my dup"; RECEIVES receives from 1
 * with tags from 1000 on MPI_COMM_WORLD; a send of 8,000,000 bytes to 1 with tag 55 on MPI_COMM_WORLD; a synchronous
 * send of 3 ints to local rank 0 (world rank 1) with tag 5 on "reversed". COMMUNICATORS more duplicates exist. Each
 * rank then writes "ready RANK PID" and sleeps.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int receives = argc > 1 ? atoi(argv[1]) : 3;
    int communicators = argc > 2 ? atoi(argv[2]) : 0;
    static int numbers[8];
    MPI_Comm dup, reversed, more;
    MPI_Request request;
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_set_name(dup, "my dup");
    MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &reversed);
    MPI_Comm_set_name(reversed, "reversed");
    for (int i = 0; i < communicators; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &more);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        int *many = calloc(receives > 0 ? receives : 1, sizeof *many);
        char *large = calloc(8000000, 1);
        MPI_Irecv(&numbers[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, dup, &request);
        MPI_Irecv(&numbers[1], 2, MPI_INT, 1, 17, dup, &request);
        for (int i = 0; i < receives; i++)
            MPI_Irecv(&many[i], 1, MPI_INT, 1, 1000 + i, MPI_COMM_WORLD, &request);
        MPI_Isend(large, 8000000, MPI_CHAR, 1, 55, MPI_COMM_WORLD, &request);
        MPI_Issend(&numbers[4], 3, MPI_INT, 0, 5, reversed, &request);
    }
    printf("ready %d %d\n", rank, (int)getpid());
    fflush(stdout);
    for (;;)
        pause();
}
