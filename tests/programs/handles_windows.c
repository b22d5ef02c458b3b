/*
 * Windows of all flavours, with every kind of epoch open. Three ranks, on a communicator in which their order is reversed.
 *
 * The argument is Open MPI's component that moves the data (--mca osc): not all make every flavour, and sm does not note
 * fences. With sm MPI allocates the memory, on any MPI. MPICH's component is its device.
 */
#include "common/handles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 3, SLOTS = 64 };

static const char *component;
static MPI_Comm comm;
static int rank;
/* Whether MPI allocates the memory; whether that is Open MPI's component sm, which does not know all. */
static int allocates, is_sm;

/* The rank of a process of MPI_COMM_WORLD in the windows, and the other way round. */
static int other_way(int of)
{
    return RANKS - 1 - of;
}

#ifndef OPEN_MPI
/* What MPICH says of its device, up to the network: which of several it uses is not what the library was built with. */
static const char *device(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    return strstr(version, "ch3:") ? "ch3:" : "ch4:";
}
#endif

static MPI_Win make(size_t slots, int unit, MPI_Info info)
{
    static void *bases[32];
    static int used;
    MPI_Win win;
    if (allocates) {
        MPI_Win_allocate(slots * sizeof(int), unit, info, comm, &bases[used], &win);
    } else {
        bases[used] = malloc(slots * sizeof(int) + 1);
        MPI_Win_create(bases[used], slots * sizeof(int), unit, info, comm, &win);
    }
    used++;
    return win;
}

static void *attribute(MPI_Win win, int keyval)
{
    void *value;
    int flag;
    MPI_Win_get_attr(win, keyval, &value, &flag);
    if (!flag)
        abort();
    return value;
}

/* What every window is compared with, as MPI itself tells it. */
static void window_is(MPI_Win win, const char *what)
{
    int flavour = *(int *)attribute(win, MPI_WIN_CREATE_FLAVOR);
    MPI_Group group;
    MPI_Errhandler handler;
    MPI_Win_get_group(win, &group);
    MPI_Win_get_errhandler(win, &handler);
    handle_is("win", HANDLE(win), what);
    note_bool("predefined", 0);
    note_bool("freed", 0);
    note_int("fortran", MPI_Win_c2f(win));
    fact_int("rank", rank);
    fact_int("size", RANKS);
    fact_address("base", attribute(win, MPI_WIN_BASE));
    fact_int("bytes", *(MPI_Aint *)attribute(win, MPI_WIN_SIZE));
    fact_int("displacement_unit", *(int *)attribute(win, MPI_WIN_DISP_UNIT));
    fact_text("flavour", flavour == MPI_WIN_FLAVOR_CREATE     ? "MPI_WIN_FLAVOR_CREATE"
                         : flavour == MPI_WIN_FLAVOR_ALLOCATE ? "MPI_WIN_FLAVOR_ALLOCATE"
                         : flavour == MPI_WIN_FLAVOR_DYNAMIC  ? "MPI_WIN_FLAVOR_DYNAMIC"
                                                              : "MPI_WIN_FLAVOR_SHARED");
    fact_text("model", *(int *)attribute(win, MPI_WIN_MODEL) == MPI_WIN_UNIFIED ? "MPI_WIN_UNIFIED" : "MPI_WIN_SEPARATE");
    fact_contains("component", component);
    fact_handle("group", HANDLE(group));
    fact_handle("errhandler", HANDLE(handler));
    fact_text("communicator.kind", "comm");
    handle_listed(1);
}

/* What is open; -1: sm cannot tell. */
static void open_is(const char *epoch, int locks, int lock_all)
{
    if (epoch)
        fact_text("epoch", epoch);
    else
        fact_unknown("epoch");
    if (lock_all >= 0)
        fact_bool("lock_all", lock_all);
    else
        fact_unknown("lock_all");
    fact_count("locks", locks);
}

static void nothing_open(void)
{
    /* A fence leaves no mark in sm. */
    open_is(is_sm ? NULL : "none", 0, 0);
    fact_null("started");
    fact_null("posted");
}

