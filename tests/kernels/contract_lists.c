/* Further cases of contractions: groups of addresses, three operands, against loops over all indices in long double. */
#include "values.h"

#include <hotfiber/contract.h>

void check_contract_lists(check_run *run, int f64);
void check_contract_three(check_run *run);

/* ---- Groups of addresses ----------------------------------------------------------------------------------------- */

enum { GROUPS = 7 };

/* m, n, k, count, what to transpose (bits 1 2 4), alpha, beta */
static const struct { size_t m, n, k, count; int which; double alpha, beta; } group_shapes[GROUPS] = {
    {3, 4, 5, 37, 0, 1, 0},    {8, 8, 8, 20, 0, -.7, 1.3}, {1, 7, 2, 5, 7, 1, 1},  {17, 33, 9, 3, 2, .5, 0},
    {64, 64, 40, 2, 5, 1, -1}, {4, 4, 0, 6, 0, 1, .5},     {5, 6, 7, 4, 1, 0, 2},
};

/* One operand of all groups: matrices one behind the other in another order than that of the list, with gaps. */
typedef struct group_operand {
    size_t place[GROUPS][64], stride[GROUPS][2], total;
} group_operand;

static void place_operand(int operand, group_operand *out)
{
    out->total = 5;
    for (int g = 0; g < GROUPS; g++) {
        const size_t rows = operand == 1 ? group_shapes[g].k : group_shapes[g].m,
                     columns = operand == 0 ? group_shapes[g].k : group_shapes[g].n, count = group_shapes[g].count;
        const int turned = group_shapes[g].which >> operand & 1;
        out->stride[g][0] = turned ? 1 : columns + 1;
        out->stride[g][1] = turned ? rows + 2 : 1;
        const size_t step = rows * (columns + 1) + columns * (rows + 2) + 3;
        for (size_t i = 0; i < count; i++) /* backwards; the last of A and B stand twice */
            out->place[g][i] = out->total + (operand < 2 && i == 0 ? 1 : count - 1 - i + (operand == 2)) * step;
        out->total += (count + 2) * step;
    }
}

static hot_status call_groups(check_run *run, int f64, const group_operand o[3], const void *a, const void *b, void *c,
                              int missing)
{
    const void *lists[3][GROUPS][64];
    hot_contract_group_f64 wide[GROUPS];
    hot_contract_group_f32 narrow[GROUPS];
    const void *const base[3] = {a, b, c};
    for (int g = 0; g < GROUPS; g++) {
        for (int x = 0; x < 3; x++)
            for (size_t i = 0; i < group_shapes[g].count; i++)
                lists[x][g][i] = (const char *)base[x] + o[x].place[g][i] * (f64 ? 8 : 4);
        const int read = group_shapes[g].alpha != 0;
#define FILL(GROUP, T) \
    GROUP = (hot_contract_group_##T){ \
        group_shapes[g].m, group_shapes[g].n, group_shapes[g].k, group_shapes[g].count, \
        group_shapes[g].alpha, group_shapes[g].beta, read ? (void *)lists[0][g] : NULL, \
        read ? (void *)lists[1][g] : NULL, (void *)lists[2][g], \
        {o[0].stride[g][0], o[0].stride[g][1]}, {o[1].stride[g][0], o[1].stride[g][1]}, \
        {o[2].stride[g][0], o[2].stride[g][1]}}
        FILL(wide[g], f64);
        hot_contract_group_f64 *const w = &wide[g];
        narrow[g] = (hot_contract_group_f32){w->m, w->n, w->k, w->count, (float)w->alpha, (float)w->beta,
                                             (const float *const *)w->a, (const float *const *)w->b,
                                             (float *const *)w->c, {w->a_stride[0], w->a_stride[1]},
                                             {w->b_stride[0], w->b_stride[1]}, {w->c_stride[0], w->c_stride[1]}};
    }
    if (missing)
        lists[1][1][3] = NULL;
    return f64 ? hot_contract_groups_f64(run->context, NULL, GROUPS, wide)
               : hot_contract_groups_f32(run->context, NULL, GROUPS, narrow);
}

/* A value of C of item i of a group, and the magnitude of its terms. */
static long double group_value(int f64, const group_operand o[3], const void *const values[3], int g, size_t i,
                               size_t r, size_t q, long double *magnitude)
{
    long double sum = 0;
    *magnitude = 0;
    for (size_t s = 0; s < group_shapes[g].k && group_shapes[g].alpha != 0; s++) {
        const long double term = (long double)group_shapes[g].alpha *
            get(f64, values[0], o[0].place[g][i] + r * o[0].stride[g][0] + s * o[0].stride[g][1]) *
            get(f64, values[1], o[1].place[g][i] + s * o[1].stride[g][0] + q * o[1].stride[g][1]);
        sum += term, *magnitude += fabsl(term);
    }
    if (group_shapes[g].beta != 0) {
        const long double old = (long double)group_shapes[g].beta *
            get(f64, values[2], o[2].place[g][i] + r * o[2].stride[g][0] + q * o[2].stride[g][1]);
        sum += old, *magnitude += fabsl(old);
    }
    return sum;
}

