/* Functions with many arguments, windows and files: what they do is what they do without a recorder. */
#include "common/noted.h"

#define HOLDS(what)                                                                                                    \
    do {                                                                                                               \
        if (!(what)) {                                                                                                 \
            fprintf(stderr, "%s does not hold\n", #what);                                                              \
            MPI_Abort(MPI_COMM_WORLD, 3);                                                                              \
        }                                                                                                              \
    } while (0)

enum { MOST = 16 };

int main(int argc, char **argv)
{
    int rank, size, in[MOST], out[MOST], counts[MOST], places[MOST];
    MPI_Datatype types[MOST];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int at = 0; at < size; at++)
        counts[at] = 1, places[at] = (int)sizeof(int) * at, types[at] = MPI_INT, out[at] = 100 * rank + at;
    MPI_Alltoallw(out, counts, places, types, in, counts, places, types, MPI_COMM_WORLD);
    for (int at = 0; at < size; at++)
        HOLDS(in[at] == 100 * at + rank);

    int shared[MOST] = {0}, before = -1, one = 1 + rank;
    MPI_Win window;
    MPI_Win_create(shared, sizeof(shared), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(&one, 1, MPI_INT, (rank + 1) % size, 3, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    HOLDS(shared[3] == 1 + (rank + size - 1) % size);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Get_accumulate(&one, 1, MPI_INT, &before, 1, MPI_INT, 0, 5, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_unlock(0, window);
    HOLDS(before >= 0);
    MPI_Barrier(MPI_COMM_WORLD);
    HOLDS(rank != 0 || shared[5] == size * (size + 1) / 2);
    MPI_Win_free(&window);

    char path[600];
    snprintf(path, sizeof(path), "%s.file", getenv("MPIQ_TRUTH"));
    MPI_File file;
    MPI_Status status;
    MPI_Request request;
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, (MPI_Offset)(sizeof(int) * (size_t)rank), &one, 1, MPI_INT, &status);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_iread_at(file, (MPI_Offset)(sizeof(int) * (size_t)((rank + 1) % size)), &before, 1, MPI_INT, &request);
    MPI_Wait(&request, &status);
    HOLDS(before == 1 + (rank + 1) % size);
    MPI_File_close(&file);

    told(rank);
    MPI_Recv(in, 1, MPI_INT, MPI_ANY_SOURCE, 31999, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
