/* A host program with a decimal comma: files are read and written the same, and its locale does not change. */
#include "check.h"
#include "core/fields.h"

#include <locale.h>
#include <unistd.h>

int main(void)
{
    enum { VOLUMES = 4, VOXELS = 8 };
    char here[4096], made[4300];
    /* a locale that the test makes, if the machine has the sources of locales */
    if (!getcwd(here, sizeof here))
        return 1;
    snprintf(made, sizeof made, "%s/de_DE.UTF-8", here);
    setenv("LOCPATH", here, 1);
    if (access(made, F_OK) != 0 && system("localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 > localedef.log 2>&1") != 0)
        printf("localedef failed\n");
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) {
        printf("skipped: no locale with a decimal comma can be made here\n");
        return 77;
    }
    char text[32];
    snprintf(text, sizeof text, "%g", .5);
    CHECK(strcmp(text, "0,5") == 0, "the host writes %s", text);

    hot_context *context = NULL;
    hot_dwi *dwi = NULL;
    const hot_grid grid = {.size = {2, 2, 2}, .space = HOT_SPACE_RAS,
                           .to_world = {{1.25, 0, 0, .5}, {0, 1.5, 0, -.75}, {0, 0, 2.5, .125}}};
    const double b[VOLUMES] = {0, 700.5, 700.5, 700.5}, g[3 * VOLUMES] = {0, 0, 0, .6, .8, 0, 0, .6, .8, .8, 0, .6};
    float signals[VOLUMES * VOXELS], back[VOLUMES * VOXELS];
    for (int n = 0; n < VOLUMES * VOXELS; n++)
        signals[n] = (float)n + .25f;
    CHECK(hot_context_create(NULL, &context) == HOT_OK, "context");
    CHECK(hot_dwi_create(context, &grid, VOLUMES, b, g, signals, &dwi) == HOT_OK, "dwi");
    static const char *const names[] = {"locale.nrrd", "locale.nii", "locale.nhdr"};
    for (int f = 0; f < 3; f++) {
        hot_dwi *again = NULL;
        CHECK(hot_dwi_save(context, dwi, names[f]) == HOT_OK, "%s", hot_context_message(context));
        CHECK(hot_dwi_load(context, names[f], NULL, NULL, &again) == HOT_OK, "%s", hot_context_message(context));
        if (!again)
            continue;
        for (int v = 0; v < VOLUMES; v++)
            CHECK_NEAR(hot_dwi_b(again)[v], b[v], 1e-9, "%s: b = %g", names[f], hot_dwi_b(again)[v]);
        for (int i = 0; i < 3 * VOLUMES; i++)
            CHECK_NEAR(hot_dwi_gradients(again)[i], g[i], 1e-6, "%s: gradient %g", names[f],
                       hot_dwi_gradients(again)[i]);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 4; c++)
                CHECK_NEAR(hot_dwi_grid(again)->to_world[r][c], grid.to_world[r][c], 1e-6, "%s: place", names[f]);
        CHECK(hot_dwi_read(context, again, 0, VOXELS, back) == HOT_OK && back[1] == signals[VOXELS], "%s: samples",
              names[f]);
        hot_dwi_destroy(&again);
    }
    snprintf(text, sizeof text, "%g", .5);
    CHECK(strcmp(text, "0,5") == 0, "the host now has %s", text);
    hot_dwi_destroy(&dwi);
    hot_context_destroy(&context);
    HOT_TEST_END();
}
