/* hotfiber convert: diffusion data between NRRD, NIfTI with bval and bvec, and MIF. */
#include "cli.h"

const cli_command cli_convert_command = {
    "convert", "diffusion data from and to NRRD, NIfTI + bval + bvec, and MIF", "[-i] DWI -o DWI [options]",
    "The format follows from the output's name: .nii and .nii.gz are NIfTI with .bval and .bvec, .mif, "
    ".mif.gz and .mih (with its samples in .dat) MRtrix's format with the gradients as dw_scheme, .nhdr a "
    "header with its data in a .raw file, everything else NRRD. Samples keep their type, voxels their order and place, "
    "gradients their world direction; the NRRD's measurement frame becomes the identity.\n"
    "\n"
    "  hotfiber convert dwi.nii.gz --bval dwi.bval --bvec dwi.bvec -o dwi.nrrd\n"
    "  hotfiber convert dwi.nhdr -o dwi.nii.gz\n"
    "  hotfiber convert dwi.nii.gz --grad dwi.b -o dwi.mif",
    0,
};

int cli_convert(int argc, char **argv)
{
    const char *input = "-", *output = "-", *bval = NULL, *bvec = NULL;
    const cli_option options[] = {
        CLI_DWI_OPTION(input),
        {"o", CLI_OUTPUT_IMAGE, &output, "FILE",
         "what to write: NRRD, NIfTI or MIF by name; default -, standard output", 0, 0},
        CLI_GRADIENT_OPTIONS(bval, bvec),
        CLI_END};
    CLI_PARSE(convert, options);
    hot_dwi *dwi = NULL;
    hot_status status = hot_dwi_load(common.context, input, bval, bvec, &dwi);
    if (status == HOT_OK)
        status = hot_dwi_save(common.context, dwi, output);
    hot_dwi_destroy(&dwi);
    return cli_finish(&cli_convert_command, &common, status);
}