static void check_groups(check_run *run, int f64)
{
    const size_t bytes = f64 ? 8 : 4;
    group_operand o[3];
    void *values[3];
    check_case_begin(run, f64 ? "groups of addresses, f64" : "groups of addresses, f32", GROUPS);
    for (int x = 0; x < 3; x++) {
        place_operand(x, &o[x]);
        values[x] = malloc(o[x].total * bytes);
        for (size_t i = 0; i < o[x].total; i++)
            put(f64, values[x], i, check_random_normal(&run->seed));
    }
    const void *const a = check_input(run, values[0], o[0].total * bytes),
               *const b = check_input(run, values[1], o[1].total * bytes);
    void *const c = check_output(run, o[2].total * bytes);
    memcpy(c, values[2], o[2].total * bytes);
    if (check_call(run, call_groups(run, f64, o, a, b, c, 0))) {
        unsigned char *const written = calloc(o[2].total, 1);
        for (int g = 0; g < GROUPS; g++)
            for (size_t i = 0; i < group_shapes[g].count; i++)
                for (size_t e = 0; e < group_shapes[g].m * group_shapes[g].n; e++) {
                    const size_t r = e / group_shapes[g].n, q = e % group_shapes[g].n,
                                 at = o[2].place[g][i] + r * o[2].stride[g][0] + q * o[2].stride[g][1];
                    long double magnitude;
                    const long double wanted = group_value(f64, o, (const void *const *)values, g, i, r, q, &magnitude);
                    written[at] = 1;
                    CHECK_ITEM(run, i, fabsl(get(f64, c, at) - wanted) <=
                               (group_shapes[g].k + 4.) * (f64 ? 0x1p-53 : 0x1p-24) * magnitude,
                               "group %d, %zu, %zu: %.17g, not %.17Lg", g, r, q, get(f64, c, at), wanted);
                }
        for (size_t at = 0; at < o[2].total; at++)
            CHECK_ITEM(run, at, written[at] || get(f64, c, at) == get(f64, values[2], at),
                       "a value between those of C was written");
        free(written);
    }
    check_case_end(run);
    if (!run->device) {
        check_case_begin(run, "groups: an address that is NULL", 1);
        void *const spoiled = malloc(o[2].total * bytes);
        memcpy(spoiled, values[2], o[2].total * bytes);
        CHECK_ITEM(run, 0, call_groups(run, f64, o, values[0], values[1], spoiled, 1) == HOT_ERROR_ARGUMENT &&
                   strstr(hot_context_message(run->context), "group 1: b[3] is NULL"), "%s",
                   hot_context_message(run->context));
        free(spoiled);
        check_case_end(run);
    }
    for (int x = 0; x < 3; x++)
        free(values[x]);
}

/* ---- Three operands ---------------------------------------------------------------------------------------------- */

