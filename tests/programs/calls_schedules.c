/* Each rank starts all non-blocking collectives on communicators of several sizes, with several roots and numbers of
 * elements and with MPI_IN_PLACE, and completes none. It says of each request which function started it and with which
 * root, in lines `planned HANDLE FUNCTION ROOT COMM COUNT`: ROOT -1 has none, or one of the other group. COMM is the size
 * of the communicator, with a letter before it: i of an intercommunicator, c of one with a topology. Arguments: the sizes.
 */
#include "common/handle_value.h"
#include "common/told.h"

#include <mpi.h>

#define MOST 8

static char place[32];

static void *memory(int elements)
{
    return calloc((size_t)elements + 1, sizeof(int));
}

/* Starts a collective, and says what it is: call is that of MPI, with the request last. */
#define PLAN(call, root, count) planned((call, request), #call, root, count)

static void planned(MPI_Request request, const char *call, int root, int count)
{
    int function = (int)strcspn(call, "(");
    printf("planned 0x%lx %.*s %d %s %d\n", (unsigned long)HANDLE(request), function, call, root, place, count);
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
    int *counts = counts_of(size, count), *places = displacements_of(size, count);
    void *here = in_place && rank == root ? MPI_IN_PLACE : memory(count);
    PLAN(MPI_Ibcast(memory(count), count, MPI_INT, root, comm, &request), root, count);
    PLAN(MPI_Igather(here, count, MPI_INT, memory(count * size), count, MPI_INT, root, comm, &request), root, count);
    PLAN(MPI_Igatherv(here, count, MPI_INT, memory(count * size), counts, places, MPI_INT, root, comm, &request), root, count);
    PLAN(MPI_Iscatter(memory(count * size), count, MPI_INT, here, count, MPI_INT, root, comm, &request), root, count);
    PLAN(MPI_Iscatterv(memory(count * size), counts, places, MPI_INT, here, count, MPI_INT, root, comm, &request), root, count);
    PLAN(MPI_Ireduce(here, memory(count), count, MPI_INT, MPI_SUM, root, comm, &request), root, count);
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
    int elements = count * size, *counts = counts_of(size, count), *places = displacements_of(size, count);
    int *bytes = displacements_of(size, count * (int)sizeof(int));
    MPI_Datatype *types = types_of(size);
    void *here = in_place ? MPI_IN_PLACE : memory(elements);
    PLAN(MPI_Ibarrier(comm, &request), -1, 0);
    PLAN(MPI_Iallgather(here, count, MPI_INT, memory(elements), count, MPI_INT, comm, &request), -1, count);
    PLAN(MPI_Iallgatherv(here, count, MPI_INT, memory(elements), counts, places, MPI_INT, comm, &request), -1, count);
    PLAN(MPI_Ialltoall(here, count, MPI_INT, memory(elements), count, MPI_INT, comm, &request), -1, count);
    PLAN(MPI_Ialltoallv(here, counts, places, MPI_INT, memory(elements), counts, places, MPI_INT, comm, &request), -1, count);
    PLAN(MPI_Ialltoallw(here, counts, bytes, types, memory(elements), counts, bytes, types, comm, &request), -1, count);
    PLAN(MPI_Iallreduce(here, memory(count), count, MPI_INT, MPI_SUM, comm, &request), -1, count);
    PLAN(MPI_Ireduce_scatter(here, memory(elements), counts, MPI_INT, MPI_SUM, comm, &request), -1, count);
    PLAN(MPI_Ireduce_scatter_block(here, memory(elements), count, MPI_INT, MPI_SUM, comm, &request), -1, count);
    PLAN(MPI_Iscan(here, memory(count), count, MPI_INT, MPI_SUM, comm, &request), -1, count);
    PLAN(MPI_Iexscan(here, memory(count), count, MPI_INT, MPI_SUM, comm, &request), -1, count);
}

static void ordered(MPI_Comm comm, int root)
{
    MPI_Request request;
    MPI_Op op;
    MPI_Op_create(first_of, 0, &op);
    PLAN(MPI_Ireduce(memory(5), memory(5), 5, MPI_INT, op, root, comm, &request), root, 5);
    PLAN(MPI_Iallreduce(memory(5), memory(5), 5, MPI_INT, op, comm, &request), -1, 5);
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
    int count = 3, *counts = counts_of(2, count), *places = displacements_of(2, count);
    snprintf(place, sizeof place, "c%d", size);
    PLAN(MPI_Ineighbor_allgather(memory(count), count, MPI_INT, memory(2 * count), count, MPI_INT, ring, &request), -1, count);
    PLAN(MPI_Ineighbor_allgatherv(memory(count), count, MPI_INT, memory(2 * count), counts, places, MPI_INT, ring,
         &request), -1, count);
    PLAN(MPI_Ineighbor_alltoall(memory(2 * count), count, MPI_INT, memory(2 * count), count, MPI_INT, ring, &request), -1, count);
    PLAN(MPI_Ineighbor_alltoallv(memory(2 * count), counts, places, MPI_INT, memory(2 * count), counts, places,
         MPI_INT, ring, &request), -1, count);
    PLAN(MPI_Ibcast(memory(count), count, MPI_INT, 0, ring, &request), 0, count);
    PLAN(MPI_Ibarrier(ring, &request), -1, 0);
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
    int *counts = counts_of(remote, count), *places = displacements_of(remote, count);
    snprintf(place, sizeof place, "i%d", mine);
    int root = !low ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL;
    PLAN(MPI_Ibarrier(comm, &request), -1, 0);
    PLAN(MPI_Ibcast(memory(count), count, MPI_INT, root, comm, &request), -1, count);
    PLAN(MPI_Igather(memory(count), count, MPI_INT, memory(count * remote), count, MPI_INT, root, comm, &request), -1, count);
    PLAN(MPI_Iscatter(memory(count * remote), count, MPI_INT, memory(count), count, MPI_INT, root, comm, &request), -1, count);
    PLAN(MPI_Ireduce(memory(count), memory(count), count, MPI_INT, MPI_SUM, root, comm, &request), -1, count);
    PLAN(MPI_Iallreduce(memory(count), memory(count), count, MPI_INT, MPI_SUM, comm, &request), -1, count);
    PLAN(MPI_Iallgather(memory(count), count, MPI_INT, memory(count * remote), count, MPI_INT, comm, &request), -1, count);
    PLAN(MPI_Iallgatherv(memory(count), count, MPI_INT, memory(count * remote), counts, places, MPI_INT, comm,
         &request), -1, count);
    PLAN(MPI_Ialltoall(memory(count * remote), count, MPI_INT, memory(count * remote), count, MPI_INT, comm, &request),
         -1, count);
    /* The sums of both groups' parts are equal. */
    part = count * (low ? size - cut : cut);
    PLAN(MPI_Ireduce_scatter_block(memory(part * mine), memory(part), part, MPI_INT, MPI_SUM, comm, &request), -1, part);
}

int main(int argc, char **argv)
{
    int rank, world;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world);
    setvbuf(stdout, NULL, _IOFBF, 1 << 20);
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
    told_ready();
    told_hang();
}
