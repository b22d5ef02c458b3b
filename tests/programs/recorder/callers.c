/* Requests that functions of the program's own start; the lines that call these are marked with the request's tag. */
#include "common/noted.h"

#define APART __attribute__((noinline, noclone))

static int buffer[64];
volatile int kept;

static APART void plain(int tag, MPI_Request *request)
{
    MPI_Irecv(buffer, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, request);
    kept++;
}

/* Its frame is of a size that is known only as it runs. */
static APART void varying(int tag, MPI_Request *request, int size)
{
    volatile char room[size];
    room[size - 1] = 1;
    MPI_Irecv(buffer, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, request);
    kept += room[size - 1];
}

static APART void large(int tag, MPI_Request *request)
{
    volatile char room[100000];
    room[tag] = 1;
    MPI_Irecv(buffer, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, request);
    kept += room[tag];
}

static APART void branched(int tag, MPI_Request *request, int early)
{
    if (early)
        return;
    MPI_Recv_init(buffer, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, request);
    MPI_Start(request);
    kept++;
}

static APART void middle(MPI_Request *requests)
{
    plain(2, &requests[1]); /* tag 2 */
    kept++;
    varying(3, &requests[2], 4000 + kept); /* tag 3 */
    kept++;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Request requests[8];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    plain(1, &requests[0]); /* tag 1 */
    middle(requests);
    large(4, &requests[3]); /* tag 4 */
    branched(5, &requests[4], 1);
    branched(5, &requests[4], 0); /* tag 5 */
    told(rank);
    MPI_Recv(buffer, 1, MPI_INT, MPI_ANY_SOURCE, 31999, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return kept;
}
