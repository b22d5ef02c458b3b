/*
 * Communicators in many shapes: predefined, duplicated, split, with the ranks reversed, with names, topologies, attributes,
 * error handlers and hints; intercommunicators. Three ranks.
 */
#include "common/handles.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { SIZE = 3 };

static int world[SIZE] = {0, 1, 2};

static void complain(MPI_Comm *comm, int *error, ...)
{
    (void)comm;
    (void)error;
}

/* What every communicator has. */
static void comm_is(MPI_Comm comm, const char *what, const char *name, const int *members, int count)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    handle_is("comm", HANDLE(comm), what);
    handle_listed(1);
    note_int("fortran", MPI_Comm_c2f(comm));
    fact_int("rank", rank);
    fact_int("size", count);
    fact_int("world_rank", handles_rank);
    fact_ints("group", members, count);
    if (name) {
        note_text("name", name);
        note_summary_has(name);
        fact_null("origin");
    }
    fact_bool("name_set", name != NULL);
    char place[64];
    snprintf(place, sizeof place, "rank %d of %d", rank, count);
    note_summary_has(place);
}

static void intra_is(MPI_Comm comm, const char *what, const char *name, const int *members, int count)
{
    comm_is(comm, what, name, members, count);
    fact_bool("inter", 0);
    fact_null("remote_group");
    fact_null("remote_size");
    fact_null("remote_group_handle");
}

static void made_by_program(void)
{
    note_bool("predefined", 0);
    fact_null("topology");
    fact_null("internal");
}

/* Open MPI says it in the name that it makes; MPICH makes none. */
static void origin_is(const char *origin)
{
#ifdef OPEN_MPI
    fact_text("origin", origin);
#else
    (void)origin;
    note_null("name");
    fact_null("origin");
#endif
}

static void predefined(void)
{
    intra_is(MPI_COMM_WORLD, "MPI_COMM_WORLD", "MPI_COMM_WORLD", world, SIZE);
    note_bool("predefined", 1);
    fact_null("topology");
    MPI_Comm self = MPI_COMM_SELF;
    int alone[] = {handles_rank};
    intra_is(self, "MPI_COMM_SELF", "MPI_COMM_SELF", alone, 1);
    note_bool("predefined", 1);
    fact_handle("errhandler", HANDLE(MPI_ERRORS_ARE_FATAL));
    fact_count("attributes", 0);
}

static void names(void)
{
    MPI_Comm dup, split, reversed, longest, foreign, freed_name;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    intra_is(dup, "a duplicate", NULL, world, SIZE);
    made_by_program();
    origin_is("duplicate of the communicator with context id 0");

    MPI_Comm_split(MPI_COMM_WORLD, handles_rank == 1, 0, &split);
    int outer[] = {0, 2}, inner[] = {1};
    intra_is(split, "a split", NULL, handles_rank == 1 ? inner : outer, handles_rank == 1 ? 1 : 2);
    made_by_program();
    origin_is("split from the communicator with context id 0");

    MPI_Comm_split(MPI_COMM_WORLD, 0, -handles_rank, &reversed);
    MPI_Comm_set_name(reversed, "reversed");
    int backwards[] = {2, 1, 0};
    intra_is(reversed, "ranks in reverse", "reversed", backwards, SIZE);
    made_by_program();

    char name[MPI_MAX_OBJECT_NAME];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &longest);
    MPI_Comm_set_name(longest, name);
    intra_is(longest, "the longest name", name, world, SIZE);

    MPI_Comm_dup(MPI_COMM_WORLD, &foreign);
    MPI_Comm_set_name(foreign, "Gr\303\266\303\237e \346\227\245\346\234\254");
    intra_is(foreign, "a name that is not ASCII", "Gr\303\266\303\237e \346\227\245\346\234\254", world, SIZE);

    MPI_Comm_dup(MPI_COMM_WORLD, &freed_name);
    MPI_Comm_set_name(freed_name, "bell\a and \033[31mred");
    handle_is("comm", HANDLE(freed_name), "a name with control characters");
    note_text("name", "bell\\x07 and \\x1b[31mred");

    MPI_Comm again;
    MPI_Comm_dup(reversed, &again);
    intra_is(again, "a duplicate of one with a name", NULL, backwards, SIZE);
    made_by_program();
}

/* Two sides: rank 0, and the others. */
static void intercommunicators(void)
{
    MPI_Comm half, inter, named;
    int left[] = {0}, right[] = {1, 2};
    int first = handles_rank == 0;
    MPI_Comm_split(MPI_COMM_WORLD, first, handles_rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, first ? 1 : 0, 5, &inter);
    MPI_Comm_dup(inter, &named);
    MPI_Comm_set_name(named, "bridge");
    MPI_Comm both[] = {inter, named};
    for (int at = 0; at < 2; at++) {
        comm_is(both[at], "an intercommunicator", at ? "bridge" : NULL, first ? left : right, first ? 1 : 2);
        fact_bool("inter", 1);
        fact_ints("remote_group", first ? right : left, first ? 2 : 1);
        fact_int("remote_size", first ? 2 : 1);
        note_summary_has(first ? "2 remote" : "1 remote");
        made_by_program();
    }
    MPI_Comm merged;
    MPI_Intercomm_merge(inter, !first, &merged);
    intra_is(merged, "both sides as one", NULL, world, SIZE);
    made_by_program();
}

