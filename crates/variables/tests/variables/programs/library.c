/* A library: what the program only declares is here. */
struct opaque_t { int first; long second[2]; };
typedef enum { LOW = 2, HIGH = 5 } level_t;
struct opaque_t library_object = { 11, { 12, 13 } };
int copied_number = 21;
int library_number = 22;
static int same_name = 23;
static volatile int sink;
__attribute__((noinline, noipa)) void stop_here(void) { sink = 1; }
__attribute__((noinline, noipa)) void use(const void *pointer) { sink += *(const char *)pointer; }
__attribute__((noinline)) int call_back(int (*function)(struct opaque_t *, int), int given, level_t level)
{
    int kept = given + same_name;
    use(&kept);
    use(&level);
    int result = function(&library_object, given * 2);
    use(&kept);
    return result + copied_number + library_number + same_name;
}
