/* Runs a script for each rank, so that tests can make any program, and writes down where each rank is.
 *
 *     scripted DIRECTORY SCRIPT-OF-RANK-0 SCRIPT-OF-RANK-1 ...
 *
 * A script has steps between spaces, a step its name and numbers between commas: `send,0,1,17,64`. Communicators are 0
 * MPI_COMM_WORLD, 1 its duplicate, 2 one of the halves of even and odd ranks, 3 the world in reversed order; peers are
 * ranks in these, -1 any, -2 none; requests are places in a table. DIRECTORY/RANK has a line for each call of MPI that
 * was begun but MPI_Start: its place in the script, the function, its line in this file. */
#include <mpi.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { COMMS = 4, REQUESTS = 16, NUMBERS = 12, LARGE = 1 << 20, PAUSE = 2000 };

static MPI_Comm comms[COMMS];
static MPI_Request requests[REQUESTS];
static char *outbox, *inbox[REQUESTS + 1];
static int numbers[NUMBERS], given, place, notes;

/* Takes a step apart; its name is what comes before the first comma. */
static const char *parse(char *step)
{
    char *part = strtok(step, ",");
    given = 0;
    for (char *number = strtok(NULL, ","); number != NULL && given < NUMBERS; number = strtok(NULL, ","))
        numbers[given++] = atoi(number);
    for (int i = given; i < NUMBERS; i++)
        numbers[i] = 0;
    return part;
}

static void note(const char *function, int line)
{
    char text[128];
    int length = snprintf(text, sizeof text, "%d %s %d\n", place, function, line);
    if (write(notes, text, (size_t)length) != length)
        abort();
}

/* What a rank does outside MPI. */
static void compute(double seconds)
{
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((double)(now.tv_sec - start.tv_sec) + 1e-9 * (double)(now.tv_nsec - start.tv_nsec) < seconds);
}

static void prepare(const char *directory)
{
    int rank, size;
    char name[4096];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(name, sizeof name, "%s/%d", directory, rank);
    notes = open(name, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (notes < 0)
        abort();
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[2]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &comms[3]);
    MPI_Comm_set_name(comms[1], "copy");
    MPI_Comm_set_name(comms[2], "half");
    MPI_Comm_set_name(comms[3], "reversed");
    for (int i = 0; i < REQUESTS; i++)
        requests[i] = MPI_REQUEST_NULL;
    outbox = calloc(1, LARGE);
    for (int i = 0; i <= REQUESTS; i++)
        inbox[i] = malloc(LARGE);
    int room = 64 * (64 + MPI_BSEND_OVERHEAD);
    MPI_Buffer_attach(malloc((size_t)room), room);
}

static int peer_of(int number)
{
    return number == -1 ? MPI_ANY_SOURCE : number == -2 ? MPI_PROC_NULL : number;
}

static int tag_of(int number)
{
    return number == -1 ? MPI_ANY_TAG : number;
}

/* The line of what follows on the next one, and its name. */
#define AT(function) note(function, __LINE__ + 1)
#define IS(word) (strcmp(name, word) == 0)

/* A step: send and receive have communicator, peer, tag, bytes, and with a request its place behind these; a non-blocking
 * collective has communicator and request, and where it has a root this. */
