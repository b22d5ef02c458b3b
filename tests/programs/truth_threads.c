/*
 * MPI_THREAD_MULTIPLE: threads blocked in MPI_Recv, MPI_Ssend, MPI_Wait and MPI_Waitall at the same time. In a wait the library
 * keeps a pointer where it otherwise keeps 0 or 1 (req_complete, ompi/request/request.h, Open MPI 4.1.4): the status
 * must be pending all the same. Two ranks or more.
 */
#define _GNU_SOURCE
#include "common/truth.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 6, REQUESTS = 4 };

static MPI_Comm comm;
static MPI_Request requests[THREADS][REQUESTS];
static int threads[THREADS + 1];
static pthread_barrier_t started;

static void *block(void *argument)
{
    int index = (int)(long)argument, next = (truth_rank + 1) % truth_size;
    void *buffer = truth_buffer(4096);
    threads[index] = (int)syscall(SYS_gettid);
    pthread_barrier_wait(&started);
    switch (index) {
    case 0: MPI_Recv(buffer, 3, MPI_INT, next, 600, comm, MPI_STATUS_IGNORE); break;
    case 1: MPI_Recv(buffer, 4, MPI_INT, MPI_ANY_SOURCE, 601, comm, MPI_STATUS_IGNORE); break;
    case 2: MPI_Waitall(REQUESTS, requests[2], MPI_STATUSES_IGNORE); break;
    case 3: MPI_Wait(&requests[3][0], MPI_STATUS_IGNORE); break;
    case 4: {
        int done;
        MPI_Waitany(REQUESTS, requests[4], &done, MPI_STATUS_IGNORE);
        break;
    }
    case 5: {
        int count, done[REQUESTS];
        MPI_Waitsome(REQUESTS, requests[5], &count, done, MPI_STATUSES_IGNORE);
        break;
    }
    }
    truth_fail("thread %d came back from the call that it was to hang in", index);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    truth_begin(&argc, &argv, MPI_THREAD_MULTIPLE);
    if (truth_size < 2)
        truth_fail("needs two ranks");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    truth_named_comm(comm, "threads");
    int next = (truth_rank + 1) % truth_size, before = (truth_rank + truth_size - 1) % truth_size;
    for (int index = 2; index < THREADS; index++)
        for (int i = 0; i < REQUESTS; i++) {
            int tag = 100 * index + i;
            if (i % 2)
                truth_isend(TRUTH_SYNCHRONOUS, i, MPI_INT, next, tag, comm, TRUTH_PENDING, &requests[index][i]);
            else
                truth_irecv(i, MPI_INT, i ? MPI_ANY_SOURCE : before, 50 + tag, comm, TRUTH_PENDING, &requests[index][i]);
        }
    for (int index = 2; index < THREADS; index++)
        for (int i = 1; i < REQUESTS; i += 2)
            truth_expect(comm, before, 100 * index + i, 4 * i);
    truth_settle();
    truth_unordered(truth_will_recv(3, MPI_INT, next, 600, comm, "MPI_Recv"));
    truth_unordered(truth_will_recv(4, MPI_INT, MPI_ANY_SOURCE, 601, comm, "MPI_Recv"));
    truth_hang_threads_begin("MPI_Waitall");
    pthread_barrier_init(&started, NULL, THREADS + 1);
    for (long index = 0; index < THREADS; index++)
        if (pthread_create(&thread, NULL, block, (void *)index) != 0)
            truth_fail("no thread");
    threads[THREADS] = (int)syscall(SYS_gettid);
    pthread_barrier_wait(&started);
    truth_hang_threads(threads, THREADS + 1);
    pthread_join(thread, NULL);
    truth_fail("a thread ended");
}
