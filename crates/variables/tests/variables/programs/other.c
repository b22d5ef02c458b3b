/* The other unit of the programs: what they declare only, and the place where they stop. */
struct hidden { int before; double weight; int inside[3]; };
struct hidden hidden_object = { 5, 0.5, { 61, 62, 63 } };
struct hidden *hidden_pointer = &hidden_object;
int shared_number = 4242;
int shared_table[6] = { 10, 11, 12, 13, 14, 15 };
static int own_of_both = 2;
__thread int each_thread = 9;
volatile int sink;

__attribute__((noinline, noipa)) void stop_here(void)
{
    sink = own_of_both;
}

__attribute__((noinline, noipa)) void use(const void *pointer)
{
    sink += *(const char *)pointer;
}

__attribute__((noinline, noipa)) int opaque(int number)
{
    return number + (sink & 0);
}
