/* A program that uses a library. */
struct opaque_t;
extern struct opaque_t library_object;
extern int copied_number;
void stop_here(void);
void use(const void *);
typedef int level_t;
int call_back(int (*function)(struct opaque_t *, int), int given, level_t level);
static int same_name = 33;

__attribute__((noinline)) static int called(struct opaque_t *object, int given)
{
    int local = given + 1;
    use(&local);
    use(object);
    stop_here();
    return local + same_name;
}

int main(int argc, char **argv)
{
    copied_number += argc;
    int result = call_back(called, 40, 5);
    use(&result);
    return result + same_name == argc;
}
