/*
 * Threads that wait in the kernel beside a main thread that does so, too, and writes its truth anew for each SIGUSR1.
 * Argument: calls (four threads in calls which fail with EINTR when they are stopped: each counts how often, and the truth
 * has these numbers), or child (rank 1 has a thread in an uninterruptible wait: the kernel has the parent of a child of
 * vfork wait so).
 */
#define _GNU_SOURCE
#include "common/told.h"

#include <mpi.h>

#include <errno.h>
#include <linux/aio_abi.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>

static volatile long counts[4];
static volatile sig_atomic_t asked;
static int epoll_set, pair[2];
static aio_context_t requests;

static int wait_in(long which)
{
    struct epoll_event event;
    struct io_event done;
    struct timespec limit = {10000, 0};
    sigset_t signals;
    char byte;
    switch (which) {
    case 0: return epoll_wait(epoll_set, &event, 1, -1);
    case 1: return (int)syscall(SYS_io_getevents, requests, 1, 1, &done, NULL);
    case 2:
        sigemptyset(&signals);
        sigaddset(&signals, SIGUSR2);
        return sigtimedwait(&signals, NULL, &limit);
    default: return (int)recv(pair[0], &byte, 1, 0);
    }
}

static void *waits(void *which)
{
    while (wait_in((long)which) >= 0 || errno == EINTR)
        counts[(long)which]++;
    return NULL;
}

static void *waits_for_child(void *unused)
{
    if (syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0) == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        told_hang();
    }
    return unused;
}

static void ask(int number)
{
    (void)number;
    asked++;
}

int main(int argc, char **argv)
{
    struct timeval limit = {10000, 0};
    pthread_t thread;
    sigset_t signals, before;
    int rank, provided;
    signal(SIGUSR1, ask);
    /* The other threads leave it to this one. */
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 1);
    epoll_set = epoll_create1(0);
    syscall(SYS_io_setup, 1, &requests);
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (strcmp(argv[1], "calls") == 0)
        for (long which = 0; which < 4; which++)
            pthread_create(&thread, NULL, waits, (void *)which);
    else if (rank == 1)
        pthread_create(&thread, NULL, waits_for_child, NULL);
    usleep(100000);
    for (;;) {
        told_with(rank, ",\"asked\":%d,\"interrupted\":[%ld,%ld,%ld,%ld]", (int)asked, counts[0], counts[1], counts[2], counts[3]);
        sigsuspend(&before);
    }
}
