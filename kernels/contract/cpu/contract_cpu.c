/* Contractions on the CPU. Small dense items are passed to the register tiles in place; the others are packed, in
 * blocks and in the order of their axes, into panels for the tiles. */
#include <omp.h>
#include <string.h>

#include "contract/contract_plan.h"
#include "common/entry.h"
#include "contract/contract_tuning.h"
#include "contract_variant.h"

enum {
    BLOCK_ROWS = 144,    /* of A. A multiple of the rows of every tile used for blocks */
    BLOCK_SUMS = 256,
    BLOCK_COLUMNS = 384, /* of B: with BLOCK_SUMS less than a second-level cache. A multiple of every tile's columns */
    SMALL = 1 << 14,     /* values of A and B together that are worked on where they lie */
    ROUND = 1 << 22      /* multiply-adds of a thread between two calls of the progress callback, at least */
};

/* A call as its tasks see it. */
typedef struct cpu_args {
    const hot_contract_plan *plan;
    hot_tile_fn *tile;
    size_t item_bytes;
    int tile_rows, tile_vectors;
    size_t portion;      /* items of a task; 0: a task is a block of an item */
    size_t tile_columns; /* of a panel */
    size_t row_blocks, column_blocks;
    char *scratch; /* threads x scratch_stride */
    size_t scratch_stride;
} cpu_args;

/* ---- Items as they lie ------------------------------------------------------------------------------------------- */

static int is_simple(const hot_contract_plan *plan)
{
    const int contiguous_b = plan->column.total == 1 || hot_group_stride(&plan->column, HOT_OPERAND_B) == 1;
    const int contiguous_c = plan->column.total == 1 || hot_group_stride(&plan->column, HOT_OPERAND_C) == 1;
    return plan->row.axes <= 1 && plan->column.axes <= 1 && plan->sum.axes <= 1 && contiguous_b && contiguous_c;
}

/* Items first ... last - 1, all strides known. */
static void do_items(const cpu_args *args, size_t first, size_t last)
{
    const hot_contract_plan *plan = args->plan;
    hot_tile tile = {.rows = plan->row.total,
                     .columns = plan->column.total,
                     .sums = plan->alpha == 0 ? 0 : plan->sum.total,
                     .items = 1,
                     .a_row = hot_group_stride(&plan->row, HOT_OPERAND_A),
                     .a_sum = hot_group_stride(&plan->sum, HOT_OPERAND_A),
                     .b_sum = hot_group_stride(&plan->sum, HOT_OPERAND_B),
                     .c_row = hot_group_stride(&plan->row, HOT_OPERAND_C),
                     .alpha = plan->alpha,
                     .beta = plan->beta,
                     .tile_rows = args->tile_rows,
                     .tile_vectors = args->tile_vectors};
    const int together = plan->item.axes <= 1 && !plan->list[HOT_OPERAND_C];
    if (together) {
        tile.a_item = hot_group_stride(&plan->item, HOT_OPERAND_A);
        tile.b_item = hot_group_stride(&plan->item, HOT_OPERAND_B);
        tile.c_item = hot_group_stride(&plan->item, HOT_OPERAND_C);
        tile.items = last - first;
    }
    for (size_t item = first; item < last; item += tile.items) {
        tile.a = hot_contract_item(plan, HOT_OPERAND_A, item, args->item_bytes);
        tile.b = hot_contract_item(plan, HOT_OPERAND_B, item, args->item_bytes);
        tile.c = (char *)hot_contract_item(plan, HOT_OPERAND_C, item, args->item_bytes);
        args->tile(&tile);
    }
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* Offsets of the rows, columns and sums of the current block. */
typedef struct offsets {
    size_t a_row[BLOCK_ROWS], c_row[BLOCK_ROWS], b_column[BLOCK_COLUMNS], c_column[BLOCK_COLUMNS], a_sum[BLOCK_SUMS],
        b_sum[BLOCK_SUMS];
} offsets;

static void fill(const hot_contract_group *group, int operand, size_t first, size_t count, size_t *out)
{
    if (group->axes <= 1) {
        const size_t stride = hot_group_stride(group, operand);
        for (size_t i = 0; i < count; i++)
            out[i] = (first + i) * stride;
        return;
    }
    for (size_t i = 0; i < count; i++)
        out[i] = hot_group_offset(group, operand, first + i);
}

/* to[panel][sum][row of A or column of B in the panel]; the last panel is filled up with zeros. */
#define PACK(NAME, TYPE)                                                                                               \
    static void NAME(const TYPE *from, const size_t *outer, size_t outer_count, const size_t *sum, size_t sums,        \
                     size_t panel, TYPE *to)                                                                           \
    {                                                                                                                  \
        for (size_t first = 0; first < outer_count; first += panel, to += panel * sums) {                              \
            const size_t here = outer_count - first < panel ? outer_count - first : panel;                             \
            const size_t *const offset = outer + first;                                                                \
            if (here > 1 && offset[1] - offset[0] == 1) {                                                              \
                for (size_t s = 0; s < sums; s++)                                                                      \
                    for (size_t i = 0; i < here; i++) to[s * panel + i] = from[sum[s] + offset[i]];                    \
            } else {                                                                                                   \
                for (size_t i = 0; i < here; i++)                                                                      \
                    for (size_t s = 0; s < sums; s++) to[s * panel + i] = from[sum[s] + offset[i]];                    \
            }                                                                                                          \
            for (size_t s = 0; s < sums && here < panel; s++)                                                          \
                memset(to + s * panel + here, 0, (panel - here) * sizeof *to);                                         \
        }                                                                                                              \
    }
PACK(pack_f64, double)
PACK(pack_f32, float)

static void pack(const cpu_args *args, const void *from, const size_t *outer, size_t count, const size_t *sum,
                 size_t sums, size_t panel, void *to)
{
    if (args->plan->f64)
        pack_f64(from, outer, count, sum, sums, panel, to);
    else
        pack_f32(from, outer, count, sum, sums, panel, to);
}

/* C of a block from its products, if its rows are not contiguous. */
static void scatter(const cpu_args *args, const offsets *table, size_t rows, size_t columns, const void *products,
                    void *c)
{
    const double beta = args->plan->beta;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            const size_t to = table->c_row[i] + table->c_column[j], from = i * BLOCK_COLUMNS + j;
            if (args->plan->f64) {
                const double product = ((const double *)products)[from];
                ((double *)c)[to] = beta == 0 ? product : product + beta * ((double *)c)[to];
            } else {
                const float product = ((const float *)products)[from];
                ((float *)c)[to] = beta == 0 ? product : product + (float)beta * ((float *)c)[to];
            }
        }
}

