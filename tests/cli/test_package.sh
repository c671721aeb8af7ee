# cpack's Debian packages: what they say and hold, that they hold all that is installed, and that the command works from
# the unpacked files alone. (On a clean Debian: sh tests/cli/package_in_chroot.sh, which needs root and the network.)
set -eu
[ -z "${HOT_SANITIZED:-}" ] || { echo "skipped: the libraries need the sanitizers' runtime"; exit 77; }
for tool in cpack dpkg-deb dpkg-shlibdeps; do
    command -v $tool >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
failed=0
not_so() { echo "not so: $*"; failed=1; }

quick=CPACK_DEBIAN_COMPRESSION_TYPE=none # HOT_TEST_LONG=1: as shipped
[ -z "${HOT_TEST_LONG:-}" ] || quick=
cpack --config "$HOT_BUILD/CPackConfig.cmake" -B "$PWD/packages" \
    ${quick:+-D "$quick"} >cpack.log 2>&1 || { cat cpack.log; exit 1; }
version=$("$HOTFIBER" --version | sed -n '1s/.* //p')
main=$(ls packages/hotfiber_"$version"_*.deb)
dpkg-deb --info "$main" >info
field() { dpkg-deb --field "$1" "$2"; }
[ "$(field "$main" Package)" = hotfiber ] && [ "$(field "$main" Version)" = "$version" ] || not_so "name and version"
[ "$(field "$main" Section)" = science ] || not_so "section"
field "$main" Maintainer | grep -q '^[^<]*<[^@ ]*@[^@ ]*>$' || not_so "maintainer: $(field "$main" Maintainer)"
field "$main" Description | sed -n 1p | grep -q 'diffusion MRI' || not_so "description"
[ "$(field "$main" Description | wc -l)" -ge 3 ] || not_so "long description"
openmp= # of the compiler; none where everything is on one thread
case $(objdump -p "$HOT_BUILD/lib/libhotkernels.so" | grep NEEDED) in
*libgomp.so*) openmp=libgomp1 ;;
*libomp.so*) openmp=libomp5-[0-9]* ;;
*) ! field "$main" Depends | grep -qE 'libg?omp' || not_so "OpenMP is in: $(field "$main" Depends)" ;;
esac
for needed in libc6 libteem2 libnifti2-2 libcairo2 $openmp zlib1g; do
    field "$main" Depends | tr ',' '\n' | grep -q "^ *$needed\( \|$\)" ||
        not_so "$needed is not in: $(field "$main" Depends)"
done
! field "$main" Depends | grep -q vtk || not_so "the main package brings VTK along"

# Dependencies of other packages' programs that are linked with a library: the same soname, at least this version.
soversion=$(objdump -p "$HOT_BUILD/lib/libhotfiber.so" | sed -n 's/^ *SONAME *libhotfiber\.so\.//p')
next=$(echo "$soversion" | awk -F . -v OFS=. '{ ++$NF; print }')
for package in packages/*.deb; do
    name=$(field "$package" Package)
    dpkg-deb --ctrl-tarfile "$package" | tar -xO ./shlibs >>shlibs || not_so "shlibs of $name"
    dpkg-deb --contents "$package" |
        sed -n "s|.*/lib/\(lib[a-z]*\)\.so\.$soversion ->.*|\1 $soversion $name (>= $version), $name (<< $next~)|p" \
            >>shlibs.wanted
done
[ -s shlibs.wanted ] && sort -o shlibs shlibs && sort shlibs.wanted | diff shlibs - || not_so "shlibs"

