/* Each rank starts all non-blocking collectives on communicators of several sizes, with several roots and numbers of elements and
 * with MPI_IN_PLACE, and completes none. It says of each request which function started it and with which root, in lines
 * `planned HANDLE FUNCTION ROOT COMM COUNT`: ROOT -1 has none, or one of the other group. COMM is the size of the communicator, with a letter
 * before it: i of an intercommunicator, c of one with a topology. Arguments: the sizes.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HANDLE(handle)                                                                                                 \
    (sizeof(handle) == sizeof(int) ? (uintptr_t)(unsigned)(uintptr_t)(handle) : (uintptr_t)(handle))
#define MOST 8

static char place[32];

static void *memory(int elements)
{
    return calloc((size_t)elements + 1, sizeof(int));
}

static void planned(MPI_Request request, const char *function, int root, int count)
{
    printf("planned 0x%lx %s %d %s %d\n", (unsigned long)HANDLE(request), function, root, place, count);
}

/* The arrays of the functions that take one of each member; nobody may free them. */
static int *counts_of(int size, int count)
{
    int *counts = memory(size);
    for (int i = 0; i < size; i++)
        counts[i] = count;
    return counts;
}

static int *displacements_of(int size, int step)
{
    int *displacements = memory(size);
    for (int i = 0; i < size; i++)
        displacements[i] = i * step;
    return displacements;
}

static MPI_Datatype *types_of(int size)
{
    MPI_Datatype *types = calloc((size_t)size + 1, sizeof(MPI_Datatype));
    for (int i = 0; i < size; i++)
        types[i] = MPI_INT;
    return types;
}

static void rooted(MPI_Comm comm, int size, int rank, int root, int count, int in_place)
{
    MPI_Request request;
    void *here = in_place && rank == root ? MPI_IN_PLACE : memory(count);
    MPI_Ibcast(memory(count), count, MPI_INT, root, comm, &request);
    planned(request, "MPI_Ibcast", root, count);
    MPI_Igather(here, count, MPI_INT, memory(count * size), count, MPI_INT, root, comm, &request);
    planned(request, "MPI_Igather", root, count);
    MPI_Igatherv(here, count, MPI_INT, memory(count * size), counts_of(size, count), displacements_of(size, count), MPI_INT,
        root, comm, &request);
    planned(request, "MPI_Igatherv", root, count);
    MPI_Iscatter(memory(count * size), count, MPI_INT, here, count, MPI_INT, root, comm, &request);
    planned(request, "MPI_Iscatter", root, count);
    MPI_Iscatterv(memory(count * size), counts_of(size, count), displacements_of(size, count), MPI_INT, here, count, MPI_INT,
        root, comm, &request);
    planned(request, "MPI_Iscatterv", root, count);
    MPI_Ireduce(here, memory(count), count, MPI_INT, MPI_SUM, root, comm, &request);
    planned(request, "MPI_Ireduce", root, count);
}

/* An operator that does not commute. */
static void first_of(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)type;
    memcpy(inout, in, (size_t)*len * sizeof(int));
}

