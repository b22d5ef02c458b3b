/*
 * Communicators with topologies: Cartesian of no to three dimensions, graphs, and distributed graphs with and without weights.
 * What the library chose (coordinates, the order of neighbours) is asked of MPI. Four ranks.
 */
#include "common/handles.h"

#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 4, MOST = 8 };

/* Not constants: gcc takes mpi.h's own markers for arrays that are too short. */
static int *volatile unweighted, *volatile empty_weights;

static void topology_is(MPI_Comm comm, const char *what, const char *kind)
{
    handle_is("comm", HANDLE(comm), what);
    handle_listed(1);
    fact_text("topology.kind", kind);
#ifdef OPEN_MPI
    fact_bool("topology.reorder", 0);
#else /* MPICH does not keep it */
    fact_unknown("topology.reorder");
#endif
    fact_bool("inter", 0);
}

static void cartesian(int ndims, const int *dims, const int *periods, const char *what)
{
    MPI_Comm comm;
    MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &comm);
    if (comm == MPI_COMM_NULL)
        return;
    int rank, coords[MOST], found;
    char flags[128] = "[", *end = flags + 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Cartdim_get(comm, &found);
    MPI_Cart_coords(comm, rank, ndims, coords);
    for (int at = 0; at < ndims; at++)
        end += sprintf(end, "%s%s", at ? ", " : "", periods[at] ? "true" : "false");
    sprintf(end, "]");
    topology_is(comm, what, "cartesian");
    fact_int("topology.ndims", found);
    fact_ints("topology.dims", dims, ndims);
    fact_json("topology.periods", "%s", flags);
    fact_ints("topology.coords", coords, ndims);
}

static void graph(void)
{
    MPI_Comm comm;
    /* A line: each knows the one before and the one behind. */
    int index[] = {1, 3, 5, 6}, edges[] = {1, 0, 2, 1, 3, 2};
    MPI_Graph_create(MPI_COMM_WORLD, SIZE, index, edges, 0, &comm);
    topology_is(comm, "a graph", "graph");
    fact_int("topology.nodes", SIZE);
    fact_ints("topology.index", index, SIZE);
    fact_ints("topology.edges", edges, 6);
    MPI_Comm again;
    MPI_Comm_dup(comm, &again);
    topology_is(again, "a duplicate of a graph", "graph");
    fact_ints("topology.edges", edges, 6);
}

static void dist_graph_is(MPI_Comm comm, const char *what, int weighted)
{
    int in, out, told, sources[MOST], in_weights[MOST], destinations[MOST], out_weights[MOST];
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &told);
    topology_is(comm, what, "dist_graph");
    if (weighted) {
        MPI_Dist_graph_neighbors(comm, in, sources, in_weights, out, destinations, out_weights);
        fact_ints("topology.source_weights", in_weights, in);
        fact_ints("topology.destination_weights", out_weights, out);
    } else {
        MPI_Dist_graph_neighbors(comm, in, sources, unweighted, out, destinations, unweighted);
        fact_null("topology.source_weights");
        fact_null("topology.destination_weights");
    }
    fact_ints("topology.sources", sources, in);
    fact_ints("topology.destinations", destinations, out);
}

static void dist_graphs(void)
{
    MPI_Comm comm;
    int before[] = {(handles_rank + 3) % SIZE, handles_rank}, behind[] = {(handles_rank + 1) % SIZE};
    int in_weights[] = {10 + handles_rank, 0}, out_weights[] = {1000000};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, before, in_weights, 1, behind, out_weights, MPI_INFO_NULL, 0, &comm);
    dist_graph_is(comm, "neighbours with weights", 1);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, before, unweighted, 1, behind, unweighted, MPI_INFO_NULL, 0,
                                   &comm);
    dist_graph_is(comm, "neighbours without weights", 0);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, empty_weights, 0, NULL, empty_weights, MPI_INFO_NULL, 0,
                                   &comm);
    dist_graph_is(comm, "weights for no neighbours", 1);
    /* Rank 0 tells all edges: from everybody to itself. */
    int senders[SIZE] = {0, 1, 2, 3}, degrees[SIZE] = {1, 1, 1, 1}, targets[SIZE] = {0}, weights[SIZE] = {5, 6, 7, 8};
    MPI_Dist_graph_create(MPI_COMM_WORLD, handles_rank ? 0 : SIZE, senders, degrees, targets, weights, MPI_INFO_NULL, 0,
                          &comm);
    dist_graph_is(comm, "a distributed graph that one rank describes", 1);
}

int main(int argc, char **argv)
{
    handles_begin(&argc, &argv, MPI_THREAD_SINGLE);
    unweighted = MPI_UNWEIGHTED;
    empty_weights = MPI_WEIGHTS_EMPTY;
    int ring[] = {4}, yes[] = {1}, plane[] = {2, 2}, mixed[] = {0, 1}, flat[] = {4, 1}, space[] = {2, 1, 2};
    int turns[] = {1, 0, 1}, part[] = {3};
    cartesian(1, ring, yes, "a ring");
    cartesian(1, part, yes, "a ring of three of four processes");
    cartesian(2, plane, mixed, "two dimensions");
    cartesian(2, flat, mixed, "a dimension of one");
    cartesian(3, space, turns, "three dimensions");
    cartesian(0, NULL, NULL, "no dimension");
    MPI_Comm grid, row;
    int keep[] = {0, 1}, coords[1], rank;
    MPI_Cart_create(MPI_COMM_WORLD, 2, plane, mixed, 0, &grid);
    MPI_Cart_sub(grid, keep, &row);
    MPI_Comm_set_name(row, "row");
    MPI_Comm_rank(row, &rank);
    MPI_Cart_coords(row, rank, 1, coords);
    topology_is(row, "a row of a grid", "cartesian");
    fact_int("topology.ndims", 1);
    fact_json("topology.dims", "[2]");
    fact_json("topology.periods", "[true]");
    fact_ints("topology.coords", coords, 1);
    fact_int("size", 2);
    graph();
    dist_graphs();
    handles_hang();
}
