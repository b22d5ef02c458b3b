// Two threads, the second of which is started when the first has stopped.
#include <pthread.h>
#include <unistd.h>

volatile int kept;

__attribute__((noinline)) void stop_here(void) { kept++; }

static void *first(void *nothing) {
    stop_here();
    pause();
    return nothing;
}

static void *second(void *nothing) {
    pause();
    return nothing;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    while (kept == 0) usleep(1000);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