/* Keyvals of the program, with values of several sizes; many of them, so that the table grows. */
static void attributes(void)
{
    MPI_Comm plain, few, many;
    int keyval, value = 5;
    MPI_Comm_split(MPI_COMM_WORLD, 0, handles_rank, &plain);
    handle_is("comm", HANDLE(plain), "without attributes");
    fact_count("attributes", 0);

    MPI_Comm_split(MPI_COMM_WORLD, 0, handles_rank, &few);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    MPI_Comm_set_attr(few, keyval, &value);
    handle_is("comm", HANDLE(few), "one attribute");
    fact_count("attributes", 1);
    fact_int("attributes.0.keyval", keyval);
    fact_null("attributes.0.name");
    fact_address("attributes.0.value", &value);
    fact_text("attributes.0.set_by", "C");
    fact_bool("attributes.0.predefined", 0);

    MPI_Comm_split(MPI_COMM_WORLD, 0, handles_rank, &many);
    enum { MANY = 200 };
    int keys[MANY];
    for (int at = 0; at < MANY; at++) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keys[at], NULL);
        MPI_Comm_set_attr(many, keys[at], (void *)(uintptr_t)(0x1000 + at));
    }
    for (int at = 0; at < MANY; at += 2)
        MPI_Comm_delete_attr(many, keys[at]);
    handle_is("comm", HANDLE(many), "many attributes, every other deleted");
    fact_count("attributes", MANY / 2);
    for (int at = 0; at < MANY / 2; at++) {
        char fact[64];
        snprintf(fact, sizeof fact, "attributes.%d.value", at);
        fact_address(fact, (void *)(uintptr_t)(0x1000 + 2 * at + 1));
    }

#ifdef OPEN_MPI
    int *tag_ub, flag;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_ub, &flag);
    handle_is("comm", HANDLE(MPI_COMM_WORLD), "the predefined attributes");
    fact_int("attributes.0.keyval", MPI_TAG_UB);
    fact_text("attributes.0.name", "MPI_TAG_UB");
    fact_int("attributes.0.value", *tag_ub);
    fact_text("attributes.0.set_by", "library");
    fact_bool("attributes.0.predefined", 1);
#else
    /* MPICH has these apart, as settings of the process. */
    handle_is("comm", HANDLE(MPI_COMM_WORLD), "the predefined attributes");
    fact_count("attributes", 0);
#endif
}

static void error_handlers(void)
{
    MPI_Comm own, quiet;
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(complain, &handler);
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    MPI_Comm_set_errhandler(own, handler);
    handle_is("comm", HANDLE(own), "an error handler of its own");
    fact_handle("errhandler", HANDLE(handler));
    fact_text("errhandler.summary", "communicator error handler complain");
    handle_is("errhandler", HANDLE(handler), "for communicators");
    handle_listed(1);
    note_bool("predefined", 0);
    note_null("name");
    fact_text("object", "communicator");
    fact_text("language", "C");
    fact_text("function.symbol", "complain");
    fact_count("attached_to", 1);
    fact_refers_to("attached_to", HANDLE(own));

    MPI_Comm_dup(MPI_COMM_WORLD, &quiet);
    MPI_Comm_set_errhandler(quiet, MPI_ERRORS_RETURN);
    handle_is("comm", HANDLE(quiet), "a predefined error handler");
    fact_handle("errhandler", HANDLE(MPI_ERRORS_RETURN));
    fact_text("errhandler.summary", "MPI_ERRORS_RETURN");
}

/* Which hints stay, and which the library adds, is its own affair: what is known are those that MPI tells. */
static void hints(void)
{
    MPI_Comm comm;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_exact_length", "true");
    MPI_Info_set(info, "purpose", "test of hints");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    handle_is("comm", HANDLE(comm), "with hints");
#ifdef OPEN_MPI
    fact_has("info", "{\"key\": \"purpose\", \"value\": \"test of hints\"}");
    fact_has("info", "{\"key\": \"mpi_assert_exact_length\", \"value\": \"true\"}");
#else /* which MPICH takes as settings */
    fact_unknown("info");
#endif
    MPI_Info_free(&info);
}

/* How many files a communicator has. MPICH with files has no list of them. */
static void files_are(int count)
{
#if defined(OPEN_MPI)
    fact_count("files", count);
#elif defined(HAVE_FILES)
    (void)count;
    fact_unknown("files");
#else
    (void)count;
    fact_count("files", 0);
#endif
}

