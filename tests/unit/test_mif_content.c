/* What an image of MRtrix holds, as its command_history says: the last command that makes something decides. Samples
 * are such that they could be several things, which is refused where the history does not say it. */
#include "check.h"

#include <hotfiber/hotfiber.h>

#include <unistd.h>

enum { N = 3, VOXELS = N * N * N, MOST = 6 };

/* lines: of the header, each with its end. */
static void write_image(const char *path, int volumes, const char *lines)
{
    uint64_t seed = 3;
    FILE *file = fopen(path, "wb");
    char text[1000];
    const int length = snprintf(text, sizeof text, "mrtrix image\ndim: %d,%d,%d,%d\nvox: 2,2,2,1\n"
                                "layout: +0,+1,+2,+3\ndatatype: Float32%s\n%stransform: 1,0,0,0\n"
                                "transform: 0,1,0,0\ntransform: 0,0,1,0\nfile: . 1000\nEND\n", N, N, N, volumes,
                                __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? "BE" : "LE", lines);
    fwrite(text, 1, (size_t)length, file);
    for (int i = length; i < 1000; i++)
        fputc(0, file);
    for (int i = 0; i < VOXELS * volumes; i++) {
        const float sample = (float)(0.1 + check_random(&seed));
        fwrite(&sample, sizeof sample, 1, file);
    }
    fclose(file);
}

static const struct { const char *lines; int volumes; const char *content; } cases[] = {
    {"", 6, NULL},
    {"command_history: dwi2tensor dwi.mif dt.mif\n", 6, "tensor"},
    {"command_history: dwi2fod csd dwi.mif response.txt fod.mif\n", 6, "sh"},
    {"command_history: amp2sh a.mif b.mif\n", 6, "sh"},
    {"command_history: mtnormalise fod.mif fod_norm.mif\n", 6, "sh"},
    {"command_history: sh2peaks fod.mif peaks.mif\n", 6, "peaks"},
    {"command_history: fixel2peaks fixels/directions.mif peaks.mif\n", 6, "peaks"},
    {"command_history: peaks2fixel peaks.mif fixels\n", 6, "map"},
    {"command_history: fod2dec fod.mif dec.mif\n", 3, "rgb"},
    {"command_history: sh2amp fod.mif directions.txt amplitudes.mif\n", 6, "map"},
    {"command_history: dwi2mask dwi.mif mask.mif\n", 6, "map"},
    {"command_history: dwidenoise dwi.mif clean.mif\n", 6, "dwi"},
    {"command_history: dwi2tensor\n", 6, "tensor"},
    {"command_history: dwi2tensor(version=3.0.4)\n", 6, "tensor"},
    {"command_history: /usr/lib/mrtrix 3/bin/dwi2tensor a b\n", 6, NULL}, /* a blank ends the command */
    {"command_history: /usr/lib/mrtrix/bin/dwi2tensor dwi.mif a/sh2peaks\n", 6, "tensor"},
    {"command_history: dwi2tensors dwi.mif dt.mif\n", 6, NULL},
    {"command_history: dwi2 dwi.mif dt.mif\n", 6, NULL},
    {"command_history: dwi2tensor a b\ncommand_history: mrconvert b c\ncommand_history: mrgrid c regrid d\n", 6,
     "tensor"},
    {"command_history: dwi2tensor a b\ncommand_history: mrcalc b 2 -mult c\n", 6, NULL},
    {"command_history: dwi2fod a b\ncommand_history: sh2peaks b c\n", 6, "peaks"},
    {"command_history: sh2peaks a b\ncommand_history: mrcalc b 2 -mult c\ncommand_history: dwi2tensor c d\n", 6,
     "tensor"},
    {"hotfiber_content: sh\n", 6, "sh"},
    {"hotfiber_content: sh\ncommand_history: mrconvert a b\n", 6, "sh"},
    {"hotfiber_content: sh\ncommand_history: sh2peaks a b\n", 6, "peaks"},
    {"hotfiber_content: peaks\ncommand_history: mrcalc a 2 -mult b\n", 6, NULL},
};

int main(void)
{
    hot_context *context = NULL;
    char folder[] = "/tmp/hot_mif_XXXXXX";
    if (hot_context_create(NULL, &context) != HOT_OK || !mkdtemp(folder) || chdir(folder) != 0)
        return 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *content = "none";
        write_image("a.mif", cases[i].volumes, cases[i].lines);
        const hot_status status = hot_file_content(context, "a.mif", &content);
        if (cases[i].content)
            CHECK(status == HOT_OK && strcmp(content, cases[i].content) == 0, "%s: %s, not %s: %s", cases[i].lines,
                  status == HOT_OK ? content : "nothing", cases[i].content, hot_context_message(context));
        else
            CHECK(status == HOT_ERROR_FORMAT, "%s: %s, though it could be several things", cases[i].lines, content);
    }
    CHECK(remove("a.mif") == 0 && chdir("/") == 0 && rmdir(folder) == 0, "nothing is left");
    hot_context_destroy(&context);
    HOT_TEST_END();
}
