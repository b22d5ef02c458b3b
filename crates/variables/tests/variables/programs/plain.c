/* Variables and types of C. */
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

#define NOINLINE __attribute__((noinline))
#define NOIPA __attribute__((noinline, noipa))

void stop_here(void);
void use(const void *);
int opaque(int);

typedef int number_t;
typedef struct { number_t x, y; } point_t;
struct node { struct node *next; int value; point_t at; };
enum color { RED = 3, GREEN, BLUE = -7 };
enum { TAG = 77, MASK = 0xf0 };
struct flags { unsigned low : 3; int middle : 5; unsigned long high : 33; bool yes : 1; };
union word { uint32_t whole; uint8_t bytes[4]; };
struct holder {
    int kind;
    union { int number; void *pointer; };
    struct { short first, second; } pair;
    char text[5];
    int tail[];
};
struct hidden;
extern struct hidden *hidden_pointer;
extern struct hidden hidden_object;
extern int shared_number;
extern int shared_table[];
extern __thread int each_thread;

int global_number = 17;
static int own_of_both = 1;
static const int constant_number = 12;
double global_double = 2.5;
int matrix[3][4] = { { 0, 1, 2, 3 }, { 10, 11, 12, 13 }, { 20, 21, 22, 23 } };
point_t points[3] = { { 1, 2 }, { 3, 4 }, { 5, 6 } };
struct node second = { 0, 200, { 7, 8 } };
struct node first = { &second, 100, { 5, 6 } };
struct flags flags = { 5, -3, 0x123456789UL & 0x1ffffffffUL, true };
union word word = { 0x01020304 };
struct holder holder = { 1, { 44 }, { 8, 9 }, "abcd", { 1, 2, 3 } };
const char *wording = "name";
void (*function_pointer)(void) = stop_here;
void *anything = &global_number;
signed char minus = -1;
unsigned char full = 255;
long long wide = -1234567890123LL;
enum color color = BLUE;
_Bool truth = 1;

/* Values that change after they were given, so that only the call tells what they were. */
NOINLINE static int innermost(int a, long b, int *c, point_t p)
{
    static int calls = 40;
    calls += opaque(0);
    int local = a * 2;
    use(&local);
    a = opaque(a);
    stop_here();
    return local + (int)b + *c + p.x + calls;
}

NOINLINE static int sized(int n, int m)
{
    int vector[n];
    int table[n][m];
    for (int i = 0; i < n; i++) {
        vector[i] = 100 + i;
        for (int j = 0; j < m; j++) table[i][j] = 10 * i + j;
    }
    use(vector);
    use(table);
    int (*row)[m] = table;
    point_t corner = { n, m };
    int result = innermost(n + 1, m + 2L, &vector[1], corner);
    use(row);
    return result + vector[0] + table[0][0];
}

static inline int inlined(int depth, const int *values)
{
    int inside = depth + values[1];
    use(&inside);
    return sized(depth, 4) + inside;
}

NOINLINE static int shadowed(int value)
{
    int here = value + 1;
    use(&here);
    {
        int here = value + 2;
        use(&here);
        {
            extern int shared_number;
            long here = value + 3L + shared_number - 4242;
            use(&here);
            here += inlined(3, shared_table);
            use(&here);
            return (int)here;
        }
    }
}

NOINLINE static int changed(int count, struct node *list, const char *text)
{
    int sum = 0;
    struct node copy = *list;
    for (int i = 0; i < count; i++) {
        sum += i;
        count = opaque(count);
        if (i == 2) sum += shadowed(count * 3);
    }
    use(text);
    return sum + copy.value;
}

/* Ends with a jump where the compiler optimises. */
NOINLINE static int jumps(int count, struct node *list)
{
    return changed(count + opaque(1), list, "jumped");
}

NOINLINE static int small(point_t point, struct flags *unused, long far)
{
    (void)unused;
    long kept = far * 3;
    int result = jumps(point.y, &first);
    return result + (int)kept + point.x;
}

int main(int argc, char **argv)
{
    point_t here = { 11, 4 };
    int numbers[4] = { argc, argc + 1, argc + 2, argc + 3 };
    int *pointer = &numbers[2];
    int **twice = &pointer;
    use(numbers);
    use(&twice);
    struct node *walk = &first;
    uint8_t byte = (uint8_t)(254 + argc);
    int result = small(here, 0, 1000 + argc);
    use(&byte);
    return (result + *pointer + walk->value + byte + constant_number) == 0 && argv[0] == 0;
}