static void check_three(check_run *run, int f64)
{
    static const struct {
        const char *spec, *letters[4];
        size_t sizes[4][4];
    } specs[] = {
        {"ij,jk,kl->il", {"ij", "jk", "kl", "il"}, {{9, 2}, {2, 8}, {8, 3}, {9, 3}}},
        {"ij,kl,jk->li", {"ij", "kl", "jk", "li"}, {{4, 5}, {3, 7}, {5, 3}, {7, 4}}},
        {"ai,bj,ij->ab", {"ai", "bj", "ij", "ab"}, {{6, 5}, {4, 3}, {5, 3}, {6, 4}}},
        {"ij,ij,jk->ik", {"ij", "ij", "jk", "ik"}, {{4, 5}, {4, 5}, {5, 6}, {4, 6}}},
        {"i,i,i->", {"i", "i", "i", ""}, {{50}, {50}, {50}, {0}}},
        {"i,j,k->kij", {"i", "j", "k", "kij"}, {{3}, {4}, {5}, {5, 3, 4}}},
    };
    const size_t bytes = f64 ? 8 : 4;
    for (size_t s = 0; s < sizeof specs / sizeof specs[0]; s++)
        for (int variant = 0; variant < 5; variant++) {
            const size_t batch = variant == 0 ? 1 : variant == 3 ? 0 : 6;
            const double alpha = variant == 4 ? 0 : variant == 1 ? -.6 : 1, beta = variant == 2 ? .4 : variant == 4;
            hot_contract_layout layout[4];
            size_t total[4], size[128] = {0};
            void *values[4];
            char names[16] = "";
            check_case_begin(run, specs[s].spec, batch + 100 * (size_t)variant + 1000 * (size_t)f64);
            for (int o = 0; o < 4; o++) {
                layout[o] = hot_contract_dense((int)strlen(specs[s].letters[o]), specs[s].sizes[o]);
                if (variant == 1 && o < 2)
                    layout[o].batch = 0; /* the same in all items: so is the pair's product, if they are the pair */
                total[o] = layout[o].batch ? layout[o].batch * batch : hot_contract_dense(
                    (int)strlen(specs[s].letters[o]), specs[s].sizes[o]).batch;
                values[o] = malloc((total[o] + 1) * bytes);
                for (size_t i = 0; i < total[o]; i++)
                    put(f64, values[o], i, o < 3 && alpha == 0 ? NAN : o == 3 && beta == 0 ? NAN
                                                                    : check_random_normal(&run->seed));
                for (const char *l = specs[s].letters[o]; *l; l++) {
                    size[(int)*l] = specs[s].sizes[o][l - specs[s].letters[o]];
                    if (!strchr(names, *l))
                        names[strlen(names)] = *l;
                }
            }
            const void *const a = check_input(run, values[0], total[0] * bytes),
                       *const b = check_input(run, values[1], total[1] * bytes),
                       *const c = check_input(run, values[2], total[2] * bytes);
            void *const d = check_output(run, total[3] * bytes);
            memcpy(d, values[3], total[3] * bytes);
            const hot_status status = f64
                ? hot_contract_three_f64(run->context, NULL, specs[s].spec, batch, alpha, a, &layout[0], b, &layout[1],
                                         c, &layout[2], beta, d, &layout[3])
                : hot_contract_three_f32(run->context, NULL, specs[s].spec, batch, (float)alpha, a, &layout[0], b,
                                         &layout[1], c, &layout[2], (float)beta, d, &layout[3]);
            long double *const sum = calloc(total[3] + 1, sizeof *sum), *const magnitude = calloc(total[3] + 1,
                                                                                                 sizeof *magnitude);
            size_t all = 1, terms = 1;
            for (const char *l = names; *l; l++)
                all *= size[(int)*l];
            for (size_t item = 0; item < batch; item++)
                for (size_t e = 0; e < all; e++) {
                    size_t index[128], rest = e, at[4];
                    for (const char *l = names; *l; rest /= size[(int)*l], l++)
                        index[(int)*l] = rest % size[(int)*l];
                    for (int o = 0; o < 4; o++) {
                        at[o] = item * layout[o].batch;
                        for (int x = 0; x < layout[o].axes; x++)
                            at[o] += index[(int)specs[s].letters[o][x]] * layout[o].stride[x];
                    }
                    const long double term = alpha == 0 ? 0 : (long double)alpha * get(f64, values[0], at[0]) *
                        get(f64, values[1], at[1]) * get(f64, values[2], at[2]);
                    sum[at[3]] += term, magnitude[at[3]] += fabsl(term);
                }
            terms = all / (layout[3].batch ? layout[3].batch : 1) + 8;
            for (size_t i = 0; i < total[3] && check_call(run, status); i++) {
                const long double old = beta == 0 ? 0 : (long double)beta * get(f64, values[3], i);
                CHECK_ITEM(run, i, fabsl(get(f64, d, i) - sum[i] - old) <= 2 * (double)terms *
                           (f64 ? 0x1p-53 : 0x1p-24) * (magnitude[i] + fabsl(old)), "%.17g, not %.17Lg",
                           get(f64, d, i), sum[i] + old);
            }
            check_case_end(run);
            free(sum), free(magnitude);
            for (int o = 0; o < 4; o++)
                free(values[o]);
        }
}

/* The cheapest pair first: the product of another pair has 1.6e11 values, more than there is memory. */
static void check_three_order(check_run *run)
{
    enum { N = 400000 };
    static const struct { const char *spec; size_t sizes[4][2]; } cases[] = {
        {"ij,jk,kl->il", {{N, 1}, {1, N}, {N, 1}, {N, 1}}},
        {"ij,jk,kl->il", {{1, N}, {N, 1}, {1, N}, {1, N}}},
        {"ij,kl,jk->il", {{1, N}, {1, N}, {N, 1}, {1, N}}},
    };
    for (size_t s = 0; s < sizeof cases / sizeof cases[0]; s++) {
        hot_contract_layout layout[4];
        double *values = malloc(N * sizeof *values);
        check_case_begin(run, "order of three", s);
        for (int o = 0; o < 4; o++)
            layout[o] = hot_contract_dense(2, cases[s].sizes[o]);
        for (size_t i = 0; i < N; i++)
            values[i] = 1;
        const void *const v = check_input(run, values, N * sizeof *values);
        double *const d = check_output(run, N * sizeof *values);
        if (check_call(run, hot_contract_three_f64(run->context, NULL, cases[s].spec, 1, 1, v, &layout[0], v,
                                                   &layout[1], v, &layout[2], 0, d, &layout[3])))
            for (size_t i = 0; i < N; i++)
                CHECK_ITEM(run, i, d[i] == N, "%g, not %d", d[i], N);
        check_case_end(run);
        free(values);
    }
}

