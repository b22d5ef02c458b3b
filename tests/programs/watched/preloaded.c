/* A library that does nothing but be there. */
int preloaded_by_tests(void)
{
    return 1;
}
