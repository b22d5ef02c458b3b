/* How a plug-in behaves: -DVARIANT='"name"', by default "good".
 *
 * The name stands in the library's data behind `variant=`, and is read from there: tests compile a plug-in once and write
 * other names into copies of it.
 */
#ifndef VARIANT_H
#define VARIANT_H

#include <string.h>

#ifndef VARIANT
#define VARIANT "good"
#endif

char variant_in_file[128] = "variant=" VARIANT;

#define CHOSEN (variant_in_file + sizeof "variant=" - 1)
#define IS(name) (strcmp(CHOSEN, name) == 0)

#endif
