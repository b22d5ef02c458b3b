/*
 * Communicators of every kind with traffic on them: duplicates, splits with reversed ranks and with an undefined colour,
 * inter-communicators with traffic both ways, Cartesian, MPI_COMM_SELF's duplicate, groups with permuted ranks, names of
 * 0, 63 and more characters, freed ones with and without pending operations. Two ranks or more; all hang in pause().
 */
#include "common/truth.h"

#include <stdio.h>
#include <string.h>

static int next_tag = 1000;

/* Traffic between neighbours in rank order: one eager and one large message, one receive for a specific peer and one for
 * any. All ranks of an intracommunicator call it. */
static void talk(MPI_Comm comm)
{
    int rank, size, tag = next_tag;
    next_tag += 10;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    truth_isend(TRUTH_STANDARD, 4, MPI_INT, to, tag + 1, comm, TRUTH_EAGER, NULL);
    truth_isend(TRUTH_STANDARD, 30000 + rank, MPI_BYTE, to, tag + 2, comm, TRUTH_PENDING, NULL);
    truth_expect(comm, from, tag + 1, 16);
    truth_expect(comm, from, tag + 2, 30000 + from);
    truth_irecv(5 + rank, MPI_DOUBLE, from, tag + 3, comm, TRUTH_PENDING, NULL);
    truth_irecv(6 + rank, MPI_INT, MPI_ANY_SOURCE, tag + 4, comm, TRUTH_PENDING, NULL);
    /* From one that has sent nothing here: for any tag it would take the messages above. */
    if (to != from)
        truth_irecv(7 + rank, MPI_INT, to, MPI_ANY_TAG, comm, TRUTH_PENDING, NULL);
}

/* The same across an intercommunicator: with every remote rank, so that both groups' ranks are told apart. */
static void talk_across(MPI_Comm comm)
{
    int rank, remote, tag = next_tag;
    next_tag += 10;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_remote_size(comm, &remote);
    for (int peer = 0; peer < remote; peer++) {
        truth_isend(TRUTH_STANDARD, 1 + rank, MPI_INT, peer, tag + 1, comm, TRUTH_EAGER, NULL);
        truth_isend(TRUTH_SYNCHRONOUS, 2 + rank, MPI_DOUBLE, peer, tag + 2, comm, TRUTH_PENDING, NULL);
    }
    for (int peer = 0; peer < remote; peer++) {
        truth_expect(comm, peer, tag + 1, 4 * (1 + peer));
        truth_expect(comm, peer, tag + 2, 8 * (2 + peer));
        truth_irecv(9, MPI_INT, peer, tag + 3, comm, TRUTH_PENDING, NULL);
    }
    truth_irecv(8, MPI_INT, MPI_ANY_SOURCE, tag + 4, comm, TRUTH_PENDING, NULL);
}

static void names(void)
{
    static const int lengths[] = {0, 1, 62, 63, 64, 100};
    char name[128];
    for (int i = 0; i < (int)(sizeof lengths / sizeof *lengths); i++) {
        MPI_Comm comm;
        memset(name, 'a' + i, sizeof name);
        name[lengths[i]] = '\0';
        if (lengths[i] > 20)
            memcpy(name + lengths[i] - 3, "end", 3);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        truth_named_comm(comm, name);
    }
    static const char *const odd[] = {"halo \"x\" \\ 100% {0} %s", "r\303\251seau", "  spaces  ", "same", "same"};
    for (int i = 0; i < (int)(sizeof odd / sizeof *odd); i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        truth_named_comm(comm, odd[i]);
    }
}

