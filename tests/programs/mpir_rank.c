/* A process that plays a rank for mpir_starter.c: it waits to be released, says so, and ends when it is told to.
 *
 * Arguments: RANK DIRECTORY. It writes DIRECTORY/released.RANK once it runs on, and ends with status 0 when there is a
 * DIRECTORY/finish. Compiled with -DGATE it waits for MPIR_debug_gate, with -DPRE_MAIN before its main; without these
 * for DIRECTORY/go, as ranks do whose launcher has a barrier of its own (MPIR_partial_attach_ok). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifdef GATE
volatile int MPIR_debug_gate = 0;
#endif
#ifdef IGNORE_IN_RANK
int MPIR_Ignore_queues = 0;
#endif

static const char *directory;
int rank_of_mine;

static int there(const char *name) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  return access(path, F_OK) == 0;
}

static void nap(void) { usleep(5000); }

static void wait_for_release(void) {
#ifdef GATE
  while (!MPIR_debug_gate) nap();
#else
  while (!there("go")) nap();
#endif
}

static void start(int argc, char **argv) {
  if (argc != 3) exit(2);
  /* Nothing is left where the starter is killed. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  rank_of_mine = atoi(argv[1]);
  directory = argv[2];
}

#ifdef PRE_MAIN
__attribute__((constructor)) static void before_main(int argc, char **argv) {
  start(argc, argv);
  wait_for_release();
}
#endif

int main(int argc, char **argv) {
#ifndef PRE_MAIN
  start(argc, argv);
  wait_for_release();
#else
  (void)argc, (void)argv;
#endif
  char path[512];
  snprintf(path, sizeof path, "%s/released.%d", directory, rank_of_mine);
  FILE *file = fopen(path, "w");
  if (file == NULL) return 3;
  fclose(file);
  while (!there("finish")) nap();
  return 0;
}
