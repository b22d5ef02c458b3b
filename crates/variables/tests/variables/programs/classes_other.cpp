// The other unit of the program of C++.
namespace far { namespace away { int beyond = 501; int counts[3] = { 1, 2, 3 }; } int near_by = 502; }
namespace { int hidden = 900; }
struct Declared { int first; virtual ~Declared() {} int second; };
static Declared object_of_declared;
Declared *declared = &object_of_declared;
int everywhere = 77;
struct Holds { static int held; static const int fixed = 31; };
int Holds::held = 30;
int *keep() { object_of_declared.first = 51; object_of_declared.second = 52; return &hidden; }
extern "C" {
volatile int sink;
__attribute__((noinline, noipa)) void stop_here() { sink = hidden; }
__attribute__((noinline, noipa)) void use(const void *pointer) { sink += *static_cast<const char *>(pointer); }
__attribute__((noinline, noipa)) int opaque(int number) { return number + (sink & 0); }
}
