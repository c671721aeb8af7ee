/* The table of measured choices: reading and writing it as text, and searching it. */
#include "contract_tuning.h"

#include <stdio.h>
#include <string.h>

#include "common/arguments.h"
#include "common/cpu.h"
#include "common/entry.h"
#include "common/free.h"

struct hot_contract_tuning {
    hot_context *context; /* that has made it */
    size_t count, capacity;
    hot_contract_choice *choices;
};

static const char first_line[] = "hotfiber contract tuning 1";

const char *hot_contract_cpu_name(const hot_context *context)
{
    const hot_cpu_level level = hot_context_cpu_level(context);
    return level >= HOT_CPU_AVX512 ? "cpu avx512" : level >= HOT_CPU_AVX2 ? "cpu avx2" : "cpu baseline";
}

static int same_key(const hot_contract_choice *x, const hot_contract_choice *y)
{
    return x->precision == y->precision && x->m == y->m && x->n == y->n && x->k == y->k &&
        strcmp(x->machine, y->machine) == 0;
}

const hot_contract_choice *hot_contract_tuning_keep(hot_contract_tuning *tuning, const hot_contract_choice *choice)
{
    hot_contract_choice *kept = NULL;
    for (size_t i = 0; i < tuning->count && !kept; i++)
        if (same_key(&tuning->choices[i], choice))
            kept = &tuning->choices[i];
    if (!kept && tuning->count == tuning->capacity) {
        const size_t capacity = tuning->capacity ? 2 * tuning->capacity : 16;
        hot_contract_choice *larger = hot_context_alloc(tuning->context, capacity, sizeof *larger);
        if (!larger)
            return NULL;
        if (tuning->count)
            memcpy(larger, tuning->choices, tuning->count * sizeof *larger);
        hot_context_free(tuning->context, tuning->choices);
        tuning->choices = larger;
        tuning->capacity = capacity;
    }
    if (!kept)
        kept = &tuning->choices[tuning->count++];
    *kept = *choice;
    return kept;
}

const hot_contract_choice *hot_contract_tuning_find(const hot_contract_plan *plan, const char *machine)
{
    if (!plan->tuning)
        return NULL;
    for (size_t i = 0; i < plan->tuning->count; i++) {
        const hot_contract_choice *choice = &plan->tuning->choices[i];
        if (choice->precision == (plan->f64 ? 64 : 32) && choice->m == plan->row.total &&
            choice->n == plan->column.total && choice->k == plan->sum.total && strcmp(choice->machine, machine) == 0)
            return choice;
    }
    return NULL;
}

/* One line: machine, precision, m n k, variant and its parameters, with tabs between these four. */
static int read_line(const char *line, size_t length, hot_contract_choice *choice)
{
    char text[512];
    const int most = HOT_CHOICE_NAME - 1;
    int used = 0;
    if (length >= sizeof text)
        return 0;
    memcpy(text, line, length);
    text[length] = '\0';
    memset(choice, 0, sizeof *choice);
    const char *tab = strchr(text, '\t');
    if (!tab || tab - text > most || tab == text)
        return 0;
    memcpy(choice->machine, text, (size_t)(tab - text));
    if (sscanf(tab + 1, "f%d\t%zu %zu %zu\t%79s %d %d %d %d%n", &choice->precision, &choice->m, &choice->n, &choice->k,
               choice->variant, &choice->parameter[0], &choice->parameter[1], &choice->parameter[2],
               &choice->parameter[3], &used) != 9)
        return 0;
    return tab[1 + used] == '\0' && (choice->precision == 32 || choice->precision == 64);
}

hot_status hot_contract_tuning_create(hot_context *context, const char *text, hot_contract_tuning **tuning)
{
    HOT_ENTRY(context);
    HOT_CLEAR(tuning);
    HOT_NEED(context, tuning);
    hot_status status = HOT_OK;
    hot_contract_tuning *made = hot_context_calloc(context, 1, sizeof *made);
    if (!made)
        return HOT_ERROR_MEMORY;
    made->context = context;
    for (size_t number = 1; text && *text && status == HOT_OK; number++) {
        const size_t length = strcspn(text, "\n");
        hot_contract_choice choice;
        if (number == 1) {
            if (length != sizeof first_line - 1 || memcmp(text, first_line, length) != 0)
                status = hot_context_fail(context, HOT_ERROR_FORMAT, "a table of choices begins with the line '%s'",
                                          first_line);
        } else if (!read_line(text, length, &choice)) {
            status = hot_context_fail(context, HOT_ERROR_FORMAT, "line %zu of the table of choices is not understood",
                                      number);
        } else {
            status = hot_contract_tuning_keep(made, &choice) ? HOT_OK : HOT_ERROR_MEMORY;
        }
        text += length + (text[length] == '\n');
    }
    if (status == HOT_OK)
        *tuning = made;
    else
        hot_contract_tuning_destroy(&made);
    return status;
}

void hot_contract_tuning_destroy(hot_contract_tuning **tuning)
{
    if (!tuning || !*tuning)
        return;
    HOT_FREE((*tuning)->context, (*tuning)->choices, *tuning);
    *tuning = NULL;
}

char *hot_contract_tuning_text(hot_context *context, const hot_contract_tuning *tuning)
{
    HOT_ENTRY(context);
    if (!context || !tuning)
        return NULL;
    enum { LINE = 2 * HOT_CHOICE_NAME + 160 };
    const size_t capacity = (tuning->count + 1) * LINE;
    char *text = hot_context_alloc(context, capacity, 1);
    if (!text)
        return NULL;
    size_t used = (size_t)snprintf(text, capacity, "%s\n", first_line);
    for (size_t i = 0; i < tuning->count; i++) {
        const hot_contract_choice *c = &tuning->choices[i];
        used += (size_t)snprintf(text + used, capacity - used, "%s\tf%d\t%zu %zu %zu\t%s %d %d %d %d\n", c->machine,
                                 c->precision, c->m, c->n, c->k, c->variant, c->parameter[0], c->parameter[1],
                                 c->parameter[2], c->parameter[3]);
    }
    return text;
}

hot_contract_tuning *hot_contract_tuning_single(hot_context *context, const hot_contract_choice *choice)
{
    hot_contract_tuning *tuning = NULL;
    if (hot_contract_tuning_create(context, NULL, &tuning) == HOT_OK && !hot_contract_tuning_keep(tuning, choice))
        hot_contract_tuning_destroy(&tuning);
    return tuning;
}
