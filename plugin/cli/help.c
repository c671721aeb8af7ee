/* Help from the tables of options, and guesses at what a misspelt word meant. */
#include "cli.h"
#include "run/option_table.h"

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

enum { MIN_GROUPED = 16 }; /* fewer options are one list */
static const char common_topic[] = "common"; /* not of the table: its address counts */

/* The heading of an option: that of its row in run/options.inc; NULL for others. */
static const char *topic_of(const char *name)
{
    const hot_run_row *row;
    for (size_t i = 0; (row = hot_run_row_at(i)); i++)
        if (row->help && strcmp(row->option, name) == 0)
            return row->use & HOT_COMMON ? common_topic : row->topic;
    return strcmp(name, "i") == 0 || strcmp(name, "o") == 0 ? common_topic : NULL;
}

/* Options under the heading `topic`; all of them if `every`. Returns how many. */
static int print_options(const cli_option *options, const char *topic, int every, int width)
{
    int count = 0;
    for (const cli_option *option = options; option->name; option++) {
        const char *own = every ? NULL : topic_of(option->name);
        if (!every && own != topic && !(own && topic && strcmp(own, topic) == 0))
            continue;
        if (!every && count++ == 0)
            printf("%s%s%s:\n", topic == common_topic ? "common " : "", topic && topic != common_topic ? "options, "
                   : "options", topic && topic != common_topic ? topic : "");
        char left[160];
        snprintf(left, sizeof left, "  %s%s%s%s", option->name[1] ? "--" : "-", option->name, option->value ? " " : "",
                 option->value ? option->value : "");
        if (strlen(left) > COLUMN - 2)
            printf("%s\n%*s", left, COLUMN, "");
        else
            printf("%-*s", COLUMN, left);
        char text[1 << 11];
        const int length = every ? (int)strlen(option->help) : (int)strcspn(option->help, "\n");
        snprintf(text, sizeof text, "%.*s", length, option->help);
        print_wrapped(every ? option->help : text, COLUMN, width);
    }
    if (count)
        putchar('\n');
    return count;
}

/* After the common options: those of the command alone, the topics of the table, and the lists of names. */
static void print_groups(const cli_option *own, int width)
{
    print_options(own, NULL, 0, width);
    for (const cli_option *option = own; option->name; option++) {
        const char *topic = topic_of(option->name);
        int first = topic && topic != common_topic;
        for (const cli_option *before = own; before < option && first; before++) {
            const char *other = topic_of(before->name);
            first = !other || strcmp(other, topic) != 0;
        }
        if (first)
            print_options(own, topic, 0, width);
    }
    for (const cli_option *option = own; option->name; option++) {
        const char *list = strchr(option->help, '\n');
        if (list) {
            printf("names for --%s:\n", option->name);
            print_wrapped(list + 1, 0, width);
            putchar('\n');
        }
    }
}

/* The indented lines at the end of a text, or its end. */
static const char *find_examples(const char *about)
{
    for (const char *at = about; (at = strstr(at, "\n\n  ")); at += 2) {
        int only = 1;
        for (const char *line = at + 1; line && only; line = strchr(line + 1, '\n'))
            only = line[1] == ' ' && line[2] == ' ';
        if (only)
            return at;
    }
    return about + strlen(about);
}

void cli_print_text(const char *text, int left) { print_wrapped(text, left, text_width()); }

void cli_print_help(const cli_command *command, const cli_option *own, const cli_option *shared)
{
    int width = text_width();
    static char whole[1 << 16]; /* one write, so that cli_flush knows why it failed */
    setvbuf(stdout, whole, _IOFBF, sizeof whole);
    printf("hotfiber %s: %s\n\nusage: hotfiber %s %s\n\n", command->name, command->summary, command->name,
           command->usage);
    int count = 0;
    while (own[count].name)
        count++;
    const int grouped = count >= MIN_GROUPED;
    if (command->about) {
        char text[1 << 13];
        const char *examples = find_examples(command->about);
        snprintf(text, sizeof text, "%.*s", (int)(examples - command->about), command->about);
        print_wrapped(text, 0, width);
        putchar('\n');
        if (grouped)
            print_options(own, common_topic, 0, width);
        if (examples[0]) {
            printf("examples:\n");
            print_wrapped(examples + 2, 0, width);
            putchar('\n');
        }
    }
    if (grouped) {
        print_groups(own, width);
    } else if (count) {
        printf("options:\n");
        print_options(own, NULL, 1, width);
        putchar('\n');
    }
    printf("options that every subcommand has:\n");
    print_options(shared, NULL, 1, width);
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