/* Persistent requests that nobody starts. */
static void requests(void)
{
    static int buffer[2];
    MPI_Comm busy, idle;
    MPI_Request receive, send;
    MPI_Comm_dup(MPI_COMM_WORLD, &busy);
    MPI_Comm_dup(MPI_COMM_WORLD, &idle);
    MPI_Irecv(buffer, 1, MPI_INT, MPI_ANY_SOURCE, 99, busy, &receive);
    MPI_Send_init(buffer + 1, 1, MPI_INT, 0, 7, busy, &send);
    handle_is("comm", HANDLE(busy), "with two requests");
    fact_count("requests", 2);
    fact_refers_to("requests", HANDLE(receive));
    fact_refers_to("requests", HANDLE(send));
    handle_is("comm", HANDLE(idle), "without requests");
    fact_count("requests", 0);
    files_are(0);
#ifdef OPEN_MPI
    fact_count("windows", 0);
#else /* it could be that of a window that follows */
    fact_unknown("windows");
#endif
}

static void windows_and_files(void)
{
    MPI_Comm comm, self;
    MPI_Win win, other;
    static int memory[4];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, comm, &win);
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other);
#ifdef HAVE_FILES
    MPI_File file;
    MPI_File_open(comm, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
#endif
    handle_is("comm", HANDLE(comm), "with a window and a file");
    fact_null("internal");
#ifdef OPEN_MPI
    fact_count("windows", 1);
    fact_refers_to("windows", HANDLE(win));
    fact_bool("windows.0.certain", 0);
    fact_count("files", 1);
    fact_refers_to("files", HANDLE(file));
    handle_is("comm", HANDLE(MPI_COMM_WORLD), "with a window");
    fact_refers_to("windows", HANDLE(other));
#else
    /* Windows of MPICH have duplicates of which nothing says whose they are. */
    fact_unknown("windows");
    files_are(1);
    handle_is("comm", HANDLE(MPI_COMM_WORLD), "with a window");
    fact_unknown("windows");
#endif
    MPI_Comm_split(MPI_COMM_WORLD, handles_rank, 0, &self);
    handle_is("comm", HANDLE(self), "of other processes than those of all windows");
    fact_count("windows", 0);
}

/* Fortran integers: of objects, of a null handle, of nothing. */
static void fortran(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "by its number");
    handle_is_fortran("comm", MPI_Comm_c2f(comm), "the integer of a communicator");
    note_text("name", "by its number");
    note_int("fortran", MPI_Comm_c2f(comm));
    handle_listed(1);
    handle_is_fortran("comm", MPI_Comm_c2f(MPI_COMM_NULL), "the integer of MPI_COMM_NULL");
    note_text("state", "null");
    note_text("name", "MPI_COMM_NULL");
    note_int("fortran", MPI_Comm_c2f(MPI_COMM_NULL));
    int none[] = {-1, INT_MIN, INT_MAX, 29999};
    for (int at = 0; at < 4; at++) {
        handle_is_fortran("comm", none[at], "an integer of nothing");
        note_text("state", "invalid");
        note_int("fortran", none[at]);
#ifdef OPEN_MPI
        note_summary_has("stands for no communicator");
#else
        note_summary_has("not an MPI_Comm: 0x");
#endif
    }
}

#ifdef OPEN_MPI
/* Attributes as Fortran sets them, in builds that have Fortran: an INTEGER of MPI-1, an address integer of MPI-2. */
static void fortran_attributes(void)
{
    void *library = dlopen("libmpi_mpifh.so.40", RTLD_NOW);
    if (library == NULL)
        return;
    void (*put)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
    void (*set)(MPI_Fint *, MPI_Fint *, MPI_Aint *, MPI_Fint *);
    *(void **)&put = dlsym(library, "mpi_attr_put_");
    *(void **)&set = dlsym(library, "mpi_comm_set_attr_");
    MPI_Comm comm;
    int first, second;
    MPI_Comm_split(MPI_COMM_WORLD, 0, handles_rank, &comm);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &first, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &second, NULL);
    MPI_Fint number = MPI_Comm_c2f(comm), keys[] = {first, second}, old = -7, error;
    MPI_Aint address = -((MPI_Aint)1 << 40);
    put(&number, &keys[0], &old, &error);
    set(&number, &keys[1], &address, &error);
    handle_is("comm", HANDLE(comm), "attributes of Fortran");
    fact_count("attributes", 2);
    fact_int("attributes.0.value", -7);
    fact_text("attributes.0.set_by", "Fortran");
    fact_int("attributes.1.value", address);
    fact_text("attributes.1.set_by", "Fortran");
}
#endif

int main(int argc, char **argv)
{
    handles_begin(&argc, &argv, MPI_THREAD_SINGLE);
    predefined();
    names();
    intercommunicators();
    attributes();
    error_handlers();
    hints();
    requests();
    windows_and_files();
    fortran();
#ifdef OPEN_MPI /* whose library of Fortran's functions can be loaded by a program in C */
    fortran_attributes();
#endif
    handles_hang();
}
