/* The promises of hotfiber_fibers.h, hotfiber_export.h and hotfiber_model.h about fields in memory and in files: order
 * and signs of directions, segments and surfaces in mm, tensors and responses written and read again. */
#include <sys/stat.h>
#include <unistd.h>

#include <hotfiber/hotfiber.h>

#include "threads.h"

enum { NX = 3, NY = 2, NZ = 2, VOXELS = NX * NY * NZ, MOST = 4 };

static const hot_grid grid = {.size = {NX, NY, NZ}, .to_world = {{0, -2, 0, 10}, {1.5, 0, 0, -20}, {0, 0, 2.5, 30}},
                              .space = HOT_SPACE_LPS};

static double length_of(const float v[3]) { return hypot(hypot((double)v[0], (double)v[1]), (double)v[2]); }

static hot_fiber_field *make_fibers(hot_context *context)
{
    float v[VOXELS][MOST][3] = {{{0}}};
    hot_fiber_field *fibers = NULL;
    const float given[MOST][3] = {{0, 0, -.25f}, {NAN, 1, 0}, {-.6f, 0, -.8f}, {0, .5f, 0}};
    memcpy(v[1], given, sizeof given);
    v[4][3][1] = -.125f;
    v[5][0][0] = INFINITY;
    v[11][0][0] = -.3f, v[11][2][0] = .375f;
    CHECK(hot_fiber_field_create(context, &grid, MOST, v[0][0], &fibers) == HOT_OK, "%s", hot_context_message(context));
    return fibers;
}

static void check_fibers(const hot_fiber_field *fibers, const char *where, double sx, double sy)
{
    static const double right[VOXELS][MOST][3] = {[1] = {{.6, 0, .8}, {0, .5, 0}, {0, 0, .25}}, [4] = {{0, .125, 0}},
                                                  [11] = {{.375, 0, 0}, {.3, 0, 0}}};
    static const uint8_t counts[VOXELS] = {[1] = 3, [4] = 1, [11] = 2};
    const int most = hot_fiber_field_max(fibers);
    for (int n = 0; n < VOXELS; n++) {
        CHECK(hot_fiber_field_counts(fibers)[n] == counts[n], "%s: voxel %d has %d", where, n,
              hot_fiber_field_counts(fibers)[n]);
        for (int f = 0; f < most; f++) {
            const float *v = hot_fiber_field_peaks(fibers) + 3 * (n * most + f);
            const double r[3] = {f < MOST ? sx * right[n][f][0] : 0, f < MOST ? sy * right[n][f][1] : 0,
                                 f < MOST ? right[n][f][2] : 0};
            const double dot = v[0] * r[0] + v[1] * r[1] + v[2] * r[2], size = hypot(hypot(r[0], r[1]), r[2]);
            CHECK_NEAR(length_of(v), size, 1e-6, "%s: voxel %d, fibre %d: %g %g %g", where, n, f, (double)v[0],
                       (double)v[1], (double)v[2]);
            CHECK_NEAR(fabs(dot), size * size, 1e-6, "%s: voxel %d, fibre %d: %g %g %g", where, n, f, (double)v[0],
                       (double)v[1], (double)v[2]);
        }
    }
}

