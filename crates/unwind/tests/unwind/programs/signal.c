// A handler that runs while something below a callback was interrupted: by raise, by a wrong address, by a call of nothing.
// Arguments: the way, and "own" where the handler has a stack of its own.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

volatile int kept;
static char space[1 << 16];
static const char *way;

__attribute__((noinline)) void stop_here(void) { kept++; }

static void handler(int number) {
    kept += number;
    stop_here();
    _exit(0);
}

__attribute__((noinline)) static long leaf(volatile long *at, long a) { return *at + a * kept; }

int compare(const void *a, const void *b) {
    if (!strcmp(way, "raise")) raise(SIGUSR1);
    if (!strcmp(way, "address")) kept += (int)leaf((long *)8, *(const int *)a);
    if (!strcmp(way, "call")) ((void (*)(void))(long)kept)();
    return *(const int *)a - *(const int *)b;
}

int main(int argc, char **argv) {
    way = argv[1];
    stack_t own = {.ss_sp = space, .ss_size = sizeof space};
    sigaltstack(&own, 0);
    struct sigaction action = {.sa_handler = handler, .sa_flags = argc > 2 ? SA_ONSTACK : 0};
    sigaction(SIGUSR1, &action, 0);
    sigaction(SIGSEGV, &action, 0);
    int numbers[3] = {3, 1, argc};
    qsort(numbers, 3, sizeof(int), compare);
    return numbers[0];
}
