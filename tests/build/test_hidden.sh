# Configures and builds where headers of other libraries are missing, each alone and all at once. They are really gone:
# in a new mount namespace every command sees another /usr/include, made of links to all but the hidden entries;
# the libraries and the files of pkg-config stay, as after a partial installation. Needs root; skipped without.
# One build folder serves all, so that the kernels are compiled once, without optimization.
# HOT_TEST_LONG=1 builds, too, and hides each library alone; else it is configured, and judged by what that says.
# Not covered: CUDA sources are not compiled (only their targets are checked), and no test program is built.
set -eu
[ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null || { echo "skipped: no mount namespace without root"; exit 77; }
[ -z "${HOT_SANITIZED:-}" ] || { echo "skipped: the ordinary build runs it"; exit 77; }
jobs=$(getconf _NPROCESSORS_ONLN)
failed=0
not_so() { echo "not so: $*"; failed=1; }

# The hidden entries, as patterns of names in /usr/include and in its folder of this architecture.
gl=GL glfw=GLFW epoxy=epoxy egl="EGL KHR" x11=X11 vtk="vtk*" hdf5="hdf5*"
lapack="lapack* cblas* openblas* f77blas*" teem=teem nifti="nifti* znz*" zlib="zlib.h zconf.h" png="png* libpng*"
cjson=cjson cairo=cairo
optional="$gl $glfw $epoxy $egl $x11 $vtk $hdf5 $lapack"
required="$teem $nifti $zlib $png $cjson $cairo"

# links FROM TO PATTERN...: TO is filled with links to all entries of FROM but those.
cat >links.sh <<'END'
from=$1 to=$2
shift 2
set -f
for entry in $(ls "$from"); do
    for pattern in "$@"; do
        case $entry in $pattern) continue 2 ;; esac
    done
    echo "$from/$entry"
done | xargs ln -s -t "$to" # one start for all
END
# without "PATTERN ..." COMMAND...: the command, with these entries gone.
arch=$(gcc -dumpmachine 2>/dev/null || cc -dumpmachine)
without() {
    hidden=$1
    shift
    rm -rf view real
    mkdir view real
    # shellcheck disable=SC2016
    unshare -m sh -c '
        here=$1 arch=$2 hidden=$3
        shift 3
        mount --bind /usr/include "$here/real"
        set -f
        sh "$here/links.sh" "$here/real" "$here/view" "$arch" $hidden
        mkdir "$here/view/$arch"
        sh "$here/links.sh" "$here/real/$arch" "$here/view/$arch" $hidden
        mount --bind "$here/view" /usr/include
        exec "$@"' sh "$PWD" "$arch" "$hidden" "$@"
}
# Configures, looking for all libraries again.
configure() {
    hidden=$1
    shift
    forget=
    for prefix in TEEM NIFTI ZNZ ZLIB PNG CJSON CAIRO HDF5 EPOXY EGL GLFW VTK X11 HOT_GL HOT_LAPACK HOT_BLAS pkgcfg \
        __pkg_config; do
        forget="$forget -U${prefix}_*"
    done
    set -f
    # shellcheck disable=SC2086
    without "$hidden" cmake -S "$HOT_SOURCE" -B built -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 \
        -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DHOTFIBER_CUDA=OFF -DHOTFIBER_TESTS=OFF $forget "$@" \
        >configure.log 2>&1
}
build() {
    [ -n "${HOT_TEST_LONG:-}" ] || return 0
    without "$1" cmake --build built --parallel "$jobs" >build.log 2>&1 ||
        { grep -m 5 -E 'error|Error' build.log; not_so "$2 does not build"; }
}
says() { [ "$(grep -c "hotfiber: .*$1" configure.log)" = 1 ] || not_so "no line says: $1"; }

# It is a real hiding.
! without "$gl $teem" sh -c 'echo "#include <GL/gl.h>" | cc -E - || echo "#include <teem/nrrd.h>" | cc -E -' \
    >/dev/null 2>&1 || { echo "not so: hidden headers are found"; exit 1; }
