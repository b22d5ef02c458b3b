/* Each rank starts requests in another way, says which calls started those that it then waits for, and waits for ever:
 * nobody sends what they receive. A line `started INDEX FUNCTION LINE`; INDEX is that among the requests of the call.
 */
#include "common/told.h"

#include <mpi.h>

#define MOST 16
/* Says that the call in this line starts the request with this index. */
#define SAY(index, function) say(index, function, __LINE__)

static const char *functions[MOST];
static int lines[MOST];
static int data, sent[4096];

static void say(int index, const char *function, int line)
{
    functions[index] = function;
    lines[index] = line;
}

static void ready(void)
{
    for (int i = 0; i < MOST; i++)
        if (functions[i])
            printf("started %d %s %d\n", i, functions[i], lines[i]);
    told_ready();
}

static void scalar(void)
{
    MPI_Request request;
    SAY(0, "MPI_Irecv"), MPI_Irecv(&data, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
    ready();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The same variable for one request after the other. */
static void used_again(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int one = 1;
    MPI_Irecv(&data, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &request);
    MPI_Send(&one, 1, MPI_INT, 0, 7, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    SAY(0, "MPI_Irecv"), MPI_Irecv(&data, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
    ready();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void branches(int rank)
{
    MPI_Request request;
    if (rank % 2 == 1) {
        MPI_Irecv(&data, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        SAY(0, "MPI_Irecv"), MPI_Irecv(&data, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
        ready();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void elements(void)
{
    MPI_Request requests[3];
    SAY(2, "MPI_Irecv"), MPI_Irecv(&data, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &requests[2]);
    SAY(0, "MPI_Irecv"), MPI_Irecv(&data, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, &requests[0]);
    SAY(1, "MPI_Irecv"), MPI_Irecv(&data, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, requests + 1);
    ready();
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
}

/* Each element in a loop: of both calls the library knows which is which. */
static void loop(void)
{
    MPI_Request requests[8];
    for (int i = 0; i < 4; i++) {
        SAY(2 * i, "MPI_Irecv"), MPI_Irecv(&data, 1, MPI_INT, 0, 7 + i, MPI_COMM_WORLD, &requests[2 * i]);
        SAY(2 * i + 1, "MPI_Issend"), MPI_Issend(&sent[i], 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &requests[2 * i + 1]);
    }
    ready();
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

/* Two calls that the library cannot tell apart but by their tags. */
static void tags(void)
{
    MPI_Request requests[2];
    int next = 0;
    SAY(0, "MPI_Irecv"), MPI_Irecv(&data, 1, MPI_INT, 0, 21, MPI_COMM_WORLD, &requests[next++]);
    SAY(1, "MPI_Irecv"), MPI_Irecv(&data, 1, MPI_INT, 0, 22, MPI_COMM_WORLD, &requests[next++]);
    ready();
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

struct halo {
    MPI_Request requests[2];
};

static void members(void)
{
    struct halo *halo = malloc(sizeof *halo);
    SAY(0, "MPI_Irecv"), MPI_Irecv(&data, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &halo->requests[0]);
    SAY(1, "MPI_Irecv"), MPI_Irecv(&data, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, &halo->requests[1]);
    ready();
    MPI_Waitall(2, halo->requests, MPI_STATUSES_IGNORE);
}

static void start(MPI_Request *request)
{
    SAY(0, "MPI_Irecv"), MPI_Irecv(&data, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, request);
}

/* Who started it is on no stack any more, and another call that it might be is not it. */
static void helper(int rank)
{
    MPI_Request request, other;
    start(&request);
    if (rank < 0)
        MPI_Irecv(&data, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &other);
    ready();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void finish(MPI_Request *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void waits_elsewhere(void)
{
    MPI_Request other, request;
    SAY(0, "MPI_Irecv"), MPI_Irecv(&data, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
    MPI_Irecv(&data, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, &other);
    ready();
    finish(&request);
}

static MPI_Request of_all;

static void global(void)
{
    SAY(0, "MPI_Irecv"), MPI_Irecv(&data, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &of_all);
    ready();
    MPI_Wait(&of_all, MPI_STATUS_IGNORE);
}

static void persistent(void)
{
    MPI_Request request;
    SAY(0, "MPI_Recv_init"), MPI_Recv_init(&data, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    ready();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void pointer(void)
{
    MPI_Request request;
    MPI_Request *to = &request;
    SAY(0, "MPI_Irecv"), MPI_Irecv(&data, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, to);
    ready();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void collectives(void)
{
    MPI_Request sum, barrier;
    SAY(0, "MPI_Iallreduce"), MPI_Iallreduce(&data, sent, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &sum);
    MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    ready();
    MPI_Wait(&sum, MPI_STATUS_IGNORE);
}

/* One of two branches, and nothing tells which was taken. */
static void either(int rank)
{
    MPI_Request request;
    if (rank > 5)
        SAY(0, "MPI_Irecv"), MPI_Irecv(&data, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
    else
        MPI_Irecv(&data, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
    ready();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Not waited for: the thread is in another call. */
static void unwaited(void)
{
    MPI_Request request;
    SAY(0, "MPI_Irecv"), MPI_Irecv(&data, 1, MPI_INT, 0, 17, MPI_COMM_WORLD, &request);
    ready();
    MPI_Recv(&data, 1, MPI_INT, 0, 18, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    switch (rank) {
    case 0: ready(); pause(); break;
    case 1: scalar(); break;
    case 2: used_again(); break;
    case 3: elements(); break;
    case 4: loop(); break;
    case 5: tags(); break;
    case 6: members(); break;
    case 7: helper(rank); break;
    case 8: waits_elsewhere(); break;
    case 9: global(); break;
    case 10: persistent(); break;
    case 11: pointer(); break;
    case 12: collectives(); break;
    case 13: either(rank); break;
    case 14: branches(rank); break;
    default: unwaited(); break;
    }
    MPI_Finalize();
    return 0;
}
