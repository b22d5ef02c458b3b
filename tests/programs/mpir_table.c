/* A launcher of three processes that do nothing, with MPIR_proctable and no MPI. It prints its ranks' process ids.
 *
 * WIDE: an MPIR_PROCDESC of its own, in another order, with a wider pid and a field that no document has. */

#include "common/told.h"

#include <signal.h>
#include <sys/prctl.h>

#define RANKS 3

typedef struct {
#ifdef WIDE
    long pid;
    int cnode;
    char *executable_name;
    char *host_name;
#else
    char *host_name;
    char *executable_name;
    int pid;
#endif
} MPIR_PROCDESC;

MPIR_PROCDESC *MPIR_proctable;
int MPIR_proctable_size;
volatile int MPIR_debug_state;
volatile int MPIR_being_debugged;
int MPIR_i_am_starter;
int MPIR_ignore_queue;
char MPIR_server_arguments[64] = "-x\0a b\0";

int main(void)
{
    pid_t launcher = getpid();
    MPIR_proctable = calloc(RANKS, sizeof *MPIR_proctable);
    for (int rank = 0; rank < RANKS; rank++) {
        pid_t child = fork();
        if (child < 0)
            return 1;
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            while (getppid() == launcher)
                pause();
            return 0;
        }
        MPIR_proctable[rank].host_name = rank < 2 ? "here.example" : "there.example";
        MPIR_proctable[rank].executable_name = "./solver";
        MPIR_proctable[rank].pid = child;
        printf("%d ", (int) child);
    }
    MPIR_proctable_size = RANKS;
    MPIR_debug_state = 1;
    printf("\n");
    fflush(stdout);
    told_hang();
}