static void test_fibers(hot_context *context)
{
    hot_fiber_field *fibers = make_fibers(context), *again = NULL;
    check_fibers(fibers, "created", 1, 1);
    for (int n = 0; n < VOXELS; n++) /* one half sphere: of x and -x always the same */
        for (int f = 0; f < hot_fiber_field_counts(fibers)[n]; f++) {
            const float *v = hot_fiber_field_peaks(fibers) + 3 * (n * MOST + f);
            CHECK(v[2] > 0 || (v[2] == 0 && (v[1] > 0 || (v[1] == 0 && v[0] > 0))), "voxel %d, fibre %d", n, f);
        }
    for (int f = 0; f < 3; f++) {
        static const char *const names[] = {"promised.nrrd", "promised.nii.gz", "promised.nii"};
        CHECK(hot_fiber_field_save(context, fibers, names[f]) == HOT_OK &&
                  hot_fiber_field_load(context, names[f], &again) == HOT_OK, "%s", hot_context_message(context));
        double sign[3], ras[2][3][4], apart = 0; /* NIfTI: scanner RAS */
        hot_space_ras_sign(hot_fiber_field_grid(again)->space, sign);
        check_fibers(again, names[f], -sign[0], -sign[1]);
        hot_grid_to_ras(&grid, ras[0]);
        hot_grid_to_ras(hot_fiber_field_grid(again), ras[1]);
        for (int i = 0; i < 12; i++)
            apart = fmax(apart, fabs(ras[0][i / 4][i % 4] - ras[1][i / 4][i % 4]));
        CHECK(apart < 1e-5, "%s: the grid is off by %g", names[f], apart);
        hot_fiber_field_destroy(&again);
        unlink(names[f]);
    }
    for (int most = 0; most <= 256; most += most == 0 ? 1 : most == 1 ? 254 : 1) {
        static float zeros[VOXELS * 3 * 256];
        const hot_status status = hot_fiber_field_create(context, &grid, most, zeros, &again);
        CHECK(status == (most >= 1 && most <= 255 ? HOT_OK : HOT_ERROR_ARGUMENT), "%d per voxel: %d", most, status);
        hot_fiber_field_destroy(&again);
    }
    /* segments: the largest amplitude, 1, is as long as the smallest side, 1.5 mm; centres where the voxels are */
    float points[8][2][3], directions[8][3], amplitudes[8];
    uint8_t numbers[8];
    static const int voxels[6] = {1, 1, 1, 4, 11, 11}, which[6] = {1, 2, 3, 1, 1, 2};
    static const double size[6] = {1, .5, .25, .125, .375, .3};
    CHECK(hot_fiber_field_segments(fibers, HOT_SPACE_RAS, NULL, NULL, NULL, NULL) == 6, "six fibres");
    CHECK(hot_fiber_field_segments(fibers, HOT_SPACE_RAS, points[0][0], directions[0], amplitudes, numbers) == 6, "6");
    for (int s = 0; s < 6; s++) {
        const int n = voxels[s], at[3] = {n % NX, n / NX % NY, n / NX / NY};
        double span = 0, along = 0;
        for (int d = 0; d < 3; d++) {
            const double *r = grid.to_world[d], sign = d < 2 ? -1 : 1;
            const double centre = sign * (r[0] * at[0] + r[1] * at[1] + r[2] * at[2] + r[3]);
            CHECK_NEAR((points[s][0][d] + points[s][1][d]) / 2, centre, 1e-5, "segment %d is not about its voxel", s);
            span += pow(points[s][1][d] - points[s][0][d], 2);
            along += (points[s][1][d] - points[s][0][d]) * directions[s][d];
        }
        CHECK_NEAR(sqrt(span), 1.5 * size[s], 1e-5, "segment %d is %g mm long", s, sqrt(span));
        CHECK_NEAR(fabs(along), 1.5 * size[s], 1e-5, "segment %d does not lie along its direction", s);
        CHECK_NEAR(length_of(directions[s]), 1, 1e-6, "unit");
        CHECK_NEAR(amplitudes[s], size[s], 1e-6, "amplitude %g", (double)amplitudes[s]);
        CHECK(numbers[s] == which[s], "number %d", numbers[s]);
    }
    hot_fiber_field_destroy(&fibers);
}

