/* More than the record has room for: many.c COMMUNICATORS REQUESTS WAITED. */
#include "common/noted.h"

int main(int argc, char **argv)
{
    int comms = atoi(argv[1]), requests = atoi(argv[2]), waited = atoi(argv[3]), rank, buffer;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm *made = calloc((size_t)comms + 1, sizeof(*made));
    for (int at = 0; at < comms; at++)
        MPI_Comm_dup(MPI_COMM_SELF, &made[at]);
    /* Freed and made again, many times: rows are used again. */
    for (int at = 0; at < 3000; at++) {
        MPI_Comm one;
        MPI_Comm_dup(MPI_COMM_SELF, &one);
        MPI_Comm_free(&one);
    }
    MPI_Request *open = calloc((size_t)requests + 1, sizeof(*open)), *several = calloc((size_t)waited + 1, sizeof(*open));
    for (int at = 0; at < waited; at++)
        MPI_Irecv(&buffer, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &several[at]);
    for (int at = 0; at < waited; at++)
        MPI_Send(&rank, 1, MPI_INT, 0, 5, MPI_COMM_SELF);
    MPI_Waitall(waited, several, MPI_STATUSES_IGNORE);
    for (int at = 0; at < requests; at++)
        MPI_Irecv(&buffer, 1, MPI_INT, 0, 6, MPI_COMM_SELF, &open[at]);
    told(rank);
    MPI_Recv(&buffer, 1, MPI_INT, MPI_ANY_SOURCE, 31999, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
