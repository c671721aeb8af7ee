# release.sh FOLDER: everything that a release consists of, from the commit that is checked out: the source archive,
# which is built again from itself alone, without a network, and tested; Debian's packages, which lintian looks through;
# the list of all that was linked (CycloneDX); and the sums of these files. docs/releases.md says what comes before and
# after. --source: the archive and its list alone.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
only=
[ "${1:-}" != --source ] || { only=source; shift; }
[ $# -eq 1 ] || { echo "usage: release.sh [--source] FOLDER" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
version=$(sed -n 's/^project(hotfiber VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
name=hotfiber-$version
jobs=${HOT_JOBS:-$(getconf _NPROCESSORS_ONLN)}

# The archive: what git has, with the time of the commit, in the order of names; the same bytes whenever it is made.
# tar.umask: git would let the group write.
when=$(git -C "$source" log -1 --format=%ct)
archive() { git -C "$source" -c tar.umask=0022 archive --format=tar --prefix="$name/" "$@" HEAD; }
archive --mtime="@$when" 2>/dev/null >"$out/$name.tar" || archive >"$out/$name.tar"
gzip -9nf "$out/$name.tar"
if [ -z "$only" ]; then
    rm -rf "$out/work"
    mkdir "$out/work"
    log=$out/work/log
    tar -xzf "$out/$name.tar.gz" -C "$out/work"
    offline=
    if [ "$(id -u)" = 0 ] && unshare -n true 2>/dev/null; then
        offline="unshare -n" # no network at all
    fi
    cuda=OFF
    [ ! -x /usr/local/cuda/bin/nvcc ] && ! command -v nvcc >/dev/null || cuda=ON
    $offline cmake -S "$out/work/$name" -B "$out/work/build" -DCMAKE_BUILD_TYPE=Release \
        -DHOTFIBER_CUDA="${HOT_RELEASE_CUDA:-$cuda}" >"$log" 2>&1 || { cat "$log"; exit 1; }
    $offline cmake --build "$out/work/build" --parallel "$jobs" >>"$log" 2>&1 || { tail -n 20 "$log"; exit 1; }
    echo "built from the archive${offline:+, without a network}"
    $offline ctest --test-dir "$out/work/build" --parallel "$jobs" -R '^(unit_|cli_run|cli_package)' >"$log" 2>&1 ||
        { tail -n 20 "$log"; exit 1; }
    grep 'tests passed' "$log"
    cpack --config "$out/work/build/CPackConfig.cmake" -B "$out/work/packages" >"$log" 2>&1 || { cat "$log"; exit 1; }
    cp "$out"/work/packages/*.deb "$out"
    python3 "$out/work/$name/cmake/sbom.py" "$out/work/build" >"$out/$name.cdx.json"
    if command -v lintian >/dev/null; then
        lintian --fail-on error,warning "$out"/*.deb || { echo "lintian has found something"; exit 1; }
        echo "lintian has found nothing"
    else
        echo "lintian is not installed: the packages were not looked through"
    fi
    rm -rf "$out/work"
fi
cd "$out"
sha256sum "$name"* ./*.deb 2>/dev/null >SHA256SUMS || true
cat SHA256SUMS