/* A group of ranks of the windows. */
static MPI_Group group_of(int count, const int *ranks)
{
    MPI_Group all, group;
    MPI_Comm_group(comm, &all);
    MPI_Group_incl(all, count, ranks, &group);
    MPI_Group_free(&all);
    return group;
}

static void flavours(void)
{
    MPI_Win win, dynamic, shared;
    void *base;
    win = make(SLOTS + rank, sizeof(int), MPI_INFO_NULL);
    MPI_Win_set_name(win, "halo");
    window_is(win, "a window with a name, of other size in each rank");
    note_text("name", "halo");
    note_summary_has("\"halo\", rank ");
    fact_int("bytes", (SLOTS + rank) * (int)sizeof(int));
    fact_int("displacement_unit", sizeof(int));
    fact_bool("no_locks", 0);
    nothing_open();

    win = make(0, 1, MPI_INFO_NULL);
    window_is(win, "an empty window");
    fact_int("bytes", 0);
    fact_int("displacement_unit", 1);

    MPI_Win_allocate(SLOTS, 8, MPI_INFO_NULL, comm, &base, &win);
    window_is(win, "memory that MPI allocated");
    fact_text("flavour", "MPI_WIN_FLAVOR_ALLOCATE");
    fact_address("base", base);
    fact_int("displacement_unit", 8);
    if (allocates) {
        MPI_Win_allocate_shared(SLOTS, 1, MPI_INFO_NULL, comm, &base, &shared);
        window_is(shared, "shared memory");
        fact_text("flavour", "MPI_WIN_FLAVOR_SHARED");
        fact_address("base", base);
    } else {
        MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &dynamic);
        window_is(dynamic, "a window without memory of its own");
        fact_text("flavour", "MPI_WIN_FLAVOR_DYNAMIC");
        fact_int("bytes", 0);
    }

    MPI_Info info;
    MPI_Errhandler handler = MPI_ERRORS_RETURN;
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "true");
    win = make(SLOTS, 1, info);
    MPI_Win_set_errhandler(win, handler);
    window_is(win, "a window on which nobody locks, with an error handler");
    fact_handle("errhandler", HANDLE(MPI_ERRORS_RETURN));
    fact_bool("no_locks", !is_sm);
    fact_text("info.0.key", "no_locks");
    fact_text("info.0.value", "true");
    nothing_open();

    static int mine;
    int keyval;
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &keyval, NULL);
    win = make(SLOTS, 1, MPI_INFO_NULL);
    MPI_Win_set_attr(win, keyval, &mine);
    window_is(win, "a window with an attribute of the application");
#ifdef OPEN_MPI
    /* The standard's own five come first. */
    fact_count("attributes", 6);
    fact_int("attributes.5.keyval", keyval);
    fact_address("attributes.5.value", &mine);
    fact_bool("attributes.5.predefined", 0);
#else
    /* The standard's own are members of the window. */
    fact_count("attributes", 1);
    fact_int("attributes.0.keyval", keyval);
    fact_address("attributes.0.value", &mine);
    fact_bool("attributes.0.predefined", 0);
#endif
}