static void freed(void)
{
    MPI_Comm pending, idle, again, renamed;
    MPI_Comm_dup(MPI_COMM_WORLD, &pending);
    truth_named_comm(pending, "freed with a receive pending");
    truth_irecv(3, MPI_INT, (truth_rank + 1) % truth_size, 5, pending, TRUTH_PENDING, NULL);
    if (truth_limits_are_known())
        truth_free_comm(&pending, 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &idle);
    truth_named_comm(idle, "freed and gone");
    truth_free_comm(&idle, 0);
    /* The library may reuse both the slot and the memory of the one before. */
    MPI_Comm_dup(MPI_COMM_WORLD, &again);
    truth_named_comm(again, "made again");
    talk(again);
    MPI_Comm_dup(MPI_COMM_WORLD, &renamed);
    MPI_Comm_set_name(renamed, "a first and rather long name of forty");
    truth_named_comm(renamed, "short");
    /* Last: MPICH's ch4:ucx and the pml ucx free it at once, receive or not, and would make the next one in its place. */
    if (!truth_limits_are_known())
        truth_free_comm(&pending, 1);
}

int main(int argc, char **argv)
{
    MPI_Comm unnamed, reversed, odd_even, some, half, inter, across, cart, graph, self, permuted, inter_dup, nested;
    truth_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (truth_size < 2)
        truth_fail("needs two ranks");

    talk(MPI_COMM_WORLD);

    MPI_Comm_dup(MPI_COMM_WORLD, &unnamed);
    truth_comm(unnamed, NULL);
    talk(unnamed);

    MPI_Comm_split(MPI_COMM_WORLD, 0, -truth_rank, &reversed);
    truth_named_comm(reversed, "reversed");
    talk(reversed);

    MPI_Comm_split(MPI_COMM_WORLD, truth_rank % 2, -truth_rank, &odd_even);
    truth_named_comm(odd_even, truth_rank % 2 ? "odd" : "even");
    talk(odd_even);

    /* MPI_COMM_NULL on rank 0: it must not be listed. */
    MPI_Comm_split(MPI_COMM_WORLD, truth_rank == 0 ? MPI_UNDEFINED : 1, 0, &some);
    if (some != MPI_COMM_NULL) {
        truth_named_comm(some, "all but rank 0");
        talk(some);
    }
    next_tag = 3000;

    /* Two halves with reversed ranks and an intercommunicator between them: local, remote and world ranks all differ. */
    int upper = truth_rank >= truth_size / 2;
    MPI_Comm_split(MPI_COMM_WORLD, upper, -truth_rank, &half);
    truth_comm(half, NULL);
    /* Not over MPI_COMM_WORLD: the leaders' exchange may use the tag, and receives for any tag wait there. */
    MPI_Intercomm_create(half, 0, truth_control, upper ? truth_size / 2 - 1 : truth_size - 1, 77, &inter);
    truth_named_comm(inter, "between the halves");
    talk_across(inter);
    MPI_Comm_dup(inter, &inter_dup);
    truth_comm(inter_dup, NULL);
    MPI_Intercomm_merge(inter, upper, &across);
    truth_named_comm(across, "merged");
    talk(across);

    int dims[2] = {1, truth_size}, periods[2] = {0, 1};
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &cart);
    truth_named_comm(cart, "torus");
    talk(cart);

    int neighbour = (truth_rank + 1) % truth_size, before = (truth_rank + truth_size - 1) % truth_size;
    int weight = 1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, &weight, 1, &neighbour, &weight, MPI_INFO_NULL, 0,
                                   &graph);
    truth_comm(graph, NULL);

    MPI_Comm_dup(MPI_COMM_SELF, &self);
    truth_named_comm(self, "only me");
    talk(self);

    MPI_Group world, group;
    int ranks[64], members = truth_size < 64 ? truth_size : 64;
    for (int i = 0; i < members; i++)
        ranks[i] = (i + members / 2) % members;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, members, ranks, &group);
    MPI_Comm_create(MPI_COMM_WORLD, group, &permuted);
    if (permuted != MPI_COMM_NULL) {
        truth_named_comm(permuted, "permuted");
        talk(permuted);
        MPI_Comm_split(permuted, 0, truth_rank, &nested);
        truth_comm(nested, NULL);
        talk(nested);
    }

    names();
    freed();
    truth_settle();
    truth_hang_paused();
}
