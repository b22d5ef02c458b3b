/* Communicators of every kind, each with the name that the program has for it; the same name in two ranks is the same one. */
#include "common/noted.h"

static int rank, size;

static void tell(const char *name, int rank_or_color, MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL)
        return;
    noted_row();
    fprintf(noted_file, "{\"name\": \"%s %d\", \"handle\": %llu}", name, rank_or_color, (unsigned long long)HANDLE(comm));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm copy, half, merged, between, again, grid, row, group_comm, second, shared, graph, late;
    MPI_Request request;
    noted_begin(rank);
    noted_list("comms");
    tell("world", 0, MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    tell("copy", 0, copy);
    MPI_Comm_idup(copy, &late, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    tell("idup", 0, late);
    MPI_Comm_split(copy, rank % 2, -rank, &half);
    tell("half", rank % 2, half);
    MPI_Comm_split_type(copy, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
    tell("shared", 0, shared);
    /* The leaders are the last ranks: keys turn the order round. */
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? size - 2 + size % 2 : size - 1 - size % 2, 5, &between);
    tell("between", 0, between);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? size - 2 + size % 2 : size - 1 - size % 2, 5, &again);
    tell("again", 0, again);
    MPI_Intercomm_merge(between, rank % 2, &merged);
    tell("merged", 0, merged);
    int dims[2] = {2, size / 2}, periods[2] = {0, 0}, remain[2] = {0, 1};
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    tell("grid", 0, grid);
    if (grid != MPI_COMM_NULL) {
        MPI_Cart_sub(grid, remain, &row);
        tell("row", rank / (size / 2), row);
    }
    MPI_Group all, group;
    int ranges[1][3] = {{rank % 2, size - 1, 2}};
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_range_incl(all, 1, ranges, &group);
    for (int at = 0; at < 2; at++) {
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 9, at ? &second : &group_comm);
        tell(at ? "group again" : "group", rank % 2, at ? second : group_comm);
    }
    MPI_Comm made;
    MPI_Comm_create(MPI_COMM_WORLD, group, &made);
    tell("create", rank % 2, made);
    int other = (rank + 1) % size, one = 1, before = (rank + size - 1) % size;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, &one, 1, &other, &one, MPI_INFO_NULL, 0, &graph);
    tell("graph", 0, graph);
#if MPI_VERSION >= 4
    MPI_Comm from;
    MPI_Comm_create_from_group(group, "mpi-queues.test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &from);
    tell("from group", rank % 2, from);
#endif
    noted_list_end();
    noted_end(rank);
    MPI_Recv(&one, 1, MPI_INT, MPI_ANY_SOURCE, 31999, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
