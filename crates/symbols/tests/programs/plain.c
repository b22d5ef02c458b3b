/* Functions of C as compilers make them: static, inlined, renamed, with aliases, folded, cold, and by assembly. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plain.h"

typedef int (*step)(int);

int exported(int n) __asm__("other_name");
int exported(int n) { return n * 7 + 1; }

int first_alias(int) __attribute__((alias("other_name")));
int zz_alias(int) __attribute__((alias("other_name")));
int weak_alias(int) __attribute__((weak, alias("other_name")));

static inline __attribute__((always_inline)) int innermost(int n)
{
    if (n == 12)
        abort();
    return n ^ 3;
}

static inline __attribute__((always_inline)) int middle(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += innermost(i);
    return sum + innermost(n);
}

static __attribute__((noinline)) int not_inlined(int n)
{
    return middle(n) + in_header(n);
}

__attribute__((cold, noinline)) static void complain(const char *what)
{
    fprintf(stderr, "%s\n", what);
}

static int resolved(int n) { return n + 40; }
static step choose(void) { return resolved; }
int chosen(int) __attribute__((ifunc("choose")));

__asm__(".text\n.globl without_size\n.type without_size,@function\nwithout_size:\n mov %edi,%eax\n add $1,%eax\n ret\n"
        ".globl bare_label\nbare_label:\n xor %eax,%eax\n ret\n nop\n nop\n nop\n"
        ".type short_size,@function\nshort_size:\n xor %eax,%eax\n nop\n.size short_size,.-short_size\n nop\n ret\n nop\n nop\n"
        ".type around,@function\naround:\n nop\n nop\n.type within,@function\nwithin:\n nop\n.size within,.-within\n nop\n nop\n"
        "ret\n.size around,.-around\n");
int without_size(int);

int outer_with_nested(int n)
{
    int inner(int m) { return m * n; }
    return inner(n) + inner(n + 1);
}

int main(int argc, char **argv)
{
    int n = argc * 3;
    if (strlen(argv[0]) > 500) {
        complain("long");
        return 1;
    }
    for (int i = 0; i < argc; i++) {
        int inside = not_inlined(i);
        n += inside + exported(i) + chosen(i) + first_alias(n) + without_size(n) + outer_with_nested(n);
    }
#line 500 "made/up.y"
    printf("%d %s\n", n, getenv("HOME") ? "home" : "none");
#line 70 "plain.c"
    return n == 5;
}
