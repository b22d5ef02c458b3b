// Calls through the procedure linkage table for the first time, into the vDSO, and of functions that save registers.
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

volatile int kept;

__attribute__((noinline)) int saves(int a, int b, int c) {
    int x = abs(a * kept), y = labs(b + kept), z = labs(c - kept);
    kept = x;
    return x + labs(y) + z;
}

__attribute__((noinline)) void stop_here(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    kept += saves((int)now.tv_sec, 2, 3);
}

int main(void) {
    for (int i = 0; i < 2; i++) stop_here();
    return kept > 0;
}
