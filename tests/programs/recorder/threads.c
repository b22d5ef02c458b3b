/*
 * Many threads that call MPI at once: threads.c THREADS. All stand at the same time, each with a receive of its own, after
 * they have given requests away and got them back. When they have ended, some more come and stay.
 */
#define _GNU_SOURCE
#include "common/noted.h"

#include <pthread.h>
#include <sys/syscall.h>

enum { LATER = 8, ROUNDS = 100, MOST = 256 };

static pthread_barrier_t all, later;
static int ids[MOST], later_ids[LATER], rank;
static MPI_Request held[MOST];
static MPI_Comm comms[MOST];

static void *early(void *argument)
{
    int own = (int)(long)argument, in[4], out = own;
    ids[own] = (int)syscall(SYS_gettid);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request two[5];
        for (int each = 0; each < 4; each++)
            MPI_Irecv(&in[each], 1, MPI_INT, rank, own, comms[own % 4], &two[each]);
        for (int each = 0; each < 4; each++) {
            MPI_Isend(&out, 1, MPI_INT, rank, own, comms[own % 4], &two[4]);
            MPI_Wait(&two[4], MPI_STATUS_IGNORE);
        }
        MPI_Waitall(4, two, MPI_STATUSES_IGNORE);
    }
    static int never[MOST];
    MPI_Irecv(&never[own], 1, MPI_INT, rank, 1000 + own, MPI_COMM_WORLD, &held[own]);
    pthread_barrier_wait(&all);
    return NULL;
}

static void *late(void *argument)
{
    int own = (int)(long)argument, flag;
    later_ids[own] = (int)syscall(SYS_gettid);
    MPI_Iprobe(MPI_ANY_SOURCE, 2000 + own, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    pthread_barrier_wait(&later);
    pause();
    return NULL;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 8, provided;
    pthread_t threads[MOST], others[LATER];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE)
        return 2;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int at = 0; at < 4; at++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[at]);
    pthread_barrier_init(&all, NULL, (unsigned)count);
    pthread_barrier_init(&later, NULL, LATER + 1);
    for (long at = 0; at < count; at++)
        pthread_create(&threads[at], NULL, early, (void *)at);
    for (int at = 0; at < count; at++)
        pthread_join(threads[at], NULL);
    for (long at = 0; at < LATER; at++)
        pthread_create(&others[at], NULL, late, (void *)at);
    pthread_barrier_wait(&later);
    noted_begin(rank);
    noted_list("threads");
    for (int at = 0; at < count; at++)
        noted_row(), fprintf(noted_file, "[%d, %llu]", ids[at], (unsigned long long)HANDLE(held[at]));
    noted_list_end();
    noted_list("later");
    for (int at = 0; at < LATER; at++)
        noted_row(), fprintf(noted_file, "%d", later_ids[at]);
    noted_list_end();
    noted_end(rank);
    MPI_Recv(&rank, 1, MPI_INT, MPI_ANY_SOURCE, 31999, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
