/* The parser of options: values, bounds, refusals that name the option, guesses, help. */
#include "check.h"

#include "cli/cli.h"
#include "common/backend.h"

#include <unistd.h>

static const cli_command command = {
    "demo", "a command", "-i FILE [options]",
    "First line of two that are\nbroken here.\n\nExample: hotfiber demo\nExample: again", 2};

static int flag, whole;
static size_t count;
static double angle;
static const char *input, *output, *choice;
static cli_list list;

static const cli_option table[] = {
    {"i", CLI_TEXT, &input, "FILE", "input", 0, 0},
    {"o", CLI_TEXT, &output, "FILE", "output", 0, 0},
    {"verbose", CLI_FLAG, &flag, NULL, "a flag", 0, 0},
    {"order", CLI_INT, &whole, "N", "order", 2, 8},
    {"offset", CLI_INT, &whole, "N", "no bounds", 0, 0},
    {"count", CLI_SIZE, &count, "N", "count", 1, 1e12},
    {"min_angle", CLI_DOUBLE, &angle, "DEGREES", "angle", 0, 90},
    {"model", CLI_CHOICE, &choice, "adc|odf|fod", "model", 0, 0},
    {"angles", CLI_LIST, &list, "A,B", "list", 0, 90},
    {NULL, 0, NULL, NULL, NULL, 0, 0},
};

static char text[16384]; /* what the last parse printed: stdout and stderr together */
static cli_common common;
static hot_device device;
static int device_number, threads;

/* Parses the words of a line, with stdout and stderr caught; returns what cli_parse returned. */
static int parse(const char *line)
{
    char copy[512], *words[32];
    int argc = 0;
    snprintf(copy, sizeof copy, "demo %s", line);
    for (char *word = strtok(copy, " "); word && argc < 31; word = strtok(NULL, " "))
        words[argc++] = strcmp(word, "EMPTY") == 0 ? "" : word;
    words[argc] = NULL;
    flag = whole = 0, count = 0, angle = 0, input = "given", output = "-", choice = NULL, list.count = 0;
    fflush(stdout);
    int saved_out = dup(1), saved_err = dup(2);
    FILE *file = tmpfile();
    dup2(fileno(file), 1);
    dup2(fileno(file), 2);
    int result = cli_parse(&command, table, argc, words, &common);
    fflush(stdout);
    fflush(stderr);
    dup2(saved_out, 1);
    dup2(saved_err, 2);
    close(saved_out);
    close(saved_err);
    rewind(file);
    size_t got = fread(text, 1, sizeof text - 1, file);
    text[got] = '\0';
    fclose(file);
    if (result < 0) {
        device = hot_context_device(common.context);
        device_number = hot_context_device_number(common.context);
        threads = hot_context_threads(common.context);
        hot_context_destroy(&common.context);
    }
    return result;
}

static int lines(void)
{
    int number = 0;
    for (const char *at = text; *at; at++)
        number += *at == '\n';
    return number;
}

/* Refused with status 2 and one line that contains `words`. */
static void refused(const char *line, const char *words)
{
    int result = parse(line);
    CHECK(result == HOT_EXIT_USAGE, "'%s' gave %d: %s", line, result, text);
    CHECK(lines() == 1, "'%s' printed %d lines: %s", line, lines(), text);
    CHECK(strstr(text, words) && strncmp(text, "hotfiber demo: ", 15) == 0, "'%s' said: %s", line, text);
}

static void test_values(void)
{
    CHECK(parse("--order 6 --min-angle=12.5 -o out.nrrd --verbose") == -1, "%s", text);
    CHECK(whole == 6 && angle == 12.5 && flag == 1 && strcmp(output, "out.nrrd") == 0, "values");
    CHECK(cli_given(&whole) && cli_given(&angle) && !cli_given(&choice), "given");
    CHECK(parse("-order 4 -min_angle 1e1 --model fod --count 1000000000000") == -1, "%s", text);
    CHECK(whole == 4 && angle == 10 && strcmp(choice, "fod") == 0 && count == 1000000000000u, "Teem's single dash");
    CHECK(parse("--offset -7 -i -") == -1 && whole == -7 && strcmp(input, "-") == 0, "negative number, dash: %s", text);
    CHECK(parse("--angles 30,45.5,60") == -1 && list.count == 3 && list.values[1] == 45.5, "list: %s", text);
    CHECK(parse("one -- --order") == -1 && common.argument_count == 2 && strcmp(common.arguments[1], "--order") == 0,
          "plain arguments: %s", text);
    CHECK(parse("--order 4 --order 8") == -1 && whole == 8, "the last one counts");
    const int gpus = hot_cuda_count(); /* an explicit GPU is checked at once */
    CHECK(gpus > 3 ? parse("--device cuda:3") == -1 && device == HOT_DEVICE_CUDA && device_number == 3
                   : parse("--device cuda:3") == HOT_EXIT_FAILED && strstr(text, "--device cuda:3: "), "%s", text);
    CHECK(gpus > 0 ? parse("--device cuda") == -1 && device == HOT_DEVICE_CUDA && device_number == -1
                   : parse("--device cuda") == HOT_EXIT_FAILED && strstr(text, "no GPU"), "all GPUs: %s", text);
    CHECK(parse("--threads 5") == -1 && threads == 5, "threads");
    CHECK(parse("--device cpu") == -1 && device == HOT_DEVICE_CPU, "cpu");
    CHECK(parse("") == -1 && device == HOT_DEVICE_AUTO && threads >= 1, "defaults");
}

