/*
 * Each rank stands in another MPI call, and has said before what it gives to it, one line an argument:
 *
 *     given NAME NUMBER...      the value; of an array of handles, or the address of one, what is there
 *     means NAME CONSTANT       a constant of MPI
 *
 * The call is the only one of its function, and its line is printed, too.
 */
#include "calls.h"
#include "common/told.h"

#include <mpi.h>
#include <stdint.h>

#define HANDLE(handle) ((long long)(intptr_t)(handle))

enum { LAST_TAG = 9 };

struct grid {
    double cells[100];
    int width;
    MPI_Comm comm;
};

static void given(const char *name, long long value) {
    printf("given %s %lld\n", name, value);
}

static void at(const char *function, int line) {
    printf("call %s %d\n", function, line);
    told_ready();
}

/* Three requests, one of them null. */
static int wait_for_all(struct grid *grid, int peer) {
    MPI_Request requests[3];
    MPI_Status statuses[3];
    MPI_Irecv(grid->cells, grid->width, MPI_DOUBLE, peer, LAST_TAG, grid->comm, &requests[0]);
    MPI_Irecv(grid->cells + 10, 10, MPI_DOUBLE, MPI_ANY_SOURCE, 8, grid->comm, &requests[1]);
    requests[2] = MPI_REQUEST_NULL;
    given("count", 3);
    printf("given array_of_requests %lld %lld %lld\n", HANDLE(requests[0]), HANDLE(requests[1]), HANDLE(requests[2]));
    at("MPI_Waitall", __LINE__ + 1);
    return MPI_Waitall(3, /* all, of (them */
                       requests,
                       statuses);
}

static int wait_for_one(struct grid *grid) {
    MPI_Request request;
    MPI_Irecv(grid->cells, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 1, grid->comm, &request);
    given("request", HANDLE(request));
    printf("means status MPI_STATUS_IGNORE\n");
    at("MPI_Wait", __LINE__ + 1);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    int rank, size, failed = 0;
    static struct grid grid = {.width = 10};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    MPI_Comm_dup(WORLD, &grid.comm);
    if (rank == 0) {
        MPI_Status status;
        given("count", grid.width - 1);
        given("source", (rank + 1) % size);
        given("tag", HALO_TAG);
        printf("means datatype MPI_DOUBLE\nmeans comm MPI_COMM_WORLD\n");
        given("buf", (long long)(intptr_t)&grid.cells[rank + 3]);
        at("MPI_Recv", __LINE__ + 1);
        CHECK(MPI_Recv(&grid.cells[rank + 3], grid.width - 1, MPI_DOUBLE, (rank + 1) % size, HALO_TAG, WORLD, &status));
    } else if (rank == 1) {
        failed = wait_for_all(&grid, rank - 1);
    } else if (rank == 2) {
        failed = wait_for_one(&grid);
    } else {
        given("root", rank - 3);
        given("comm", HANDLE(grid.comm));
        given("count", 1);
        at("MPI_Bcast", __LINE__ + 1);
        failed = MPI_Bcast(&size, 1, MPI_INT, rank - 3, ((grid.comm)));
    }
    MPI_Finalize();
    return failed;
}
