/*
 * Groups, error handlers, info objects and sessions, and copies of handles whose objects have been freed. Three ranks.
 */
#include "common/handles.h"

#include <stdio.h>
#include <string.h>

enum { SIZE = 3 };

static void group_is(MPI_Group group, const char *what, const int *ranks, int count, int rank)
{
    handle_is("group", HANDLE(group), what);
    handle_listed(1);
    note_int("fortran", MPI_Group_c2f(group));
    fact_int("size", count);
    fact_ints("ranks", ranks, count);
    if (rank == MPI_UNDEFINED)
        fact_null("rank");
    else
        fact_int("rank", rank);
}

static void groups(void)
{
    MPI_Group world, all, chosen, ranges, rest, empty = MPI_GROUP_EMPTY;
    int everybody[] = {0, 1, 2}, backwards[] = {2, 0}, range[1][3] = {{2, 1, -1}}, rank;
    MPI_Comm comm;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    group_is(world, "that of MPI_COMM_WORLD", everybody, SIZE, handles_rank);
#ifdef OPEN_MPI
    note_bool("predefined", 1);
#else /* until 4.3 it is made when somebody asks for it */
    note_bool("predefined", MPICH_SINCE(50000000));
#endif
    fact_refers_to("communicators", HANDLE(MPI_COMM_WORLD));
    MPI_Group_incl(world, SIZE, everybody, &all);
    MPI_Comm_create_group(MPI_COMM_WORLD, all, 3, &comm);
    MPI_Group_rank(all, &rank);
    group_is(all, "everybody, chosen, and made a communicator of", everybody, SIZE, rank);
    note_bool("predefined", 0);
    fact_count("communicators", 1);
    fact_refers_to("communicators", HANDLE(comm));
    fact_count("windows", 0);
    MPI_Group_incl(world, 2, backwards, &chosen);
    MPI_Group_rank(chosen, &rank);
    group_is(chosen, "two of three, in reverse", backwards, 2, rank);
    note_summary_has(handles_rank == 1 ? "without this process" : handles_rank == 2 ? "rank 0" : "rank 1");
    fact_count("communicators", 0);
    MPI_Group_range_incl(world, 1, range, &ranges);
    int first[] = {2, 1};
    MPI_Group_rank(ranges, &rank);
    group_is(ranges, "a range that runs backwards", first, 2, rank);
    MPI_Group_difference(world, chosen, &rest);
    int one[] = {1};
    MPI_Group_rank(rest, &rank);
    group_is(rest, "a difference", one, 1, rank);
    group_is(empty, "MPI_GROUP_EMPTY", everybody, 0, MPI_UNDEFINED);
    note_bool("predefined", 1);
    note_text("name", "MPI_GROUP_EMPTY");
    note_text("summary", "MPI_GROUP_EMPTY");
}

static void of_window(MPI_Win *win, int *error, ...)
{
    (void)win;
    (void)error;
}

#ifdef HAVE_FILES
static void of_file(MPI_File *file, int *error, ...)
{
    (void)file;
    (void)error;
}
#endif

static void predefined_errhandler(MPI_Errhandler handler, const char *name)
{
    handle_is("errhandler", HANDLE(handler), name);
    handle_listed(1);
    note_int("fortran", MPI_Errhandler_c2f(handler));
    note_bool("predefined", 1);
    note_text("name", name);
    note_text("summary", name);
    fact_text("object", "any");
    fact_null("function");
}

static void errhandlers(void)
{
    MPI_Errhandler window;
    predefined_errhandler(MPI_ERRORS_ARE_FATAL, "MPI_ERRORS_ARE_FATAL");
    fact_refers_to("attached_to", HANDLE(MPI_COMM_WORLD));
    predefined_errhandler(MPI_ERRORS_RETURN, "MPI_ERRORS_RETURN");
    MPI_Win_create_errhandler(of_window, &window);
    handle_is("errhandler", HANDLE(window), "for windows");
    handle_listed(1);
    fact_text("object", "window");
    fact_text("function.symbol", "of_window");
    fact_address("function.address", (void *)(uintptr_t)of_window);
    fact_count("attached_to", 0);
#ifdef HAVE_FILES
    MPI_Errhandler file;
    MPI_File_create_errhandler(of_file, &file);
    handle_is("errhandler", HANDLE(file), "for files");
    fact_text("object", "file");
    fact_text("language", "C");
    fact_text("function.symbol", "of_file");
#ifdef OPEN_MPI
    fact_count("attached_to", 0);
#else /* of files MPICH has no list */
    fact_unknown("attached_to");
#endif
#endif
}

