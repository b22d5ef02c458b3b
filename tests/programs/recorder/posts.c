/*
 * Random calls of which the program keeps account: posts.c SEED STEPS.
 *
 * Messages go to the rank itself, or are never received; collectives are drawn from a generator that all ranks share. At the
 * end each rank waits for a message that nobody sends.
 */
#include "common/noted.h"

#include <stdint.h>

enum { MOST = 4096, COMMS = 24, NEVER = 1000 };

typedef struct {
    MPI_Request request;
    const char *function;
    int peer, tag, count, comm, state;
    const void *low, *high, *started_low, *started_high;
} Open;

typedef struct {
    MPI_Comm comm;
    char name[64];
    int collectives, live;
    char functions[64][24];
    int roots[64], counts[64];
} Comm;

enum { ACTIVE = 1, INACTIVE, STARTED };

static Open open_[MOST];
static int opened;
static Comm comms[COMMS];
static int comm_count;
/* What is received and what is sent never have the same tag. */
static int next_tag = NEVER, next_sent = 16 * NEVER;
static int buffer[64], other[64];
static int world_rank, world_size;

static uint64_t own, shared;

static int drawn(uint64_t *state, int below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (int)((*state >> 33) % (unsigned)below);
}

static int rank_in(int comm)
{
    int rank;
    MPI_Comm_rank(comms[comm].comm, &rank);
    return rank;
}

static Open *keep(MPI_Request request, const char *function, int peer, int tag, int count, int comm, int state)
{
    Open *one = &open_[opened++];
    *one = (Open){request, function, peer, tag, count, comm, state, noted_low, noted_high, NULL, NULL};
    return one;
}

static int some_comm(void)
{
    int at;
    do
        at = drawn(&own, comm_count);
    while (!comms[at].live);
    return at;
}

/* Completes requests that can be completed, in one of the ways that there are. */
static void complete(MPI_Request *requests, int count)
{
    int flag = 0, left = count, index, indices[8], done;
    switch (drawn(&own, 8)) {
        case 0:
            for (int at = 0; at < count; at++)
                MPI_Wait(&requests[at], MPI_STATUS_IGNORE);
            break;
        case 1: MPI_Waitall(count, requests, MPI_STATUSES_IGNORE); break;
        case 2:
            while (left-- > 0)
                MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
            break;
        case 3:
            for (; left > 0; left -= done)
                MPI_Waitsome(count, requests, &done, indices, MPI_STATUSES_IGNORE);
            break;
        case 4:
            for (int at = 0; at < count; at++)
                for (flag = 0; !flag;)
                    MPI_Test(&requests[at], &flag, MPI_STATUS_IGNORE);
            break;
        case 5:
            while (!flag)
                MPI_Testall(count, requests, &flag, MPI_STATUSES_IGNORE);
            break;
        case 6:
            for (; left > 0; left -= flag)
                MPI_Testany(count, requests, &index, &flag, MPI_STATUS_IGNORE);
            break;
        default:
            for (; left > 0; left -= done)
                MPI_Testsome(count, requests, &done, indices, MPI_STATUSES_IGNORE);
    }
}