static void unrooted(MPI_Comm comm, int size, int count, int in_place)
{
    MPI_Request request;
    int elements = count * size;
    void *here = in_place ? MPI_IN_PLACE : memory(elements);
    MPI_Ibarrier(comm, &request);
    planned(request, "MPI_Ibarrier", -1, 0);
    MPI_Iallgather(here, count, MPI_INT, memory(elements), count, MPI_INT, comm, &request);
    planned(request, "MPI_Iallgather", -1, count);
    MPI_Iallgatherv(here, count, MPI_INT, memory(elements), counts_of(size, count), displacements_of(size, count), MPI_INT, comm,
        &request);
    planned(request, "MPI_Iallgatherv", -1, count);
    MPI_Ialltoall(here, count, MPI_INT, memory(elements), count, MPI_INT, comm, &request);
    planned(request, "MPI_Ialltoall", -1, count);
    MPI_Ialltoallv(here, counts_of(size, count), displacements_of(size, count), MPI_INT, memory(elements), counts_of(size, count),
        displacements_of(size, count), MPI_INT, comm, &request);
    planned(request, "MPI_Ialltoallv", -1, count);
    MPI_Ialltoallw(here, counts_of(size, count), displacements_of(size, count * (int)sizeof(int)), types_of(size), memory(elements),
        counts_of(size, count), displacements_of(size, count * (int)sizeof(int)), types_of(size), comm, &request);
    planned(request, "MPI_Ialltoallw", -1, count);
    MPI_Iallreduce(here, memory(count), count, MPI_INT, MPI_SUM, comm, &request);
    planned(request, "MPI_Iallreduce", -1, count);
    MPI_Ireduce_scatter(here, memory(elements), counts_of(size, count), MPI_INT, MPI_SUM, comm, &request);
    planned(request, "MPI_Ireduce_scatter", -1, count);
    MPI_Ireduce_scatter_block(here, memory(elements), count, MPI_INT, MPI_SUM, comm, &request);
    planned(request, "MPI_Ireduce_scatter_block", -1, count);
    MPI_Iscan(here, memory(count), count, MPI_INT, MPI_SUM, comm, &request);
    planned(request, "MPI_Iscan", -1, count);
    MPI_Iexscan(here, memory(count), count, MPI_INT, MPI_SUM, comm, &request);
    planned(request, "MPI_Iexscan", -1, count);
}

static void ordered(MPI_Comm comm, int root)
{
    MPI_Request request;
    MPI_Op op;
    MPI_Op_create(first_of, 0, &op);
    MPI_Ireduce(memory(5), memory(5), 5, MPI_INT, op, root, comm, &request);
    planned(request, "MPI_Ireduce", root, 5);
    MPI_Iallreduce(memory(5), memory(5), 5, MPI_INT, op, comm, &request);
    planned(request, "MPI_Iallreduce", -1, 5);
}

static MPI_Comm ring_of(MPI_Comm comm, int size)
{
    MPI_Comm ring;
    int dims[1] = {size}, periods[1] = {1};
    MPI_Cart_create(comm, 1, dims, periods, 0, &ring);
    return ring;
}

static void neighbours(MPI_Comm ring, int size)
{
    MPI_Request request;
    int count = 3;
    snprintf(place, sizeof place, "c%d", size);
    MPI_Ineighbor_allgather(memory(count), count, MPI_INT, memory(2 * count), count, MPI_INT, ring, &request);
    planned(request, "MPI_Ineighbor_allgather", -1, count);
    MPI_Ineighbor_allgatherv(memory(count), count, MPI_INT, memory(2 * count), counts_of(2, count), displacements_of(2, count), MPI_INT,
        ring, &request);
    planned(request, "MPI_Ineighbor_allgatherv", -1, count);
    MPI_Ineighbor_alltoall(memory(2 * count), count, MPI_INT, memory(2 * count), count, MPI_INT, ring, &request);
    planned(request, "MPI_Ineighbor_alltoall", -1, count);
    MPI_Ineighbor_alltoallv(memory(2 * count), counts_of(2, count), displacements_of(2, count), MPI_INT, memory(2 * count),
        counts_of(2, count), displacements_of(2, count), MPI_INT, ring, &request);
    planned(request, "MPI_Ineighbor_alltoallv", -1, count);
    MPI_Ibcast(memory(count), count, MPI_INT, 0, ring, &request);
    planned(request, "MPI_Ibcast", 0, count);
    MPI_Ibarrier(ring, &request);
    planned(request, "MPI_Ibarrier", -1, 0);
}

/* Of two thirds of the ranks and the others. */
static MPI_Comm between(int rank, int size)
{
    MPI_Comm own, comm;
    int cut = (2 * size + 2) / 3, low = rank < cut;
    MPI_Comm_split(MPI_COMM_WORLD, low, rank, &own);
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, low ? cut : 0, 77, &comm);
    return comm;
}

