#include "files.c"