/* Specs that do not name three operands or do not fit their layouts, and the messages. */
static void check_three_wrong(check_run *run)
{
    static const struct { const char *spec; size_t sizes[4][3]; const char *text; } cases[] = { /* up to a 0 */
        {"ij , jk,kl -> il", {{2, 3}, {3, 2}, {2, 4}, {2, 4}}, NULL},
        {"", {{2, 2}, {2, 2}, {2, 2}, {2, 2}}, "three inputs and a result are needed, as in"},
        {"ij,jk,kl", {{2, 2}, {2, 2}, {2, 2}, {2, 2}}, "three inputs and a result are needed, as in"},
        {"ij,jk->ik", {{2, 2}, {2, 2}, {2, 2}, {2, 2}}, "three inputs and a result with at most 8"},
        {"ij,jk,kl,lm->im", {{2, 2}, {2, 2}, {2, 2}, {2, 2}}, "three inputs and a result with at most 8"},
        {"ii,ij,jk->ik", {{2, 2}, {2, 2}, {2, 2}, {2, 2}}, "three inputs and a result with at most 8"},
        {"ij,jk,ki->i7", {{2, 2}, {2, 2}, {2, 2}, {2, 2}}, "three inputs and a result with at most 8"},
        {"abcdefghi,i,a->a", {{2, 2}, {2}, {2}, {2}}, "three inputs and a result with at most 8"},
        {"abcdefgh,i,a->a", {{2, 2}, {2}, {2}, {2}}, ": operand A has 8 axes there, and 2 in its layout"},
        {"ij,jk,kl->il", {{2, 2}, {2}, {2, 2}, {2, 2}}, ": operand B has 2 axes there, and 1 in its layout"},
        {"ij,jk,kl->il", {{2, 2}, {2, 2}, {2, 2, 2}, {2, 2}}, ": operand C has 2 axes there, and 3 in its layout"},
        {"ij,jk,kl->il", {{2, 2}, {2, 2}, {2, 2}, {2}}, ": operand D has 2 axes there, and 1 in its layout"},
        {"ij,jk,kl->iq", {{2, 2}, {2, 2}, {2, 2}, {2, 2}}, ": 'l' is in only one operand"},
        {"ij,jk,kl->jk", {{2, 2}, {2, 2}, {2, 2}, {2, 2}}, ": 'i' is in only one operand"},
        {"ij,jk,kl->il", {{2, 2}, {3, 2}, {2, 2}, {2, 2}}, ": 'j' has size 3 in B and 2 before"},
        {"ij,jk,kl->il", {{2, 3}, {3, 2}, {2, 4}, {2, 3}}, ": 'l' has size 3 in D and 4 before"}};
    double v[40] = {0};
    if (run->device)
        return;
    check_case_begin(run, "wrong specs of three operands", 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hot_contract_layout layout[4];
        char text[160];
        for (int o = 0; o < 4; o++) {
            const size_t *const sizes = cases[i].sizes[o];
            layout[o] = hot_contract_dense(sizes[1] ? sizes[2] ? 3 : 2 : 1, sizes);
        }
        const hot_status status = hot_contract_three_f64(run->context, NULL, cases[i].spec, 1, 1, v, &layout[0], v + 8,
                                                         &layout[1], v + 16, &layout[2], 0, v + 24, &layout[3]);
        const char *const wanted = cases[i].text, *const said = hot_context_message(run->context);
        snprintf(text, sizeof text, wanted && wanted[0] == ':' ? "spec '%s'%s" : "spec: '%s': %s", cases[i].spec,
                 wanted ? wanted : "");
        CHECK_ITEM(run, i, wanted ? status == HOT_ERROR_ARGUMENT && strstr(said, text) : status == HOT_OK,
                   "spec '%s': %d, '%s'", cases[i].spec, (int)status, said);
    }
    check_case_end(run);
}

void check_contract_lists(check_run *run, int f64)
{
    check_groups(run, f64);
    check_three(run, f64);
}

void check_contract_three(check_run *run)
{
    check_three_order(run);
    check_three_wrong(run);
}
