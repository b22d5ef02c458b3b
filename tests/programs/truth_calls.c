/*
 * Calls whose arguments say what they wait for. Rank 0 stands in the call that the argument names, all others outside MPI:
 *
 *     recv       a receive on "halo", while others that differ in one thing each are pending
 *     waitall    requests of all states
 *     barrier    a barrier of "halo", while a receive is pending on MPI_COMM_WORLD
 */
#include "common/truth.h"

#include <string.h>

enum { STATES = 6 };

static MPI_Comm halo;

static void receive(void)
{
    char buffer[8];
    truth_irecv(8, MPI_BYTE, 1, 18, halo, TRUTH_PENDING, NULL);
    truth_irecv(8, MPI_BYTE, MPI_ANY_SOURCE, 17, MPI_COMM_WORLD, TRUTH_PENDING, NULL);
    truth_irecv(8, MPI_BYTE, 1, 17, MPI_COMM_WORLD, TRUTH_PENDING, NULL);
    truth_irecv(8, MPI_BYTE, 0, 17, halo, TRUTH_PENDING, NULL);
    truth_will_recv(8, MPI_BYTE, 1, 17, halo, "MPI_Recv");
    truth_hang_in("MPI_Recv");
    MPI_Recv(buffer, 8, MPI_BYTE, 1, 17, halo, MPI_STATUS_IGNORE);
}

static void wait_for_all(void)
{
    MPI_Request requests[STATES];
    struct truth_op *complete = truth_irecv(4, MPI_BYTE, 0, 3, halo, TRUTH_COMPLETE, &requests[1]);
    truth_isend(TRUTH_STANDARD, 4, MPI_BYTE, 0, 3, halo, TRUTH_EAGER, &requests[4]);
    truth_await(complete);
    truth_irecv(8, MPI_BYTE, 1, 17, halo, TRUTH_PENDING, &requests[0]);
    requests[2] = MPI_REQUEST_NULL;
    truth_recv_init(8, MPI_BYTE, 1, 19, halo, &requests[3]);
    truth_irecv(8, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, halo, TRUTH_PENDING, &requests[5]);
    truth_hang_in("MPI_Waitall");
    MPI_Waitall(STATES, requests, MPI_STATUSES_IGNORE);
}

static void collect(void)
{
    truth_irecv(8, MPI_BYTE, 1, 17, MPI_COMM_WORLD, TRUTH_PENDING, NULL);
    truth_will_collect(halo, "MPI_Barrier");
    truth_hang_in("MPI_Barrier");
    MPI_Barrier(halo);
}

int main(int argc, char **argv)
{
    truth_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (argc != 2)
        truth_fail("usage: truth_calls CALL");
    MPI_Comm_dup(MPI_COMM_WORLD, &halo);
    truth_named_comm(halo, "halo");
    truth_settle();
    if (truth_rank > 0)
        truth_hang_stopped();
    if (strcmp(argv[1], "recv") == 0)
        receive();
    else if (strcmp(argv[1], "waitall") == 0)
        wait_for_all();
    else
        collect();
    truth_fail("came back from %s", argv[1]);
}
