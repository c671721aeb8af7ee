# Sourced by sample_data/demo.sh and tests/run.sh: installs missing packages, configures, builds.
# Sets: source (the checkout), build (the build folder). hot_setup [--tests] does the work.
# Only a shell, apt and a C compiler are assumed. A second call takes seconds.

source=$(cd "$(dirname "$0")/.." && pwd)
build=${HOTFIBER_BUILD:-$source/build}
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

say() { printf '%s\n' "$*" >&2; }

# hot_install PACKAGE...: installs missing Debian packages.
hot_install() {
    missing=
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        say "These Debian packages are missing:$missing"
        say "Install them as root: apt-get install$missing"
        return 1
    fi
    say "installing:$missing"
    log=$(mktemp)
    # shellcheck disable=SC2086
    if ! { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; } \
        >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        say "apt-get could not install:$missing"
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
    hot_installed=1
}

# hot_python: readers for the tests that only PyPI has, in a virtual environment in the build folder. Without them (no
# network) the tests that need them print a note and continue.
hot_python() {
    python=$build/tests-python
    "$python/bin/python" -c 'import odx' 2>/dev/null && return 0
    say "installing from PyPI: odx"
    # runs pip from its wheel: installing it first takes twice as long
    if ! { /usr/bin/python3 -m venv --system-site-packages --without-pip "$python" &&
        "$python/bin/python" "$(echo /usr/share/python-wheels/pip-*.whl)/pip" install --quiet \
            --disable-pip-version-check odx==0.3.0; } >"$build/python.log" 2>&1; then
        say "odx could not be installed ($build/python.log); the tests that need it are skipped"
        rm -rf "$python"
    fi
}

# hot_wait PID LOG: waits for a build, and shows how far it is: on a terminal in one line, elsewhere every half minute.
hot_wait() {
    waited=0
    while kill -0 "$1" 2>/dev/null; do
        sleep 1
        waited=$((waited + 1))
        at=$(sed -n 's/^\[ *\([0-9]*[/%][0-9]*\)\].*/\1/p' "$2" | tail -n 1)
        if [ -t 2 ]; then
            printf '\rbuilding %s ' "$at" >&2
        elif [ $((waited % 30)) = 0 ]; then
            say "building $at"
        fi
    done
    [ ! -t 2 ] || printf '\n' >&2
    wait "$1"
}

# hot_setup [--tests] [CMAKE-OPTION...]
hot_setup() {
    hot_install cmake make ninja-build pkg-config libteem-dev libnifti-dev zlib1g-dev libpng-dev libcjson-dev \
        libcairo2-dev libgomp1 libepoxy-dev libegl-dev libglfw3-dev libimgui-dev libegl-mesa0 libgl1-mesa-dri \
        fonts-dejavu-core libopenblas-pthread-dev || return 1
    tests=OFF
    if [ "${1:-}" = --tests ]; then
        shift
        tests=ON
        hot_install teem-apps mrtrix3 python3-numpy python3-nibabel python3-h5py python3-dipy libhdf5-dev \
            libvtk9-dev python3-vtk9 python3-venv python3-matplotlib g++ xvfb xdotool dpkg-dev file abigail-tools \
            python3-sphinx python3-myst-parser python3-nbsphinx python3-ipykernel pandoc \
            groff-base locales snakemake mypy || return 1
        # The long form has a cluster, a browser and fuzzers, too.
        [ -z "${HOT_TEST_LONG:-}" ] || hot_install slurm-wlm munge chromium clang llvm libomp-dev || return 1
    fi
    # New packages are found by a new cache. Objects whose commands stay the same are not compiled again.
    [ -z "${hot_installed:-}" ] || rm -rf "$build/CMakeCache.txt" "$build/CMakeFiles"
    mkdir -p "$build"
    if [ $tests = ON ]; then
        hot_python & # it waits for the network
        hot_python=$!
    fi
    # A build folder that somebody configured keeps its options; the demo's gets the tests.
    if [ ! -f "$build/CMakeCache.txt" ] ||
        { [ $tests = ON ] && grep -q '^HOTFIBER_TESTS:.*=OFF$' "$build/CMakeCache.txt"; }; then
        say "configuring"
        # Debian's Python has Debian's packages; it need not be the first on the path.
        python=
        [ ! -x /usr/bin/python3 ] || python=-DPython3_EXECUTABLE=/usr/bin/python3
        # shellcheck disable=SC2086
        cmake -S "$source" -B "$build" -G Ninja $python ${hot_configure:---preset release} -DHOTFIBER_TESTS=$tests \
            -DHOTFIBER_PYTHON=ON "$@" >"$build.log" 2>&1 || {
            cat "$build.log" >&2
            return 1
        }
        grep 'hotfiber:' "$build.log" | sed 's/^-- //' >&2
        rm -f "$build.log"
    fi
    say "building (the first time takes a few minutes)"
    cmake --build "$build" --parallel "$jobs" >"$build/build.log" 2>&1 &
    hot_wait $! "$build/build.log" || {
        tail -n 40 "$build/build.log" >&2
        return 1
    }
    [ $tests = OFF ] || wait "$hot_python"
}
