/* A process that has nothing to do with MPI: prints "ready" and waits. */
#include "common/told.h"

int main(void)
{
    told_ready();
    told_hang();
}
