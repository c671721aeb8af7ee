# twice.sh FOLDER: a reproducible build. The sources are copied to two places with names of different lengths, built
# there by the same compiler with the same flags, and installed; every file is then the same, byte by byte. The tests'
# own programs are left out. HOT_TWICE_OPTIONS: for cmake.
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
jobs=${HOT_JOBS:-$(getconf _NPROCESSORS_ONLN)}
export CCACHE_DISABLE=1 # a compiler cache would answer the second with the first
mkdir -p "$1"
work=$(cd "$1" && pwd)
for place in a a_longer_place; do
    rm -rf "${work:?}/$place"
    mkdir -p "$work/$place/source"
    (cd "$source" && git ls-files -z | tar -c --null -T - | tar -x -C "$work/$place/source")
    cmake -S "$work/$place/source" -B "$work/$place/build" -DCMAKE_BUILD_TYPE=Release -DHOTFIBER_TESTS=OFF \
        -DHOTFIBER_CUDA=OFF ${HOT_TWICE_OPTIONS:-} >"$work/$place.log" 2>&1 || { cat "$work/$place.log"; exit 1; }
    cmake --build "$work/$place/build" --parallel "$jobs" >>"$work/$place.log" 2>&1 ||
        { tail -n 5 "$work/$place.log"; exit 1; }
    cmake --install "$work/$place/build" --prefix "$work/$place/installed" >>"$work/$place.log" 2>&1
    (cd "$work/$place/installed" && find . -type f | LC_ALL=C sort | xargs sha256sum) >"$work/$place.sums"
done
echo "$(wc -l <"$work/a.sums") files, $(sha256sum <"$work/a.sums" | cut -c 1-16)"
diff "$work/a.sums" "$work/a_longer_place.sums"
