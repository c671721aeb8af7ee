/* Contractions: see device_calls.h. */
#define HOT_TESTS_CALLS_THEMSELVES
#include "device_calls.h"

#include "device_run.h"

#include <algorithm>
#include <cuda_runtime.h>
#include <stdint.h>
#include <type_traits>
#include <vector>

using device::direct;
using device::in;
using device::out;
using device::run;

namespace {

size_t extent(size_t rows, size_t columns, size_t batch, const size_t stride[3])
{
    return rows && columns && batch ? (rows - 1) * stride[0] + (columns - 1) * stride[1] + (batch - 1) * stride[2] + 1
                                    : 0;
}

size_t extent(const hot_contract_layout *layout, size_t batch)
{
    size_t last = batch ? (batch - 1) * layout->batch : 0;
    int empty = batch == 0;
    for (int axis = 0; axis < layout->axes; axis++) {
        last += layout->size[axis] ? (layout->size[axis] - 1) * layout->stride[axis] : 0;
        empty |= layout->size[axis] == 0;
    }
    return empty ? 0 : last + 1;
}

template <typename T, typename F>
hot_status matrices(F *function, hot_context *context, const hot_contract_options *options, size_t m, size_t n,
                    size_t k, size_t batch, T alpha, const T *a, const size_t a_stride[3], const T *b,
                    const size_t b_stride[3], T beta, T *c, const size_t c_stride[3])
{
    if (direct(context))
        return function(context, options, m, n, k, batch, alpha, a, a_stride, b, b_stride, beta, c, c_stride);
    return run(context,
               {in("a", a, extent(m, k, batch, a_stride) * sizeof(T)),
                in("b", b, extent(k, n, batch, b_stride) * sizeof(T)),
                out("c", c, extent(m, n, batch, c_stride) * sizeof(T))},
               [&](void *const *at) {
                   return function(context, options, m, n, k, batch, alpha, (const T *)at[0], a_stride,
                                   (const T *)at[1], b_stride, beta, (T *)at[2], c_stride);
               });
}

template <typename T, typename F>
hot_status contract(F *function, hot_context *context, const hot_contract_options *options, const char *spec,
                    size_t batch, T alpha, const T *a, const hot_contract_layout *a_layout, const T *b,
                    const hot_contract_layout *b_layout, T beta, T *c, const hot_contract_layout *c_layout)
{
    if (direct(context))
        return function(context, options, spec, batch, alpha, a, a_layout, b, b_layout, beta, c, c_layout);
    return run(context,
               {in("a", a, extent(a_layout, batch) * sizeof(T)), in("b", b, extent(b_layout, batch) * sizeof(T)),
                out("c", c, extent(c_layout, batch) * sizeof(T))},
               [&](void *const *at) {
                   return function(context, options, spec, batch, alpha, (const T *)at[0], a_layout, (const T *)at[1],
                                   b_layout, beta, (T *)at[2], c_layout);
               });
}

template <typename T, typename F>
hot_status complex_contract(F *function, hot_context *context, const hot_contract_options *options, const char *spec,
                            int conjugate, size_t batch, const T *alpha, const T *a,
                            const hot_contract_layout *a_layout, const T *b, const hot_contract_layout *b_layout,
                            const T *beta, T *c, const hot_contract_layout *c_layout)
{
    if (direct(context))
        return function(context, options, spec, conjugate, batch, alpha, a, a_layout, b, b_layout, beta, c, c_layout);
    return run(context,
               {in("a", a, 2 * extent(a_layout, batch) * sizeof(T)),
                in("b", b, 2 * extent(b_layout, batch) * sizeof(T)),
                out("c", c, 2 * extent(c_layout, batch) * sizeof(T))},
               [&](void *const *at) {
                   return function(context, options, spec, conjugate, batch, alpha, (const T *)at[0], a_layout,
                                   (const T *)at[1], b_layout, beta, (T *)at[2], c_layout);
               });
}

/* The memory of a list's matrices, from the first to the last value. */
struct list_range {
    uintptr_t first = UINTPTR_MAX, last = 0;
    template <typename T> void add(T *const *list, size_t count, size_t values)
    {
        for (size_t i = 0; list && i < count && values; i++) {
            first = std::min(first, (uintptr_t)list[i]);
            last = std::max(last, (uintptr_t)(list[i] + values));
        }
    }
    void *begin() const { return last ? (void *)first : NULL; }
    size_t bytes() const { return last ? last - first : 0; }
};

size_t values_of(size_t rows, size_t columns, const size_t stride[2])
{
    return rows && columns ? (rows - 1) * stride[0] + (columns - 1) * stride[1] + 1 : 0;
}

/* Lists of addresses on the GPU, until the end of all calls. */
struct lists_there {
    std::vector<void *> made;
    ~lists_there()
    {
        for (void *one : made)
            cudaFree(one);
    }
    template <typename P> P *put(P *list, size_t count, const list_range &from, void *to)
    {
        std::vector<char *> moved(count);
        void *there = NULL;
        if (!list || !count)
            return NULL;
        for (size_t i = 0; i < count; i++)
            moved[i] = (char *)to + ((uintptr_t)list[i] - from.first);
        if (cudaMalloc(&there, count * sizeof(char *)) != cudaSuccess)
            return NULL;
        made.push_back(there);
        cudaMemcpy(there, moved.data(), count * sizeof(char *), cudaMemcpyHostToDevice);
        return (P *)there;
    }
};

/* With copies of the whole memory in which the matrices of all groups lie: one range for each operand. */
template <typename G, typename F>
hot_status groups(F *function, hot_context *context, const hot_contract_options *options, size_t count, const G *group)
{
    list_range range[3];
    lists_there lists;
    if (direct(context))
        return function(context, options, count, group);
    for (size_t i = 0; i < count; i++) {
        range[0].add(group[i].a, group[i].count, values_of(group[i].m, group[i].k, group[i].a_stride));
        range[1].add(group[i].b, group[i].count, values_of(group[i].k, group[i].n, group[i].b_stride));
        range[2].add(group[i].c, group[i].count, values_of(group[i].m, group[i].n, group[i].c_stride));
    }
    return run(context,
               {in("a", range[0].begin(), range[0].bytes()), in("b", range[1].begin(), range[1].bytes()),
                out("c", range[2].begin(), range[2].bytes())},
               [&](void *const *at) {
                   if (direct(context)) { /* copies on the host */
                       std::vector<std::vector<char *>> moved;
                       std::vector<G> here(group, group + count);
                       for (G &one : here) {
                           const auto move = [&](auto &list, const list_range &from, void *to) {
                               std::vector<char *> addresses;
                               for (size_t i = 0; list && i < one.count; i++)
                                   addresses.push_back((char *)to + ((uintptr_t)list[i] - from.first));
                               moved.push_back(std::move(addresses));
                               list = list ? (typename std::remove_reference<decltype(list)>::type)moved.back().data()
                                           : NULL;
                           };
                           move(one.a, range[0], at[0]), move(one.b, range[1], at[1]), move(one.c, range[2], at[2]);
                       }
                       return function(context, options, count, here.data());
                   }
                   std::vector<G> there(group, group + count);
                   for (G &one : there) {
                       one.a = lists.put(one.a, one.count, range[0], at[0]);
                       one.b = lists.put(one.b, one.count, range[1], at[1]);
                       one.c = lists.put(one.c, one.count, range[2], at[2]);
                   }
                   return function(context, options, count, there.data());
               },
               false, false);
}

template <typename T, typename F>
hot_status three(F *function, hot_context *context, const hot_contract_options *options, const char *spec, size_t batch,
                 T alpha, const T *a, const hot_contract_layout *a_layout, const T *b,
                 const hot_contract_layout *b_layout, const T *c, const hot_contract_layout *c_layout, T beta, T *d,
                 const hot_contract_layout *d_layout)
{
    if (direct(context))
        return function(context, options, spec, batch, alpha, a, a_layout, b, b_layout, c, c_layout, beta, d, d_layout);
    return run(context,
               {in("a", a, extent(a_layout, batch) * sizeof(T)), in("b", b, extent(b_layout, batch) * sizeof(T)),
                in("c", c, extent(c_layout, batch) * sizeof(T)), out("d", d, extent(d_layout, batch) * sizeof(T))},
               [&](void *const *at) {
                   return function(context, options, spec, batch, alpha, (const T *)at[0], a_layout, (const T *)at[1],
                                   b_layout, (const T *)at[2], c_layout, beta, (T *)at[3], d_layout);
               });
}

} // namespace

