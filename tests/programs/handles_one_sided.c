/*
 * Requests of one-sided operations, complete and not taken: of the component rdma (--mca osc rdma). Two ranks.
 */
#include "common/handles.h"

/* second: of the same call again. Where both have one request, that is the library's for everything complete at once. */
static void note(MPI_Request request, MPI_Request second, const char *call, MPI_Win window)
{
    int flag = 0;
    while (!flag)
        MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    handle_is("request", HANDLE(request), call);
    fact_text("type", "one-sided");
    /* The component does not say which for all. */
    fact_unknown("call");
    fact_text("status_word", "complete");
    fact_bool("complete", 1);
    fact_bool("persistent", 0);
    if (request == second) {
        note_bool("predefined", 1);
        note_text("summary", "a one-sided operation that was complete at once, complete");
        return;
    }
    fact_handle("window", HANDLE(window));
    note_summary_has("one-sided operation");
#ifdef OPEN_MPI
    note_text("summary", "one-sided operation on \"target\", complete");
#endif
}

int main(int argc, char **argv)
{
    static int numbers[10], results[10];
    int *base;
    MPI_Win window;
    MPI_Request requests[4], second[4];
    handles_begin(&argc, &argv, MPI_THREAD_SINGLE);
    MPI_Win_allocate(4000, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    MPI_Win_set_name(window, "target");
    MPI_Barrier(MPI_COMM_WORLD);
    if (handles_rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
        MPI_Rget(numbers, 10, MPI_INT, 1, 0, 10, MPI_INT, window, &requests[0]);
        MPI_Rget(numbers, 10, MPI_INT, 1, 0, 10, MPI_INT, window, &second[0]);
        note(requests[0], second[0], "MPI_Rget", window);
        MPI_Rput(numbers, 10, MPI_INT, 1, 10, 10, MPI_INT, window, &requests[1]);
        MPI_Rput(numbers, 10, MPI_INT, 1, 10, 10, MPI_INT, window, &second[1]);
        note(requests[1], second[1], "MPI_Rput", window);
        MPI_Raccumulate(numbers, 10, MPI_INT, 1, 20, 10, MPI_INT, MPI_SUM, window, &requests[2]);
        MPI_Raccumulate(numbers, 10, MPI_INT, 1, 20, 10, MPI_INT, MPI_SUM, window, &second[2]);
        note(requests[2], second[2], "MPI_Raccumulate", window);
        MPI_Rget_accumulate(numbers, 10, MPI_INT, results, 10, MPI_INT, 1, 30, 10, MPI_INT, MPI_SUM, window, &requests[3]);
        MPI_Rget_accumulate(numbers, 10, MPI_INT, results, 10, MPI_INT, 1, 30, 10, MPI_INT, MPI_SUM, window, &second[3]);
        note(requests[3], second[3], "MPI_Rget_accumulate", window);
    }
    /* The target makes progress until all are complete. */
    MPI_Barrier(MPI_COMM_WORLD);
    handle_is("win", HANDLE(window), "the window that is accessed");
    note_text("name", "target");
    handle_listed(1);
    handles_hang();
}
