/* The paragraph for a paper: what was done in words, and whom to cite for it. */
#include <math.h>
#include <string.h>

#include "page.h"

/* In the order of the list; a bit each. */
enum {
    BASSER = 1 << 0, OZARSLAN = 1 << 1, TOURNIER = 1 << 2, TOURNIER_2007 = 1 << 3, SCHULTZ = 1 << 4, AGANJ = 1 << 5,
    KOLDA = 1 << 6, BALLARD = 1 << 7, VERAART = 1 << 8, VERAART_2013 = 1 << 9, GUDBJARTSSON = 1 << 10,
    JEURISSEN = 1 << 11, SCHILLING = 1 << 12, RAFFELT = 1 << 13, BEHRENS = 1 << 14, TISSUES = 1 << 15
};

static const struct { const char *key, *text, *doi; } references[] = {
    {"Basser 1994", "Basser PJ, Mattiello J, LeBihan D (1994). MR diffusion tensor spectroscopy and imaging. "
     "Biophysical Journal 66, 259-267.", "10.1016/S0006-3495(94)80775-1"},
    {"\xc3\x96zarslan 2003", "\xc3\x96zarslan E, Mareci TH (2003). Generalized diffusion tensor imaging and analytical "
     "relationships between diffusion tensor imaging and high angular resolution diffusion imaging. Magnetic Resonance "
     "in Medicine 50, 955-965.", "10.1002/mrm.10596"},
    {"Tournier 2004", "Tournier J-D, Calamante F, Gadian DG, Connelly A (2004). Direct estimation of the fiber "
     "orientation density function from diffusion-weighted MRI data using spherical deconvolution. NeuroImage 23, "
     "1176-1185.", "10.1016/j.neuroimage.2004.07.037"},
    {"Tournier 2007", "Tournier J-D, Calamante F, Connelly A (2007). Robust determination of the fibre orientation "
     "distribution in diffusion MRI: non-negativity constrained super-resolved spherical deconvolution. NeuroImage 35, "
     "1459-1472.", "10.1016/j.neuroimage.2007.02.016"},
    {"Schultz 2008", "Schultz T, Seidel H-P (2008). Estimating crossing fibers: a tensor decomposition approach. IEEE "
     "Transactions on Visualization and Computer Graphics 14, 1635-1642.", "10.1109/TVCG.2008.128"},
    {"Aganj 2010", "Aganj I, Lenglet C, Sapiro G, Yacoub E, Ugurbil K, Harel N (2010). Reconstruction of the "
     "orientation distribution function in single- and multiple-shell q-ball imaging within constant solid angle. "
     "Magnetic Resonance in Medicine 64, 554-566.", "10.1002/mrm.22365"},
    {"Kolda 2011", "Kolda TG, Mayo JR (2011). Shifted power method for computing tensor eigenpairs. SIAM Journal on "
     "Matrix Analysis and Applications 32, 1095-1124.", "10.1137/100801482"},
    {"Ballard 2011", "Ballard G, Kolda T, Plantenga T (2011). Efficiently computing tensor eigenvalues on a GPU. IEEE "
     "International Symposium on Parallel and Distributed Processing Workshops, 1340-1348.",
     "10.1109/IPDPS.2011.287"},
    {"Veraart 2016", "Veraart J, Novikov DS, Christiaens D, Ades-aron B, Sijbers J, Fieremans E (2016). Denoising of "
     "diffusion MRI using random matrix theory. NeuroImage 142, 394-406.", "10.1016/j.neuroimage.2016.08.016"},
    {"Veraart 2013", "Veraart J, Sijbers J, Sunaert S, Leemans A, Jeurissen B (2013). Weighted linear least squares "
     "estimation of diffusion MRI parameters: strengths, limitations, and pitfalls. NeuroImage 81, 335-346.",
     "10.1016/j.neuroimage.2013.05.028"},
    {"Gudbjartsson 1995", "Gudbjartsson H, Patz S (1995). The Rician distribution of noisy MRI data. Magnetic "
     "Resonance in Medicine 34, 910-914.", "10.1002/mrm.1910340618"},
    {"Jeurissen 2014a", "Jeurissen B, Leemans A, Sijbers J (2014). Automated correction of improperly rotated "
     "diffusion gradient orientations in diffusion weighted MRI. Medical Image Analysis 18, 953-962.",
     "10.1016/j.media.2014.05.012"},
    {"Schilling 2019", "Schilling KG, Yeh F-C, Nath V, Hansen C, Williams O, Resnick S, Anderson AW, Landman BA "
     "(2019). A fiber coherence index for quality control of B-table orientation in diffusion MRI scans. Magnetic "
     "Resonance Imaging 58, 82-89.", "10.1016/j.mri.2019.01.018"},
    {"Raffelt 2012", "Raffelt D, Tournier J-D, Rose S, Ridgway GR, Henderson R, Crozier S, Salvado O, Connelly A "
     "(2012). Apparent fibre density: a novel measure for the analysis of diffusion-weighted magnetic resonance "
     "images. NeuroImage 59, 3976-3994.", "10.1016/j.neuroimage.2011.10.045"},
    {"Behrens 2007", "Behrens TEJ, Johansen-Berg H, Jbabdi S, Rushworth MFS, Woolrich MW (2007). Probabilistic "
     "diffusion tractography with multiple fibre orientations: what can we gain? NeuroImage 34, 144-155.",
     "10.1016/j.neuroimage.2006.09.018"},
    {"Jeurissen 2014b", "Jeurissen B, Tournier J-D, Dhollander T, Connelly A, Sijbers J (2014). Multi-tissue "
     "constrained spherical deconvolution for improved analysis of multi-shell diffusion MRI data. NeuroImage 103, "
     "411-426.", "10.1016/j.neuroimage.2014.07.061"},
};
enum { REFERENCES = sizeof references / sizeof *references };