# HOT_TEST_LONG=1: what Debian's own checker says; cmake/lintian-overrides has the exceptions.
if [ -n "${HOT_TEST_LONG:-}" ] && command -v lintian >/dev/null; then
    lintian --fail-on error,warning packages/*.deb >lintian.log 2>&1 || not_so "lintian: $(grep '^[EW]:' lintian.log)"
fi

# Nothing that is installed is left out, nothing is in twice.
cmake --install "$HOT_BUILD" --prefix "$PWD/installed" >install.log 2>&1 || { cat install.log; exit 1; }
(cd installed && find . ! -type d | sort) >installed.list
: >packed.list
for package in packages/*.deb; do
    dpkg-deb -x "$package" unpacked
    dpkg-deb --contents "$package" | awk '$1 !~ /^d/ { print $6 }' | sed 's|^\./usr/|./|' >>packed.list
    dpkg-deb --contents "$package" | grep -v ' root/root ' && not_so "owners in $package"
    dpkg-deb --contents "$package" | grep -E '^([^l]....w|[^l].......w)' && not_so "others may write in $package"
    dpkg-deb --contents "$package" | awk '$6 !~ /^\.\/(usr\/.*)?$/' | grep . && not_so "files outside usr in $package"
done
sort -o packed.list packed.list
diff installed.list packed.list || not_so "installed and packed differ"
for wanted in ./bin/hotfiber ./lib/libhotfiber.so ./lib/libhotkernels.so ./include/hotfiber/hotfiber.h \
    ./lib/cmake/hotfiber/hotfiber-config.cmake ./lib/pkgconfig/hotfiber.pc ./share/man/man1/hotfiber.1.gz \
    ./share/doc/hotfiber/copyright; do
    grep -qxF "$wanted" packed.list || not_so "$wanted is not in the package"
done
if [ -f "$HOT_BUILD/lib/libhotvtk.so" ]; then
    vtk=$(ls packages/hotfiber-vtk_"$version"_*.deb)
    field "$vtk" Depends | grep -q "hotfiber (= $version)" || not_so "Depends: $(field "$vtk" Depends)"
    field "$vtk" Depends | grep -q libvtk9 || not_so "Depends: $(field "$vtk" Depends)"
    dpkg-deb --contents "$vtk" >vtk.list
    grep -q "lib/libhotvtk.so.$soversion " vtk.list && grep -q 'include/hotfiber/vtk.h' vtk.list ||
        not_so "VTK's layer: $(cat vtk.list)"
fi
# Hardened, and no search for libraries in a path of the build.
python3 "$HOT_SOURCE/tests/build/elf.py" --build "$HOT_BUILD" unpacked || failed=1
! grep -rqF "$HOT_BUILD" unpacked/usr/lib/cmake unpacked/usr/lib/pkgconfig ||
    not_so "CMake or pkg-config files know the build"

# The manual pages: one of each subcommand with every option, one that names them all, one of hotfiber-bids, good roff.
for page in unpacked/usr/share/man/man1/*.gz; do
    gzip -dc "$page" >"$(basename "$page" .gz)"
done
for subcommand in $("$HOTFIBER" | sed -n 's/^  \([a-z][a-z0-9-]*\)  .*/\1/p'); do
    grep -qxF ".BR hotfiber\\-$subcommand (1)" hotfiber.1 || not_so "$subcommand is not in the manual"
    grep -q "^hotfiber..$subcommand .. [a-zA-Z]" "hotfiber-$subcommand.1" || not_so "no summary of $subcommand"
    "$HOTFIBER" "$subcommand" --help | sed -n 's/^  \(-[^ ]*\).*/\1/p' | sed 's/-/\\-/g' | while read -r option; do
        grep -qF ".B $option" "hotfiber-$subcommand.1" || echo "$subcommand $option"
    done
done >missing
[ ! -s missing ] || not_so "not in the manual: $(cat missing)"
grep -q participant hotfiber-bids.1 || not_so "no manual of hotfiber-bids"
if command -v groff >/dev/null; then
    for page in hotfiber*.1; do
        groff -man -ww -Tutf8 -P-cbou "$page" 2>groff.log >"$page.txt"
        [ ! -s groff.log ] || not_so "groff: $page: $(head -n 3 groff.log)"
        for section in NAME DESCRIPTION; do
            grep -q "^$section" "$page.txt" || not_so "$page has no $section"
        done
    done
fi

# It works from there.
hotfiber=$PWD/unpacked/usr/bin/hotfiber
LD_LIBRARY_PATH=$PWD/unpacked/usr/lib
export LD_LIBRARY_PATH
"$hotfiber" phantom --layout bundles --size 12,12,6 --directions 30 --truth truth.nrrd |
    "$hotfiber" run --device cpu -i - -o out --quiet || not_so "phantom | run"
"$hotfiber" score -i out/peaks.nrrd --truth truth.nrrd >score || not_so "score"
grep -q '^all voxels' score || not_so "score says nothing"
LD_LIBRARY_PATH=
"$HOTFIBER" phantom --layout bundles --size 12,12,6 --directions 30 | "$HOTFIBER" run --device cpu -i - -o built --quiet
cmp out/peaks.nrrd built/peaks.nrrd || not_so "other directions than those of the build"
exit $failed
