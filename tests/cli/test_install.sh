# cmake --install into an empty prefix, moved to another place; then a small program finds the library through CMake and
# through pkg-config, links and runs; the headers are plain C11 and C++.
set -eu
[ -z "${HOT_SANITIZED:-}" ] || { echo "skipped: the installed libraries need the sanitizers' runtime"; exit 77; }
rm -rf prefix moved program
cmake --install "$HOT_BUILD" --prefix "$PWD/prefix" >install.log 2>&1 || { cat install.log; exit 1; }
mv prefix moved
prefix=$PWD/moved
mkdir program
cd program
cat >main.c <<'PROGRAM'
#include <hotfiber/hotfiber.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    hot_context *context;
    hot_grid grid = {{1, 1, 1}, {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}, HOT_SPACE_RAS};
    float peaks[3] = {0, 0, 1};
    hot_fiber_field *fibers;
    if (hot_context_create(NULL, &context) != HOT_OK || hot_symtensor_count(4, 3) != 15)
        return 1;
    if (hot_fiber_field_create(context, &grid, 1, peaks, &fibers) != HOT_OK || hot_fiber_field_counts(fibers)[0] != 1)
        return 1;
    hot_fiber_field_destroy(&fibers);
    hot_context_destroy(&context);
    printf("%s\n", hot_version());
    return 0;
}
PROGRAM
cat >CMakeLists.txt <<'LISTS'
cmake_minimum_required(VERSION 3.21)
project(user C)
find_package(hotfiber 0.3 REQUIRED)
add_executable(user main.c)
target_link_libraries(user hotfiber::hotfiber)
LISTS
cmake -S . -B build -DCMAKE_PREFIX_PATH="$prefix" >cmake.log 2>&1 && cmake --build build >>cmake.log 2>&1 ||
    { cat cmake.log; exit 1; }
version=$(build/user)
[ "$version" = "$("$HOTFIBER" --version | sed -n '1s/.* //p')" ] ||
    { echo "through CMake: version '$version'"; exit 1; }

libdir=$(dirname "$(find "$prefix" -name libhotfiber.so)")
PKG_CONFIG_PATH=$libdir/pkgconfig
export PKG_CONFIG_PATH
cc main.c -o user $(pkg-config --cflags hotfiber) $(pkg-config --libs hotfiber) -Wl,-rpath,"$libdir" \
    -Wl,-rpath-link,"$libdir"
[ "$(./user)" = "$version" ] || { echo "through pkg-config"; exit 1; }
PKG_CONFIG_LIBDIR=$PKG_CONFIG_PATH pkg-config --cflags --libs hotfiber >/dev/null || # nor their headers
    { echo "pkg-config requires packages that a program does not need"; exit 1; }
[ "$(pkg-config --modversion hotfiber hotkernels | sort -u)" = "$version" ] || { echo "pkg-config's version"; exit 1; }

if [ -f "$libdir/libhotvtk.so" ]; then # VTK's layer, from C
    printf '%s\n' '#include <hotfiber/vtk.h>' '#include <stdio.h>' \
        'int main(void) { return puts(hot_vtk_version()) < 0; }' >vtk.c
    cc vtk.c -o vtk $(pkg-config --cflags --libs hotvtk) -Wl,-rpath,"$libdir" -Wl,-rpath-link,"$libdir"
    ./vtk | grep -q '^9' || { echo "hotvtk through pkg-config"; exit 1; }
    sed 's/main.c/vtk.c/; s/hotfiber::hotfiber/hotfiber::hotvtk/' CMakeLists.txt >lists &&
        mkdir vtk-user && cp vtk.c vtk-user/ &&
        mv lists vtk-user/CMakeLists.txt
    cmake -S vtk-user -B vtk-user/build -DCMAKE_PREFIX_PATH="$prefix" >cmake.log 2>&1 &&
        cmake --build vtk-user/build >>cmake.log 2>&1 && vtk-user/build/user >/dev/null || { cat cmake.log; exit 1; }
fi

# The installed command runs from where it is.
[ "$("$prefix/bin/hotfiber" --version | head -n 1)" = "hotfiber $version" ] || { echo "the installed command"; exit 1; }

[ "$("$prefix/bin/hotfiber-bids" --version)" = "hotfiber-bids $version" ] &&
    [ -f "$("$prefix/bin/hotfiber-bids" --workflow)/Snakefile" ] || { echo "the installed hotfiber-bids"; exit 1; }

