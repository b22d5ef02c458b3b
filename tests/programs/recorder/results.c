/* Calls functions of every kind in an order that a seed decides, adds up all that it receives, and prints that; then it ends
 * as it is told:
 *
 *     finalize    as programs end
 *     status N    with a status after MPI_Finalize
 *     abort N     rank 1 by MPI_Abort
 *     error       rank 1 by an error of MPI, a message that is longer than its buffer
 *     exit N      without MPI_Finalize
 */
#include "common/told.h"

#include <mpi.h>

enum { CELLS = 512 };

static int rank, size;
static unsigned long sum;
static double out[CELLS], in[CELLS * 8];

static void add(const double *values, int count)
{
    for (int i = 0; i < count; i++)
        sum = sum * 31 + (unsigned long)values[i];
}

static void fill(int step)
{
    for (int i = 0; i < CELLS; i++)
        out[i] = rank * 1000 + step + i;
}

static void messages(int step, MPI_Comm comm)
{
    MPI_Request requests[4];
    MPI_Status status;
    MPI_Message message;
    int left, right, me, all, index, done = 0, count, indices[4];
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &all);
    left = (me + all - 1) % all;
    right = (me + 1) % all;
    int cells = 1 + step * 37 % CELLS;
    MPI_Sendrecv(out, cells, MPI_DOUBLE, right, step, in, CELLS, MPI_DOUBLE, left, step, comm, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    add(in, count);
    MPI_Irecv(in, CELLS, MPI_DOUBLE, left, 1, comm, &requests[0]);
    MPI_Irecv(in + CELLS, CELLS, MPI_DOUBLE, right, 2, comm, &requests[1]);
    MPI_Isend(out, cells, MPI_DOUBLE, right, 1, comm, &requests[2]);
    MPI_Issend(out, cells, MPI_DOUBLE, left, 2, comm, &requests[3]);
    switch (step % 5) {
    case 0: MPI_Waitall(4, requests, MPI_STATUSES_IGNORE); break;
    case 1:
        for (int i = 0; i < 4; i++)
            MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE);
        break;
    case 2:
        for (int all_done = 0; all_done < 4; all_done += count)
            MPI_Waitsome(4, requests, &count, indices, MPI_STATUSES_IGNORE);
        break;
    case 3:
        while (!done)
            MPI_Testall(4, requests, &done, MPI_STATUSES_IGNORE);
        break;
    default:
        for (int i = 0; i < 4; i++)
            for (done = 0; !done;)
                MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 4; i++)
        if (requests[i] != MPI_REQUEST_NULL)
            sum += 1000003;
    add(in, cells);
    add(in + CELLS, cells);
    MPI_Isend(out, cells, MPI_DOUBLE, right, 3, comm, &requests[0]);
    MPI_Mprobe(left, 3, comm, &message, &status);
    MPI_Mrecv(in, CELLS, MPI_DOUBLE, &message, &status);
    add(in, cells);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

