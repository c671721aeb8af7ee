/* Help from the tables of options, and guesses at what a misspelt word meant. */
#include "cli.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMN = 28, WIDTH_MAX = 100, WIDTH_MIN = 60 };

/* As wide as the terminal, within what reads well. */
static int text_width(void)
{
    struct winsize window;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0 || window.ws_col > WIDTH_MAX)
        return WIDTH_MAX;
    return window.ws_col < WIDTH_MIN ? WIDTH_MIN : window.ws_col;
}

/* Where the lines after the first of an indented line begin: below the text of "  term  text", else a little further
 * in than the line itself. */
static int hanging(const char *line)
{
    int lead = (int)strspn(line, " ");
    if (lead == 0)
        return 0;
    int word = (int)strcspn(line + lead, " \n"), gap = (int)strspn(line + lead + word, " ");
    return gap >= 2 ? lead + word + gap : lead + 4;
}

/* Prints text from column `left` on, broken between words; a newline in it starts a new line. */
static void print_wrapped(const char *text, int left, int width)
{
    int column = left, indent = left + hanging(text);
    int spaces = 0;
    while (*text) {
        if (*text == '\n') {
            text++;
            printf("\n%*s", *text && *text != '\n' ? left : 0, "");
            column = left;
            indent = left + hanging(text);
            spaces = 0;
            continue;
        }
        if (*text == ' ') {
            spaces++;
            text++;
            continue;
        }
        int word = (int)strcspn(text, " \n");
        if (column > left && column + spaces + word > width) {
            printf("\n%*s", indent, "");
            column = indent;
            spaces = 0;
        }
        printf("%*s%.*s", spaces, "", word, text);
        column += spaces + word;
        spaces = 0;
        text += word;
    }
    putchar('\n');
}

static void print_options(const cli_option *options, int width)
{
    for (const cli_option *option = options; option->name; option++) {
        char left[160];
        snprintf(left, sizeof left, "  %s%s%s%s", option->name[1] ? "--" : "-", option->name, option->value ? " " : "",
                 option->value ? option->value : "");
        if (strlen(left) > COLUMN - 2)
            printf("%s\n%*s", left, COLUMN, "");
        else
            printf("%-*s", COLUMN, left);
        print_wrapped(option->help, COLUMN, width);
    }
}

void cli_print_text(const char *text, int left) { print_wrapped(text, left, text_width()); }

void cli_print_help(const cli_command *command, const cli_option *own, const cli_option *shared)
{
    int width = text_width();
    static char whole[1 << 16]; /* one write, so that cli_flush knows why it failed */
    setvbuf(stdout, whole, _IOFBF, sizeof whole);
    printf("hotfiber %s: %s\n\nusage: hotfiber %s %s\n\n", command->name, command->summary, command->name,
           command->usage);
    if (command->about) {
        print_wrapped(command->about, 0, width);
        putchar('\n');
    }
    if (own->name) {
        printf("options:\n");
        print_options(own, width);
        putchar('\n');
    }
    printf("options that every subcommand has:\n");
    print_options(shared, width);
}

/* How many letters must be changed, added, left out or swapped with their neighbour; `-` and `_` count as the same. */
static int distance(const char *a, const char *b)
{
    enum { LENGTH = 96 };
    int rows[3][LENGTH + 1];
    size_t length_a = strlen(a), length_b = strlen(b);
    if (length_a > LENGTH || length_b > LENGTH)
        return LENGTH;
    int *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= length_b; j++)
        last[j] = before[j] = (int)j;
    for (size_t i = 1; i <= length_a; i++) {
        char x = a[i - 1] == '_' ? '-' : a[i - 1];
        now[0] = (int)i;
        for (size_t j = 1; j <= length_b; j++) {
            char y = b[j - 1] == '_' ? '-' : b[j - 1];
            int best = last[j - 1] + (x != y);
            best = last[j] + 1 < best ? last[j] + 1 : best;
            best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 2] == b[j - 1] && a[i - 1] == b[j - 2] && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
        int *spare = before;
        before = last;
        last = now;
        now = spare;
    }
    return last[length_b];
}

void cli_guess_begin(cli_guess *guess, const char *word)
{
    *guess = (cli_guess){.word = word, .best = NULL, .distance = 1000};
}

void cli_guess_try(cli_guess *guess, const char *candidate)
{
    size_t length = strlen(guess->word);
    int away = distance(guess->word, candidate);
    /* The beginning of a longer word is as good as one wrong letter. */
    if (length >= 2 && strncmp(guess->word, candidate, length) == 0)
        away = 1;
    /* Of a short word nothing would be left after two changes. */
    int allowed = length < 3 ? 0 : length < 6 ? 1 + (length > 3) : 3;
    if (away <= allowed && away < guess->distance) {
        guess->best = candidate;
        guess->distance = away;
    }
}
