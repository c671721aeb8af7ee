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
find_package(hotfiber 0.2 REQUIRED)
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

for header in "$prefix"/include/hotfiber/*.h; do
    name=$(basename "$header")
    case $name in hotfiber_*) name=hotfiber.h ;; esac # parts of hotfiber.h
    printf '#include <hotfiber/%s>\n#include <hotfiber/%s>\nint main(void) { return 0; }\n' "$name" "$name" >header.c
    cp header.c header.cc
    cc -std=c11 -pedantic -Wall -Wextra -Werror -I "$prefix/include" -c header.c -o header.o ||
        { echo "$name: C11"; exit 1; }
    if command -v c++ >/dev/null; then
        c++ -std=c++11 -pedantic -Wall -Wextra -Werror -I "$prefix/include" -c header.cc -o header.o ||
            { echo "$name: C++"; exit 1; }
    fi
done
