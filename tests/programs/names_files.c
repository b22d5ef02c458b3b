/* A program of no MPI that names a file of its choice as a library of its own in its link map, and waits.
 *
 * names_files FILE [COMMAND...]: also starts a command, as launchers do.
 */
#include "common/told.h"

#include <link.h>

extern struct r_debug _r_debug;

int main(int count, char **arguments)
{
    if (count < 2)
        return 2;
    /* The first entry is the program itself. */
    for (struct link_map *map = _r_debug.r_map->l_next; map != NULL; map = map->l_next)
        map->l_name = arguments[1];
    if (count > 2 && fork() == 0) {
        execvp(arguments[2], arguments + 2);
        _exit(127);
    }
    told_ready();
    told_hang();
}
