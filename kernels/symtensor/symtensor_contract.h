/* A x^p of one packed tensor at many points: a template, included once per type with
 *
 *   #define HOT_SCALAR double
 *   #define HOT_CONTRACT(name) name##_f64 */

/* The values of `lanes` points, transposed. tensor: of this order; kept: values x LANES, where the result is left. The
 * tensor loses an index at a time: a value of the smaller one needs values of the larger one at the same place or later
 * only, so that one array holds both. */
static void HOT_CONTRACT(lanes)(hot_poll *poll, int order, int dim, int times, const HOT_SCALAR *tensor,
                                HOT_SCALAR x[][LANES], HOT_SCALAR *kept)
{
    for (int k = 0; k < times; k++) {
        hot_class class;
        hot_class_first(&class, order - k - 1, dim);
        HOT_SCALAR *to = kept;
        do {
            uint32_t places[HOT_DIM_MAX];
            HOT_SCALAR sum[LANES] = {0};
            hot_class_places(order - k, dim, class.index, 0, places);
            for (int i = 0; i < dim; i++) {
                const HOT_SCALAR *from = kept + (size_t)places[i] * LANES;
                if (k == 0)
                    for (int lane = 0; lane < LANES; lane++)
                        sum[lane] += x[i][lane] * tensor[places[i]];
                else
                    for (int lane = 0; lane < LANES; lane++)
                        sum[lane] += x[i][lane] * from[lane];
            }
            memcpy(to, sum, sizeof sum);
            to += LANES;
        } while (!hot_poll_after(poll, 1) && hot_class_next(&class));
    }
}

/* LANES points or fewer of one tensor, from and to the caller's arrays. */
static void HOT_CONTRACT(piece)(const hot_contract_forms *job, hot_poll *poll, size_t tensor, size_t first,
                                HOT_SCALAR *kept)
{
    const size_t dim = (size_t)job->dim, left = job->points - first, lanes = left < LANES ? left : LANES;
    const HOT_SCALAR *a = (const HOT_SCALAR *)job->tensors + tensor * job->stride;
    const HOT_SCALAR *points = (const HOT_SCALAR *)job->x + first * dim;
    HOT_SCALAR *result = (HOT_SCALAR *)job->result + (tensor * job->points + first) * job->width;
    HOT_SCALAR x[HOT_DIM_MAX][LANES];
    for (size_t d = 0; d < dim; d++)
        for (size_t lane = 0; lane < LANES; lane++)
            x[d][lane] = points[(lane < lanes ? lane : 0) * dim + d];
    HOT_CONTRACT(lanes)(poll, job->order, job->dim, job->times, a, x, kept);
    for (size_t lane = 0; lane < lanes; lane++)
        for (size_t i = 0; i < job->width; i++)
            result[lane * job->width + i] = job->times == 0 ? a[i] : kept[i * LANES + lane];
}
#undef HOT_SCALAR
#undef HOT_CONTRACT
