/*
 * What Slurm's srun is to a debugger: a launcher with MPIR's symbols, whose ranks are not below it. Arguments: the number of
 * ranks, and their program with its arguments. They end with this, and this with the process that started it.
 */
#include "common/told.h"

#include <signal.h>
#include <sys/prctl.h>

struct MPIR_PROCDESC {
    char *host_name;
    char *executable_name;
    int pid;
};
struct MPIR_PROCDESC *MPIR_proctable;
int MPIR_proctable_size, MPIR_debug_state, MPIR_being_debugged;

int main(int argc, char **argv)
{
    static char host[256];
    int count = argc > 2 ? atoi(argv[1]) : 0, ends[2], told[2], rank, daemon;
    struct MPIR_PROCDESC *table;
    char word;
    alarm(LIFE_SECONDS);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (count < 1 || pipe(ends) != 0 || pipe(told) != 0 || gethostname(host, sizeof host - 1) != 0)
        return 2;
    table = calloc(count + 1, sizeof *table);
    /* slurmstepd: its parent ends, so that it is not below srun. */
    if (fork() == 0) {
        if (fork() != 0)
            _exit(0);
        prctl(PR_SET_NAME, "slurmstepd");
        close(ends[1]);
        for (rank = 0; rank < count; rank++) {
            int pid = fork();
            if (pid == 0) {
                char text[32];
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                snprintf(text, sizeof text, "%d", rank);
                setenv("SLURM_PROCID", text, 1);
                setenv("SLURM_STEP_NUM_TASKS", argv[1], 1);
                setenv("SLURM_JOB_ID", "77", 1);
                setenv("SLURM_STEP_ID", "0", 1);
                execv(argv[2], argv + 2);
                _exit(127);
            }
            if (write(told[1], &pid, sizeof pid) != sizeof pid)
                _exit(3);
        }
        /* Until srun is gone. */
        if (read(ends[0], &word, 1) <= 0)
            _exit(0);
        _exit(0);
    }
    for (daemon = 0; daemon < count; daemon++) {
        if (read(told[0], &table[daemon].pid, sizeof table[daemon].pid) != sizeof table[daemon].pid)
            return 4;
        table[daemon].host_name = host;
        table[daemon].executable_name = argv[2];
    }
    MPIR_proctable = table;
    MPIR_proctable_size = count;
    MPIR_debug_state = 1;
    told_ready();
    told_hang();
}
