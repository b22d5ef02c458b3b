/* See truth.h: hanging, and noticing that a blocked call waits quietly. */
#define _GNU_SOURCE
#include "told.h"
#include "truth_internal.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>

/* Progress calls that find nothing before a wait counts as quiet; the same in processor time, for libraries that do not let
 * us into their progress: they wait at full speed. */
enum { QUIET_CALLS = 20000, SLEEP_CHECKS = 50, TICK_MICROSECONDS = 20000, QUIET_TICKS = 15, THREAD_NANOSECONDS = 20000000 };

/* Whether all threads wait at full speed: over ob1 one of them looks after the messages of all, and the others sleep. */
static int own_speed;

static volatile int armed;
static unsigned quiet_calls, sleep_checks;
static int sleeping_threads[64], sleeping_count;

/* The text of /proc/self/task/THREAD/NAME; signal handlers may call this. */
static const char *about(int thread, const char *name, char text[256])
{
    char file[64];
    ssize_t length;
    snprintf(file, sizeof file, "/proc/self/task/%d/%s", thread, name);
    int descriptor = open(file, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return NULL;
    length = read(descriptor, text, 255);
    close(descriptor);
    text[length > 0 ? length : 0] = '\0';
    return text;
}

static int asleep(int thread)
{
    char text[256];
    const char *end = about(thread, "stat", text) ? strrchr(text, ')') : NULL;
    return end && end[1] == ' ' && end[2] == 'S';
}

/* Whether a thread has been waiting for a while at full speed. */
static int spinning(int thread)
{
    char text[256];
    return about(thread, "schedstat", text) && strtoull(text, NULL, 10) > THREAD_NANOSECONDS;
}

static int all_wait(int at_full_speed)
{
    int self = (int)syscall(SYS_gettid);
    for (int i = 0; i < sleeping_count; i++)
        if ((at_full_speed || sleeping_threads[i] != self) && !asleep(sleeping_threads[i]) &&
            !(at_full_speed && spinning(sleeping_threads[i])))
            return sleep_checks = 0;
    return ++sleep_checks >= SLEEP_CHECKS / (at_full_speed ? 5 : 1);
}

/* Runs inside Open MPI's progress function, which a blocked MPI call calls over and over. */
static int on_progress(void)
{
    if (!armed || ++quiet_calls < QUIET_CALLS)
        return 0;
    if (sleeping_count && (quiet_calls % 100 || !all_wait(own_speed)))
        return 0;
    armed = 0;
    truth_publish();
    return 0;
}

static void set_timer(int microseconds)
{
    struct itimerval timer = {{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_PROF, &timer, NULL);
}

/* Runs whenever the process has used so much processor time. */
static void on_tick(int number)
{
    (void)number;
    if (!armed || ++quiet_calls < QUIET_TICKS || (sleeping_count && !all_wait(1)))
        return;
    armed = 0;
    set_timer(0);
    truth_publish();
}

static void arm(void)
{
    __sync_synchronize();
    armed = 1;
    struct sigaction action;
    if (sigaction(SIGPROF, NULL, &action) == 0 && action.sa_handler == on_tick)
        set_timer(TICK_MICROSECONDS);
}

void truth_prepare_hang(void)
{
    /* opal/runtime/opal_progress.h, Open MPI 4.1 and 5.0: called in turn by every blocked call. */
    int (*register_progress)(int (*)(void)) = (int (*)(int (*)(void)))dlsym(RTLD_DEFAULT, "opal_progress_register");
    /* Blocking sends of the pml cm call the progress function of its mtl alone (ompi/mca/mtl/ofi/mtl_ofi.h, v4.1 and v5.0);
     * behind a wrapper it is named before that. */
    const char *pml = getenv("OMPI_MCA_pml");
    own_speed = !truth_limits_are_known();
    if (register_progress == NULL || (pml && strncmp(pml, "cm", 2) == 0)) {
        struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
        sigaction(SIGPROF, &action, NULL);
    } else if (register_progress(on_progress) != 0)
        truth_fail("opal_progress_register refuses");
}

void truth_hang_stopped(void)
{
    truth_write(NULL, 0);
    truth_publish();
    told_hang();
}

void truth_hang_paused(void)
{
    truth_write(NULL, 1);
    truth_publish();
    told_hang();
}

void truth_hang_in(const char *call)
{
    truth_write(call, 1);
    arm();
}

void truth_hang_threads_begin(const char *call)
{
    truth_write(call, 1);
}

void truth_hang_threads(const int *sleepers, int sleeper_count)
{
    for (int i = 0; i < sleeper_count; i++)
        sleeping_threads[sleeping_count++] = sleepers[i];
    arm();
}
