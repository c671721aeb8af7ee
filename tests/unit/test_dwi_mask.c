/* The built-in mask on a volume whose pieces are known: a large one with a hole and an open shaft, one of a tenth of
 * it, a speck of a fortieth; and tissue without any background. */
#include <hotfiber/hotfiber.h>

#include "dwi/gather.h"
#include "promises/threads.h"

enum { NX = 40, NY = 40, NZ = 14, VOLUMES = 8, ALL = NX * NY * NZ };

static const hot_grid grid = {.size = {NX, NY, NZ}, .to_world = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}}};

typedef struct box {
    int from[3], to[3];
} box;

static const box large = {{2, 2, 2}, {24, 24, 12}}, tenth = {{28, 28, 2}, {37, 36, 9}},
                 speck = {{30, 4, 4}, {35, 9, 9}},
                 core = {{16, 16, 5}, {18, 18, NZ}}, /* of the shaft: the median rounds its edges */
                 hole = {{6, 6, 4}, {10, 10, 8}}, shaft = {{15, 15, 4}, {19, 19, NZ}};

static int within(const box *b, int i, int j, int k)
{
    const int at[] = {i, j, k};
    for (int d = 0; d < 3; d++)
        if (at[d] < b->from[d] || at[d] >= b->to[d])
            return 0;
    return 1;
}

/* Signals of one volume without weighting and seven with: `bright` tells the first of a voxel, `decay` the others. */
static hot_mask *estimate(hot_context *context, double (*bright)(int, int, int), double (*decay)(int, int, int))
{
    static float signals[VOLUMES * ALL];
    double b[VOLUMES], g[3 * VOLUMES] = {0};
    hot_dwi *dwi = NULL;
    hot_mask *mask = NULL;
    uint64_t state = 4;
    for (int v = 0; v < VOLUMES; v++) {
        b[v] = v ? 1000 : 0;
        if (v)
            check_random_unit(&state, g + 3 * v);
        for (int n = 0; n < ALL; n++) {
            const int i = n % NX, j = n / NX % NY, k = n / NX / NY;
            signals[v * ALL + n] = (float)(bright(i, j, k) * (v ? decay(i, j, k) : 1) + 5 * check_random(&state));
        }
    }
    CHECK(hot_dwi_create(context, &grid, VOLUMES, b, g, signals, &dwi) == HOT_OK &&
              hot_mask_estimate(context, dwi, &mask) == HOT_OK,
          "%s", hot_context_message(context));
    hot_dwi_destroy(&dwi);
    return mask;
}

static double pieces(int i, int j, int k)
{
    if (within(&hole, i, j, k) || within(&shaft, i, j, k))
        return 0;
    return within(&large, i, j, k) || within(&tenth, i, j, k) || within(&speck, i, j, k) ? 1000 : 0;
}

/* Two tissues, one much darker, and nothing else. */
static double tissues(int i, int j, int k)
{
    (void)j, (void)k;
    return i < NX / 2 ? 1000 : 300;
}

static double by_diffusion(int i, int j, int k)
{
    (void)i, (void)j, (void)k;
    return .4;
}

/* The dark half does not lose signal: it is noise. */
static double not_in_the_dark(int i, int j, int k)
{
    (void)j, (void)k;
    return i < NX / 2 ? .4 : 1;
}

