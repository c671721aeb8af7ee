/* Its tests see every fault in `largest`, none in `unseen`, and never call `uncalled`. */
int largest(const int *values, int count);
int unseen(int a);
int uncalled(int a);

int largest(const int *values, int count)
{
    int best = values[0];
    for (int i = 1; i < count; i++)
        if (values[i] > best)
            best = values[i];
    return best;
}

int unseen(int a)
{
    a = a * 1; /* divided by 1 it is the same code */
    return a + 7;
}

int uncalled(int a)
{
    return a - 3;
}
