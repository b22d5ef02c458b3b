#include <unistd.h>
#include <stdlib.h>
#include <pthread.h>
#include <semaphore.h>
#define NI __attribute__((noinline,noclone))
volatile int v;
NI int stop_here(int x) { v = x; pause(); return v; }
/* unique */
NI int u3(int x) { v++; return stop_here(x + 1); }
NI int u2(int x) { v++; return u3(x + 1); }
NI int u1(int x) { v++; return u2(x + 1); }
/* ambiguous in the middle */
NI int a4(int x) { v++; return stop_here(x + 3); }
NI int a3a(int x) { v += 2; return a4(x + 1); }
NI int a3b(int x) { v += 3; return a4(x + 2); }
NI int a2(int x) { v++; if (x & 1) return a3a(x); return a3b(x); }
NI int a1(int x) { v++; return a2(x + 2); }
/* no common part */
NI int n2a(int x) { v += 5; return stop_here(x + 1); }
NI int n2b(int x) { v += 6; return stop_here(x + 2); }
NI int n1(int x) { v++; if (x & 2) return n2a(x); return n2b(x); }
NI int n0(int x) { if (x & 4) return n2a(x); return n2b(x); }
/* recursive */
NI int r1(int x);
NI int r2(int x) { v += 7; if (x > 100) return r1(x - 90); return stop_here(x); }
NI int r1(int x) { v += 8; return r2(x + 1); }
/* pointer */
int (*volatile pointer)(int) = stop_here;
NI int p2(int x) { v += 9; return pointer(x); }
NI int p1(int x) { v += 10; return p2(x); }
/* pointer somewhere beside */
NI int q2(int x) { v += 9; if (x > 4) return pointer(x); return stop_here(x); }
/* in inlined functions */
static inline __attribute__((always_inline)) int in2(int x) { v += 11;
  return u3(x + 4); }
static inline __attribute__((always_inline)) int in1(int x) { v += 12;
  return in2(x + 5); }
NI int i1(int x) { v += 13;
  return in1(x); }
static inline __attribute__((always_inline)) int called(int x) { int y = i1(x); v += y; return y; }
/* suffix of another */
NI int s2(int x) { v += 14; return stop_here(x); }
NI int s1(int x) { v += 15; if (x > 3) return stop_here(x + 1); return s2(x); }
NI int s0(int x) { v += 16; if (x < 3) return s2(x + 1); return s1(x); }
/* cold part */
extern void exit(int);
NI int c1(int x) { if (__builtin_expect(x > 1000, 0)) { v += 3; exit(x); } v += 20; return stop_here(x); }
NI int self(int x) { v += 1; if (x > 5000) return self(x / 2); return stop_here(x); }
NI int lib(int x) { v += 17; return usleep(1000000u * x); }
int main(int argc, char **argv) {
  int which = atoi(argv[1]), r = 0;
  switch (which) {
  case 0: r = u1(argc); v += r; break;
  case 1: r = a1(argc); v += r; break;
  case 2: r = n1(argc); v += r; break;
  case 3: r = n0(argc); v += r; break;
  case 4: r = r1(argc); v += r; break;
  case 5: r = p1(argc); v += r; break;
  case 6: r = q2(argc); v += r; break;
  case 7: r = called(argc); v += r; break;
  case 8: r = s0(argc); v += r; break;
  case 9: r = c1(argc); v += r; break;
  case 10: r = self(argc); v += r; break;
  case 11: r = stop_here(argc); v += r; break;
  case 12: r = lib(100); v += r; break;
  }
  return r;
}
