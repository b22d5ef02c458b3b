/*
 * A small deadlocked MPI job of three ranks, for "mpi-queues demo".
 *
 * Rank 0 waits for rank 1, rank 1 waits for rank 2, and rank 2 waits until somebody takes its message. It has sent
 * one to rank 1, but with tag 21 where rank 1 asks for tag 20: nobody will ever go on.
 *
 * Each rank prints "ready" when what it posts is there to be seen: whoever has started the job waits for that line
 * before it looks.
 */
#include <mpi.h>
#include <stdio.h>

enum { TAG_RESULT = 10, TAG_HALO = 20, TAG_TYPO = 21, COUNT = 1000 };

static double values[COUNT];

static void ready(void)
{
    printf("ready\n");
    fflush(stdout);
}

static void collect_results(MPI_Comm comm)
{
    MPI_Request result;
    MPI_Irecv(values, COUNT, MPI_DOUBLE, 1, TAG_RESULT, comm, &result);
    ready();
    MPI_Wait(&result, MPI_STATUS_IGNORE);
}

static void receive_halo(MPI_Comm comm)
{
    MPI_Request received;
    int arrived = 0;
    /* Be sure that the message with the wrong tag is here before anybody looks. */
    while (!arrived) {
        MPI_Iprobe(2, TAG_TYPO, comm, &arrived, MPI_STATUS_IGNORE);
    }
    MPI_Irecv(values, COUNT, MPI_DOUBLE, 2, TAG_HALO, comm, &received);
    ready();
    MPI_Wait(&received, MPI_STATUS_IGNORE);
    MPI_Send(values, COUNT, MPI_DOUBLE, 0, TAG_RESULT, comm);
}

static void send_halo(MPI_Comm comm)
{
    MPI_Request sent;
    MPI_Issend(values, COUNT, MPI_DOUBLE, 1, TAG_TYPO, comm, &sent);
    ready();
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Comm halo;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &halo);
    MPI_Comm_set_name(halo, "halo");
    switch (rank) {
    case 0:
        collect_results(halo);
        break;
    case 1:
        receive_halo(halo);
        break;
    case 2:
        send_halo(halo);
        break;
    default:
        break;
    }
    MPI_Comm_free(&halo);
    MPI_Finalize();
    return 0;
}
