/*
 * Handles in every shape in which a program in C holds them: variables, arguments, members, arrays, pointers, typedefs of
 * typedefs; null, never set, freed and overwritten. Two ranks.
 *
 * Each line of the output says how a variable must be shown: "EXPRESSION = TEXT", or "EXPRESSION ~ WORDS" where these words
 * must be in it; "frame FUNCTION" comes before those of a function. What is said follows from the calls made here, never from
 * the library's memory.
 *
 * Arguments: "early" stops before MPI_Init, "late" after MPI_Finalize, "many" has 100 requests and 100 communicators.
 */
#include "printers.h"

#include <mpi.h>

typedef MPI_Comm own_comm;
typedef own_comm grid_comm;
typedef MPI_Request *request_list;

struct exchange {
    grid_comm comm;
    MPI_Request pending[3];
    const MPI_Datatype type;
    MPI_Status last;
    struct {
        volatile MPI_Op op;
    } inner;
};

static int rank, size;

static void ready(void)
{
    told_ready();
    told_hang();
}

/* The arguments are shown in backtraces. */
static void __attribute__((noinline)) stop(int count, MPI_Request *list, grid_comm comm, const MPI_Comm *where,
                                           MPI_Status *status, const struct exchange *all)
{
    struct ompi_communicator_t *plain = comm;
    MPI_Comm volatile local = *where;
    request_list same = list;
    MPI_Comm **far = NULL;
    printf("frame stop\n");
    say("list", '~', "-> MPI_Irecv from %d (any tag) on \"halo\", 4096 bytes, pending", 1 - rank);
    say("same", '~', "-> MPI_Irecv from %d (any tag) on \"halo\"", 1 - rank);
    say("comm", '=', "\"halo\", rank %d of %d", rank, size);
    say("plain", '=', "\"halo\", rank %d of %d", rank, size);
    say("local", '=', "\"halo\", rank %d of %d", rank, size);
    say("where", '~', "-> \"halo\", rank %d of %d", rank, size);
    say("status", '~', "from %d, tag 12", 1 - rank);
    say("all->inner.op", '~', "MPI_SUM");
    ready();
    printf("%d %p %p %p %p\n", count, (void *)plain, (void *)local, (void *)far, (void *)same);
    printf("%p %p\n", (void *)status, (const void *)all);
}

