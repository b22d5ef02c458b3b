static inline __attribute__((always_inline)) int in_header(int n)
{
    int k = n * 5;
    return k - (k >> 2);
}
