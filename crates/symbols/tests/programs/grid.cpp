// Functions of C++ as compilers make them.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

namespace grid {

enum class Color { red, green };

template <typename T, int N = 3> class Halo {
public:
    explicit Halo(T seed) : seed_(seed) {}
    virtual ~Halo() { std::puts("gone"); }
    __attribute__((noinline)) T exchange(T other) const { return seed_ * other + N; }
    template <typename U> __attribute__((noinline)) U convert(U by) { return static_cast<U>(seed_) + by; }
    __attribute__((noinline)) T operator()(T a, T b) { return a * b + seed_; }
    bool operator<(const Halo &other) const { return seed_ < other.seed_; }
    operator long() const { return static_cast<long>(seed_) + 1; }
    static __attribute__((noinline)) int count(const char *text) { return text ? N : 0; }
    struct Inner {
        __attribute__((noinline)) int work(int n) { return n + N; }
    };

private:
    T seed_;
};

template <Color C> __attribute__((noinline)) int painted(int n) { return n + static_cast<int>(C); }
template <unsigned N, bool B, char X, long L> __attribute__((noinline)) int numbered(int n) { return B ? n + N + X + L : n; }
template <int (*F)(int)> __attribute__((noinline)) int through(int n) { return F(n) + 1; }
template <typename... Ts> __attribute__((noinline)) int many(Ts... values) { return (0 + ... + static_cast<int>(values)); }

namespace {
__attribute__((noinline)) int hidden(int n) { return n * 11; }
struct Private {
    __attribute__((noinline)) int member(int n) { return n + hidden(n); }
};
template <typename T> __attribute__((noinline)) T hidden_template(T n) { return n * 13; }
} // namespace

inline namespace v2 {
__attribute__((noinline)) int versioned(int n) { return n - 2; }
} // namespace v2

static __attribute__((noinline)) int file_static(int n) { return n / 3; }
static inline __attribute__((always_inline)) int inlined_leaf(int n)
{
    return n > 4 ? hidden(n) : n;
}
struct Solver {
    std::vector<int> data;
    inline __attribute__((always_inline)) int inlined_member(int n) { return inlined_leaf(n) + static_cast<int>(data.size()); }
    int run(int n);
};

int Solver::run(int n)
{
    struct Local {
        __attribute__((noinline)) int twice(int m) { return m * 2; }
    } local;
    auto add = [&](int m) __attribute__((noinline)) { return m + n + local.twice(m); };
    auto generic = [](auto m) __attribute__((noinline)) { return m * 3; };
    auto nested = [&add](int m) __attribute__((noinline)) {
        auto deep = [&](int k) __attribute__((noinline)) { return add(k) + m; };
        return deep(m) + deep(1);
    };
    int sum = inlined_member(n);
    std::for_each(data.begin(), data.end(), [&sum](int value) { sum += value; });
    return sum + add(n) + generic(n) + static_cast<int>(generic(2.5)) + nested(n);
}

} // namespace grid

struct Place {};
void *operator new(std::size_t size, Place) { return ::operator new(size); }

extern "C" int called_from_c(int n) { return n + 1; }

static auto at_file_scope = [](int n) { return n * 17; };
static int initialised = at_file_scope(3) + std::rand();

int overloaded(int n) { return n; }
int overloaded(double n) { return static_cast<int>(n); }
int throwing(int n)
{
    try {
        if (n > 1000)
            throw std::string("large");
    } catch (const std::string &) {
        return -1;
    }
    return n;
}

int main(int argc, char **)
{
    grid::Halo<int> halo(argc);
    grid::Halo<double, 5> other(argc);
    grid::Halo<int>::Inner inner;
    grid::Private hidden;
    grid::Solver solver{{1, 2, argc}};
    std::map<std::string, int> names{{"a", argc}};
    std::unique_ptr<int> pointer(new int(argc));
    auto text = new (Place()) char('x');
    delete text;
    std::ostringstream line;
    line << argc << " of " << 2.5 << std::endl;
    std::cout << line.str() << std::endl;
    return halo.exchange(2) + halo.convert(2.5f) + halo(1, 2) + (halo < halo) + static_cast<int>(static_cast<long>(halo)) +
           grid::Halo<int>::count("n") + static_cast<int>(other.exchange(1)) + inner.work(3) +
           grid::painted<grid::Color::green>(1) + grid::numbered<7u, true, 'x', -9l>(2) + grid::through<overloaded>(3) +
           grid::many(1, 2.0, 'c') + hidden.member(4) + grid::hidden_template(5) + grid::hidden_template(5.5) > 3 +
           grid::versioned(6) + grid::file_static(7) + solver.run(8) + called_from_c(9) + initialised +
           overloaded(2.0) + throwing(argc) + names["a"] + *pointer;
}
