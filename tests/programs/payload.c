/*
 * Messages whose contents can be told from everything else: every buffer of this program is full of the 16 bytes of a
 * word, which is given backwards as an argument: the library keeps arguments, in MPI_INFO_ENV. Every kind of message is
 * there: eager and rendezvous, received by nobody; matched by nobody; buffered; to oneself; short enough to lie beside
 * the library's own header. Two ranks.
 */
#include "common/truth.h"

#include <stdlib.h>
#include <string.h>

static char word[16];

static void *filled(size_t bytes)
{
    char *buffer = truth_buffer(bytes + 16);
    for (size_t at = 0; at < bytes; at++)
        buffer[at] = word[at % 16];
    return buffer;
}

int main(int argc, char **argv)
{
    truth_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (argc != 2 || truth_size != 2 || strlen(argv[1]) != 16)
        truth_fail("usage: payload SIXTEEN-BYTES, two ranks");
    for (int at = 0; at < 16; at++)
        word[at] = argv[1][15 - at];
    static const int sizes[] = {1, 8, 16, 100, 1000, 4000, 100000, 3000000};
    int peer = 1 - truth_rank, arrived;
    MPI_Request request;
    void *attached = truth_buffer(100000);
    MPI_Buffer_attach(attached, 100000);
    for (int i = 0; i < 8; i++) {
        MPI_Isend(filled(sizes[i]), sizes[i], MPI_CHAR, peer, i, MPI_COMM_WORLD, &request);
        MPI_Isend(filled(sizes[i]), sizes[i], MPI_CHAR, truth_rank, 100 + i, MPI_COMM_WORLD, &request);
        MPI_Irecv(filled(sizes[i]), sizes[i], MPI_CHAR, peer, 200 + i, MPI_COMM_WORLD, &request);
        MPI_Send_init(filled(sizes[i]), sizes[i], MPI_CHAR, peer, 300 + i, MPI_COMM_WORLD, &request);
    }
    MPI_Bsend(filled(1000), 1000, MPI_CHAR, peer, 400, MPI_COMM_WORLD);
    MPI_Isend(filled(8), 8, MPI_CHAR, peer, 500, MPI_COMM_WORLD, &request);
    for (arrived = 0; !arrived;)
        MPI_Iprobe(peer, 500, MPI_COMM_WORLD, &arrived, MPI_STATUS_IGNORE);
    MPI_Barrier(truth_control);
    truth_hang_paused();
}
