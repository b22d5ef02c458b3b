/*
 * The cases of the tests that come with MPICH's own interface for debuggers (pmodels/mpich, src/mpi/debugger, v4.0.2:
 * tvtest.c, qdemo.c, dbexample.c), each stopped where those look: at the stage that the argument names. Messages go round a
 * ring, from each rank to the one before it.
 *
 *     posted      two receives on a duplicate of MPI_COMM_WORLD; a send on MPI_COMM_WORLD, not taken yet
 *     matched     that send and the first receive have met; the second receive is left
 *     drained     all have met; the second receive has not been waited for
 *     freed       nothing is left, the duplicate neither
 *     arrived     receives of nothing into no memory; blocking sends of both communicators have come, nobody has taken them
 *     even        a communicator that the odd ranks have freed; a send, a synchronous one, a receive, and a barrier in
 *                 which all hang but one. Four ranks.
 */
#include "common/truth.h"

#include <string.h>

static int from, to;
static MPI_Comm twin;

/* A blocking send that returns at once: so few bytes are taken from every library's caller. */
static void send_now(int count, int tag, MPI_Comm comm)
{
    int numbers[8] = {0};
    MPI_Send(numbers, count, MPI_INT, to, tag, comm);
}

static void ring(const char *stage)
{
    struct truth_op *first = truth_irecv(1, MPI_INT, from, 17, twin, TRUTH_PENDING, NULL);
    struct truth_op *second = truth_irecv(10, MPI_INT, from, 19, twin, TRUTH_PENDING, NULL);
    struct truth_op *send = truth_isend(TRUTH_STANDARD, 1, MPI_INT, to, 18, MPI_COMM_WORLD, TRUTH_EAGER, NULL);
    truth_expect(MPI_COMM_WORLD, from, 18, sizeof(int));
    truth_settle();
    if (strcmp(stage, "posted") == 0)
        truth_hang_paused();

    int number;
    send_now(1, 17, twin);
    MPI_Recv(&number, 1, MPI_INT, from, 18, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    truth_forget_message(MPI_COMM_WORLD, from, 18);
    truth_wait(first);
    truth_wait(send);
    truth_settle();
    if (strcmp(stage, "matched") == 0)
        truth_hang_paused();

    send_now(1, 19, twin);
    truth_completes(second);
    truth_settle();
    if (strcmp(stage, "drained") == 0)
        truth_hang_paused();

    truth_wait(second);
    truth_free_comm(&twin, 0);
    truth_settle();
    truth_hang_paused();
}

static void arrived(void)
{
    for (int tag = 100; tag < 103; tag++)
        truth_irecv_into(MPI_BOTTOM, 0, MPI_INT, from, tag, MPI_COMM_WORLD, TRUTH_PENDING, NULL);
    send_now(8, 1, MPI_COMM_WORLD);
    send_now(4, 2, twin);
    truth_expect(MPI_COMM_WORLD, from, 1, 8 * sizeof(int));
    truth_expect(twin, from, 2, 4 * sizeof(int));
    truth_settle();
    truth_hang_paused();
}

/* Tags say what an operation is and with whom: 1 for a receive, 2 for a send, 3 for a synchronous one, and 100 times the
 * peer. */
static void even(void)
{
    MPI_Comm same;
    if (truth_size != 4)
        truth_fail("needs four ranks");
    MPI_Comm_split(MPI_COMM_WORLD, truth_rank & 1, truth_rank, &same);
    truth_named_comm(same, "User split to even ranks");
    if (truth_rank & 1)
        truth_free_comm(&same, 0);
    if (truth_rank == 0) {
        truth_isend(TRUTH_STANDARD, 0, MPI_INT, 1, 102, MPI_COMM_WORLD, TRUTH_EAGER, NULL);
        truth_isend(TRUTH_SYNCHRONOUS, 1, MPI_INT, 2, 203, MPI_COMM_WORLD, TRUTH_PENDING, NULL);
        truth_irecv(2, MPI_INT, 3, 301, MPI_COMM_WORLD, TRUTH_PENDING, NULL);
    }
    if (truth_rank == 1)
        truth_expect(MPI_COMM_WORLD, 0, 102, 0);
    if (truth_rank == 2)
        truth_expect(MPI_COMM_WORLD, 0, 203, sizeof(int));
    truth_settle();
    if (truth_rank == 3)
        truth_hang_paused();
    truth_will_collect(MPI_COMM_WORLD, "MPI_Barrier");
    truth_hang_in("MPI_Barrier");
    MPI_Barrier(MPI_COMM_WORLD);
    truth_fail("came back from the barrier");
}

int main(int argc, char **argv)
{
    truth_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (argc != 2)
        truth_fail("usage: truth_tvtest STAGE");
    from = (truth_rank + 1) % truth_size;
    to = (truth_rank + truth_size - 1) % truth_size;
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    truth_named_comm(twin, strcmp(argv[1], "even") == 0 ? "User dup of comm world" : "Dup of comm world");
    if (strcmp(argv[1], "arrived") == 0)
        arrived();
    else if (strcmp(argv[1], "even") == 0)
        even();
    else
        ring(argv[1]);
}
