/* The single-fibre response: memory and access. */
#include "core/fields.h"

void hot_response_destroy(hot_response **response)
{
    HOT_DESTROY_BEGIN(hot_response, response);
    hot_context_free(gone->context, gone->b);
    hot_context_free(gone->context, gone->rows);
    hot_context_free(gone->context, gone);
}

size_t hot_response_shells(const hot_response *response) { return response->shells; }

int hot_response_lmax(const hot_response *response) { return response->lmax; }

const double *hot_response_row(const hot_response *response, size_t shell, double *b)
{
    if (b)
        *b = response->b[shell];
    return response->rows + shell * ((size_t)response->lmax / 2 + 1);
}