static void across(MPI_Comm comm, int rank, int size)
{
    MPI_Request request;
    int cut = (2 * size + 2) / 3, low = rank < cut, remote = low ? size - cut : cut, count = 6;
    int me = low ? rank : rank - cut, mine = low ? cut : size - cut, part;
    snprintf(place, sizeof place, "i%d", mine);
    int root = !low ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Ibarrier(comm, &request);
    planned(request, "MPI_Ibarrier", -1, 0);
    MPI_Ibcast(memory(count), count, MPI_INT, root, comm, &request);
    planned(request, "MPI_Ibcast", -1, count);
    MPI_Igather(memory(count), count, MPI_INT, memory(count * remote), count, MPI_INT, root, comm, &request);
    planned(request, "MPI_Igather", -1, count);
    MPI_Iscatter(memory(count * remote), count, MPI_INT, memory(count), count, MPI_INT, root, comm, &request);
    planned(request, "MPI_Iscatter", -1, count);
    MPI_Ireduce(memory(count), memory(count), count, MPI_INT, MPI_SUM, root, comm, &request);
    planned(request, "MPI_Ireduce", -1, count);
    MPI_Iallreduce(memory(count), memory(count), count, MPI_INT, MPI_SUM, comm, &request);
    planned(request, "MPI_Iallreduce", -1, count);
    MPI_Iallgather(memory(count), count, MPI_INT, memory(count * remote), count, MPI_INT, comm, &request);
    planned(request, "MPI_Iallgather", -1, count);
    MPI_Iallgatherv(memory(count), count, MPI_INT, memory(count * remote), counts_of(remote, count), displacements_of(remote, count),
        MPI_INT, comm, &request);
    planned(request, "MPI_Iallgatherv", -1, count);
    MPI_Ialltoall(memory(count * remote), count, MPI_INT, memory(count * remote), count, MPI_INT, comm, &request);
    planned(request, "MPI_Ialltoall", -1, count);
    /* The sums of both groups' parts are equal. */
    part = count * (low ? size - cut : cut);
    MPI_Ireduce_scatter_block(memory(part * mine), memory(part), part, MPI_INT, MPI_SUM, comm, &request);
    planned(request, "MPI_Ireduce_scatter_block", -1, part);
}

int main(int argc, char **argv)
{
    int rank, world;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world);
    setvbuf(stdout, NULL, _IOFBF, 1 << 20);
    alarm(1800);
    MPI_Comm comms[MOST], rings[MOST], other = MPI_COMM_NULL;
    int number = argc - 1 < MOST ? argc - 1 : MOST;
    /* First all communicators: making one moves the messages of what was started before. */
    for (int i = 0; i < number; i++) {
        int size = atoi(argv[i + 1]);
        MPI_Comm_split(MPI_COMM_WORLD, rank < size ? 0 : MPI_UNDEFINED, rank, &comms[i]);
        if (comms[i] != MPI_COMM_NULL)
            rings[i] = ring_of(comms[i], size);
    }
    if (world > 1)
        other = between(rank, world);
    for (int i = 0; i < number; i++) {
        MPI_Comm comm = comms[i];
        int size = atoi(argv[i + 1]), me;
        if (comm == MPI_COMM_NULL)
            continue;
        MPI_Comm_rank(comm, &me);
        snprintf(place, sizeof place, "%d", size);
        for (int in_place = 0; in_place < 2; in_place++) {
            int counts[] = {1, 7, 40000};
            for (int k = 0; k < 3; k++) {
                for (int root = 0; root < size; root += size < 5 ? 1 : 2)
                    rooted(comm, size, me, root, counts[k], in_place);
                unrooted(comm, size, counts[k], in_place);
            }
        }
        ordered(comm, 0);
        ordered(comm, size - 1);
        if (size > 1)
            neighbours(rings[i], size);
    }
    if (world > 1)
        across(other, rank, world);
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}