#define OF_PRECISION(SUFFIX, T)                                                                                        \
    hot_status placed_matrices_##SUFFIX(hot_context *context, const hot_contract_options *options, size_t m, size_t n, \
                                       size_t k, size_t batch, T alpha, const T *a, const size_t a_stride[3],          \
                                       const T *b, const size_t b_stride[3], T beta, T *c, const size_t c_stride[3])   \
    {                                                                                                                  \
        return matrices<T>(hot_contract_matrices_##SUFFIX, context, options, m, n, k, batch, alpha, a, a_stride, b,    \
                           b_stride, beta, c, c_stride);                                                               \
    }                                                                                                                  \
    hot_status placed_contract_##SUFFIX(hot_context *context, const hot_contract_options *options, const char *spec,   \
                                       size_t batch, T alpha, const T *a, const hot_contract_layout *a_layout,         \
                                       const T *b, const hot_contract_layout *b_layout, T beta, T *c,                  \
                                       const hot_contract_layout *c_layout)                                            \
    {                                                                                                                  \
        return contract<T>(hot_contract_##SUFFIX, context, options, spec, batch, alpha, a, a_layout, b, b_layout,      \
                           beta, c, c_layout);                                                                         \
    }
OF_PRECISION(f64, double)
OF_PRECISION(f32, float)