/* One block of rows and columns of one item. */
static void do_block(const cpu_args *args, size_t task, char *scratch)
{
    const hot_contract_plan *plan = args->plan;
    const size_t item = task / (args->row_blocks * args->column_blocks),
                 block = task % (args->row_blocks * args->column_blocks);
    const size_t row = block % args->row_blocks * BLOCK_ROWS, column = block / args->row_blocks * BLOCK_COLUMNS;
    const size_t rows = plan->row.total - row < BLOCK_ROWS ? plan->row.total - row : BLOCK_ROWS;
    const size_t columns = plan->column.total - column < BLOCK_COLUMNS ? plan->column.total - column : BLOCK_COLUMNS;
    const size_t sums_total = plan->alpha == 0 ? 0 : plan->sum.total, bytes = args->item_bytes;
    const size_t tile_rows = (size_t)args->tile_rows;
    offsets *table = (offsets *)(void *)scratch;
    char *panels_b = scratch + (sizeof *table + 63) / 64 * 64;
    char *panels_a = panels_b + BLOCK_SUMS * BLOCK_COLUMNS * bytes;
    char *products = panels_a + BLOCK_ROWS * BLOCK_SUMS * bytes;
    const char *a = hot_contract_item(plan, HOT_OPERAND_A, item, bytes);
    const char *b = hot_contract_item(plan, HOT_OPERAND_B, item, bytes);
    char *c = (char *)hot_contract_item(plan, HOT_OPERAND_C, item, bytes);
    const int direct = plan->column.axes <= 1 && plan->row.axes <= 1 &&
                       (plan->column.total == 1 || hot_group_stride(&plan->column, HOT_OPERAND_C) == 1);
    fill(&plan->row, HOT_OPERAND_A, row, rows, table->a_row);
    fill(&plan->row, HOT_OPERAND_C, row, rows, table->c_row);
    fill(&plan->column, HOT_OPERAND_B, column, columns, table->b_column);
    fill(&plan->column, HOT_OPERAND_C, column, columns, table->c_column);
    hot_tile tile = {.rows = rows,
                     .columns = columns,
                     .items = 1,
                     .a = panels_a,
                     .a_row = 1,
                     .a_sum = tile_rows,
                     .b = panels_b,
                     .b_sum = args->tile_columns,
                     .alpha = plan->alpha,
                     .beta = direct ? plan->beta : 0,
                     .tile_rows = args->tile_rows,
                     .tile_vectors = args->tile_vectors,
                     .c = direct ? c + (table->c_row[0] + table->c_column[0]) * bytes : products,
                     .c_row = direct ? hot_group_stride(&plan->row, HOT_OPERAND_C) : BLOCK_COLUMNS};
    for (size_t s = 0; s < sums_total || s == 0; s += BLOCK_SUMS) {
        tile.sums = sums_total - s < BLOCK_SUMS ? sums_total - s : BLOCK_SUMS;
        tile.a_panel = tile_rows * tile.sums;
        tile.b_panel = args->tile_columns * tile.sums;
        fill(&plan->sum, HOT_OPERAND_A, s, tile.sums, table->a_sum);
        fill(&plan->sum, HOT_OPERAND_B, s, tile.sums, table->b_sum);
        pack(args, a, table->a_row, rows, table->a_sum, tile.sums, tile_rows, panels_a);
        pack(args, b, table->b_column, columns, table->b_sum, tile.sums, args->tile_columns, panels_b);
        args->tile(&tile);
        tile.beta = 1; /* the further sums are added */
    }
    if (!direct)
        scatter(args, table, rows, columns, products, c);
}

