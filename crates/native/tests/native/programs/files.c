// One program and two libraries: functions that end with jumps to those of another file.
#include <stdlib.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

#ifdef __cplusplus
extern "C" {
#endif
int inner_wait(int number);
int inner_ends(int number);
int outer_ends(int number);
int outer_two(int number);
int back(int number);
#ifdef __cplusplus
}
namespace grid {
int wait(int number);
struct Box {
    int ends(int number);
};
}
#define PLAIN_WAIT grid::wait
#else
#define PLAIN_WAIT inner_wait
#endif

#if defined(INNER)
volatile int seen;
APART int inner_wait(int number) {
    seen = number;
    pause();
    return seen;
}
APART int inner_ends(int number) {
    seen++;
    return inner_wait(number);
}
#ifdef __cplusplus
APART int grid::wait(int number) {
    seen = number;
    pause();
    return seen;
}
APART int grid::Box::ends(int number) {
    seen++;
    return grid::wait(number);
}
#endif

#elif defined(OUTER)
extern volatile int seen;
static APART int hidden(int number) {
    seen += 2;
    return inner_ends(number + 1);
}
int outer_ends(int number) {
    seen++;
    return hidden(number);
}
int outer_two(int number) {
    seen++;
    return number > 100 ? inner_ends(number) : PLAIN_WAIT(number);
}

#else
volatile int count;
int back(int number) {
    count++;
    return outer_ends(number);
}
APART int direct(int number) {
    count++;
    return inner_wait(number);
}
static APART int far(int number) {
    count++;
    return back(number + 2);
}
APART int plain(int number) {
    count++;
    return PLAIN_WAIT(number);
}
#ifdef __cplusplus
APART static int object(int number) {
    grid::Box box;
    count++;
    return box.ends(number);
}
#else
#define object plain
#endif
int main(int argc, char **argv) {
    int way = argc > 1 ? atoi(argv[1]) : 0, found = 0;
    switch (way) {
    case 0:
        found = direct(way);
        break;
    case 1:
        found = far(way);
        break;
    case 2:
        found = outer_two(way);
        break;
    case 3:
        found = plain(way);
        break;
    case 4:
        found = object(way);
        break;
    default:
        found = inner_wait(way);
    }
    count += found;
    return found;
}
#endif
