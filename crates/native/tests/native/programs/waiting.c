// Threads that wait in functions of libc.
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

#define COUNT 6

static sem_t semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;

static void *wait_somewhere(void *argument) {
    struct timespec late = {.tv_sec = time(NULL) + 1000};
    switch ((long)argument) {
    case 0:
        sem_wait(&semaphore);
        break;
    case 1:
        sem_clockwait(&semaphore, CLOCK_REALTIME, &late);
        break;
    case 2:
        pthread_mutex_lock(&mutex);
        pthread_cond_timedwait(&condition, &mutex, &late);
        break;
    case 3:
        pthread_mutex_lock(&held);
        break;
    case 4:
        pthread_barrier_wait(&barrier);
        break;
    default:
        usleep(1000000000);
    }
    return argument;
}

int main(void) {
    pthread_t threads[COUNT];
    sem_init(&semaphore, 0, 0);
    pthread_mutex_lock(&held);
    pthread_barrier_init(&barrier, NULL, 2);
    for (long number = 0; number < COUNT; number++)
        pthread_create(&threads[number], NULL, wait_somewhere, (void *)number);
    // Not the last it does: that would be a jump.
    int failed = pthread_join(threads[0], NULL);
    return failed + (int)sizeof threads;
}
