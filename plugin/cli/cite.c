/* hotfiber cite: what to cite. */
#include "cli.h"

#include <stdio.h>

#include "report/page.h"

const cli_command cli_cite_command = {
    "cite", "how to cite hotfiber and the papers of its methods", "[--bibtex]",
    "Prints the reference of this version, then the papers of the methods. Cite those that your run used: its page, "
    "report.html, has a paragraph for a paper with exactly these.\n\n"
    "  hotfiber cite\n"
    "  hotfiber cite --bibtex >> references.bib",
    0};

int cli_cite(int argc, char **argv)
{
    int bibtex = 0;
    const cli_option options[] = {{"bibtex", CLI_FLAG, &bibtex, NULL, "the entry of the program, for BibTeX", 0, 0},
                                  CLI_END};
    CLI_PARSE(cite, options);
    const char *key, *text, *doi;
    if (bibtex) {
        printf("@software{hotfiber,\n  author = {{The hotfiber developers}},\n  title = {hotfiber: fibre directions "
               "from diffusion {MRI} by higher-order tensors},\n  version = {%s}\n}\n", hot_version());
        return cli_finish(&cli_cite_command, &common, HOT_OK);
    }
    printf("The hotfiber developers. hotfiber: fibre directions from diffusion MRI by higher-order tensors (version "
           "%s).\n\nPapers of the methods; cite those that the page of your run (report.html) names:\n\n",
           hot_version());
    for (int i = 0; hot_page_reference(i, &key, &text, &doi); i++) {
        printf("- ");
        cli_print_text(text, 2);
        printf("  https://doi.org/%s\n", doi);
    }
    return cli_finish(&cli_cite_command, &common, HOT_OK);
}