# Each header compiles alone, in C11 and C++11, and can be included twice.
for header in "$prefix"/include/hotfiber/*.h; do
    name=$(basename "$header")
    printf '#include <hotfiber/%s>\n#include <hotfiber/%s>\nint main(void) { return 0; }\n' "$name" "$name" >header.c
    cp header.c header.cc
    cc -std=c11 -pedantic -Wall -Wextra -Werror -I "$prefix/include" -fsyntax-only header.c ||
        { echo "$name: C11"; exit 1; }
    if command -v c++ >/dev/null; then
        c++ -std=c++11 -pedantic -Wall -Wextra -Werror -I "$prefix/include" -fsyntax-only header.cc ||
            { echo "$name: C++"; exit 1; }
    fi
done

# The version that a program sees when it is compiled.
cat >version.c <<'PROGRAM'
#include <hotfiber/version.h>
#include <stdio.h>
#if HOTFIBER_VERSION < 200 || HOTFIBER_VERSION_MAJOR * 10000 + HOTFIBER_VERSION_MINOR * 100 > HOTFIBER_VERSION
#error "HOTFIBER_VERSION"
#endif

int main(void)
{
    printf("%d.%d.%d %s\n", HOTFIBER_VERSION_MAJOR, HOTFIBER_VERSION_MINOR, HOTFIBER_VERSION_PATCH,
           HOTFIBER_VERSION_STRING);
    return HOTFIBER_VERSION % 100 != HOTFIBER_VERSION_PATCH;
}
PROGRAM
cc -I "$prefix/include" version.c -o version && [ "$(./version)" = "$version $version" ] ||
    { echo "version.h says $(./version), the library $version"; exit 1; }

# Where the loader looks for libraries, and how programs and libraries are hardened.
python3 "$HOT_SOURCE/tests/build/elf.py" --build "$HOT_BUILD" "$prefix"

# Components: installed ones, missing ones, and unknown names.
# found EXPECTED ARGUMENT...: by find_package, "1 kernels 1 view 0" or the error's line
mkdir components
found() {
    expected=$1
    shift
    printf '%s\n' 'cmake_minimum_required(VERSION 3.21)' 'project(user C)' "find_package(hotfiber $*)" \
        'set(text "${hotfiber_FOUND}")' \
        'foreach(name kernels arrays hotfiber view vtk static nonsense)' \
        '  if(DEFINED hotfiber_${name}_FOUND)' \
        '    string(APPEND text " ${name} ${hotfiber_${name}_FOUND}")' '  endif()' 'endforeach()' \
        'message(STATUS "found: ${text}")' >components/CMakeLists.txt
    cmake -S components -B components/build -DCMAKE_PREFIX_PATH="$prefix" >components.log 2>&1 || true
    tr '\n' ' ' <components.log | sed 's/  */ /g' | grep -qF -e "$expected" ||
        { echo "find_package(hotfiber $*): not '$expected' in"; cat components.log; exit 1; }
}
static= vtk=FALSE view=FALSE
[ ! -f "$libdir/libhotkernels.a" ] || static=1
[ ! -f "$libdir/libhotvtk.so" ] || vtk=TRUE
[ ! -f "$libdir/libhotview.so" ] || view=TRUE
found "found: 1" REQUIRED
found "found: 1 kernels TRUE arrays TRUE hotfiber TRUE" REQUIRED COMPONENTS kernels hotfiber arrays
found "found: 1 kernels TRUE view $view vtk $vtk" COMPONENTS kernels OPTIONAL_COMPONENTS view vtk
found "found: 1 kernels TRUE nonsense FALSE" REQUIRED COMPONENTS kernels OPTIONAL_COMPONENTS nonsense
found "found: 0 nonsense FALSE" QUIET COMPONENTS nonsense
found "component 'nonsense' is not one of kernels, arrays, hotfiber, view, vtk and static" \
    REQUIRED COMPONENTS kernels nonsense
found "component 'hotfiber::hotfiber' is not one of" REQUIRED COMPONENTS hotfiber::hotfiber
mv "$(dirname "$(find "$prefix" -name hotfiber-config.cmake)")/hotvtk-targets.cmake" vtk-targets 2>/dev/null || true
found "component 'vtk' is not installed here" REQUIRED COMPONENTS vtk

# Static libraries: the program then needs none of ours.
[ -n "$static" ] || { echo "skipped: no static libraries in this build (HOTFIBER_STATIC)"; exit 0; }
needs_none() {
    ! readelf -d "$1" | grep 'NEEDED.*libhot' || { echo "$1 is linked with the shared library"; exit 1; }
    [ "$("$1")" = "$version" ] || { echo "$1 does not run"; exit 1; }
}
mkdir static-user
cp main.c static-user/
sed 's/ 0.3 REQUIRED/ REQUIRED COMPONENTS static/; s/hotfiber::hotfiber/hotfiber::hotfiber_static/' CMakeLists.txt \
    >static-user/CMakeLists.txt
cmake -S static-user -B static-user/build -DCMAKE_PREFIX_PATH="$prefix" >cmake.log 2>&1 &&
    cmake --build static-user/build >>cmake.log 2>&1 || { cat cmake.log; exit 1; }
needs_none static-user/build/user
# Through pkg-config, without shared libraries.
mkdir -p only/lib/pkgconfig
cp "$libdir"/*.a only/lib/
cp "$libdir"/pkgconfig/hot*.pc only/lib/pkgconfig/
cp -r "$prefix/include" only/
PKG_CONFIG_PATH=$PWD/only/lib/pkgconfig
cc main.c -o static $(pkg-config --cflags --libs --static hotfiber) 2>static.log || { cat static.log; exit 1; }
needs_none ./static
# The kernels alone, without any shared library.
cat >kernels.c <<'PROGRAM'
#include <hotfiber/context.h>
#include <hotfiber/symtensor.h>
#include <hotfiber/version.h>
#include <stdio.h>

int main(void)
{
    hot_context *context;
    if (hot_context_create(NULL, &context) != HOT_OK || hot_symtensor_count(4, 3) != 15)
        return 1;
    hot_context_destroy(&context);
    return puts(HOTFIBER_VERSION_STRING) < 0;
}
PROGRAM
echo 'int main(void) { return 0; }' >empty.c
if cc -static empty.c -o empty $(pkg-config --libs --static hotkernels | sed 's/-lhotkernels//') 2>static.log; then
    cc -static kernels.c -o kernels $(pkg-config --cflags --libs --static hotkernels) 2>static.log ||
        { cat static.log; exit 1; }
    needs_none ./kernels
else
    echo "not linked with static libraries alone: $(grep -m 1 'cannot find' static.log || tail -n 1 static.log)"
fi