static void test_pieces(hot_context *context)
{
    hot_mask *mask = estimate(context, pieces, by_diffusion);
    const uint8_t *inside = mask ? hot_mask_bytes(mask) : NULL;
    int wrong[5] = {0};
    for (int n = 0; inside && n < ALL; n++) {
        const int i = n % NX, j = n / NX % NY, k = n / NX / NY, in = inside[n] != 0;
        if (within(&hole, i, j, k))
            wrong[0] += !in;
        else if (within(&shaft, i, j, k))
            wrong[1] += in && within(&core, i, j, k);
        else if (within(&large, i, j, k) || within(&tenth, i, j, k))
            wrong[2] += !in;
        else if (within(&speck, i, j, k))
            wrong[3] += in;
        else
            wrong[4] += in;
    }
    CHECK(wrong[0] == 0, "%d voxels of a hole are out", wrong[0]);
    CHECK(wrong[1] == 0, "%d voxels in the middle of an open shaft are in", wrong[1]);
    CHECK(wrong[2] <= 2 * 8, "%d voxels of the pieces are out, where the median takes their corners", wrong[2]);
    CHECK(wrong[3] == 0, "%d voxels of a speck are in", wrong[3]);
    CHECK(wrong[4] == 0, "%d voxels of the background are in", wrong[4]);
    printf("hole %d, shaft %d, pieces %d, speck %d, background %d\n", wrong[0], wrong[1], wrong[2], wrong[3], wrong[4]);
    hot_mask_destroy(&mask);
}

/* Through all slices a core of dark tissue, one as bright that keeps its signal at high b, as air does, and one that
 * loses it but is far darker, as the water between the bundles of FiberCup. */
static const box dark = {{10, 10, 0}, {16, 16, NZ}}, air = {{24, 10, 0}, {30, 16, NZ}},
                 gap = {{10, 24, 0}, {16, 30, NZ}};

static double with_cores(int i, int j, int k)
{
    if (i < 4 || j < 4 || i >= NX - 4 || j >= NY - 4)
        return 0;
    return within(&dark, i, j, k) || within(&air, i, j, k) ? 400 : within(&gap, i, j, k) ? 150 : 1000;
}

static double decay_of_cores(int i, int j, int k) { return within(&air, i, j, k) ? 1 : .4; }

/* In a slab no hole is closed by slices above and below. */
static void test_slab(hot_context *context)
{
    hot_mask *mask = estimate(context, with_cores, decay_of_cores);
    int missing = 0, extra = 0, tissue = 0;
    size_t holes = 0;
    for (int n = 0; mask && n < ALL; n++) {
        const int i = n % NX, j = n / NX % NY, k = n / NX / NY, in = hot_mask_bytes(mask)[n] != 0;
        missing += within(&dark, i, j, k) && !in;
        extra += in && (within(&air, i, j, k) || within(&gap, i, j, k) || with_cores(i, j, k) == 0);
        tissue += in;
    }
    CHECK(mask && missing == 0, "%d voxels of dark tissue are out", missing);
    CHECK(extra <= 8 * NZ && tissue > ALL / 2, "%d voxels of air or gap are in, of %d", extra, tissue); /* corners */
    CHECK(mask && hot_mask_count_holes(context, mask, &holes) == HOT_OK &&
              holes == (size_t)(72 * NZ - extra),
          "%zu voxels of holes, air and gap have %d", holes, 72 * NZ);
    hot_mask_destroy(&mask);
}

static void test_no_background(hot_context *context)
{
    hot_mask *mask = estimate(context, tissues, by_diffusion);
    CHECK(mask && hot_mask_count(mask) == ALL, "%zu of %d voxels of tissue", mask ? hot_mask_count(mask) : 0, (int)ALL);
    hot_mask_destroy(&mask);
    mask = estimate(context, tissues, not_in_the_dark);
    CHECK(mask && hot_mask_count(mask) == ALL / 2, "%zu of %d voxels are not noise", mask ? hot_mask_count(mask) : 0,
          ALL / 2);
    hot_mask_destroy(&mask);
}

/* Slabs of what there may be, across i: their first i (the first is background), their signals. */
typedef struct layer {
    int from;
    double signal, decay;
} layer;
static const layer *layers;
static int layer_count;

static const layer *layer_at(int i)
{
    int at = 0;
    while (at + 1 < layer_count && layers[at + 1].from <= i)
        at++;
    return &layers[at];
}

