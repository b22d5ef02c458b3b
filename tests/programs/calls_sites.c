/*
 * As calls.c, compiled with optimisation: what is given to the calls is in registers that are lost, and in variables that are
 * gone. All that is given is said; numbers come from the command line, so that no compiler knows them.
 */
#include "common/told.h"

#include <mpi.h>
#include <stdint.h>

#define HANDLE(handle) ((long long)(intptr_t)(handle))
#define KEPT __attribute__((noipa))

static double cells[100];
static MPI_Comm halo;

static void given(const char *name, long long value) {
    printf("given %s %lld\n", name, value);
}

static void at(const char *function, int line) {
    printf("call %s %d\n", function, line);
    told_ready();
}

/* All values are those that it was given itself, by `between`, which was given them in turn. */
KEPT int receive(double *into, int count, int peer, int tag, MPI_Comm comm) {
    int failed = MPI_Recv(into, count, MPI_DOUBLE, peer, tag, comm, MPI_STATUS_IGNORE);
    return failed != MPI_SUCCESS;
}

KEPT int between(int peer, int tag, double *into) {
    int failed = receive(into + 2, 3, peer, tag + 1, halo);
    return failed ? -1 : tag;
}

/* Jumps to `receive`: what that was given is not what this was given. */
KEPT int jump(double *into, int count, int peer, int tag, MPI_Comm comm) {
    return receive(into + 1, count + 1, peer - 1, tag - 3, comm);
}

/* Jumps to MPI_Recv, so that its caller's call is one of this. */
KEPT int shifted(int tag, int peer, double *into, MPI_Comm comm, int count, int unused) {
    (void)unused;
    return MPI_Recv(into, count, MPI_DOUBLE, peer, tag, comm, MPI_STATUS_IGNORE);
}

/* Half of the arguments are on the stack. */
KEPT int both_ways(int peer, int tag, long long *in, long long *out) {
    int failed = MPI_Sendrecv(out, 1, MPI_LONG_LONG, peer, tag, in, 1, MPI_LONG_LONG, peer, tag + 2, halo, MPI_STATUS_IGNORE);
    return failed + (int)in[0];
}

/* The count is on the stack, and negative numbers are numbers. */
KEPT int reduce(int *mine, int *sum, int count, int root) {
    int failed = MPI_Reduce(mine, sum, count, MPI_INT, MPI_SUM, root, halo);
    return failed + sum[0];
}

int main(int argc, char **argv) {
    int rank, failed = 0, tag, peer;
    static long long in[2], out[2];
    static int mine[2], sum[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &halo);
    tag = argc > 1 ? atoi(argv[1]) : 0;
    peer = argc > 2 ? atoi(argv[2]) : 0;
    given("comm", HANDLE(halo));
    if (rank == 0) {
        given("buf", HANDLE(&cells[2]));
        given("count", 3);
        given("source", peer);
        given("tag", tag + 1);
        at("MPI_Recv", 0);
        failed = between(peer, tag, cells);
    } else if (rank == 1) {
        given("buf", HANDLE(&cells[1]));
        given("count", 8);
        given("source", peer - 1);
        given("tag", tag - 3);
        at("MPI_Recv", 0);
        failed = jump(cells, 7, peer, tag, halo) + 1;
    } else if (rank == 2) {
        given("buf", HANDLE(cells));
        given("count", 5);
        given("source", peer);
        given("tag", tag);
        at("MPI_Recv", 0);
        failed = shifted(tag, peer, cells, halo, 5, 6) + 1;
    } else if (rank == 3) {
        given("sendbuf", HANDLE(out));
        given("sendcount", 1);
        given("dest", peer);
        given("sendtag", tag);
        given("recvbuf", HANDLE(in));
        given("recvcount", 1);
        given("source", peer);
        given("recvtag", tag + 2);
        at("MPI_Sendrecv", 0);
        failed = both_ways(peer, tag, in, out);
    } else {
        given("sendbuf", HANDLE(mine));
        given("recvbuf", HANDLE(sum));
        given("count", 2);
        given("root", 4);
        at("MPI_Reduce", 0);
        failed = reduce(mine, sum, 2, rank);
    }
    MPI_Finalize();
    return failed;
}