static void fences(void)
{
    MPI_Win win = make(SLOTS, 1, MPI_INFO_NULL);
    MPI_Win_fence(0, win);
    window_is(win, "a fence has opened an epoch");
    open_is(is_sm ? NULL : "fence", 0, 0);
    if (!is_sm)
        note_summary_has("epoch: fence");
    win = make(SLOTS, 1, MPI_INFO_NULL);
    MPI_Win_fence(0, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    window_is(win, "a fence has closed the epoch");
    nothing_open();
}

static void locks(void)
{
    int next = (rank + 1) % RANKS;
    MPI_Win win = make(SLOTS, 1, MPI_INFO_NULL);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win);
    window_is(win, "an exclusive lock on the next rank");
    open_is("lock", 1, 0);
    fact_int("locks.0.rank", next);
    fact_text("locks.0.type", "exclusive");
    note_summary_has("epoch: lock");

    win = make(SLOTS, 1, MPI_INFO_NULL);
    MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    window_is(win, "shared locks on two ranks");
    open_is("lock", 2, 0);
    fact_int("locks.0.rank", 0);
    fact_text("locks.0.type", "shared");
    fact_int("locks.1.rank", 2);
    fact_text("locks.1.type", "shared");

    win = make(SLOTS, 1, MPI_INFO_NULL);
    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
    MPI_Win_unlock(next, win);
    window_is(win, "a lock that was given back");
    nothing_open();

    win = make(SLOTS, 1, MPI_INFO_NULL);
    MPI_Win_lock_all(0, win);
    window_is(win, "a lock on all ranks");
    if (is_sm)
        open_is(NULL, RANKS, -1);
    else
        open_is("lock_all", 0, 1);

    win = make(SLOTS, 1, MPI_INFO_NULL);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    MPI_Win_unlock_all(win);
    window_is(win, "a lock on all ranks that was given back");
    nothing_open();

    win = make(SLOTS, 1, MPI_INFO_NULL);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, MPI_MODE_NOCHECK, win);
    window_is(win, "a lock that was not checked");
    open_is("lock", 1, 0);
    fact_int("locks.0.rank", rank);
    if (is_sm)
        fact_null("locks.0.type");
    else
        fact_text("locks.0.type", "exclusive");
}

static void groups(void)
{
    /* Rank 0 writes to the other two. */
    MPI_Win win = make(SLOTS, 1, MPI_INFO_NULL), ring, done;
    MPI_Group targets = group_of(2, (int[]){2, 1}), origin = group_of(1, (int[]){0});
    if (rank == 0)
        MPI_Win_start(targets, 0, win);
    else
        MPI_Win_post(origin, 0, win);
    window_is(win, rank == 0 ? "started" : "posted");
    open_is(rank == 0 ? "start" : "post", 0, 0);
    if (rank == 0) {
        fact_ints("started", (int[]){other_way(2), other_way(1)}, 2);
        fact_null("posted");
    } else {
        fact_null("started");
        fact_ints("posted", (int[]){other_way(0)}, 1);
    }

    int next = (rank + 1) % RANKS, last = (rank + RANKS - 1) % RANKS;
    MPI_Group from = group_of(1, &last), to = group_of(1, &next);
    ring = make(SLOTS, 1, MPI_INFO_NULL);
    MPI_Win_post(from, 0, ring);
    MPI_Win_start(to, 0, ring);
    /* The application's handles may be gone. */
    MPI_Group_free(&from);
    MPI_Group_free(&to);
    window_is(ring, "posted and started");
    open_is("start+post", 0, 0);
    fact_ints("started", (int[]){other_way(next)}, 1);
    fact_ints("posted", (int[]){other_way(last)}, 1);
    note_summary_has("epoch: start+post");

    done = make(SLOTS, 1, MPI_INFO_NULL);
    if (rank == 0) {
        MPI_Win_start(targets, 0, done);
        MPI_Win_complete(done);
    } else {
        MPI_Win_post(origin, 0, done);
        MPI_Win_wait(done);
    }
    window_is(done, "completed");
    nothing_open();
}

int main(int argc, char **argv)
{
    handles_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (argc != 2 || handles_size != RANKS) {
        fprintf(stderr, "usage: %d ranks of handles_windows COMPONENT\n", RANKS);
        return 2;
    }
    allocates = strcmp(argv[1], "sm") == 0;
#ifdef OPEN_MPI
    component = argv[1];
    is_sm = allocates;
#else
    component = device();
#endif
    MPI_Comm_split(MPI_COMM_WORLD, 0, -handles_rank, &comm);
    MPI_Comm_rank(comm, &rank);
    flavours();
    fences();
    locks();
    groups();
    /* Nobody's call may still need another's help. */
    MPI_Barrier(MPI_COMM_WORLD);
    handles_hang();
}
