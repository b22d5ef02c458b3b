/* A damaged program: between its calls it writes over a piece of the flight recorder's record, where there is one. What
 * it computes and prints must be the same.
 *
 * Its words: a seed, where the pieces begin (bytes; -1: anywhere), how many bytes each has.
 *
 * ranks: 2
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 60, REQUESTS = 8 };

static uint64_t state;
static unsigned char *record;
static uint64_t record_bytes;
static long where, most;

static uint64_t random_word(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Where the record is, and how large: the third word of its header (crates/record-format). */
static void find_record(void)
{
    unsigned char **header = dlsym(RTLD_DEFAULT, "mpi_queues_recorder_header");
    if (header == NULL || *header == NULL)
        return;
    record = *header;
    memcpy(&record_bytes, record + 24, sizeof record_bytes);
}

static void write_over(void)
{
    uint64_t how = random_word(), place = random_word();
    if (record == NULL)
        return;
    uint64_t start = where >= 0 ? (uint64_t)where : place % record_bytes & ~7ULL;
    uint64_t length = (uint64_t)most < record_bytes - start ? (uint64_t)most : record_bytes - start;
    if (how % 4 == 0)
        memset(record + start, 0xff, length);
    else if (how % 4 == 1)
        memset(record + start, 0, length);
    else
        for (uint64_t at = 0; at + 8 <= length; at += 8) {
            /* Now and then a small number, which may pass for a place. */
            uint64_t word = random_word();
            word = how % 4 == 2 && word % 3 == 0 ? word >> 48 : word;
            memcpy(record + start + at, &word, 8);
        }
}

static int add(void *in, int rank, MPI_Comm comm)
{
    int sum = 0;
    MPI_Allreduce(in, &sum, 1, MPI_INT, MPI_SUM, comm);
    (void)rank;
    return sum;
}

int main(int argc, char **argv)
{
    int rank, size, sum = 0, round, number, flag;
    MPI_Comm other, half;
    MPI_Request requests[2 * REQUESTS], persistent[2];
    MPI_Status status;
    int sent[REQUESTS], got[REQUESTS], one = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    state = 88172645463325252ULL + 7919 * (uint64_t)(argc > 1 ? atoi(argv[1]) : 1) + (uint64_t)rank;
    where = argc > 2 ? atol(argv[2]) : 0;
    most = argc > 3 ? atol(argv[3]) : 65536;
    find_record();
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Send_init(&number, 1, MPI_INT, next, 3, other, &persistent[0]);
    MPI_Recv_init(&one, 1, MPI_INT, MPI_ANY_SOURCE, 3, other, &persistent[1]);
    for (round = 0; round < ROUNDS; round++) {
        write_over();
        number = round * 10 + rank;
        MPI_Sendrecv(&number, 1, MPI_INT, next, 1, &one, 1, MPI_INT, before, 1, MPI_COMM_WORLD, &status);
        sum += one;
        for (int at = 0; at < REQUESTS; at++) {
            sent[at] = number + at;
            MPI_Irecv(&got[at], 1, MPI_INT, at % 2 ? MPI_ANY_SOURCE : before, 2, other, &requests[at]);
            write_over();
            MPI_Isend(&sent[at], 1, MPI_INT, next, 2, other, &requests[REQUESTS + at]);
        }
        write_over();
        if (round % 3 == 0)
            MPI_Waitall(2 * REQUESTS, requests, MPI_STATUSES_IGNORE);
        else
            for (int left = 2 * REQUESTS; left > 0; left--) {
                MPI_Waitany(2 * REQUESTS, requests, &flag, MPI_STATUS_IGNORE);
                write_over();
            }
        for (int at = 0; at < REQUESTS; at++)
            sum += got[at];
        MPI_Startall(2, persistent);
        write_over();
        MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
        sum += one;
        write_over();
        if (rank % 2 == 0)
            MPI_Send(&number, 1, MPI_INT, next, 4, MPI_COMM_WORLD);
        MPI_Probe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &status);
        MPI_Recv(&one, 1, MPI_INT, status.MPI_SOURCE, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank % 2 == 1)
            MPI_Send(&number, 1, MPI_INT, next, 4, MPI_COMM_WORLD);
        sum += one;
        if (round % 10 == 5) {
            MPI_Comm_split(other, 0, rank, &half);
            write_over();
            MPI_Comm_set_name(half, "half");
            sum += add(&round, rank, half);
            write_over();
            MPI_Comm_free(&half);
        }
        sum += add(&number, rank, other);
    }
    write_over();
    MPI_Request_free(&persistent[0]);
    MPI_Request_free(&persistent[1]);
    MPI_Comm_free(&other);
    printf("rank %d: %d\n", rank, sum);
    MPI_Finalize();
    return 0;
}
