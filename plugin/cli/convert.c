/* hotfiber convert: diffusion data between NRRD and NIfTI with bval and bvec. */
#include "cli.h"

#include <string.h>

#include "io/nrrd/nrrdio.h"

const cli_command cli_convert_command = {
    .name = "convert",
    .summary = "diffusion data from NRRD or NIfTI to NRRD or NIfTI + bval + bvec",
    .usage = "-i DWI -o DWI [options]",
    .about =
        "The output's name says its format: .nii and .nii.gz are NIfTI with .bval and .bvec beside it, .nhdr a header "
        "with its data in a .raw file, everything else NRRD. Samples keep their type, voxels their order and place, "
        "gradients their world direction; the NRRD's measurement frame becomes the identity.\n"
        "\n"
        "  hotfiber convert -i dwi.nii.gz --bval dwi.bval --bvec dwi.bvec -o dwi.nrrd\n"
        "  hotfiber convert -i dwi.nhdr -o dwi.nii.gz",
    .arguments_max = 0,
};

int cli_convert(int argc, char **argv)
{
    const char *input = "-", *output = "-", *bval = NULL, *bvec = NULL;
    const cli_option options[] = {
        {"i", CLI_TEXT, &input, "FILE", "diffusion data: NRRD, or NIfTI (default - = standard input, NRRD)", 0, 0},
        {"o", CLI_TEXT, &output, "FILE", "what to write (default - = standard output, NRRD)", 0, 0},
        {"bval", CLI_TEXT, &bval, "FILE", "b-values of a NIfTI input (default: beside it)", 0, 0},
        {"bvec", CLI_TEXT, &bvec, "FILE", "gradient vectors of a NIfTI input (default: beside it)", 0, 0},
        {NULL, CLI_FLAG, NULL, NULL, NULL, 0, 0}};
    cli_common common;
    int done = cli_parse(&cli_convert_command, options, argc, argv, &common);
    if (done >= 0)
        return done;
    hot_dwi *dwi = NULL;
    hot_status status = hot_dwi_load(common.context, input, bval, bvec, &dwi);
    if (status == HOT_OK)
        status = hot_dwi_save(common.context, dwi, output);
    hot_dwi_destroy(&dwi);
    return cli_finish(&cli_convert_command, &common, status);
}