#define OF_LISTS(SUFFIX, T)                                                                                            \
    hot_status placed_groups_##SUFFIX(hot_context *context, const hot_contract_options *options, size_t count,         \
                                      const hot_contract_group_##SUFFIX *group)                                        \
    {                                                                                                                  \
        return groups(hot_contract_groups_##SUFFIX, context, options, count, group);                                   \
    }                                                                                                                  \
    hot_status placed_three_##SUFFIX(hot_context *context, const hot_contract_options *options, const char *spec,      \
                                     size_t batch, T alpha, const T *a, const hot_contract_layout *a_layout,           \
                                     const T *b, const hot_contract_layout *b_layout, const T *c,                      \
                                     const hot_contract_layout *c_layout, T beta, T *d,                                \
                                     const hot_contract_layout *d_layout)                                              \
    {                                                                                                                  \
        return three<T>(hot_contract_three_##SUFFIX, context, options, spec, batch, alpha, a, a_layout, b, b_layout,   \
                        c, c_layout, beta, d, d_layout);                                                               \
    }
OF_LISTS(f64, double)
OF_LISTS(f32, float)

#define OF_COMPLEX(SUFFIX, T)                                                                                          \
    hot_status placed_contract_##SUFFIX(hot_context *context, const hot_contract_options *options, const char *spec,   \
                                        int conjugate, size_t batch, const T *alpha, const T *a,                       \
                                        const hot_contract_layout *a_layout, const T *b,                               \
                                        const hot_contract_layout *b_layout, const T *beta, T *c,                      \
                                        const hot_contract_layout *c_layout)                                           \
    {                                                                                                                  \
        return complex_contract<T>(hot_contract_##SUFFIX, context, options, spec, conjugate, batch, alpha, a,          \
                                   a_layout, b, b_layout, beta, c, c_layout);                                          \
    }
OF_COMPLEX(c128, double)
OF_COMPLEX(c64, float)