static void do_task(const cpu_args *args, size_t task, size_t thread)
{
    const size_t items = args->plan->item.total, first = task * args->portion;
    if (args->portion)
        do_items(args, first, first + args->portion < items ? first + args->portion : items);
    else
        do_block(args, task, args->scratch + thread * args->scratch_stride);
}

/* ---- The backend ------------------------------------------------------------------------------------------------- */

/* Whether items are multiplied in place. */
static int is_small(const hot_contract_plan *plan)
{
    return is_simple(plan) && plan->sum.total <= SMALL && plan->row.total <= SMALL && plan->column.total <= SMALL &&
           plan->row.total * plan->sum.total + plan->sum.total * plan->column.total <= SMALL;
}

/* Blocks count on panels of the largest tile; a measured choice is for items in place. */
static void choose_tile(const hot_contract_variant *variant, const hot_contract_choice *choice, cpu_args *args)
{
    const size_t lanes = (size_t)(args->plan->f64 ? variant->lanes_f64 : variant->lanes_f32);
    args->tile_rows = choice ? choice->parameter[0] : variant->rows;
    args->tile_vectors = choice ? choice->parameter[1] : variant->vectors;
    if (args->tile_rows > variant->rows || args->tile_rows < 1)
        args->tile_rows = variant->rows;
    if (args->tile_vectors > variant->vectors || args->tile_vectors < 1)
        args->tile_vectors = variant->vectors;
    args->tile_columns = (size_t)args->tile_vectors * lanes;
}

/* Small items, in portions worth from a few microseconds to a tenth of a millisecond. Returns the number of tasks. */
static size_t plan_items(int threads, cpu_args *args, size_t *work)
{
    const hot_contract_plan *plan = args->plan;
    const size_t each = plan->row.total * plan->column.total * (plan->sum.total + 1) + 64,
                 least = (1 << 16) / each + 1, most = (1 << 22) / each + 1,
                 share = threads == 1 ? most : plan->item.total / (8 * (size_t)threads);
    args->portion = share < least ? least : share < most ? share : most;
    *work = args->portion * each;
    return (plan->item.total + args->portion - 1) / args->portion;
}

/* Blocks of rows and columns. Returns the number of tasks. */
static size_t plan_blocks(cpu_args *args, size_t *work)
{
    const hot_contract_plan *plan = args->plan;
    args->row_blocks = (plan->row.total + BLOCK_ROWS - 1) / BLOCK_ROWS;
    args->column_blocks = (plan->column.total + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS;
    *work = (plan->row.total < BLOCK_ROWS ? plan->row.total : BLOCK_ROWS) *
            (plan->column.total < BLOCK_COLUMNS ? plan->column.total : BLOCK_COLUMNS) * (plan->sum.total + 1);
    args->scratch_stride =
        ((sizeof(offsets) + 63) / 64 * 64 +
         args->item_bytes * (BLOCK_SUMS * BLOCK_COLUMNS + BLOCK_ROWS * BLOCK_SUMS + BLOCK_ROWS * BLOCK_COLUMNS) + 127) /
        64 * 64;
    return plan->item.total * args->row_blocks * args->column_blocks;
}

hot_status hot_contract_cpu(hot_context *context, void *plan_pointer)
{
    const hot_contract_plan *plan = plan_pointer;
    const hot_contract_variant *variant = hot_contract_variant_choose(context);
    const int threads = hot_context_threads(context), small = is_small(plan);
    cpu_args args = {.plan = plan, .tile = plan->f64 ? variant->tile_f64 : variant->tile_f32,
                   .item_bytes = plan->f64 ? sizeof(double) : sizeof(float)};
    hot_status status = HOT_OK;
    char *memory = NULL;
    size_t work;
    choose_tile(variant, small ? hot_contract_tuning_find(plan, hot_contract_cpu_name(context)) : NULL, &args);
    const size_t tasks = small ? plan_items(threads, &args, &work) : plan_blocks(&args, &work);
    if (!small) {
        memory = hot_context_alloc(context, (size_t)threads + 1, args.scratch_stride);
        if (!memory)
            return HOT_ERROR_MEMORY;
        args.scratch = memory + (64 - (uintptr_t)memory % 64) % 64;
    }
    const size_t round = (size_t)threads * (ROUND / (work + 1) + 1) * 8;
    for (size_t begin = 0; begin < tasks && status == HOT_OK; begin += round) {
        const size_t end = begin + round < tasks ? begin + round : tasks;
        status = hot_context_progress(context, "contracting", (double)begin / (double)tasks);
        if (status != HOT_OK)
            break;
        if (end - begin == 1) { /* a parallel region, even of one thread, takes longer than a few small products */
            do_task(&args, begin, 0);
            continue;
        }
#pragma omp parallel for schedule(dynamic, 1) num_threads(hot_team(threads))
        for (size_t task = begin; task < end; task++)
            do_task(&args, task, (size_t)omp_get_thread_num());
    }
    if (status == HOT_OK)
        status = hot_context_progress(context, "contracting", 1);
    hot_context_free(context, memory);
    return status;
}