without "$gl $teem" sh -c 'echo "#include <stdio.h>" | cc -E -' >/dev/null ||
    { echo "not so: no headers at all"; exit 1; }

# The kernels alone need none of them.
configure "$optional $required" -DHOTFIBER_KERNELS_ONLY=ON || { cat configure.log; exit 1; }
build "$optional $required" "kernels-only, with everything hidden,"
built() { [ -z "${HOT_TEST_LONG:-}" ] || [ -e "built/$1" ] || not_so "$1 is not built"; }
built lib/libhotkernels.so
built lib/libhotarrays.so

# The whole project says in one line what it lacks.
lacks() {
    ! configure "$2" -DHOTFIBER_KERNELS_ONLY=OFF || not_so "configured without $1"
    says "missing Debian packages: $1 (.*kernels-only"
}
lacks libteem-dev "$teem"
lacks "zlib1g-dev libpng-dev" "$zlib" # PNG needs it
if [ -n "${HOT_TEST_LONG:-}" ]; then
    lacks libnifti-dev "$nifti"
    lacks libpng-dev "$png"
    lacks libcjson-dev "$cjson"
    lacks libcairo2-dev "$cairo"
fi
lacks "libteem-dev libnifti-dev zlib1g-dev libpng-dev libcjson-dev libcairo2-dev" "$optional $required"

# Optional libraries: one line each, and a build; also for libraries that are not installed.
can_do_without() {
    configure "$2" -DHOTFIBER_KERNELS_ONLY=OFF || { cat configure.log; not_so "not configured without $1"; }
    says "$3"
}
if [ -n "${HOT_TEST_LONG:-}" ]; then
    can_do_without VTK "$vtk" "no VTK 9"
    can_do_without HDF5 "$hdf5" "HDF5 is not here"
    can_do_without EGL "$egl" "no viewer built"
fi
can_do_without epoxy "$epoxy" "no viewer built"
can_do_without "any of them" "$optional" "no viewer built"
says "no VTK 9"
says "HDF5 is not here"
build "$optional" "the whole, with all that is optional hidden,"
built bin/hotfiber
[ ! -e built/bin/hotfiber-view ] || not_so "there is a viewer"
if [ -d /usr/include/epoxy ] && [ -d /usr/include/EGL ]; then
    rest="$x11 $vtk $hdf5 $lapack"
    if [ -d /usr/include/GLFW ]; then
        configure "$gl $rest" || not_so "not configured without GL"
        build "$gl $rest" "the viewer without GL/gl.h"
    fi
    can_do_without GLFW "$gl $glfw $rest" "no window"
    build "$gl $glfw $rest" "the viewer without GLFW"
    [ -z "${HOT_TEST_LONG:-}" ] || built/bin/hotfiber-view --help >/dev/null ||
        not_so "the viewer without GLFW does not run"
fi

# Only the viewer's bridge to CUDA needs OpenGL's header. The cache keeps the results about nvcc (5 s), not those about
# OpenGL.
if command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then
    if [ -z "${HOT_TEST_LONG:-}" ] && ls "$HOT_BUILD"/CMakeFiles/[0-9]*/CMakeCUDACompiler.cmake >/dev/null 2>&1; then
        mkdir -p cuda/CMakeFiles
        cp -r "$HOT_BUILD"/CMakeFiles/[0-9]* cuda/CMakeFiles/
        sed "s|$HOT_BUILD|$PWD/cuda|g" "$HOT_BUILD/CMakeCache.txt" >cuda/CMakeCache.txt
    fi
    without "$optional $required" cmake -S "$HOT_SOURCE" -B cuda -UHOT_GL_* -DHOTFIBER_CUDA=ON \
        -DHOTFIBER_KERNELS_ONLY=ON -DHOTFIBER_TESTS=OFF >configure.log 2>&1 ||
        { cat configure.log; not_so "not configured with CUDA"; }
    says "GL/gl.h is missing"
    ! cmake --build cuda --target help | grep -q hotview_cuda || not_so "hotview_cuda without OpenGL's header"
fi
exit $failed
