# Sourced by sample_data/demo.sh and tests/run.sh: installs what is missing, configures, builds.
# Sets: source (the checkout), build (where it was built). hot_setup [--tests] does the work.
# Only a shell, apt and a C compiler are assumed. A second call finds everything done and takes seconds.

source=$(cd "$(dirname "$0")/.." && pwd)
build=${HOTFIBER_BUILD:-$source/build}
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

say() { printf '%s\n' "$*" >&2; }

# hot_install PACKAGE...: Debian packages that are not there yet.
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

# hot_python: readers for the tests that PyPI has and Debian has not, in an environment of the build folder. Without
# them (no network) the tests that want them say so and go on.
hot_python() {
    python=$build/tests-python
    "$python/bin/python" -c 'import odx' 2>/dev/null && return 0
    say "installing from PyPI: odx"
    # pip as python3-venv brings it, not installed first: 5 s of 9
    if ! { /usr/bin/python3 -m venv --system-site-packages --without-pip "$python" &&
        "$python/bin/python" "$(echo /usr/share/python-wheels/pip-*.whl)/pip" install --quiet \
            --disable-pip-version-check odx==0.3.0; } >"$build/python.log" 2>&1; then
        say "odx could not be installed ($build/python.log); tests go on without it"
        rm -rf "$python"
    fi
}

hot_setup() {
    hot_install cmake make pkg-config libteem-dev libnifti-dev zlib1g-dev libpng-dev libcjson-dev libcairo2-dev \
        libgomp1 libepoxy-dev libegl-dev libglfw3-dev libegl-mesa0 libgl1-mesa-dri fonts-dejavu-core \
        libopenblas-pthread-dev || return 1
    if [ "${1:-}" = --tests ]; then
        hot_install ninja-build teem-apps mrtrix3 python3-numpy python3-nibabel python3-h5py python3-dipy libhdf5-dev \
            libvtk9-dev python3-vtk9 python3-venv python3-matplotlib g++ xvfb xdotool dpkg-dev file abigail-tools \
            python3-sphinx python3-myst-parser python3-nbsphinx python3-ipykernel pandoc \
            groff-base locales snakemake mypy || return 1
        # The long form has a cluster, a browser and fuzzers, too.
        [ -z "${HOT_TEST_LONG:-}" ] || hot_install slurm-wlm munge chromium clang llvm libomp-dev || return 1
    fi
    # What was just installed is looked for again (the demo is built with less than the tests need).
    [ -z "${hot_installed:-}" ] || rm -rf "$build/CMakeCache.txt" "$build/CMakeFiles"
    # What was compiled to see that it compiles is not for a GPU, nor for the long form.
    if { [ -e /dev/nvidiactl ] || [ -n "${HOT_TEST_LONG:-}" ]; } &&
        grep -q '^HOTFIBER_COMPILE_CHECK:.*=ON$' "$build/CMakeCache.txt" 2>/dev/null; then
        rm -rf "$build/CMakeCache.txt" "$build/CMakeFiles"
    fi
    mkdir -p "$build"
    [ "${1:-}" != --tests ] || hot_python & # it waits for the network
    if [ ! -f "$build/CMakeCache.txt" ]; then
        say "configuring"
        # Make starts cmake for each file that it compiles, to say so: 18 ms of the processor for 750 of them.
        generator=
        command -v ninja >/dev/null && generator="-G Ninja"
        # Debian's, which has the packages; to ask every other one that is installed took 2 s.
        python=
        [ ! -x /usr/bin/python3 ] || python=-DPython3_EXECUTABLE=/usr/bin/python3
        # shellcheck disable=SC2086
        cmake -S "$source" -B "$build" $generator $python ${hot_configure:---preset release} >"$build.log" 2>&1 || {
            cat "$build.log" >&2
            return 1
        }
        grep 'hotfiber:' "$build.log" | sed 's/^-- //' >&2
        rm -f "$build.log"
    fi
    say "building"
    cmake --build "$build" --parallel "$jobs" >"$build/build.log" 2>&1 || {
        tail -n 40 "$build/build.log" >&2
        return 1
    }
    wait
}
