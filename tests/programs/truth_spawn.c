/*
 * Two processes spawn three more, the first of which spawns another: three worlds, with messages between them on the
 * intercommunicators and on the intracommunicator that MPI_Intercomm_merge makes of one. All hang in pause().
 */
#include "common/truth.h"

#include <stdlib.h>
#include <unistd.h>

enum { PARENTS = 2, CHILDREN = 3 };

/* The process ids of those that this process has spawned with others, for a plug-in; then zeros. */
int truth_spawned[8];

/* Where a debugger is to stop to see them. */
__attribute__((noinline)) void truth_have_spawned(void)
{
    __asm__ volatile("");
}

/* Both sides: each tells the other its process id. */
static void exchange_pids(MPI_Comm comm, int *theirs)
{
    int own = (int)getpid();
    MPI_Allgather(&own, 1, MPI_INT, theirs, 1, MPI_INT, comm);
}

static MPI_Comm spawn(char *program, char *world, int count, MPI_Comm comm)
{
    char *arguments[] = {world, NULL};
    int failed[CHILDREN];
    MPI_Comm made;
    MPI_Comm_spawn(program, arguments, count, MPI_INFO_NULL, 0, comm, &made, failed);
    exchange_pids(made, truth_spawned);
    truth_have_spawned();
    return made;
}

/* The same on both sides: what each posts on the intercommunicator, with the peer of another world. */
static void post(MPI_Comm comm, int peer)
{
    truth_irecv(10 + truth_rank, MPI_INT, peer, 50, comm, TRUTH_PENDING, NULL);
    truth_irecv(4, MPI_DOUBLE, MPI_ANY_SOURCE, 51, comm, TRUTH_PENDING, NULL);
}

static void be_parent(char *program)
{
    MPI_Comm offspring = spawn(program, "1", CHILDREN, MPI_COMM_WORLD), merged;
    truth_named_comm(offspring, "offspring");
    truth_exchange_members(offspring);
    MPI_Intercomm_merge(offspring, 0, &merged);
    truth_named_comm(merged, "merged");
    truth_exchange_members(merged);
    MPI_Barrier(merged);
    post(offspring, truth_rank + 1);
    truth_isend(TRUTH_SYNCHRONOUS, 5, MPI_INT, truth_rank + 1, 60, offspring, TRUTH_PENDING, NULL);
    truth_isend(TRUTH_SYNCHRONOUS, 50000, MPI_BYTE, truth_rank, 61, offspring, TRUTH_PENDING, NULL);
    for (int child = truth_rank; child < CHILDREN; child += PARENTS)
        truth_expect(offspring, child, 80 + child, 8);
    /* In the merged communicator the children follow the parents. */
    truth_irecv(7, MPI_INT, PARENTS + CHILDREN - 1, 90, merged, TRUTH_PENDING, NULL);
    if (truth_rank == 1) {
        truth_irecv(7, MPI_INT, 0, 92, merged, TRUTH_PENDING, NULL);
        truth_expect(merged, PARENTS + 1, 91, 12);
    }
    MPI_Barrier(merged);
}

static void be_child(char *program, MPI_Comm parents)
{
    MPI_Comm merged;
    int above[PARENTS];
    exchange_pids(parents, above);
    /* The standard's own name for it. */
    truth_comm(parents, "MPI_COMM_PARENT");
    truth_exchange_members(parents);
    MPI_Intercomm_merge(parents, 1, &merged);
    truth_named_comm(merged, "merged");
    truth_exchange_members(merged);
    MPI_Barrier(merged);
    post(parents, truth_rank % PARENTS);
    truth_isend(TRUTH_SYNCHRONOUS, 1, MPI_DOUBLE, truth_rank % PARENTS, 80 + truth_rank, parents, TRUTH_PENDING, NULL);
    if (truth_rank >= 1)
        truth_expect(parents, truth_rank - 1, 60, 20);
    if (truth_rank < PARENTS)
        truth_expect(parents, truth_rank, 61, 50000);
    if (truth_rank == 1)
        truth_isend(TRUTH_SYNCHRONOUS, 3, MPI_INT, 1, 91, merged, TRUTH_PENDING, NULL);
    truth_irecv(7, MPI_INT, PARENTS + (truth_rank + 1) % CHILDREN, 93, merged, TRUTH_PENDING, NULL);
    MPI_Barrier(merged);
    if (truth_rank == 0) {
        MPI_Comm offspring = spawn(program, "2", 1, MPI_COMM_SELF);
        truth_named_comm(offspring, "offspring of one");
        truth_exchange_members(offspring);
        truth_irecv(2, MPI_INT, 0, 94, offspring, TRUTH_PENDING, NULL);
        truth_expect(offspring, 0, 95, 16);
        MPI_Barrier(offspring);
    }
}

static void be_grandchild(MPI_Comm parent)
{
    int above;
    exchange_pids(parent, &above);
    truth_comm(parent, "MPI_COMM_PARENT");
    truth_exchange_members(parent);
    truth_irecv(3, MPI_INT, 0, 96, parent, TRUTH_PENDING, NULL);
    truth_isend(TRUTH_SYNCHRONOUS, 2, MPI_DOUBLE, 0, 95, parent, TRUTH_PENDING, NULL);
    /* The message goes on its way while MPI is called. */
    MPI_Barrier(parent);
}

int main(int argc, char **argv)
{
    MPI_Comm parents;
    truth_begin(&argc, &argv, MPI_THREAD_SINGLE);
    truth_world = argc > 1 ? atoi(argv[1]) : 0;
    MPI_Comm_get_parent(&parents);
    if ((parents == MPI_COMM_NULL) != (truth_world == 0))
        truth_fail("world %d has %s", truth_world, truth_world ? "no parents" : "parents");
    if (truth_world == 0) {
        if (truth_size != PARENTS)
            truth_fail("needs two ranks");
        be_parent(argv[0]);
    } else if (truth_world == 1)
        be_child(argv[0], parents);
    else
        be_grandchild(parents);
    truth_settle();
    truth_hang_paused();
}
