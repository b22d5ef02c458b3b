/* What functions were given, where optimising compilers keep it in the caller alone. */
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))
#define NOCLONE __attribute__((noinline, noclone))

void stop_here(void);
void use(const void *);
int opaque(int);

typedef struct { int first, second; } pair_t;
typedef struct { long a; int b; char c; } triple_t;
typedef struct { int *list; int length; } view_t;

volatile int zero;
int numbers[5] = { 1, 2, 3, 4, 5 };

NOCLONE int last(int a, int b, const char *name, long big, int *list, int six, int seven, int eight)
{
    use(name + (a & zero) + (b & zero) + (big & zero) + (six & zero) + (eight & zero));
    use(list + (seven & zero));
    stop_here();
    return opaque(0);
}

NOCLONE int with_structures(pair_t pair, triple_t triple, view_t view, int count)
{
    int sum = pair.first + triple.b + view.length;
    use(view.list);
    sum += last(11, count + 1, "literal", 1L << 40, numbers + 2, 6, sum * 0 + 7, 8);
    use(&sum);
    return sum;
}

/* The same function three times on the stack. */
NOCLONE int recursive(int depth, int argument)
{
    if (depth == 0) {
        pair_t pair = { opaque(21), 22 };
        triple_t triple = { 31, 32, 'c' };
        view_t view = { numbers, opaque(5) };
        return with_structures(pair, triple, view, 40) + 1;
    }
    return recursive(depth - 1, argument * 10 + depth) + 1;
}

/* Another function jumps to this one: its caller gave other values. */
NOCLONE int jumped_to(int value, int unused)
{
    use(&zero);
    return recursive(2, opaque(3)) + 1;
}

NOCLONE int jumping(int value, int more)
{
    use(&zero);
    return jumped_to(value * 100 + more, 5);
}

/* Ends with a jump to itself through another one. */
int pong(int turns, int seed);
NOCLONE int ping(int turns, int seed)
{
    use(&zero);
    if (turns == 0) return jumping(7, 8) + 1;
    return pong(turns - 1, seed + 1);
}

NOCLONE int pong(int turns, int seed)
{
    use(&zero);
    return ping(turns, seed * 2);
}

/* Called through a pointer. */
NOCLONE int pointed(int given, char letter)
{
    use(&zero);
    return ping(2, 50) + 1;
}

int (*volatile function)(int, char) = pointed;

/* Parameters that the compiler removes. */
NOINLINE static int removed(int used, int ignored, const view_t *by_view)
{
    use(&used);
    int result = function(by_view->length + 3, 'x');
    use(&result);
    return result;
}

NOCLONE int freeing(int size, int kept)
{
    int *block = malloc(size * sizeof(int));
    block[0] = size;
    use(block);
    view_t view = { block, opaque(9) };
    int result = removed(size + 1, 77, &view);
    use(&result);
    free(block);
    return result;
}

int main(int argc, char **argv)
{
    int here = 900 + argc;
    use(argv);
    int result = freeing(opaque(4), 1000);
    use(&here);
    return result == here;
}