/* How certain fibres are: set and returned, clamped, in a run's folder, and in colours. */
static void test_certainty(hot_context *context)
{
    float certainty[VOXELS * MOST] = {0}, *colours = NULL;
    hot_fiber_field *fibers = make_fibers(context), *again = NULL;
    hot_grid own;
    size_t values = 0;
    certainty[MOST] = .5f, certainty[MOST + 1] = 2, certainty[MOST + 2] = NAN, certainty[4 * MOST] = -1;
    certainty[11 * MOST] = 1, certainty[11 * MOST + 1] = .25f;
    CHECK(!hot_fiber_field_certainty(fibers) && !hot_fiber_field_certainty(NULL), "none is known at first");
    CHECK(hot_fiber_field_set_certainty(context, NULL, certainty) == HOT_ERROR_ARGUMENT, "no fibres");
    CHECK(hot_fiber_field_set_certainty(context, fibers, certainty) == HOT_OK, "%s", hot_context_message(context));
    certainty[MOST] = 0; /* it was copied */
    const float *kept = hot_fiber_field_certainty(fibers);
    CHECK(kept[MOST] == .5f && kept[MOST + 1] == 1 && kept[MOST + 2] == 0 && kept[4 * MOST] == 0 &&
              kept[11 * MOST + 1] == .25f, "%g %g %g", (double)kept[MOST], (double)kept[MOST + 1],
          (double)kept[MOST + 2]);
    const hot_export_format *dec = hot_export_format_find("dec", NULL);
    CHECK(dec && dec->write(context, fibers, "dec.nii.gz") == HOT_OK &&
              hot_image_load_values(context, "dec.nii.gz", &own, &colours, &values) == HOT_OK && values == 3, "dec");
    /* {.6, 0, .8} at .5 and {0, .5, 0} at 1; {.375, 0, 0} at 1 and {.3, 0, 0} at .25; the voxel at 0 is black */
    const double right[3][3] = {{.3, .5, .4}, {0, 0, 0}, {.375 + .3 * .25, 0, 0}};
    for (int n = 0; colours && n < 3; n++)
        for (int d = 0; d < 3; d++)
            CHECK_NEAR(colours[3 * (n == 0 ? 1 : n == 1 ? 4 : 11) + d], right[n][d], 1e-6, "colour %d %d", n, d);
    hot_context_free(context, colours);
    unlink("dec.nii.gz");
    /* a run's folder is loaded like a file */
    CHECK(mkdir("promised", 0777) == 0 && hot_fiber_field_save(context, fibers, "promised/peaks.nrrd") == HOT_OK &&
              hot_fiber_field_load(context, "promised", &again) == HOT_OK, "%s", hot_context_message(context));
    CHECK(again && !hot_fiber_field_certainty(again), "a folder without certainty.nii.gz");
    check_fibers(again, "a folder", 1, 1);
    hot_fiber_field_destroy(&again);
    CHECK(dec->write(context, fibers, "promised/certainty.nii.gz") == HOT_OK &&
              hot_fiber_field_load(context, "promised", &again) == HOT_ERROR_FORMAT && !again,
          "three values where %d are needed", MOST);
    unlink("promised/certainty.nii.gz");
    unlink("promised/peaks.nrrd");
    CHECK(hot_fiber_field_load(context, "promised", &again) == HOT_ERROR_FILE && !again && rmdir("promised") == 0,
          "a folder without directions");
    CHECK(hot_fiber_field_set_certainty(context, fibers, NULL) == HOT_OK && !hot_fiber_field_certainty(fibers), "none");
    hot_fiber_field_destroy(&fibers);
}

static void test_tensors(hot_context *context)
{
    float values[VOXELS][7] = {{0}};
    uint64_t state = 4;
    for (int n = 0; n < VOXELS; n++)
        if (n % 4) {
            values[n][0] = 1;
            for (int t = 1; t < 7; t++)
                values[n][t] = (float)(.1 * check_random_normal(&state) + (t == 1 || t == 4 || t == 6));
        }
    hot_tensor_field *field = NULL, *again = NULL;
    CHECK(hot_tensor_field_create(context, &grid, 2, "adc", values[0], &field) == HOT_OK, "create");
    size_t fitted, flagged;
    hot_tensor_field_counts(field, &fitted, &flagged);
    CHECK(hot_tensor_field_order(field) == 2 && strcmp(hot_tensor_field_model(field), "adc") == 0 && fitted == 9 &&
              !hot_tensor_field_response(field) && hot_tensor_field_tissues(field) == 0,
          "%zu fitted, %zu flagged", fitted, flagged);
    for (int f = 0; f < 2; f++) {
        static const char *const names[] = {"promised.nrrd", "promised.nii.gz"};
        CHECK(hot_tensor_field_save(context, field, names[f]) == HOT_OK &&
                  hot_tensor_field_load(context, names[f], &again) == HOT_OK, "%s", hot_context_message(context));
        double sign[3];
        hot_space_ras_sign(hot_tensor_field_grid(again)->space, sign);
        for (int n = 0; n < VOXELS; n++)
            for (int t = 0; t < 7; t++) { /* xz and yz change sign from LPS to RAS */
                const double s = (t == 3 ? -sign[0] : t == 5 ? -sign[1] : 1) * (double)values[n][t];
                CHECK_NEAR(hot_tensor_field_values(again)[7 * n + t], s, 1e-6, "%s: voxel %d", names[f], n);
            }
        hot_tensor_field_destroy(&again);
        unlink(names[f]);
    }
    for (int order = 1; order <= 14; order++) {
        static float many[VOXELS * 200];
        const hot_status status = hot_tensor_field_create(context, &grid, order, "odf", many, &again);
        CHECK((status == HOT_OK) == (order % 2 == 0 && order <= 12), "order %d: %d", order, status);
        hot_tensor_field_destroy(&again);
    }
    hot_tensor_field_destroy(&field);
}

