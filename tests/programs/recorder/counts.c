/*
 * Random messages of which the program counts how many went from whom to whom with which tag: counts.c SEED STEPS.
 *
 * All ranks draw the same steps; in each one rank sends to another, which receives in one of the ways that there are. At
 * the end each rank waits for a message that nobody sends.
 */
#include "common/noted.h"

#include <stdint.h>

enum { ROWS = 4096, COMMS = 4, QUIET = 3, BATCH = 3 };

typedef struct {
    int comm, received, peer, tag;
    long number;
} Row;

static Row rows[ROWS];
static int row_count;
static MPI_Comm comms[COMMS];
static int out[BATCH], in[BATCH];
static uint64_t shared;
static int next_tag = 1000;

static int drawn(int below)
{
    shared = shared * 6364136223846793005u + 1442695040888963407u;
    return (int)((shared >> 33) % (unsigned)below);
}

static void count(int comm, int received, int peer, int tag)
{
    for (int at = 0; at < row_count; at++) {
        Row *row = &rows[at];
        if (row->comm == comm && row->received == received && row->peer == peer && row->tag == tag) {
            row->number++;
            return;
        }
    }
    rows[row_count++] = (Row){comm, received, peer, tag, 1};
}

/* Completes a batch of receives. */
static void complete(MPI_Request *requests, int way)
{
    MPI_Status statuses[BATCH];
    MPI_Status *kept = way % 2 ? statuses : MPI_STATUSES_IGNORE;
    MPI_Status *one = way % 2 ? statuses : MPI_STATUS_IGNORE;
    int flag = 0, done = 0, index, indices[BATCH];
    switch (way / 2) {
        case 0: MPI_Waitall(BATCH, requests, kept); break;
        case 1:
            for (int at = 0; at < BATCH; at++)
                MPI_Waitany(BATCH, requests, &index, one);
            break;
        case 2:
            for (int at = 0; at < BATCH; at += done)
                MPI_Waitsome(BATCH, requests, &done, indices, kept);
            break;
        case 3:
            while (!flag)
                MPI_Testall(BATCH, requests, &flag, kept);
            break;
        case 4:
            for (int at = 0; at < BATCH; at += flag)
                MPI_Testany(BATCH, requests, &index, &flag, one);
            break;
        case 5:
            for (int at = 0; at < BATCH; at += done > 0 ? done : 0)
                MPI_Testsome(BATCH, requests, &done, indices, kept);
            break;
        default:
            for (int at = 0; at < BATCH; at++)
                for (flag = 0; !flag;)
                    MPI_Test(&requests[at], &flag, one);
    }
}

static void step(void)
{
    int comm = drawn(QUIET), kind = drawn(11), tag = drawn(5), way = drawn(14), first = drawn(64), second = drawn(64);
    int any_tag = drawn(2), rank, size;
    MPI_Comm_rank(comms[comm], &rank);
    MPI_Comm_size(comms[comm], &size);
    int from = first % size, to = second % size;
    int sends = rank == from, receives = rank == to;
    MPI_Comm on = comms[comm];
    int wanted = any_tag ? MPI_ANY_TAG : tag;
    MPI_Request requests[BATCH], sent[BATCH];
    MPI_Status status;
    if (kind >= 9) {
        /* Never received, never sent. */
        int of = next_tag++;
        MPI_Comm_rank(comms[QUIET], &rank);
        MPI_Comm_size(comms[QUIET], &size);
        if (rank == first % size && kind == 9) {
            MPI_Send(out, 1, MPI_INT, second % size, of, comms[QUIET]);
            count(QUIET, 0, second % size, of);
        } else if (rank == first % size) {
            MPI_Irecv(in, 1, MPI_INT, any_tag ? MPI_ANY_SOURCE : second % size, of, comms[QUIET], &requests[0]);
            if (!any_tag)
                count(QUIET, 1, second % size, of);
        }
        return;
    }
    int batch = kind == 3 || kind == 4 ? BATCH : 1;
    if (receives && (kind == 3 || kind == 4))
        for (int at = 0; at < BATCH; at++)
            MPI_Irecv(&in[at], 1, MPI_INT, kind == 3 ? MPI_ANY_SOURCE : from, any_tag ? MPI_ANY_TAG : tag + at, on,
                      &requests[at]);
    if (receives && kind == 5) {
        MPI_Recv_init(in, 1, MPI_INT, MPI_ANY_SOURCE, wanted, on, &requests[0]);
        MPI_Start(&requests[0]);
    }
    if (kind == 6 && from != to && (sends || receives)) {
        int other = sends ? to : from;
        MPI_Sendrecv(out, 1, MPI_INT, other, tag, in, 1, MPI_INT, way % 2 ? MPI_ANY_SOURCE : other, wanted, on,
                     MPI_STATUS_IGNORE);
        count(comm, 0, other, tag);
        count(comm, 1, other, tag);
        return;
    }
    if (sends)
        for (int at = 0; at < batch; at++) {
            MPI_Isend(&out[at], 1, MPI_INT, to, tag + at, on, &sent[at]);
            count(comm, 0, to, tag + at);
        }
    if (receives) {
        MPI_Message message;
        int flag = 0;
        for (int at = 0; at < batch; at++)
            count(comm, 1, from, tag + at);
        switch (kind) {
            case 0: MPI_Recv(in, 1, MPI_INT, from, tag, on, way % 2 ? &status : MPI_STATUS_IGNORE); break;
            case 1: MPI_Recv(in, 1, MPI_INT, MPI_ANY_SOURCE, wanted, on, MPI_STATUS_IGNORE); break;
            case 2: MPI_Recv(in, 1, MPI_INT, from, MPI_ANY_TAG, on, &status); break;
            case 3:
            case 4: complete(requests, way); break;
            case 5:
                MPI_Wait(&requests[0], way % 2 ? &status : MPI_STATUS_IGNORE);
                MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
                MPI_Request_free(&requests[0]);
                break;
            case 7:
                MPI_Mprobe(MPI_ANY_SOURCE, wanted, on, &message, way % 2 ? &status : MPI_STATUS_IGNORE);
                MPI_Mrecv(in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
                break;
            case 8:
                while (!flag)
                    MPI_Improbe(from, wanted, on, &flag, &message, MPI_STATUS_IGNORE);
                MPI_Mrecv(in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
                break;
            default: MPI_Recv(in, 1, MPI_INT, from, tag, on, MPI_STATUS_IGNORE);
        }
    }
    if (sends)
        MPI_Waitall(batch, sent, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, steps = argc > 2 ? atoi(argv[2]) : 100;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    shared = argc > 1 ? (uint64_t)atoll(argv[1]) : 1;
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[2]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[QUIET]);
    for (int at = 0; at < steps; at++) {
        /* Its messages are over with it. */
        if (at % 40 == 39) {
            MPI_Comm_free(&comms[1]);
            MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
            for (int row = 0; row < row_count;)
                if (rows[row].comm == 1)
                    rows[row] = rows[--row_count];
                else
                    row++;
        }
        step();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    noted_begin(rank);
    noted_list("messages");
    for (int at = 0; at < row_count; at++) {
        noted_row();
        fprintf(noted_file, "[%lld, %d, %d, %d, %ld]", (long long)HANDLE(comms[rows[at].comm]),
                rows[at].received, rows[at].peer, rows[at].tag, rows[at].number);
    }
    noted_list_end();
    noted_end(rank);
    MPI_Recv(in, 1, MPI_INT, MPI_ANY_SOURCE, 31999, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