int hot_page_reference(int index, const char **key, const char **text, const char **doi)
{
    if (index < 0 || index >= REFERENCES)
        return 0;
    *key = references[index].key, *text = references[index].text, *doi = references[index].doi;
    return 1;
}

static int is(const cJSON *object, const char *name, const char *value)
{
    return strcmp(hot_json_text(object, name), value) == 0;
}

static int has_file(const hot_page *page, const char *name)
{
    const cJSON *file;
    cJSON_ArrayForEach(file, hot_json_at(page->json, "files"))
        if (cJSON_IsString(file) && strncmp(file->valuestring, name, strlen(name)) == 0)
            return 1;
    return 0;
}

/* " (A; B)", and notes them for the list. */
static void cite(FILE *file, unsigned which, unsigned *cited)
{
    const char *before = " (";
    for (int i = 0; i < REFERENCES; i++)
        if (which >> i & 1) {
            fprintf(file, "%s%s", before, references[i].key);
            before = "; ";
        }
    fputc(')', file);
    *cited |= which;
}

static void put_data(FILE *file, const hot_page *page)
{
    const cJSON *input = hot_json_at(page->json, "input"), *shell;
    const char *before = " (";
    hot_html_format(file, "Fibre directions were computed with hotfiber %s from %.0f diffusion-weighted volumes",
                    hot_json_text(page->json, "hotfiber"), hot_json_number(input, "volumes"));
    cJSON_ArrayForEach(shell, hot_json_at(input, "shells")) {
        hot_html_format(file, "%s%.0f at b = %.0f s/mm\xc2\xb2", before, hot_json_number(shell, "volumes"),
                        hot_json_number(shell, "b"));
        before = ", ";
    }
    fputs(before[0] == ',' ? "). " : ". ", file);
}

static void put_preparation(FILE *file, const hot_page *page, unsigned *cited)
{
    const cJSON *settings = hot_json_at(page->json, "settings");
    if (cJSON_IsTrue(hot_json_at(settings, "denoise"))) {
        fputs("They were denoised by principal component analysis with the Marchenko-Pastur law", file);
        cite(file, VERAART, cited);
        fputs(". ", file);
    }
    fputs(is(settings, "mask", "estimated") ? "A mask was estimated from the b=0 volumes. "
                                            : "A given mask was used. ", file);
    const cJSON *check = hot_json_at(page->json, "gradients");
    const int settled = is(check, "verdict", "likeliest"), possible = is(check, "verdict", "possible");
    if (settled || possible) {
        fputs("The gradient table was compared with its flips and permutations by the coherence of fibres between "
              "voxels", file);
        fputs(settled ? ", and found the most likely" : "", file);
        cite(file, JEURISSEN | SCHILLING, cited);
        fputs(settled ? ". " : "; none was more likely, but it could not be told from the table with ", file);
        if (possible) {
            hot_html_text(file, hot_json_text(check, "alike"));
            fputs(". ", file);
        }
    }
}

