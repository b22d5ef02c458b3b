/* Writes what each rank has preloaded and what it reads, and ends as it is told: with a status, by a signal, or when a
 * signal comes.
 */
#include "common/diagnosed.h"
#include <signal.h>

static volatile sig_atomic_t came;

static void handler(int number)
{
    came = number;
}

int main(int argc, char **argv)
{
    int rank, status = argc > 2 ? atoi(argv[2]) : 0;
    const char *how = argc > 1 ? argv[1] : "status", *preloaded = getenv("LD_PRELOAD");
    char line[256] = "";
    signal(SIGUSR1, handler);
    signal(SIGTERM, handler);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    printf("preloaded %s\n", preloaded != NULL ? preloaded : "nothing");
    if (strcmp(how, "reads") == 0 && rank == 0 && fgets(line, sizeof line, stdin) != NULL)
        printf("read %s", line);
    fflush(stdout);
    if (strcmp(how, "waits") == 0) {
        while (came == 0)
            usleep(10000);
        printf("signal %d\n", (int)came);
        fflush(stdout);
    }
    if (strcmp(how, "signal") == 0 && rank == 0) {
        signal(status, SIG_DFL);
        raise(status);
    }
    MPI_Finalize();
    return status;
}