static void test_refusals(void)
{
    refused("--order", "--order needs a value");
    refused("--order --verbose", "--order needs a value");
    refused("-o -i x", "-o needs a value");
    refused("--order six", "--order needs a whole number from 2 to 8, not 'six'");
    refused("--order 3.5", "--order");
    refused("--order 9", "--order");
    refused("--order 6x", "--order");
    refused("--order nan", "--order");
    refused("--order EMPTY", "--order");
    refused("--offset 3000000000", "--offset");
    refused("--count -1", "--count");
    refused("--count 1e300", "--count");
    refused("--min_angle 90.001", "--min_angle needs a number from 0 to 90");
    refused("--min_angle inf", "--min_angle");
    refused("--min_angle 1e999", "--min_angle");
    refused("--angles 1,2,,3", "--angles");
    refused("--angles 1,100", "--angles");
    refused("--angles 1,", "--angles");
    refused("--model tensor", "--model is adc, odf or fod, not 'tensor'");
    refused("--model adc|odf", "--model");
    refused("--model EMPTY", "--model");
    refused("-o EMPTY", "-o needs a value");
    refused("--verbose=1", "--verbose takes no value");
    refused("--device gpu", "--device");
    refused("--device cuda:", "--device");
    refused("--device cuda:1x", "--device");
    refused("--device cuda:99999999999", "--device");
    refused("--threads 0", "--threads");
    refused("--threads 1e9", "--threads");
    refused("--seed -1", "--seed");
    refused("a b c", "'c' is one argument too many");
    refused("--oder 4", "did you mean --order");
    refused("--min_angel 4", "did you mean --min_angle");
    refused("--thread 4", "did you mean --threads");
    refused("--zzz", "there is no option '--zzz'");
    refused("-x", "there is no option '-x'");
}

static void test_help(void)
{
    CHECK(parse("--order 99 --help") == HOT_EXIT_DONE, "help wins");
    for (const cli_option *option = table; option->name; option++)
        CHECK(strstr(text, option->name), "help leaves out %s", option->name);
    CHECK(strstr(text, "--device") && strstr(text, "--threads") && strstr(text, "--seed"), "shared options");
    CHECK(strstr(text, "First line of two that are\nbroken here.\n\nExample"), "newlines are kept: %s", text);
    CHECK(strstr(text, "\nExample: hotfiber demo\nExample: again"), "examples have their own lines");
    CHECK(parse("-h") == HOT_EXIT_DONE && strstr(text, "usage: hotfiber demo -i FILE"), "-h");
}

static void test_guess(void)
{
    const char *names[] = {"info", "convert", "phantom", "fit", "peaks", "score"};
    const struct { const char *word, *meant; } cases[] = {
        {"peeks", "peaks"}, {"ift", "fit"}, {"phan", "phantom"}, {"covnert", "convert"}, {"scores", "score"},
        {"xyzzy", NULL}, {"f", NULL}, {"averyveryverylongwordthatisnotevenclose", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cli_guess guess;
        cli_guess_begin(&guess, cases[i].word);
        for (size_t j = 0; j < sizeof names / sizeof *names; j++)
            cli_guess_try(&guess, names[j]);
        CHECK(cases[i].meant ? guess.best && strcmp(guess.best, cases[i].meant) == 0 : !guess.best, "'%s' -> %s",
              cases[i].word, guess.best ? guess.best : "nothing");
    }
}

int main(void)
{
    test_values();
    test_refusals();
    test_help();
    test_guess();
    HOT_TEST_END();
}