static void put_model(FILE *file, const hot_page *page, unsigned *cited)
{
    const cJSON *settings = hot_json_at(page->json, "settings"), *response = hot_json_at(page->json, "response");
    const double order = hot_json_number(settings, "order");
    if (is(settings, "model", "adc")) {
        hot_html_format(file, "%s of order %.0f were fitted to the logarithm of the signals",
                        order > 2 ? "Tensors of apparent diffusion" : "Diffusion tensors", order);
        cite(file, order > 2 ? OZARSLAN : BASSER, cited);
    } else if (is(settings, "model", "odf")) {
        hot_html_format(file, "Orientation distribution functions were fitted as symmetric tensors of order %.0f by "
                              "constant-solid-angle q-ball imaging", order);
        cite(file, AGANJ, cited);
    } else if (is(settings, "model", "msmt")) {
        hot_html_format(file, "Fibre orientation distributions, as symmetric tensors of order %.0f, and the amounts of "
                              "other tissues were fitted together to all shells by constrained deconvolution", order);
        cite(file, TISSUES, cited);
    } else {
        fputs("The response of a single fibre was ", file);
        if (is(response, "from", "estimated"))
            hot_html_format(file, "estimated from %.0f voxels of one fibre", hot_json_number(response, "voxels"));
        else
            fputs(is(response, "from", "diffusivities") ? "computed from given diffusivities" : "given", file);
        if (!is(settings, "method", "signal")) {
            hot_html_format(file, ", and fibre orientation distributions were fitted as symmetric tensors of order "
                                  "%.0f by spherical deconvolution", order);
            cite(file, TOURNIER | SCHULTZ, cited);
        } else {
            cite(file, TOURNIER, cited);
        }
    }
    fputs(". ", file);
}

static void put_method(FILE *file, const hot_page *page, unsigned *cited)
{
    const cJSON *settings = hot_json_at(page->json, "settings");
    const double most = hot_json_number(settings, "max_fibers");
    if (is(settings, "method", "signal")) {
        hot_html_format(file, "In each voxel 0 to %.0f fibres, with an isotropic part, were fitted to the signals, and "
                              "their number was chosen by its probability given %s noise", most,
                        is(settings, "noise_model", "gaussian") ? "Gaussian" : "Rician");
        if (!is(settings, "noise_model", "gaussian"))
            cite(file, GUDBJARTSSON, cited);
        if (hot_json_at(settings, "population")) /* a run of version 0.1.0 has none */
            fputs("; widths of fibres and isotropic parts vary between voxels, with priors learned from the data",
                  file);
    } else if (is(settings, "method", "lowrank")) {
        hot_html_format(file, "Directions are the terms of a rank-1 to rank-%.0f approximation of the tensor", most);
        cite(file, SCHULTZ, cited);
    } else if (is(settings, "method", "sshopm")) {
        hot_html_format(file, "Directions are eigenvectors of the tensor that were found by the shifted symmetric "
                              "higher-order power method from %.0f starting vectors",
                        hot_json_number(settings, "starts"));
        cite(file, KOLDA | BALLARD, cited);
    } else {
        hot_html_format(file, "Directions are the largest maxima of the tensor's form on the sphere, at most %.0f "
                              "per voxel", most);
    }
    fputs(". ", file);
}

static void put_outputs(FILE *file, const hot_page *page, unsigned *cited)
{
    if (has_file(page, "fa.nii") || has_file(page, "md.nii")) {
        fputs("Fractional anisotropy and mean diffusivity are from diffusion tensors of order 2, fitted by weighted "
              "least squares", file);
        cite(file, BASSER | VERAART_2013, cited);
        fputs(". ", file);
    }
    if (has_file(page, "afd_")) {
        fputs("Apparent fibre density is from the fODF", file);
        cite(file, RAFFELT | TOURNIER_2007, cited);
        fputs(". ", file);
    }
    if (has_file(page, "bedpostx/")) {
        fputs("Samples of the posterior were drawn for probabilistic tractography", file);
        cite(file, BEHRENS, cited);
        fputs(". ", file);
    }
    const cJSON *counts = hot_json_at(page->json, "counts"), *fibers = hot_json_at(counts, "fibers");
    const double voxels = hot_json_number(counts, "voxels"), one = hot_json_number(fibers, "one"),
                 two = hot_json_number(fibers, "two"), three = hot_json_number(fibers, "three");
    if (voxels > 0 && isfinite(one + two + three)) {
        char number[HOT_HTML_COUNT];
        hot_html_format(file, "Of %s voxels, %.1f %% had one fibre, %.1f %% two and %.1f %% three.",
                        hot_html_count(number, voxels), 100 * one / voxels, 100 * two / voxels, 100 * three / voxels);
    }
}

void hot_page_write_methods(FILE *file, const hot_page *page)
{
    unsigned cited = 0;
    fputs("<section id=\"methods\"><h2>For a paper</h2>\n<p class=\"soft\">To be pasted and changed as it needs to be: "
          "a click selects it.</p>\n<p class=\"paste\">", file);
    put_data(file, page);
    put_preparation(file, page, &cited);
    put_model(file, page, &cited);
    put_method(file, page, &cited);
    put_outputs(file, page, &cited);
    fputs("</p>\n<h3>References</h3>\n<div class=\"paste\"><ol>\n", file);
    for (int i = 0; i < REFERENCES; i++)
        if (cited >> i & 1)
            fprintf(file, "<li>%s doi:%s</li>\n", references[i].text, references[i].doi);
    fputs("</ol></div></section>\n", file);
}
