/* Stands in for the libraries of a GPU: functions of their names, which wait for what never comes. */
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

static sem_t done;

/* As the libraries do, by what the user chose: it looks again and again, or sleeps. */
static int wait_for_device(void)
{
    volatile int spins = getenv("SPINS") != NULL;
    while (spins) {
    }
    sem_wait(&done);
    return 0;
}

int cudaStreamSynchronize(void *stream)
{
    (void)stream;
    int result = wait_for_device();
    return result + 1;
}

int cudaStreamQuery(void *stream)
{
    (void)stream;
    usleep(1000);
    return 600;
}

int ncclCommInitRank(void *comm, int ranks, int rank)
{
    (void)comm;
    int result = wait_for_device();
    return result + ranks + rank;
}