/* Closed meshes, oriented outwards; the form's value along each vertex; 95 % of the largest radii are at most .45 of
 * the smallest side. */
static void test_glyphs(hot_context *context)
{
    enum { N = 40 };
    const hot_grid line = {.size = {N, 1, 1}, .to_world = {{2, 0, 0, 0}, {0, 3, 0, 0}, {0, 0, 4, 0}},
                           .space = HOT_SPACE_RAS};
    float values[N][7];
    for (int n = 0; n < N; n++) {
        const float v[7] = {n != 3, (float)(1 + n), 0, 0, .5f, 0, .25f}; /* the largest radius: 1 + n */
        memcpy(values[n], v, sizeof v);
    }
    hot_tensor_field *field = NULL;
    hot_glyphs *glyphs = NULL;
    CHECK(hot_tensor_field_create(context, &line, 2, "adc", values[0], &field) == HOT_OK &&
              hot_glyphs_create(context, field, HOT_SPACE_LPS, &glyphs) == HOT_OK, "%s", hot_context_message(context));
    const size_t vertices = hot_glyphs_vertices(glyphs), triangles = hot_glyphs_triangles(glyphs);
    const uint32_t *faces = hot_glyphs_faces(glyphs);
    CHECK(hot_glyphs_count(glyphs) == N - 1 && triangles == 2 * vertices - 4, "%zu vertices, %zu triangles", vertices,
          triangles);
    float *p = malloc(vertices * 3 * sizeof *p);
    double scale = 0;
    for (int n = 0; n < N; n++) {
        double volume = 0;
        CHECK(hot_glyphs_surface(glyphs, (size_t)n, p) == (n != 3), "voxel %d", n);
        for (size_t i = 0; i < vertices && n != 3; i++) {
            double r[3] = {(double)p[3 * i] + 2. * n, p[3 * i + 1], p[3 * i + 2]}; /* LPS: the centre is at -2 n */
            const double radius = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
            const double form = ((1. + n) * r[0] * r[0] + .5 * r[1] * r[1] + .25 * r[2] * r[2]) / (radius * radius);
            if (scale == 0)
                scale = radius / form;
            CHECK_NEAR(radius / form, scale, 1e-3 * scale + 1e-4 / form, "voxel %d, vertex %zu", n, i);
            for (int d = 0; d < 3; d++)
                CHECK_NEAR(hot_glyphs_colors(glyphs)[3 * i + (size_t)d], 255 * fabs(r[d]) / radius, 1.01 + 1e-3 * n,
                           "colour");
        }
        for (size_t t = 0; t < triangles && n != 3; t++) {
            const float *a = p + 3 * faces[3 * t], *b = p + 3 * faces[3 * t + 1], *c = p + 3 * faces[3 * t + 2];
            const double o = -2. * n;
            volume += ((a[0] - o) * (b[1] * c[2] - b[2] * c[1]) - a[1] * ((b[0] - o) * c[2] - b[2] * (c[0] - o)) +
                       a[2] * ((b[0] - o) * c[1] - b[1] * (c[0] - o))) / 6;
        }
        CHECK(n == 3 || volume > 0, "voxel %d is turned inside out: %g", n, volume);
    }
    /* radii 1 ... 40 without 4: the 95th percentile is between 37 and 40 */
    CHECK(.45 * 2 / scale >= 37 && .45 * 2 / scale <= 40, "mm per unit: %g, .9 mm are %g", scale, .9 / scale);
    free(p);
    hot_glyphs_destroy(&glyphs);
    hot_tensor_field_destroy(&field);
}