static void persistent(int step)
{
    MPI_Request requests[2];
    MPI_Recv_init(in, CELLS, MPI_DOUBLE, (rank + size - 1) % size, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(out, CELLS, MPI_DOUBLE, (rank + 1) % size, 5, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 3; i++) {
        fill(step + i);
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        add(in, CELLS);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void collectives(int step, MPI_Comm comm)
{
    int me, all, root;
    MPI_Request request;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &all);
    root = step % all;
    memcpy(in, out, sizeof out);
    MPI_Bcast(in, CELLS, MPI_DOUBLE, root, comm);
    add(in, CELLS);
    MPI_Allreduce(out, in, CELLS, MPI_DOUBLE, MPI_SUM, comm);
    add(in, CELLS);
    MPI_Reduce(out, in, 8, MPI_DOUBLE, MPI_MAX, root, comm);
    if (me == root)
        add(in, 8);
    MPI_Gather(out, 4, MPI_DOUBLE, in, 4, MPI_DOUBLE, root, comm);
    if (me == root)
        add(in, 4 * all);
    MPI_Scatter(out, 4, MPI_DOUBLE, in, 4, MPI_DOUBLE, root, comm);
    add(in, 4);
    MPI_Alltoall(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, comm);
    add(in, 2 * all);
    MPI_Scan(out, in, 4, MPI_DOUBLE, MPI_SUM, comm);
    add(in, 4);
    MPI_Iallreduce(out, in, 4, MPI_DOUBLE, MPI_MIN, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    add(in, 4);
    MPI_Barrier(comm);
}

static void grid(int step)
{
    int sides[1] = {size}, periods[1] = {1}, from, to;
    MPI_Comm ring;
    MPI_Cart_create(MPI_COMM_WORLD, 1, sides, periods, 0, &ring);
    MPI_Cart_shift(ring, 0, 1, &from, &to);
    MPI_Sendrecv(out, 4, MPI_DOUBLE, to, step, in, 4, MPI_DOUBLE, from, step, ring, MPI_STATUS_IGNORE);
    MPI_Neighbor_allgather(out, 2, MPI_DOUBLE, in + 4, 2, MPI_DOUBLE, ring);
    add(in, 8);
    MPI_Comm_free(&ring);
}

static void one_sided(int step)
{
    double *memory;
    MPI_Win window;
    MPI_Win_allocate(CELLS * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    memset(memory, 0, CELLS * sizeof *memory);
    MPI_Win_fence(0, window);
    MPI_Put(out, 16, MPI_DOUBLE, (rank + 1) % size, rank * 16, 16, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    MPI_Get(in, 64, MPI_DOUBLE, (rank + step) % size, 0, 64, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    add(in, 64);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Accumulate(out, 1, MPI_DOUBLE, 0, 200, 1, MPI_DOUBLE, MPI_SUM, window);
    MPI_Win_unlock(0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        add(memory + 200, 1);
    MPI_Win_free(&window);
}

static void file(int step, const char *directory)
{
    char name[4096];
    MPI_File handle;
    snprintf(name, sizeof name, "%s/results", directory);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &handle);
    MPI_File_write_at_all(handle, (MPI_Offset)(rank * sizeof out), out, CELLS, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_sync(handle);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at(handle, (MPI_Offset)((rank + step) % size * sizeof out), in, CELLS, MPI_DOUBLE, MPI_STATUS_IGNORE);
    add(in, CELLS);
    MPI_File_close(&handle);
}

int main(int argc, char **argv)
{
    int provided, status = argc > 5 ? atoi(argv[5]) : 0;
    MPI_Comm copy, half;
    if (argc < 5)
        return 2;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    srand((unsigned)atoi(argv[2]));
    told_ready();
    for (int step = 0; step < atoi(argv[3]); step++) {
        fill(step);
        switch (rand() % 7) {
        case 0: messages(step, MPI_COMM_WORLD); break;
        case 1: persistent(step); break;
        case 2: collectives(step, MPI_COMM_WORLD); break;
        case 3: grid(step); break;
        case 4: one_sided(step); break;
        case 5: file(step, argv[1]); break;
        default:
            MPI_Comm_dup(MPI_COMM_WORLD, &copy);
            MPI_Comm_split(copy, rank % 2, -rank, &half);
            messages(step, half);
            collectives(step, half);
            MPI_Comm_free(&half);
            MPI_Comm_free(&copy);
        }
    }
    printf("rank %d of %d: %lx\n", rank, size, sum);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(argv[4], "abort") == 0 && rank == 1)
        MPI_Abort(MPI_COMM_WORLD, status);
    if (strcmp(argv[4], "error") == 0 && rank == 1) {
        MPI_Request request;
        MPI_Isend(out, 4, MPI_DOUBLE, rank, 9, MPI_COMM_WORLD, &request);
        MPI_Recv(in, 1, MPI_DOUBLE, rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (strcmp(argv[4], "exit") == 0)
        _exit(status);
    MPI_Finalize();
    return status;
}