static void step(void)
{
    int comm = some_comm(), self = rank_in(comm), size, count = 1 + drawn(&own, 60), tag = drawn(&own, 500);
    MPI_Comm handle = comms[comm].comm;
    MPI_Comm_size(handle, &size);
    int peer = drawn(&own, size);
    MPI_Request two[2], one;
    switch (drawn(&own, 9)) {
        case 0:
            CALLED(MPI_Irecv(buffer, count, MPI_INT, peer, next_tag, handle, &one));
            keep(one, "MPI_Irecv", peer, next_tag++, count, comm, ACTIVE);
            break;
        case 1:
            CALLED(MPI_Issend(buffer, count, MPI_INT, peer, next_sent, handle, &one));
            keep(one, "MPI_Issend", peer, next_sent++, count, comm, ACTIVE);
            break;
        case 2:
            MPI_Irecv(buffer, count, MPI_INT, self, tag, handle, &two[0]);
            MPI_Isend(other, count, MPI_INT, self, tag, handle, &two[1]);
            complete(two, 2);
            break;
        case 3: {
            CALLED(MPI_Recv_init(buffer, count, MPI_INT, peer, next_tag, handle, &one));
            Open *made = keep(one, "MPI_Recv_init", peer, next_tag++, count, comm, INACTIVE);
            if (drawn(&own, 2)) {
                CALLED(MPI_Start(&made->request));
                made->state = STARTED, made->started_low = noted_low, made->started_high = noted_high;
            }
            break;
        }
        case 4: {
            CALLED(MPI_Recv_init(buffer, count, MPI_INT, self, tag, handle, &two[0]));
            Open *made = keep(two[0], "MPI_Recv_init", self, tag, count, comm, INACTIVE);
            CALLED(MPI_Send_init(other, count, MPI_INT, self, tag, handle, &two[1]));
            keep(two[1], "MPI_Send_init", self, tag, count, comm, INACTIVE);
            CALLED(MPI_Startall(2, two));
            for (int at = 0; at < 2; at++)
                made[at].started_low = noted_low, made[at].started_high = noted_high;
            complete(two, 2);
            if (drawn(&own, 2)) {
                MPI_Request_free(&two[0]);
                MPI_Request_free(&two[1]);
                opened -= 2;
            }
            break;
        }
        case 5:
            for (int at = opened - 1; at >= 0; at--)
                if (strcmp(open_[at].function, "MPI_Irecv") == 0) {
                    MPI_Cancel(&open_[at].request);
                    MPI_Wait(&open_[at].request, MPI_STATUS_IGNORE);
                    open_[at] = open_[--opened];
                    break;
                }
            break;
        case 6:
            MPI_Irecv(buffer, count, MPI_INT, MPI_ANY_SOURCE, tag, handle, &one);
            MPI_Send(other, count, MPI_INT, self, tag, handle);
            complete(&one, 1);
            break;
        case 7:
            MPI_Sendrecv(buffer, count, MPI_INT, self, tag, other, count, MPI_INT, self, tag, handle, MPI_STATUS_IGNORE);
            break;
        default:
            CALLED(MPI_Irecv(buffer, count, MPI_INT, MPI_ANY_SOURCE, next_tag, handle, &one));
            keep(one, "MPI_Irecv", MPI_ANY_SOURCE, next_tag++, count, comm, ACTIVE);
    }
}

static void did(int comm, const char *function, int root, int count)
{
    Comm *of = &comms[comm];
    int at = of->collectives++ % 64;
    snprintf(of->functions[at], sizeof(of->functions[at]), "%s", function);
    of->roots[at] = root;
    of->counts[at] = count;
}

static void add_comm(MPI_Comm comm, const char *name)
{
    if (comm == MPI_COMM_NULL)
        return;
    Comm *made = &comms[comm_count++];
    memset(made, 0, sizeof(*made));
    made->comm = comm, made->live = 1;
    snprintf(made->name, sizeof(made->name), "%s", name);
}

/* How many communicators were made together: the same in all ranks, which may have different numbers of them. */
static int rounds;