static void test_formats(void)
{
    static const char *const found[][3] = {{NULL, "out/nfibers.nii.gz", "nfibers"}, {NULL, "dec.nii.gz", "dec"},
                                           {NULL, "a.vtp", "vtp"}, {NULL, "a.png", "png"}, {"peaks", "any", "peaks"},
                                           {NULL, "a.nothing", NULL}, {"nothing", "a.vtp", NULL},
                                           {NULL, "b.tck", "tck"}};
    for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
        const hot_export_format *format = hot_export_format_find(found[i][0], found[i][1]);
        CHECK(found[i][2] ? format && strcmp(format->name, found[i][2]) == 0 : !format, "%s: %s", found[i][1],
              format ? format->name : "none");
    }
    size_t count;
    const hot_export_format *const *all = hot_export_formats(&count);
    for (size_t i = 0; i < count; i++)
        CHECK(all[i]->name[0] && all[i]->help[0] && (all[i]->write || all[i]->write_tensors) &&
                  hot_export_format_find(all[i]->name, "x") == all[i], "format %zu", i);
}

/* Each loader refuses the files of the others, and one that is not there, and says what it is. */
static void test_other_files(hot_context *context)
{
    enum { KINDS = 4 };
    static const char *const names[KINDS + 1] = {"data.nrrd", "tensors.nrrd", "fibers.nrrd", "words.txt", "none.nrrd"};
    static const char *const words[2][KINDS + 1] = {
        {NULL, "not diffusion-weighted", "not diffusion-weighted", "", "none.nrrd"},
        {"holds diffusion-weighted data", NULL, "", "", "none.nrrd"}};
    float values[VOXELS][7] = {{1, 1, 0, 0, 1, 0, 1}}, signals[8 * VOXELS];
    double b[8], g[24];
    uint64_t state = 5;
    for (int v = 0; v < 8; v++) {
        b[v] = v ? 1000 : 0;
        check_random_unit(&state, g + 3 * v);
    }
    for (int i = 0; i < 8 * VOXELS; i++)
        signals[i] = 100;
    hot_dwi *dwi = NULL, *no_dwi = NULL;
    hot_tensor_field *field = NULL, *no_field = NULL;
    hot_fiber_field *fibers = make_fibers(context), *no_fibers = NULL;
    hot_response *response = NULL, *no_response = NULL;
    CHECK(hot_dwi_create(context, &grid, 8, b, g, signals, &dwi) == HOT_OK &&
              hot_tensor_field_create(context, &grid, 2, "adc", values[0], &field) == HOT_OK &&
              hot_response_create(context, 1, 2, (double[]){1000}, (double[]){500, -100}, &response) == HOT_OK &&
              hot_dwi_save(context, dwi, names[0]) == HOT_OK &&
              hot_tensor_field_save(context, field, names[1]) == HOT_OK &&
              hot_fiber_field_save(context, fibers, names[2]) == HOT_OK &&
              hot_response_save(context, response, names[3]) == HOT_OK, "%s", hot_context_message(context));
    for (int k = 0; k <= KINDS; k++) {
        const hot_status of_data = hot_dwi_load(context, names[k], NULL, NULL, &no_dwi);
        CHECK((of_data == HOT_OK) == (k == 0) && (k == 0 || (!no_dwi && strstr(hot_context_message(context),
              words[0][k]))), "%s as data: %d %s", names[k], of_data, hot_context_message(context));
        const hot_status of_tensors = hot_tensor_field_load(context, names[k], &no_field);
        CHECK((of_tensors == HOT_OK) == (k == 1) && (k == 1 || (!no_field && strstr(hot_context_message(context),
              words[1][k]))), "%s as tensors: %d %s", names[k], of_tensors, hot_context_message(context));
        const hot_status of_fibers = hot_fiber_field_load(context, names[k], &no_fibers);
        CHECK((of_fibers == HOT_OK) == (k == 2) && (k == 2 || !no_fibers), "%s as directions: %d", names[k], of_fibers);
        const hot_status of_response = hot_response_load(context, names[k], &no_response);
        CHECK((of_response == HOT_OK) == (k == 3) && (k == 3 || !no_response), "%s as a response: %d", names[k],
              of_response);
        CHECK(k < KINDS || (of_data == HOT_ERROR_FILE && of_tensors == HOT_ERROR_FILE && of_fibers == HOT_ERROR_FILE &&
                            of_response == HOT_ERROR_FILE), "a file that is not there: %d %d %d %d", of_data,
              of_tensors, of_fibers, of_response);
        hot_dwi_destroy(&no_dwi);
        hot_tensor_field_destroy(&no_field);
        hot_fiber_field_destroy(&no_fibers);
        hot_response_destroy(&no_response);
    }
    for (int k = 0; k < KINDS; k++)
        unlink(names[k]);
    hot_dwi_destroy(&dwi);
    hot_tensor_field_destroy(&field);
    hot_fiber_field_destroy(&fibers);
    hot_response_destroy(&response);
}