static double layer_signal(int i, int j, int k) { return (void)j, (void)k, layer_at(i)->signal; }
static double layer_decay(int i, int j, int k) { return (void)j, (void)k, layer_at(i)->decay; }

/* The mask is everything from column `first` on. */
static void check_layers(hot_context *context, const char *what, int count, const layer *given, int first)
{
    layers = given, layer_count = count;
    hot_mask *mask = estimate(context, layer_signal, layer_decay);
    int wrong = 0;
    for (int n = 0; mask && n < ALL; n++)
        wrong += (hot_mask_bytes(mask)[n] != 0) != (n % NX >= first);
    CHECK(mask && wrong == 0, "%s: %d voxels are wrong, %zu inside", what, wrong, mask ? hot_mask_count(mask) : 0);
    hot_mask_destroy(&mask);
}

/* Tissue of any share of the volume and any contrast; fluid that is several times as bright as tissue; ghosts. */
static void test_proportions(hot_context *context)
{
    for (int columns = 2; columns <= 38; columns += 4) {
        check_layers(context, "tissue alone", 2, (layer[]){{0, 0, 1}, {NX - columns, 1000, .4}}, NX - columns);
        check_layers(context, "tissue of little signal", 2, (layer[]){{0, 0, 1}, {NX - columns, 60, .4}}, NX - columns);
    }
    /* a fluid 2 to 4.5 times as bright as tissue: the tissue is in */
    for (double bright = 2000; bright <= 4500; bright += 500)
        for (int fluid = 2; fluid <= 6; fluid += 2)
            check_layers(context, "tissue and fluid", 3,
                         (layer[]){{0, 0, 1}, {18, 1000, .4}, {NX - fluid, bright, .1}}, 18);
    /* a ghost of a tenth of the tissue is out, with much more of it than tissue, too */
    for (int tissue = 6; tissue <= 20; tissue += 7)
        check_layers(context, "a ghost", 3, (layer[]){{0, 0, 1}, {3, 100, 1}, {NX - tissue, 1000, .4}}, NX - tissue);
    /* a dark half: noise where it does not decay, tissue where it does */
    for (double decay = .5; decay <= .7; decay += .1)
        check_layers(context, "dark tissue", 2, (layer[]){{0, 300, decay}, {20, 1000, .4}}, 0);
    for (double decay = .85; decay <= 1; decay += .05)
        check_layers(context, "bright noise", 2, (layer[]){{0, 300, decay}, {20, 1000, .4}}, 20);
}

/* Under one in a hundred voxels far brighter than all others (a fat layer, a coil): the mask stays. */
static double with_few_bright(int i, int j, int k)
{
    if (i < 2 || j < 2 || k < 2 || i + 2 >= NX || j + 2 >= NY || k + 2 >= NZ)
        return 0;
    return j < 7 && k < 7 && i > 33 ? 1e5 : i >= 12 ? 1000 : 0;
}

static void test_few_bright(hot_context *context)
{
    hot_mask *mask = estimate(context, with_few_bright, by_diffusion);
    int missing = 0, bright = 0, extra = 0;
    for (int n = 0; mask && n < ALL; n++) {
        const int in = hot_mask_bytes(mask)[n] != 0;
        const double signal = with_few_bright(n % NX, n / NX % NY, n / NX / NY);
        missing += signal > 0 && !in;
        bright += signal > 1e4;
        extra += signal == 0 && in;
    }
    CHECK(bright > 0 && bright * 100 < ALL, "%d bright voxels", bright);
    CHECK(mask && missing <= 8 && extra == 0, "bright voxels: %d of tissue are out, %d others in", missing, extra);
    hot_mask_destroy(&mask);
}

int main(void)
{
    hot_context *context = context_of(2);
    test_pieces(context);
    test_slab(context);
    test_no_background(context);
    test_proportions(context);
    test_few_bright(context);
    hot_context_destroy(&context);
    COUNTED_TEST_END();
}