/* All members of MPI_COMM_WORLD, which is the parent of all. */
static void together(int number)
{
    int count = 1 + drawn(&shared, 60), root = drawn(&shared, world_size), comm = drawn(&shared, 2);
    char name[64];
    MPI_Comm handle = comms[comm].comm, made;
    MPI_Request request;
    static int gathered[64 * 64];
    switch (drawn(&shared, 9)) {
        case 0: MPI_Barrier(handle), did(comm, "MPI_Barrier", -1, -1); break;
        case 1: MPI_Bcast(buffer, count, MPI_INT, root, handle), did(comm, "MPI_Bcast", root, count); break;
        case 2:
            MPI_Allreduce(buffer, other, count, MPI_INT, MPI_SUM, handle), did(comm, "MPI_Allreduce", -1, count);
            break;
        case 3:
            MPI_Reduce(buffer, other, count, MPI_INT, MPI_MAX, root, handle), did(comm, "MPI_Reduce", root, count);
            break;
        case 4:
            MPI_Gather(buffer, count, MPI_INT, gathered, count, MPI_INT, root, handle);
            did(comm, "MPI_Gather", root, count);
            break;
        case 5:
            MPI_Ibarrier(handle, &request), did(comm, "MPI_Ibarrier", -1, -1);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            break;
        case 6:
            if (rounds++ > COMMS - 4)
                break;
            MPI_Comm_split(comms[0].comm, world_rank % 2, 0, &made), did(0, "MPI_Comm_split", -1, -1);
            snprintf(name, sizeof(name), "split %d color %d", number, world_rank % 2);
            add_comm(made, name);
            break;
        case 7:
            if (rounds++ > COMMS - 4)
                break;
            MPI_Comm_dup(handle, &made), did(comm, "MPI_Comm_dup", -1, -1);
            snprintf(name, sizeof(name), "dup %d", number);
            add_comm(made, name);
            break;
        default: {
            int half = world_size / 2 ? world_size / 2 : 1, ranges[1][3] = {{0, half - 1, 1}};
            MPI_Group all, group;
            if (rounds++ > COMMS - 4)
                break;
            MPI_Comm_group(comms[0].comm, &all);
            MPI_Group_range_incl(all, 1, ranges, &group);
            if (number % 2) {
                MPI_Comm_create(comms[0].comm, group, &made), did(0, "MPI_Comm_create", -1, -1);
            } else {
                made = MPI_COMM_NULL;
                if (world_rank < half)
                    MPI_Comm_create_group(comms[0].comm, group, 7, &made);
            }
            snprintf(name, sizeof(name), "half %d", number);
            add_comm(made, name);
            MPI_Group_free(&group);
            MPI_Group_free(&all);
        }
    }
    /* One that is freed. */
    if (drawn(&shared, 6) == 0) {
        MPI_Comm_dup(comms[0].comm, &made), did(0, "MPI_Comm_dup", -1, -1);
        MPI_Barrier(made);
        MPI_Comm_free(&made);
    }
}

static void tell(void)
{
    noted_begin(world_rank);
    noted_list("open");
    for (int at = 0; at < opened; at++) {
        const Open *one = &open_[at];
        noted_row();
        fprintf(noted_file,
                "{\"request\": %llu, \"function\": \"%s\", \"peer\": %d, \"tag\": %d, \"count\": %d, \"comm\": %llu, "
                "\"state\": %d, \"low\": %llu, \"high\": %llu, \"started_low\": %llu, \"started_high\": %llu}",
                (unsigned long long)HANDLE(one->request), one->function, one->peer, one->tag, one->count,
                (unsigned long long)HANDLE(comms[one->comm].comm), one->state, (unsigned long long)(uintptr_t)one->low,
                (unsigned long long)(uintptr_t)one->high, (unsigned long long)(uintptr_t)one->started_low,
                (unsigned long long)(uintptr_t)one->started_high);
    }
    noted_list_end();
    noted_list("comms");
    for (int at = 0; at < comm_count; at++) {
        const Comm *one = &comms[at];
        int rank, size;
        MPI_Comm_rank(one->comm, &rank);
        MPI_Comm_size(one->comm, &size);
        noted_row();
        fprintf(noted_file, "{\"name\": \"%s\", \"handle\": %llu, \"rank\": %d, \"size\": %d, \"collectives\": %d, \"latest\": [",
                one->name, (unsigned long long)HANDLE(one->comm), rank, size, one->collectives);
        int from = one->collectives > 64 ? one->collectives - 64 : 0;
        for (int number = from; number < one->collectives; number++)
            fprintf(noted_file, "%s[\"%s\", %d, %d]", number > from ? ", " : "", one->functions[number % 64],
                    one->roots[number % 64], one->counts[number % 64]);
        fprintf(noted_file, "]}");
    }
    noted_list_end();
    noted_number("datatype", (long long)HANDLE(MPI_INT));
    noted_end(world_rank);
}

int main(int argc, char **argv)
{
    int seed = argc > 1 ? atoi(argv[1]) : 1, steps = argc > 2 ? atoi(argv[2]) : 100;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    shared = (uint64_t)seed * 977 + 5;
    own = (uint64_t)seed * 7919 + (uint64_t)world_rank * 104729 + 3;
    add_comm(MPI_COMM_WORLD, "world");
    MPI_Comm first;
    MPI_Comm_dup(MPI_COMM_WORLD, &first), did(0, "MPI_Comm_dup", -1, -1);
    add_comm(first, "first");
    for (int number = 0; number < steps; number++) {
        step();
        if (number % 3 == 0)
            together(number);
    }
    tell();
    MPI_Recv(buffer, 7, MPI_INT, MPI_ANY_SOURCE, 31999, comms[1].comm, MPI_STATUS_IGNORE);
    return 0;
}