/* Harmonics of a delta in an image whose axes are turned by 90 degrees about z: what each frame makes of it. */
static void test_harmonics(hot_context *context)
{
    static const char *const frames[] = {NULL, "scanner", "image", "bvec"};
    double v[3], y[45];
    float values[45], peak[3];
    uint64_t state = 8;
    check_random_unit(&state, v);
    CHECK(hot_sh_values_f64(8, 1, v, y) == HOT_OK, "harmonics");
    for (int i = 0; i < 45; i++)
        values[i] = (float)y[i];
    char head[1024];
    memset(head, 0, sizeof head);
    const uint16_t one = 1; /* i runs along y, j along -x */
    snprintf(head, sizeof head,
             "mrtrix image\ndim: 1,1,1,45\nvox: 2,2,2,nan\nlayout: +0,+1,+2,+3\ndatatype: Float32%s\n"
             "transform: 0,-1,0,0\ntransform: 1,0,0,0\ntransform: 0,0,1,0\nfile: . 1024\nEND\n",
             *(const uint8_t *)&one ? "LE" : "BE");
    FILE *file = fopen("promised.mif", "wb");
    CHECK(file && fwrite(head, sizeof head, 1, file) == 1 && fwrite(values, sizeof values, 1, file) == 1, "a file");
    if (file)
        fclose(file);
    for (int f = 0; f < 4; f++) {
        const hot_sh_options o = {.size = sizeof o, .basis = "tournier07", .frame = frames[f]};
        const hot_peaks_options p = {.size = sizeof p, .max_fibers = 1, .threshold = .5, .min_angle = 20,
                                     .min_amplitude = .01};
        /* image: i is y and j is -x; bvec: as image with x turned round, as the axes are right-handed */
        const double x = f == 3 ? -v[0] : v[0], right[3] = {f < 2 ? v[0] : -v[1], f < 2 ? v[1] : x, v[2]};
        hot_tensor_field *field = NULL;
        hot_fiber_field *fibers = NULL;
        CHECK(hot_tensor_field_load_sh(context, "promised.mif", &o, &field) == HOT_OK &&
                  hot_fiber_field_find(context, field, &p, &fibers) == HOT_OK, "%s", hot_context_message(context));
        if (fibers) {
            memcpy(peak, hot_fiber_field_peaks(fibers), sizeof peak);
            const double dot = fabs(peak[0] * right[0] + peak[1] * right[1] + peak[2] * right[2]) / length_of(peak);
            CHECK_NEAR(dot, 1, 1e-6, "frame %s: %g %g %g", frames[f] ? frames[f] : "(none)", (double)peak[0],
                       (double)peak[1], (double)peak[2]);
        }
        hot_fiber_field_destroy(&fibers);
        hot_tensor_field_destroy(&field);
    }
    hot_tensor_field *none = NULL;
    const hot_sh_options wrong[2] = {{.size = sizeof *wrong, .basis = "other"},
                                     {.size = sizeof *wrong, .frame = "other"}};
    for (int w = 0; w < 2; w++)
        CHECK(hot_tensor_field_load_sh(context, "promised.mif", &wrong[w], &none) == HOT_ERROR_ARGUMENT && !none &&
                  strcmp(hot_context_parameter(context), w ? "frame" : "basis") == 0, "'%s'",
              hot_context_parameter(context));
    unlink("promised.mif");
}

