/* The single-fibre response: memory and access. */
#include <math.h>

#include "core/fields.h"
#include "common/entry.h"

void hot_response_destroy(hot_response **response)
{
    HOT_DESTROY_BEGIN(hot_response, response);
    HOT_FREE(gone->context, gone->b, gone->rows, gone);
}

size_t hot_response_shells(const hot_response *response) { return response ? response->shells : 0; }

int hot_response_lmax(const hot_response *response) { return response ? response->lmax : 0; }

double hot_response_noise(const hot_response *response) { return response ? response->noise : 0; }

hot_status hot_response_set_noise(hot_response *response, double noise)
{
    HOT_ENTRY(NULL);
    if (!response)
        return HOT_ERROR_ARGUMENT;
    if (!(noise >= 0 && noise < 1))
        return hot_context_fail(response->context, HOT_ERROR_ARGUMENT,
                                "a response's noise is %g; it is a share of the b=0 signal, from 0 to below 1", noise);
    response->noise = noise;
    return HOT_OK;
}

const double *hot_response_row(const hot_response *response, size_t shell, double *b)
{
    const int there = response && shell < response->shells;
    if (b)
        *b = there ? response->b[shell] : NAN;
    if (!there)
        return NULL;
    return response->rows + shell * ((size_t)response->lmax / 2 + 1);
}
