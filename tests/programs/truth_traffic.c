/*
 * Known numbers of messages between all ranks, on communicators that carry nothing else. Argument: a seed.
 *
 *     counted      a duplicate of MPI_COMM_WORLD: messages of all modes and many sizes; some are left unreceived, and of one
 *                  pair there are more than 16 bits can count
 *     between      an intercommunicator of the even and the odd ranks
 *     silent       nothing was sent
 *     on its way   rank 0 has sent to rank 1, which has not entered MPI since
 *     overtaking   the application lets messages overtake
 *
 * Writes, by communicator and rank of the peer, how many messages it sent and how many have come in, and hangs outside MPI.
 */
#include "common/told.h"

#include <mpi.h>
#include <stdint.h>

enum { MAX_RANKS = 16, LARGE = 40000, MODES = 5, LEFT = 7, LAST = 8, ON_ITS_WAY = 3, WRAP = 65536 + 20 };

static int rank, size;
static uint64_t random_state;
static char buffer[LARGE], space[1 << 20];

static struct counts {
    const char *name;
    int peers, sent[MAX_RANKS], arrived[MAX_RANKS];
} all[8];
static int comm_count;

/* SplitMix64, by its published definition: the same on every rank. */
static uint64_t draw(void)
{
    uint64_t z = (random_state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static struct counts *counts_of(MPI_Comm comm, const char *name, int peers)
{
    struct counts *counts = &all[comm_count++];
    MPI_Comm_set_name(comm, name);
    counts->name = name;
    counts->peers = peers;
    return counts;
}

static void send(struct counts *counts, MPI_Comm comm, int to, int bytes, int mode, int tag)
{
    MPI_Request request;
    switch (mode) {
    case 0: MPI_Send(buffer, bytes, MPI_BYTE, to, tag, comm); break;
    case 1: MPI_Ssend(buffer, bytes, MPI_BYTE, to, tag, comm); break;
    case 2: MPI_Bsend(buffer, bytes, MPI_BYTE, to, tag, comm); break;
    case 3:
        MPI_Isend(buffer, bytes, MPI_BYTE, to, tag, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    default:
        MPI_Send_init(buffer, bytes, MPI_BYTE, to, tag, comm, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    }
    counts->sent[to]++;
}

/* All ranks draw the same numbers, and one pair after the other is served: nobody can wait for another pair. */
static void exchange(struct counts *counts, MPI_Comm comm, int from, int to, int messages, int left, int me_sends, int me_receives)
{
    for (int i = 0; i < messages; i++) {
        int bytes = draw() % 8 == 0 ? LARGE : (int)(draw() % 200), mode = messages < 1000 ? (int)(draw() % MODES) : 0;
        if (messages >= 1000)
            bytes = 0;
        if (me_sends)
            send(counts, comm, to, bytes, mode, 1);
        if (me_receives) {
            MPI_Recv(buffer, bytes, MPI_BYTE, from, 1, comm, MPI_STATUS_IGNORE);
            counts->arrived[from]++;
        }
    }
    for (int i = 0; i < left; i++)
        if (me_sends)
            send(counts, comm, to, 10, 0, LEFT);
    /* What was sent before it has come in when it is received. */
    if (me_sends)
        send(counts, comm, to, 1, 1, LAST);
    if (me_receives) {
        MPI_Recv(buffer, 1, MPI_BYTE, from, LAST, comm, MPI_STATUS_IGNORE);
        counts->arrived[from] += left + 1;
    }
}

static void counted(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    struct counts *counts = counts_of(comm, "counted", size);
    for (int from = 0; from < size; from++)
        for (int to = 0; to < size; to++) {
            int messages = from == 1 && to == 0 ? WRAP : (int)(draw() % 20), left = (int)(draw() % 4);
            if (from != to && messages > 0)
                exchange(counts, comm, from, to, messages, left, rank == from, rank == to);
        }
    MPI_Request request;
    MPI_Irecv(buffer, 1, MPI_BYTE, rank, LAST, comm, &request);
    send(counts, comm, rank, 1, 0, LAST);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    counts->arrived[rank]++;
}

static void between(void)
{
    MPI_Comm half, comm;
    int odd = rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, odd, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - odd, 99, &comm);
    struct counts *counts = counts_of(comm, "between", odd ? (size + 1) / 2 : size / 2);
    for (int from = 0; from < size; from++)
        for (int to = 0; to < size; to++) {
            int messages = (int)(draw() % 5);
            if (from % 2 != to % 2 && messages > 0)
                exchange(counts, comm, from / 2, to / 2, messages, 0, rank == from, rank == to);
        }
}

static void write_counts(void)
{
    FILE *file = told_open(rank);
    fprintf(file, "{\"rank\":%d,\"traffic\":{", rank);
    for (int c = 0; c < comm_count; c++) {
        fprintf(file, "%s\"%s\":[", c ? "," : "", all[c].name);
        for (int peer = 0; peer < all[c].peers; peer++)
            fprintf(file, "%s[%d,%d]", peer ? "," : "", all[c].sent[peer], all[c].arrived[peer]);
        fprintf(file, "]");
    }
    fprintf(file, "}}\n");
    told_close(file, rank);
}

int main(int argc, char **argv)
{
    MPI_Comm silent, late, overtaking;
    MPI_Info info;
    alarm(1800);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 2 || size < 2 || size > MAX_RANKS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    random_state = strtoull(argv[1], NULL, 10);
    MPI_Buffer_attach(space, sizeof space);
    counted();
    between();
    MPI_Comm_dup(MPI_COMM_WORLD, &silent);
    counts_of(silent, "silent", size);
    MPI_Comm_dup(MPI_COMM_WORLD, &overtaking);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_allow_overtaking", "true");
    MPI_Comm_set_info(overtaking, info);
    MPI_Info_free(&info);
    /* Nothing says that MPI_Comm_set_info waits until all have done so. */
    MPI_Barrier(MPI_COMM_WORLD);
    struct counts *counts = counts_of(overtaking, "overtaking", size);
    if (rank < 2)
        exchange(counts, overtaking, 0, 1, 5, 0, rank == 0, rank == 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &late);
    counts = counts_of(late, "on its way", size);
    if (rank == 0) {
        char other[TOLD_PATH];
        told_path(other, 0, 1, "");
        while (access(other, F_OK) != 0)
            usleep(1000);
        for (int i = 0; i < ON_ITS_WAY; i++)
            send(counts, late, 1, 8, 0, 1);
    }
    write_counts();
    told_hang();
}
