/*
 * Values that are no handles, and ones that are: null handles, variables that were never set, addresses of other things. Two
 * ranks.
 */
#include "common/handles.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const char *const kinds[] = {"comm",  "datatype", "errhandler", "file", "group",
                                    "info", "message",  "op",         "request", "win",
#ifdef MPI_SESSION_NULL
                                    "session",
#endif
};

/* What is told of MPI_COMM_WORLD and MPI_COMM_SELF in variables of other types. MPICH's values say themselves what they are. */
#ifdef OPEN_MPI
#define THE_WORLD "an MPI_Comm stands at"
#define ITSELF THE_WORLD
#else
#define THE_WORLD " is MPI_COMM_WORLD"
#define ITSELF " is MPI_COMM_SELF"
#endif

static void invalid(uintptr_t value, const char *what)
{
    for (size_t at = 0; at < sizeof kinds / sizeof *kinds; at++) {
        /* Zero, where handles are integers: files are pointers there, too. */
        if (strcmp(kinds[at], "file") == 0 && value == HANDLE(MPI_FILE_NULL))
            continue;
        handle_is(kinds[at], value, what);
        note_text("state", "invalid");
        note_null("name");
        note_summary_has("not an MPI_");
        handle_listed(0);
    }
}

static void null(const char *kind, uintptr_t value, int fortran, const char *name)
{
    handle_is(kind, value, "a null handle");
    note_text("state", "null");
    note_text("name", name);
    note_int("fortran", fortran);
    note_text("summary", name);
    note_bool("predefined", 1);
    handle_listed(0);
}

int main(int argc, char **argv)
{
    handles_begin(&argc, &argv, MPI_THREAD_SINGLE);
    null("comm", HANDLE(MPI_COMM_NULL), MPI_Comm_c2f(MPI_COMM_NULL), "MPI_COMM_NULL");
    null("datatype", HANDLE(MPI_DATATYPE_NULL), MPI_Type_c2f(MPI_DATATYPE_NULL), "MPI_DATATYPE_NULL");
    null("errhandler", HANDLE(MPI_ERRHANDLER_NULL), MPI_Errhandler_c2f(MPI_ERRHANDLER_NULL), "MPI_ERRHANDLER_NULL");
#ifdef HAVE_FILES
    null("file", HANDLE(MPI_FILE_NULL), MPI_File_c2f(MPI_FILE_NULL), "MPI_FILE_NULL");
#else
    null("file", HANDLE(MPI_FILE_NULL), 0, "MPI_FILE_NULL");
#endif
    null("group", HANDLE(MPI_GROUP_NULL), MPI_Group_c2f(MPI_GROUP_NULL), "MPI_GROUP_NULL");
    null("info", HANDLE(MPI_INFO_NULL), MPI_Info_c2f(MPI_INFO_NULL), "MPI_INFO_NULL");
    null("message", HANDLE(MPI_MESSAGE_NULL), MPI_Message_c2f(MPI_MESSAGE_NULL), "MPI_MESSAGE_NULL");
    null("op", HANDLE(MPI_OP_NULL), MPI_Op_c2f(MPI_OP_NULL), "MPI_OP_NULL");
    null("request", HANDLE(MPI_REQUEST_NULL), MPI_Request_c2f(MPI_REQUEST_NULL), "MPI_REQUEST_NULL");
    null("win", HANDLE(MPI_WIN_NULL), MPI_Win_c2f(MPI_WIN_NULL), "MPI_WIN_NULL");
#ifdef MPI_SESSION_NULL
    null("session", HANDLE(MPI_SESSION_NULL), MPI_Session_c2f(MPI_SESSION_NULL), "MPI_SESSION_NULL");
#endif

    /* A whole page of each, so that no field of a structure lies outside. */
    char *garbage = malloc(8192), *zeros = calloc(1, 8192), *pointers = malloc(8192);
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(garbage, 0x5a, 8192);
    for (int at = 0; at < 1024; at++)
        memcpy(pointers + 8 * at, &pointers, 8);
    invalid(0, "a variable that is zero");
    invalid(8, "a small number");
    invalid((uintptr_t)-1, "all bits set");
    invalid(0x4141414141414141, "text");
    invalid((uintptr_t)garbage, "memory full of one byte");
    invalid((uintptr_t)zeros, "memory full of zeros");
    invalid((uintptr_t)pointers, "memory full of pointers to itself");
    invalid((uintptr_t)(page + 4095), "the last byte of a page");
    invalid((uintptr_t)main, "code");
    munmap(page, 4096);
    invalid((uintptr_t)page, "memory that was given back");

    handle_is("group", HANDLE(MPI_COMM_WORLD), "a communicator that is taken for a group");
    note_text("state", "invalid");
    note_summary_has(THE_WORLD);
    handle_is("comm", HANDLE(MPI_INT), "a datatype that is taken for a communicator");
    note_text("state", "invalid");
    handle_is("datatype", HANDLE(MPI_COMM_SELF), "a communicator that is taken for a datatype");
    note_text("state", "invalid");
    note_summary_has(ITSELF);

    handle_is("comm", HANDLE(MPI_COMM_WORLD), "the world");
    note_text("name", "MPI_COMM_WORLD");
    note_int("fortran", MPI_Comm_c2f(MPI_COMM_WORLD));
    handle_listed(1);
    handle_is("comm", HANDLE(MPI_COMM_SELF), "this process alone");
    note_text("name", "MPI_COMM_SELF");
    note_int("fortran", MPI_Comm_c2f(MPI_COMM_SELF));
    handle_listed(1);
    handles_hang();
}
