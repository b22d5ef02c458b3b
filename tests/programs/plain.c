/* A process that has nothing to do with MPI: prints "ready" and waits. */
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    alarm(1800);
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}
