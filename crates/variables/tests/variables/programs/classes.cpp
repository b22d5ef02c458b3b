// Variables and types of C++.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#define NOINLINE __attribute__((noinline))
extern "C" { void stop_here(); void use(const void *); int opaque(int); }
int *keep();

namespace far { namespace away { extern int beyond; extern int counts[3]; } extern int near_by; }
namespace { int hidden = 800; enum Local { LOCAL = 6 }; }
struct Declared;
extern Declared *declared;
extern int everywhere;
struct Holds { static int held; static const int fixed = 31; };

namespace space {
int number = 601;
static int own = 602;
constexpr int constant = 603;
enum class Kind : unsigned char { One = 1, Two = 200 };
enum Plain { PLAIN = 604, NEGATIVE = -1 };
inline namespace v1 { int versioned = 605; }
namespace inner { int number = 606; int other = 607; struct Thing { int a; enum { IN_THING = 8 }; }; Thing thing { 3 }; }
namespace alias = inner;
using far::near_by;
typedef unsigned short tag_t;
using Size = std::size_t;

struct Base {
    int base_number = 10;
    int both = 11;
    static int shared;
    static constexpr int limit = 99;
    virtual ~Base() {}
};
int Base::shared = 12;
struct Other { long other_number = 20; char letter = 'x'; };
struct Virtual { int virtual_number = 70; virtual ~Virtual() {} };
struct Left : virtual Virtual { int left = 71; };
struct Right : virtual Virtual { int right = 72; };
struct Diamond : Left, Right { int bottom = 73; };

template <typename T, int N> struct Box { T content[N]; T &first; Box() : first(content[0]) { for (int i = 0; i < N; i++) content[i] = T(i + N); } };

class Derived : public Base, public Other {
public:
    Derived(int &reference, const std::string &text) : reference(reference), text(text) {}
    int run(int times, const std::vector<int> &values, Base *&&moved);
    int both = 30;
    int &reference;
    const std::string &text;
    unsigned bits : 4 = 9;
    Kind kind = Kind::Two;
    int Derived::*pointer = &Derived::both;
    std::vector<double> weights = { 1.0, 2.0, 3.0 };
    struct Nested { int deep = 55; } nested;
    enum { INSIDE = 44 };
    int table[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
    std::array<int, 4> fixed { { 5, 6, 7, 8 } };
    std::unique_ptr<int> owned { new int(91) };
    using Row = int[3];
};

NOINLINE int leaf(const Derived *of, const int &by, Diamond &diamond, int &&gone, const char *const &text)
{
    static int counter = 1;
    counter += opaque(1);
    tag_t tag = 7;
    Size size = 8;
    Derived::Row row = { 1, 2, 3 };
    use(&tag);
    use(&size);
    use(row);
    use(&of->kind);
    int enumerated = opaque(Derived::INSIDE) + inner::Thing::IN_THING;
    use(&enumerated);
    int local = by + 1;
    use(&local);
    use(text);
    stop_here();
    return local + of->both + diamond.bottom + counter + gone;
}

template <typename T> struct Outer {
    T value;
    static T shared;
    template <int N> NOINLINE T call(const Derived *of, Diamond &diamond)
    {
        T scaled = value * N;
        use(&scaled);
        shared += opaque(0);
        return leaf(of, scaled, diamond, opaque(3), of->text.empty() ? "empty" : "full");
    }
};
template <typename T> T Outer<T>::shared = 88;

int Derived::run(int times, const std::vector<int> &values, Base *&&moved)
{
    static int runs = 5;
    int number = times + 1;
    Diamond diamond;
    diamond.bottom = opaque(730);
    int *by_pointer = &number;
    auto [first, second] = std::array<int, 2> { { opaque(15), 16 } };
    auto inner = [this, &number, times, &diamond, copy = values[1]](int given) {
        int within = given + copy + times + number;
        use(&within);
        Outer<int> outer { within };
        int result = outer.call<2>(this, diamond);
        use(&within);
        use(&outer);
        return result + both;
    };
    use(&diamond);
    use(&by_pointer);
    runs += opaque(1);
    int result = inner(5);
    use(&moved);
    use(&first);
    return result + number + second + runs;
}

static NOINLINE int hides(int number, Derived &derived)
{
    using namespace inner;
    using inner::other;
    Base *base = &derived;
    Other &as_other = derived;
    Box<short, 4> box;
    Box<short, 4> *boxed = &box;
    use(boxed);
    std::vector<int> values = { number, number + 1, number + 2 };
    const auto &alias_of_values = values;
    use(&values);
    use(&as_other);
    int result = derived.run(values[2], alias_of_values, static_cast<Base *>(base));
    use(&box);
    return result + thing.a + other + hidden + alias::thing.a;
}
}

using namespace far;

// As the bindings for C++ have it.
struct ompi_communicator_t;
typedef ompi_communicator_t *MPI_Comm;
namespace MPI {
class Comm {
public:
    virtual ~Comm() {}
    MPI_Comm mpi_comm = reinterpret_cast<MPI_Comm>(0x1234);
};
class Intracomm : public Comm {};
struct Other { int number; };
}

int main(int argc, char **)
{
    int referred = 123 + argc;
    std::string text = "some text that is long enough to be elsewhere";
    space::Derived derived(referred, text);
    struct Local { int member; } local { 4 };
    use(&local);
    use(&derived);
    use(keep());
    MPI::Intracomm world;
    MPI::Other no_handle { 3 };
    use(&world);
    use(&no_handle);
    auto direct = [&](int n) { use(&n); return space::hides(n + local.member, derived); };
    int result = direct(opaque(6));
    use(&derived);
    use(&world);
    use(&no_handle);
    return result == LOCAL + static_cast<int>(space::Kind::Two) + space::PLAIN + Holds::held + space::Base::limit + space::v1::versioned
        + away::beyond + near_by + (declared == nullptr) + space::own + space::constant + everywhere;
}
