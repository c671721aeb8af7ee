# tests/abi/compare.sh recognises breaks: a small header in which one thing changes.
set -eu
failed=0
# header CHANGE: it, with what this text for sed changes
header() {
    sed "$1" <<'END'
#include <stddef.h>
#define HOT_API __attribute__((visibility("default")))
typedef struct hot_a_options {
    size_t size;
    int first;
    int second;
    double third;
} hot_a_options;
typedef struct hot_a_usual {
    size_t size;
    double mean;
} hot_a_usual;
typedef struct hot_a_part {
    size_t size;
    double share;
} hot_a_part;
typedef struct hot_a_maps {
    hot_a_part part;
    int after;
} hot_a_maps;
HOT_API int hot_a(const hot_a_options *options, const hot_a_part *part, const hot_a_maps *maps);
HOT_API void hot_a_fill(hot_a_usual *usual);
HOT_API int hot_b(const hot_a_usual *usual,
                  const char *format, ...) __attribute__((cold));
END
}

# judged EXPECTED WHAT SONAME CHANGE
judged() {
    rm -rf now
    mkdir now
    header "$4" >now/a.h
    got=0
    sh "$HOT_SOURCE/tests/abi/compare.sh" --judge liba.so.0.2 "$PWD/kept" "$3" "$PWD/now" >log 2>&1 || got=$?
    [ $got != 77 ] || { cat log; exit 77; }
    [ $got = 0 ] || got=1
    [ $got = "$1" ] || { echo "$2: $got instead of $1"; cat log; failed=1; }
}

# told WHAT: by the last one
told() { grep -q "$1" log || { echo "$1 is not told:"; cat log; failed=1; }; }

mkdir kept
header '' >kept/a.h
judged 0 "nothing changed" liba.so.0.2 ''
judged 0 "a new function" liba.so.0.2 '$aHOT_API int hot_c(void);'
told hot_c
judged 1 "a function gone" liba.so.0.2 '/hot_a_fill(/d'
told hot_a_fill
judged 0 "options grow at their end" liba.so.0.2 's/double third;/& float fourth;/'
judged 1 "options grow in the middle" liba.so.0.2 's/int second;/& double fourth;/'
judged 1 "options grow and change" liba.so.0.2 's/int second;/float second;/; s/double third;/& int fourth;/'
judged 1 "members of options change places" liba.so.0.2 's/first;/x;/; s/second;/first;/; s/x;/second;/'
judged 1 "a member of options goes" liba.so.0.2 '/third;/d'
judged 1 "what a function fills grows" liba.so.0.2 's/double mean;/& double deviation;/'
judged 1 "a struct inside another struct grows" liba.so.0.2 's/double share;/& double other;/'
judged 1 "a struct without a size grows" liba.so.0.2 's/int after;/& double more;/'
judged 1 "a member's type" liba.so.0.2 's/int after;/float after;/'
judged 0 "another soname" liba.so.0.10 's/int after;/float after;/'
told after
judged 1 "an older soname" liba.so.0.1 ''
exit $failed