static void many(void)
{
    MPI_Request requests[100];
    MPI_Comm comms[100];
    static int values[100];
    printf("frame many\n");
    for (int at = 0; at < 100; at++) {
        char name[16];
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[at]);
        snprintf(name, sizeof name, "comm %d", at);
        MPI_Comm_set_name(comms[at], name);
        MPI_Irecv(&values[at], 1, MPI_INT, 1 - rank, at, comms[at], &requests[at]);
        printf("comms[%d] = \"comm %d\", rank %d of %d\n", at, at, rank, size);
        printf("requests[%d] = MPI_Irecv from %d, tag %d on \"comm %d\", 4 bytes, pending\n", at, 1 - rank, at, at);
    }
    ready();
    MPI_Waitall(100, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    static int buffer[1024], message = 5;
    MPI_Comm never = (MPI_Comm)0x12345678, zero = NULL, none = MPI_COMM_NULL, self = MPI_COMM_SELF;
    MPI_Request done = MPI_REQUEST_NULL;
    MPI_Aint place = (MPI_Aint)buffer, back = -8;
    MPI_Offset offset = 1L << 40;
    const char *mode = argc > 1 ? argv[1] : "";

    printf("frame main\n");
    if (strcmp(mode, "early") == 0) {
        say("self", '~', "(MPI is not initialised)");
        say("done", '~', "(MPI is not initialised)");
        ready();
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(mode, "late") == 0) {
        MPI_Finalize();
        say("self", '~', "(MPI is finalised)");
        ready();
    }
    if (strcmp(mode, "many") == 0)
        many();

    MPI_Comm world = MPI_COMM_WORLD, halo, split[2], freed;
    MPI_Comm_dup(MPI_COMM_WORLD, &halo);
    MPI_Comm_set_name(halo, "halo");
    MPI_Comm_dup(MPI_COMM_SELF, &split[0]);
    MPI_Comm_set_name(split[0], "one \"quoted\" \303\244");
    split[1] = MPI_COMM_NULL;

    struct exchange all = {.comm = halo, .type = MPI_DOUBLE, .inner = {MPI_SUM}};
    MPI_Status gone;
    MPI_Sendrecv(&message, 1, MPI_INT, 1 - rank, 12, buffer, 1, MPI_INT, 1 - rank, 12, halo, &all.last);
    MPI_Irecv(buffer, 1024, MPI_INT, 1 - rank, MPI_ANY_TAG, halo, &all.pending[0]);
    MPI_Irecv(buffer, 3, MPI_BYTE, MPI_ANY_SOURCE, 7, halo, &all.pending[1]);
    all.pending[2] = MPI_REQUEST_NULL;
    MPI_Fint statuses[2][sizeof(MPI_Status) / sizeof(MPI_Fint)];
    MPI_Status_c2f(&all.last, statuses[0]);
    MPI_Status_c2f(&all.last, statuses[1]);

    MPI_Info info = MPI_INFO_NULL, hints;
    MPI_Info_create(&hints);
    MPI_Info_set(hints, "cb_nodes", "4");
    MPI_Group group, no_group = MPI_GROUP_NULL;
    MPI_Comm_group(halo, &group);
    MPI_Op sum = MPI_SUM, no_op = MPI_OP_NULL;
    MPI_Errhandler returns = MPI_ERRORS_RETURN;
    MPI_File file = MPI_FILE_NULL;
    MPI_Win window = MPI_WIN_NULL;
    MPI_Message nothing = MPI_MESSAGE_NULL;
    MPI_Datatype vector, integer = MPI_INT;
    MPI_Type_vector(3, 2, 5, MPI_INT, &vector);
    MPI_Type_set_name(vector, "strided");
    MPI_Fint fortran = MPI_Comm_c2f(halo), no_fortran = 999999;
    MPI_Comm_dup(MPI_COMM_SELF, &freed);
    MPI_Comm kept = freed;
    MPI_Comm_free(&freed);
    /* Unmapped memory, and memory that is full of numbers. */
    MPI_Comm *nowhere = (MPI_Comm *)0x10;
    MPI_Comm garbage = (MPI_Comm)(void *)buffer;
    memset(&gone, 0, sizeof gone);
    MPI_Comm *unset = NULL;

    say("never", '~', "not an MPI_Comm: 0x12345678");
    say("zero", '~', "not an MPI_Comm: the null pointer");
    say("garbage", '~', "not an MPI_Comm: ");
    say("none", '=', "MPI_COMM_NULL");
    say("done", '=', "MPI_REQUEST_NULL");
    say("freed", '=', "MPI_COMM_NULL");
    say("self", '=', "MPI_COMM_SELF, rank 0 of 1");
    say("world", '=', "MPI_COMM_WORLD, rank %d of %d", rank, size);
    say("halo", '=', "\"halo\", rank %d of %d", rank, size);
    say("split[0]", '~', "one ");
    say("split[1]", '=', "MPI_COMM_NULL");
    say("all.comm", '=', "\"halo\", rank %d of %d", rank, size);
    say("all.pending[0]", '=', "MPI_Irecv from %d (any tag) on \"halo\", 4096 bytes, pending", 1 - rank);
    say("all.pending[1]", '~', "any source");
    say("all.pending[1]", '~', "tag 7");
    say("all.pending[1]", '~', "3 bytes");
    say("all.pending[2]", '=', "MPI_REQUEST_NULL");
    say("all.type", '~', "MPI_DOUBLE");
    say("all.last", '~', "from %d, tag 12", 1 - rank);
    say("all.inner.op", '~', "MPI_SUM");
    say("sum", '~', "MPI_SUM");
    say("no_op", '=', "MPI_OP_NULL");
    say("info", '=', "MPI_INFO_NULL");
    say("hints", '~', "1 key");
    say("no_group", '=', "MPI_GROUP_NULL");
    say("group", '~', "%d", size);
    say("returns", '~', "MPI_ERRORS_RETURN");
    say("file", '=', "MPI_FILE_NULL");
    say("window", '=', "MPI_WIN_NULL");
    say("nothing", '=', "MPI_MESSAGE_NULL");
    say("integer", '~', "MPI_INT");
    say("vector", '~', "\"strided\"");
    say("place", '=', "%ld (0x%lx)", (long)place, (unsigned long)place);
    say("back", '=', "-8 (0xfffffffffffffff8)");
    say("offset", '=', "%lld", 1LL << 40);
    say("&halo", '~', "-> \"halo\", rank %d of %d", rank, size);
    say("&all.last", '~', "-> from %d, tag 12", 1 - rank);
    say("&done", '~', "-> MPI_REQUEST_NULL");
    say("nowhere", '=', "0x10 -> memory that cannot be read");
    say("unset", '=', "(MPI_Comm *) 0x0");
    stop(3, all.pending, halo, &halo, &all.last, &all);
    printf("%p %p %p %p %p\n", (void *)never, (void *)zero, (void *)none, (void *)done, (void *)self);
    printf("%ld %ld %ld %d %d %d\n", (long)place, (long)back, (long)offset, fortran, no_fortran, statuses[1][0]);
    printf("%p %p %p %p %p %d\n", (void *)info, (void *)kept, (void *)garbage, (void *)nowhere, (void *)unset, gone.MPI_TAG);
    printf("%p %p %p %p %p\n", (void *)no_group, (void *)no_op, (void *)returns, (void *)file, (void *)window);
    printf("%p %p %p %p\n", (void *)nothing, (void *)integer, (void *)world, (void *)sum);
    return 0;
}
