/*
 * Two jobs, each with a launcher of its own, that find one another: truth_connect WORLD FILE. World 0 opens a port, writes
 * its name into FILE and accepts, world 1 connects. Messages pend both ways on the intercommunicator, on what
 * MPI_Intercomm_merge makes of it, and on one that MPI_Comm_join makes of a socket between the last ranks of both. A second
 * connection has been disconnected again. All hang in pause().
 */
#include "common/truth.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ACCEPTING = 2, CONNECTING = 3, WAIT_SECONDS = 120 };

static char port[MPI_MAX_PORT_NAME];

static void write_port(const char *file)
{
    char fresh[4096];
    snprintf(fresh, sizeof fresh, "%s.new", file);
    FILE *out = fopen(fresh, "w");
    if (out == NULL || fputs(port, out) < 0 || fclose(out) != 0 || rename(fresh, file) != 0)
        truth_fail("%s cannot be written", file);
}

static void read_port(const char *file)
{
    FILE *in = fopen(file, "r");
    for (int tenths = 0; in == NULL && tenths < 10 * WAIT_SECONDS; tenths++) {
        usleep(100000);
        in = fopen(file, "r");
    }
    if (in == NULL)
        truth_fail("nobody has written %s", file);
    port[fread(port, 1, sizeof port - 1, in)] = '\0';
    fclose(in);
}

/* The same way from both sides; only rank 0 of each has the name. */
static MPI_Comm meet(void)
{
    MPI_Comm made;
    if (truth_world == 0)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &made);
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &made);
    return made;
}

/* A connection that is used and ended: it must not appear. */
static void meet_and_part(int others)
{
    MPI_Comm short_lived = meet();
    int sum = 0, one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, short_lived);
    if (sum != others)
        truth_fail("%d processes instead of %d", sum, others);
    MPI_Comm_disconnect(&short_lived);
}

/* A socket to the other world's last rank, whose number the accepting side tells over the intercommunicator. */
static int connected_socket(MPI_Comm comm, int peer)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int made = socket(AF_INET, SOCK_STREAM, 0), number, accepted;
    if (truth_world == 1) {
        MPI_Recv(&number, 1, MPI_INT, peer, 40, comm, MPI_STATUS_IGNORE);
        address.sin_port = htons((uint16_t)number);
        if (connect(made, (struct sockaddr *)&address, sizeof address) != 0)
            truth_fail("no connection to port %d", number);
        return made;
    }
    if (bind(made, (struct sockaddr *)&address, sizeof address) != 0 || listen(made, 1) != 0 ||
        getsockname(made, (struct sockaddr *)&address, &length) != 0)
        truth_fail("no socket to listen at");
    number = ntohs(address.sin_port);
    MPI_Send(&number, 1, MPI_INT, peer, 40, comm);
    accepted = accept(made, NULL, NULL);
    close(made);
    return accepted;
}

/* The last ranks of both worlds: each sends one message to the other, which takes none, and waits for one. */
static MPI_Comm join(MPI_Comm connected, int peer)
{
    MPI_Comm joined;
    int socket = connected_socket(connected, peer);
    MPI_Comm_join(socket, &joined);
    close(socket);
    if (joined == MPI_COMM_NULL)
        truth_fail("MPI_Comm_join made nothing");
    truth_named_comm(joined, "joined");
    truth_exchange_members(joined);
    truth_irecv(3 + truth_world, MPI_INT, 0, 41, joined, TRUTH_PENDING, NULL);
    truth_isend(TRUTH_SYNCHRONOUS, 6 + truth_world, MPI_INT, 0, 42, joined, TRUTH_PENDING, NULL);
    return joined;
}

static int is_peer(int rank, int other, int sizes)
{
    return other % sizes == rank % sizes;
}

int main(int argc, char **argv)
{
    truth_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (argc != 3)
        truth_fail("usage: truth_connect WORLD FILE");
    truth_world = atoi(argv[1]);
    int own = truth_world ? CONNECTING : ACCEPTING, others = truth_world ? ACCEPTING : CONNECTING;
    int last = truth_rank == own - 1;
    MPI_Comm connected, merged, joined = MPI_COMM_NULL;
    if (truth_size != own)
        truth_fail("world %d needs %d ranks", truth_world, own);
    if (truth_rank == 0 && truth_world == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        write_port(argv[2]);
    } else if (truth_rank == 0)
        read_port(argv[2]);
    connected = meet();
    meet_and_part(others);
    truth_named_comm(connected, "connected");
    truth_exchange_members(connected);
    MPI_Intercomm_merge(connected, truth_world, &merged);
    truth_named_comm(merged, "merged");
    truth_exchange_members(merged);
    if (last)
        joined = join(connected, others - 1);
    MPI_Barrier(merged);

    /* Rank R of one world talks to those of the other that have the same remainder by the smaller size. */
    truth_irecv(4 + truth_rank, MPI_DOUBLE, MPI_ANY_SOURCE, 51, connected, TRUTH_PENDING, NULL);
    for (int peer = 0; peer < others; peer++)
        if (is_peer(truth_rank, peer, ACCEPTING)) {
            truth_irecv(10 + truth_rank, MPI_INT, peer, 50, connected, TRUTH_PENDING, NULL);
            truth_isend(TRUTH_SYNCHRONOUS, 5 + truth_rank, MPI_INT, peer, 60 + truth_world, connected, TRUTH_PENDING,
                        NULL);
            truth_isend(TRUTH_SYNCHRONOUS, 50000 + truth_rank, MPI_BYTE, peer, 62, connected, TRUTH_PENDING, NULL);
        }
    /* In the merged communicator those who connect follow those who accept. */
    int next = (ACCEPTING * truth_world + truth_rank + 1) % (ACCEPTING + CONNECTING);
    truth_irecv(7, MPI_INT, next, 90, merged, TRUTH_PENDING, NULL);
    truth_isend(TRUTH_SYNCHRONOUS, 2, MPI_DOUBLE, next, 91, merged, TRUTH_PENDING, NULL);

    for (int peer = 0; peer < others; peer++)
        if (is_peer(truth_rank, peer, ACCEPTING)) {
            truth_expect(connected, peer, 61 - truth_world, 4 * (5 + (uint64_t)peer));
            truth_expect(connected, peer, 62, 50000 + (uint64_t)peer);
        }
    int previous = (next + ACCEPTING + CONNECTING - 2) % (ACCEPTING + CONNECTING);
    truth_expect(merged, previous, 91, 16);
    if (last)
        truth_expect(joined, 0, 42, 4 * (6 + 1 - (uint64_t)truth_world));
    MPI_Barrier(merged);
    if (truth_rank == 0 && truth_world == 0)
        MPI_Close_port(port);
    truth_settle();
    truth_hang_paused();
}
