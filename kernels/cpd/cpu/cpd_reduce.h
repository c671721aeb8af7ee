/* Template: sums over what a product left, for one value type. CPD_T value type, CPD(name) a name of this instance. The
 * sums are made in double. */

/* out[i, r] += sum over j of sums[i + rows (j + J r)] b[j, r]: j = first ... first + count - 1 of b. */
static void CPD(over_second)(const CPD_T *sums, size_t rows, size_t count, size_t rank, const CPD_T *b, size_t ldb,
                             double *out, int threads)
{
    enum { BLOCK = 256 };
    const size_t blocks = (rows + BLOCK - 1) / BLOCK;
#pragma omp parallel for schedule(static) num_threads(hot_team(rows * count * rank > 20000 ? threads : 1))
    for (size_t task = 0; task < blocks * rank; task++) {
        const size_t r = task / blocks, begin = task % blocks * BLOCK,
                     here = rows - begin < BLOCK ? rows - begin : BLOCK;
        double sum[BLOCK] = {0};
        for (size_t j = 0; j < count; j++) {
            const CPD_T *from = sums + begin + rows * (j + count * r);
            const double weight = b[j + ldb * r];
            for (size_t i = 0; i < here; i++)
                sum[i] += weight * from[i];
        }
        for (size_t i = 0; i < here; i++)
            out[begin + i + rows * r] += sum[i];
    }
}

/* out[first + j, r] = sum over i of sums[i + rows (j + count r)] a[i, r]. */
static void CPD(over_first)(const CPD_T *sums, size_t rows, size_t count, size_t rank, const CPD_T *a, double *out,
                            size_t first, size_t ldo, int threads)
{
#pragma omp parallel for schedule(static) num_threads(hot_team(rows * count * rank > 20000 ? threads : 1))
    for (size_t task = 0; task < count * rank; task++) {
        const size_t r = task / count, j = task % count;
        const CPD_T *from = sums + rows * (j + count * r), *with = a + rows * r;
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (size_t i = 0; i < rows; i++)
            sum += (double)from[i] * with[i];
        out[first + j + ldo * r] = sum;
    }
}

static void CPD(add)(const CPD_T *from, size_t count, double *to)
{
    for (size_t i = 0; i < count; i++)
        to[i] += from[i];
}

static double CPD(square)(const CPD_T *x, size_t count, int *finite)
{
    double sum = 0, probe = 0;
#pragma omp simd reduction(+ : sum, probe)
    for (size_t i = 0; i < count; i++) {
        sum += (double)x[i] * x[i];
        probe += x[i] - x[i]; /* NaN for NaN and Inf */
    }
    *finite = probe == 0;
    return sum;
}

/* sum of (x - y)^2 */
static double CPD(distance)(const CPD_T *x, const CPD_T *y, size_t count)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < count; i++) {
        const double difference = (double)x[i] - y[i];
        sum += difference * difference;
    }
    return sum;
}

/* to[j, r] = b[j, r] lambda[r] c[k, r] */
static void CPD(weigh)(const CPD_T *b, size_t rows, size_t rank, const double *lambda, const CPD_T *c, size_t ldc,
                       CPD_T *to)
{
    for (size_t r = 0; r < rank; r++)
        for (size_t j = 0; j < rows; j++)
            to[j + rows * r] = (CPD_T)(b[j + rows * r] * (lambda[r] * c[ldc * r]));
}