static void infos(void)
{
    MPI_Info info, none;
    char key[64], longest[MPI_MAX_INFO_VAL];
    memset(longest, 'v', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    MPI_Info_create(&none);
    handle_is("info", HANDLE(none), "without keys");
    handle_listed(1);
    note_bool("freed", 0);
    note_bool("predefined", 0);
    fact_int("count", 0);
    fact_count("entries", 0);
    MPI_Info_create(&info);
    for (int at = 0; at < 20; at++) {
        sprintf(key, "key %d", at);
        MPI_Info_set(info, key, at % 2 ? "odd" : "even");
    }
    MPI_Info_set(info, "key 1", "set again");
    MPI_Info_delete(info, "key 0");
    MPI_Info_set(info, "long", longest);
    MPI_Info_set(info, "bell", "\a");
    handle_is("info", HANDLE(info), "many keys");
    handle_listed(1);
    note_int("fortran", MPI_Info_c2f(info));
    fact_int("count", 21);
    fact_count("entries", 21);
    fact_has("entries", "{\"key\": \"key 1\", \"value\": \"set again\"}");
    fact_has("entries", "{\"key\": \"key 18\", \"value\": \"even\"}");
    fact_has("entries", "{\"key\": \"bell\", \"value\": \"\\\\x07\"}");
    handle_is("info", HANDLE(MPI_INFO_ENV), "MPI_INFO_ENV");
    note_text("name", "MPI_INFO_ENV");
    note_bool("predefined", 1);
}

#ifdef MPI_SESSION_NULL
static void of_session(MPI_Session *session, int *error, ...)
{
    (void)session;
    (void)error;
}

static void sessions(void)
{
    MPI_Session session, ended;
    MPI_Errhandler handler;
    MPI_Session_create_errhandler(of_session, &handler);
    MPI_Session_init(MPI_INFO_NULL, handler, &session);
    /* MPICH 4.0 takes no notice of the one that MPI_Session_init is given. */
    MPI_Session_set_errhandler(session, handler);
    handle_is("session", HANDLE(session), "a session");
    handle_listed(1);
    note_bool("predefined", 0);
    fact_handle("errhandler", HANDLE(handler));
#ifdef OPEN_MPI
    fact_unknown("thread_level");
    fact_count("attributes", 0);
#else
    int level;
    MPI_Query_thread(&level);
    if (MPICH_SINCE(50000000)) /* kept for all sessions together */
        fact_unknown("thread_level");
    else
        fact_int("thread_level", level);
    fact_unknown("attributes");
    fact_unknown("info");
#endif
    handle_is("errhandler", HANDLE(handler), "for sessions");
    fact_text("object", "session");
    fact_text("function.symbol", "of_session");
    fact_count("attached_to", 1);
    fact_refers_to("attached_to", HANDLE(session));
    handle_is("session", HANDLE(MPI_SESSION_NULL), "MPI_SESSION_NULL");
    note_text("state", "null");
    note_text("name", "MPI_SESSION_NULL");
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &ended);
    MPI_Session copy = ended;
    MPI_Session_finalize(&ended);
    handle_is("session", HANDLE(copy), "a session that has ended");
    note_text("state", "freed");
    handle_listed(0);
}
#else
static void sessions(void)
{
}
#endif

static void freed_is(const char *kind, uintptr_t value, const char *what)
{
    handle_is(kind, value, what);
    note_text("state", "freed");
    note_bool("freed", 1);
    handle_listed(0);
}

/* What malloc has given back and nobody has taken since. */
static void freed(void)
{
    MPI_Comm comm, comm_copy;
    MPI_Group world, group, group_copy;
    MPI_Errhandler handler, handler_copy;
    MPI_Info info, info_copy;
    int two[] = {0, 2};
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "gone");
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2, two, &group);
    MPI_Win_create_errhandler(of_window, &handler);
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    comm_copy = comm, group_copy = group, handler_copy = handler, info_copy = info;
    MPI_Info_free(&info);
    MPI_Errhandler_free(&handler);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    freed_is("comm", HANDLE(comm_copy), "a communicator that was freed");
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
    /* Since 5.0 the name has memory of its own, which is given back as well. */
    note_text("name", "gone");
    note_summary_has("\"gone\"");
#endif
    freed_is("group", HANDLE(group_copy), "a group that was freed");
    freed_is("errhandler", HANDLE(handler_copy), "an error handler that was freed");
    freed_is("info", HANDLE(info_copy), "an info object that was freed");
}

int main(int argc, char **argv)
{
    handles_begin(&argc, &argv, MPI_THREAD_SINGLE);
    groups();
    errhandlers();
    infos();
    sessions();
    freed();
    handles_hang();
}