static void run(const char *name)
{
    MPI_Comm comm = comms[numbers[0] >= 0 && numbers[0] < COMMS ? numbers[0] : 0];
    int peer = peer_of(numbers[1]), tag = tag_of(numbers[2]), bytes = numbers[3], root = numbers[1], own = numbers[4];
    int from = peer_of(numbers[4]), other = tag_of(numbers[5]), flag = 0, index, value = 1;
    char *into = inbox[REQUESTS], many[64] = "", all[256];
    MPI_Request chosen[NUMBERS];
    MPI_Message message;

    if (IS("send")) {
        AT("MPI_Send");
        MPI_Send(outbox, bytes, MPI_BYTE, peer, tag, comm);
    } else if (IS("ssend")) {
        AT("MPI_Ssend");
        MPI_Ssend(outbox, bytes, MPI_BYTE, peer, tag, comm);
    } else if (IS("bsend")) {
        AT("MPI_Bsend");
        MPI_Bsend(outbox, bytes, MPI_BYTE, peer, tag, comm);
    } else if (IS("recv")) {
        AT("MPI_Recv");
        MPI_Recv(into, LARGE, MPI_BYTE, peer, tag, comm, MPI_STATUS_IGNORE);
    } else if (IS("sendrecv")) {
        AT("MPI_Sendrecv");
        MPI_Sendrecv(outbox, bytes, MPI_BYTE, peer, tag, into, LARGE, MPI_BYTE, from, other, comm, MPI_STATUS_IGNORE);
    } else if (IS("replace")) {
        AT("MPI_Sendrecv_replace");
        MPI_Sendrecv_replace(into, bytes, MPI_BYTE, peer, tag, from, other, comm, MPI_STATUS_IGNORE);
    } else if (IS("probe")) {
        AT("MPI_Probe");
        MPI_Probe(peer, tag, comm, MPI_STATUS_IGNORE);
    } else if (IS("mprobe")) {
        AT("MPI_Mprobe");
        MPI_Mprobe(peer, tag, comm, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(into, LARGE, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    } else if (IS("iprobe")) {
        AT("MPI_Iprobe");
        MPI_Iprobe(peer, tag, comm, &flag, MPI_STATUS_IGNORE);
    } else if (IS("isend")) {
        AT("MPI_Isend");
        MPI_Isend(outbox, bytes, MPI_BYTE, peer, tag, comm, &requests[own]);
    } else if (IS("issend")) {
        AT("MPI_Issend");
        MPI_Issend(outbox, bytes, MPI_BYTE, peer, tag, comm, &requests[own]);
    } else if (IS("irecv")) {
        AT("MPI_Irecv");
        MPI_Irecv(inbox[own], LARGE, MPI_BYTE, peer, tag, comm, &requests[own]);
    } else if (IS("psend")) {
        AT("MPI_Send_init");
        MPI_Send_init(outbox, bytes, MPI_BYTE, peer, tag, comm, &requests[own]);
    } else if (IS("precv")) {
        AT("MPI_Recv_init");
        MPI_Recv_init(inbox[own], LARGE, MPI_BYTE, peer, tag, comm, &requests[own]);
    } else if (IS("start")) {
        MPI_Start(&requests[numbers[0]]);
    } else if (IS("ibarrier")) {
        AT("MPI_Ibarrier");
        MPI_Ibarrier(comm, &requests[numbers[1]]);
    } else if (IS("iallreduce")) {
        AT("MPI_Iallreduce");
        MPI_Iallreduce(outbox, inbox[numbers[1]], 1, MPI_INT, MPI_SUM, comm, &requests[numbers[1]]);
    } else if (IS("iallgather")) {
        AT("MPI_Iallgather");
        MPI_Iallgather(outbox, 1, MPI_INT, inbox[numbers[1]], 1, MPI_INT, comm, &requests[numbers[1]]);
    } else if (IS("ialltoall")) {
        AT("MPI_Ialltoall");
        MPI_Ialltoall(outbox, 1, MPI_INT, inbox[numbers[1]], 1, MPI_INT, comm, &requests[numbers[1]]);
    } else if (IS("ibcast")) {
        AT("MPI_Ibcast");
        MPI_Ibcast(inbox[numbers[1]], 1, MPI_INT, numbers[2], comm, &requests[numbers[1]]);
    } else if (IS("iscatter")) {
        AT("MPI_Iscatter");
        MPI_Iscatter(outbox, 1, MPI_INT, inbox[numbers[1]], 1, MPI_INT, numbers[2], comm, &requests[numbers[1]]);
    } else if (IS("ireduce")) {
        AT("MPI_Ireduce");
        MPI_Ireduce(outbox, inbox[numbers[1]], 1, MPI_INT, MPI_SUM, numbers[2], comm, &requests[numbers[1]]);
    } else if (IS("igather")) {
        AT("MPI_Igather");
        MPI_Igather(outbox, 1, MPI_INT, inbox[numbers[1]], 1, MPI_INT, numbers[2], comm, &requests[numbers[1]]);
    } else if (IS("wait")) {
        AT("MPI_Wait");
        MPI_Wait(&requests[numbers[0]], MPI_STATUS_IGNORE);
    } else if (IS("test")) {
        AT("MPI_Test");
        MPI_Test(&requests[numbers[0]], &flag, MPI_STATUS_IGNORE);
    } else if (IS("poll")) {
        AT("MPI_Test");
        while (!flag) MPI_Test(&requests[numbers[0]], &flag, MPI_STATUS_IGNORE);
    } else if (IS("until")) {
        AT("MPI_Iprobe");
        while (!flag) MPI_Iprobe(peer, tag, comm, &flag, MPI_STATUS_IGNORE);
    } else if (IS("waitall") || IS("waitany") || IS("waitsome")) {
        for (int i = 0; i < given; i++)
            chosen[i] = requests[numbers[i]];
        if (IS("waitall")) {
            AT("MPI_Waitall");
            MPI_Waitall(given, chosen, MPI_STATUSES_IGNORE);
        } else if (IS("waitany")) {
            AT("MPI_Waitany");
            MPI_Waitany(given, chosen, &index, MPI_STATUS_IGNORE);
        } else {
            int done, indices[NUMBERS];
            AT("MPI_Waitsome");
            MPI_Waitsome(given, chosen, &done, indices, MPI_STATUSES_IGNORE);
        }
        for (int i = 0; i < given; i++)
            requests[numbers[i]] = chosen[i];
    } else if (IS("barrier")) {
        AT("MPI_Barrier");
        MPI_Barrier(comm);
    } else if (IS("allreduce")) {
        AT("MPI_Allreduce");
        MPI_Allreduce(&value, &index, 1, MPI_INT, MPI_SUM, comm);
    } else if (IS("allgather")) {
        AT("MPI_Allgather");
        MPI_Allgather(&value, 1, MPI_INT, all, 1, MPI_INT, comm);
    } else if (IS("alltoall")) {
        AT("MPI_Alltoall");
        MPI_Alltoall(many, 1, MPI_INT, all, 1, MPI_INT, comm);
    } else if (IS("dup")) {
        MPI_Comm copy;
        AT("MPI_Comm_dup");
        MPI_Comm_dup(comm, &copy);
    } else if (IS("scan")) {
        AT("MPI_Scan");
        MPI_Scan(&value, &index, 1, MPI_INT, MPI_SUM, comm);
    } else if (IS("bcast")) {
        AT("MPI_Bcast");
        MPI_Bcast(&value, 1, MPI_INT, root, comm);
    } else if (IS("scatter")) {
        AT("MPI_Scatter");
        MPI_Scatter(many, 1, MPI_INT, all, 1, MPI_INT, root, comm);
    } else if (IS("reduce")) {
        AT("MPI_Reduce");
        MPI_Reduce(&value, &index, 1, MPI_INT, MPI_SUM, root, comm);
    } else if (IS("gather")) {
        AT("MPI_Gather");
        MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, root, comm);
    } else if (IS("pause")) {
        usleep(PAUSE);
    } else if (IS("sleep")) {
        AT("sleep");
        sleep((unsigned)numbers[0]);
    } else if (IS("compute")) {
        AT("compute");
        compute(numbers[0]);
    } else {
        fprintf(stderr, "scripted: no step has the name %s\n", name);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    alarm(600);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 2 + size) {
        fprintf(stderr, "usage: %s DIRECTORY SCRIPT ...: one for each rank\n", argv[0]);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    prepare(argv[1]);
    puts("ready");
    fflush(stdout);
    int again;
    do {
        char *script = strdup(argv[2 + rank]), *rest = script;
        again = 0;
        place = 0;
        for (char *step = strtok_r(rest, " ", &rest); step != NULL; step = strtok_r(NULL, " ", &rest), place++) {
            const char *name = parse(step);
            again = IS("again");
            if (!again)
                run(name);
        }
        free(script);
    } while (again);
    AT("MPI_Finalize");
    MPI_Finalize();
    return 0;
}
