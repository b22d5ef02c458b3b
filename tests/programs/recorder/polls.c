/* Completes requests by asking alone (MPI_Test and its like), then asks for a message that never comes, for ever. */
#include "common/noted.h"

enum { MESSAGES = 4 };

int main(int argc, char **argv)
{
    int rank, in[MESSAGES], out = 7, done = 0, some, places[MESSAGES];
    MPI_Request sends[MESSAGES], receives[MESSAGES], again;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int at = 0; at < MESSAGES; at++) {
        /* Where the receive is there before, MPICH returns no request of its own for the send. */
        MPI_Issend(&out, 1, MPI_INT, rank, at, MPI_COMM_WORLD, &sends[at]);
        MPI_Irecv(&in[at], 1, MPI_INT, rank, at, MPI_COMM_WORLD, &receives[at]);
    }
    while (!done)
        MPI_Testall(MESSAGES, sends, &done, MPI_STATUSES_IGNORE);
    for (int left = MESSAGES; left > 0; left -= some)
        MPI_Testsome(MESSAGES, receives, &some, places, MPI_STATUSES_IGNORE);
    MPI_Recv_init(&in[0], 1, MPI_INT, rank, 9, MPI_COMM_WORLD, &again);
    MPI_Start(&again);
    MPI_Send(&out, 1, MPI_INT, rank, 9, MPI_COMM_WORLD);
    for (done = 0; !done;)
        MPI_Test(&again, &done, MPI_STATUS_IGNORE);
    /* Of no request at all a test says that it is done: that is no step. */
    MPI_Test(&sends[0], &done, MPI_STATUS_IGNORE);
    told(rank);
    for (MPI_Irecv(&in[0], 1, MPI_INT, rank, 99, MPI_COMM_WORLD, &receives[0]), done = 0; !done;) {
        MPI_Iprobe(rank, 98, MPI_COMM_WORLD, &some, MPI_STATUS_IGNORE);
        MPI_Test(&receives[0], &done, MPI_STATUS_IGNORE);
    }
    return 0;
}
