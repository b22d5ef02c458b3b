// A function that waits, below callbacks of the C library, frames of unknown size, and a call that does not return.
#include <alloca.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

volatile int kept[4];

__attribute__((noinline)) void stop_here(void) { kept[0]++; }

__attribute__((noinline, noreturn)) void never(int a, long b) {
    kept[1] = a + (int)b;
    stop_here();
    _exit(0);
}

__attribute__((noinline)) int many(long a, long b, long c, long d, long e, long f, long g) {
    long x = a * b, y = c * d, z = e * f + g;
    for (int i = 0; i < 3; i++) {
        kept[2] += (int)(x + y);
        x += kept[2], y ^= x, z -= y;
    }
    if (kept[3] == 0) never((int)(x + y), z);
    stop_here();
    return (int)(x + y + z);
}

__attribute__((noinline)) int sized(int size) {
    char *space = alloca(size + 16);
    memset(space, size, size);
    int result = many(size, space[0], space[1], 4, 5, 6, 7);
    return result + space[size / 2];
}

int compare(const void *a, const void *b) {
    if (kept[0] == 0) kept[1] = sized(100 + *(const int *)a);
    return *(const int *)a - *(const int *)b;
}

int main(int argc, char **argv) {
    int numbers[3] = {3, 1, argc};
    qsort(numbers, 3, sizeof(int), compare);
    return numbers[0];
}