static void test_responses(hot_context *context)
{
    const double b[2] = {0, 3000}, rows[2][4] = {{1000, 0, 0, 0}, {400, -300, 100, -20}};
    hot_response *response = NULL, *again = NULL;
    CHECK(hot_response_create(context, 2, 6, b, rows[0], &response) == HOT_OK, "%s", hot_context_message(context));
    CHECK(hot_response_noise(response) == 0, "not known");
    CHECK(hot_response_set_noise(response, .05) == HOT_OK, "a noise of .05");
    CHECK(hot_response_set_noise(response, 1) == HOT_ERROR_ARGUMENT && hot_response_set_noise(response, -.1) ==
              HOT_ERROR_ARGUMENT && hot_response_noise(response) == .05, "a noise out of range");
    CHECK(hot_response_save(context, response, "promised.txt") == HOT_OK &&
              hot_response_load(context, "promised.txt", &again) == HOT_OK, "%s", hot_context_message(context));
    CHECK(hot_response_shells(again) == 2 && hot_response_lmax(again) == 6, "two shells of lmax 6");
    CHECK_NEAR(hot_response_noise(again), .05, 1e-6, "files keep the noise: %g", hot_response_noise(again));
    for (size_t s = 0; s < 2; s++) {
        double at;
        for (int i = 0; i < 4; i++)
            CHECK_NEAR(hot_response_row(again, s, &at)[i], rows[s][i], 1e-9 * 1000, "shell %zu, value %d", s, i);
        CHECK(at == b[s], "b = %g", at);
    }
    hot_response_destroy(&again);
    for (int lmax = -1; lmax <= 18; lmax++) {
        static const double zeros[2 * 10];
        const hot_status status = hot_response_create(context, 2, lmax, b, zeros, &again);
        CHECK((status == HOT_OK) == (lmax >= 0 && lmax <= 16 && lmax % 2 == 0), "lmax %d: %d", lmax, status);
        hot_response_destroy(&again);
    }
    CHECK(hot_response_create(context, 0, 4, b, rows[0], &again) == HOT_ERROR_ARGUMENT, "no shell");
    CHECK(hot_response_create(context, 1, 0, b, (double[]){NAN}, &again) == HOT_ERROR_ARGUMENT && !again, "NaN");
    hot_response_destroy(&response);
    unlink("promised.txt");
    /* of a tensor: S(u) = s0 exp(-b (radial + (axial - radial) u^2)) = sum r_l Y_l0 */
    const hot_grid one = {.size = {1, 1, 1}, .to_world = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    hot_dwi *dwi = NULL;
    CHECK(hot_dwi_create(context, &one, 3, (double[]){0, 1000, 2500}, (double[]){1, 0, 0, 0, 1, 0, 0, 0, 1},
                         (float[]){3, 2, 1}, &dwi) == HOT_OK, "data");
    CHECK(hot_response_tensor(context, dwi, 1.7e-3, .3e-3, 800, 12, &response) == HOT_OK, "of a tensor");
    for (size_t s = 0; s < 3; s++) {
        double at, y[91];
        const double *row = hot_response_row(response, s, &at);
        for (double u = 0; u <= 1; u += .125) {
            double sum = 0;
            hot_sh_values_f64(12, 1, (double[]){sqrt(1 - u * u), 0, u}, y);
            for (int l = 0; l <= 12; l += 2)
                sum += row[l / 2] * y[l * (l + 1) / 2];
            CHECK_NEAR(sum, 800 * exp(-at * (.3e-3 + 1.4e-3 * u * u)), 1e-4 * 800, "b = %g, u = %g: %g", at, u, sum);
        }
    }
    size_t warnings;
    CHECK(hot_response_check(context, response, &warnings) == HOT_OK && warnings == 0, "%zu doubts", warnings);
    hot_response_destroy(&response);
    const double odd[8] = {1000, 0, 0, 0, 400, 300, 100, 20};
    CHECK(hot_response_create(context, 2, 6, b, odd, &response) == HOT_OK, "odd");
    CHECK(hot_response_check(context, response, &warnings) == HOT_OK && warnings > 0, "bright along the fibre");
    hot_response_destroy(&response);
    hot_dwi_destroy(&dwi);
}

int main(void)
{
    hot_context *context = context_of(2);
    test_fibers(context);
    test_certainty(context);
    test_tensors(context);
    test_glyphs(context);
    test_formats();
    test_other_files(context);
    test_harmonics(context);
    test_responses(context);
    hot_context_destroy(&context);
    COUNTED_TEST_END();
}
