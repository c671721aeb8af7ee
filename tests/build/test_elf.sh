# Every program and library of the build: where the loader looks for libraries, and how they are hardened (elf.py). And
# that nothing is loaded from the current folder, which is often one of data: the loader's own account of all files that
# it tries, for what needs a library at the start and what loads one when it is wanted (LAPACK, HDF5, X, EGL, CUDA).
set -eu
failed=0
not_so() { echo "not so: $*"; failed=1; }
python3 "$HOT_SOURCE/tests/build/elf.py" "$HOT_BUILD/bin" "$HOT_BUILD/lib" \
    $(ls -d "$HOT_BUILD/python/hotfiber" 2>/dev/null) || failed=1
if [ -z "$HOT_SANITIZED" ] && [ "$HOT_HARDENED" = "${HOT_HARDENED#*fortify}" ] &&
    grep -q '^CMAKE_BUILD_TYPE:[A-Z]*=Release' "$HOT_BUILD/CMakeCache.txt" &&
    grep -q '^HOTFIBER_HARDENED:BOOL=ON' "$HOT_BUILD/CMakeCache.txt"; then
    not_so "a release that is not fortified: $HOT_HARDENED"
fi

# elf.py sees what is wrong: small libraries, each with one fault.
cc=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$HOT_BUILD/CMakeCache.txt")
mkdir wrong open
chmod 777 open
echo 'int hot_a(void) { return 1; }' >a.c
rejected() {
    what=$1
    shift
    "$cc" -shared -fPIC -Wl,-z,relro,-z,now a.c -o wrong/a.so "$@" >cc.log 2>&1 || { cat cc.log; return 0; }
    ! HOT_HARDENED=link python3 "$HOT_SOURCE/tests/build/elf.py" wrong >elf.log || not_so "elf.py accepts $what"
}
rejected "an empty element" -Wl,-rpath,'$ORIGIN:'
rejected "an empty element at the begin" -Wl,-rpath,':$ORIGIN'
rejected "colons alone" -Wl,-rpath,':::'
rejected "a relative element" -Wl,-rpath,lib
rejected "the current folder" -Wl,-rpath,.
rejected "an old RPATH" -Wl,--disable-new-dtags -Wl,-rpath,'/usr/lib::'
rejected "a folder that others may write in" -Wl,-rpath,"$PWD/open"
rejected "one that others may make" -Wl,-rpath,/tmp/hotfiber-not-there/lib
rejected "\$ORIGIN's that others may write in" -Wl,-rpath,'$ORIGIN/../open'
rejected "an executable stack" -Wl,-z,execstack
rejected "late binding" -Wl,-z,lazy
rejected "relocations that stay writable" -Wl,-z,norelro
"$cc" -shared -fPIC -Wl,-z,relro,-z,now a.c -o wrong/a.so -Wl,-rpath,'$ORIGIN/../lib:/usr/lib'
HOT_HARDENED=link python3 "$HOT_SOURCE/tests/build/elf.py" wrong >elf.log ||
    { cat elf.log; not_so "elf.py rejects a good one"; }

# tried NAME COMMAND...: all files that the loader tries have absolute names.
tried() {
    name=$1
    shift
    LD_DEBUG=libs,files LD_DEBUG_OUTPUT=$PWD/$name "$@" >"$name.out" 2>&1 || { cat "$name.out"; not_so "$name runs"; }
    cat "$name".[0-9]* | sed -n -e 's/.*trying file=//p' -e 's/.*file=\([^ ]*\/[^ ]*\) .*/\1/p' >"$name.files"
    [ -s "$name.files" ] || not_so "$name: the loader says nothing"
    ! grep -v '^/' "$name.files" >"$name.relative" ||
        not_so "$name looks for $(head -n 3 "$name.relative" | tr '\n' ' ')"
    rm -f "$name".[0-9]*
}
if [ -z "$HOT_SANITIZED" ] && ! ldd /bin/sh | grep -q musl; then # of glibc's loader
    tried version "$HOTFIBER" --version
    tried phantom "$HOTFIBER" phantom --layout bundles --size 8,8,3 --directions 30 -o dwi.nrrd
    tried run "$HOTFIBER" run -i dwi.nrrd -o out --quiet
    tried bench "$HOTFIBER" bench --help
    if "$HOTFIBER" export --list | grep -q pam5; then
        tried pam5 "$HOTFIBER" export -i out/peaks.nrrd -o peaks.pam5
        grep -q hdf5 pam5.files || not_so "HDF5 is loaded"
    fi
    [ ! -x "$HOT_BUILD/bin/HotFiber" ] || tried module "$HOT_BUILD/bin/HotFiber" --xml
    [ ! -x "$HOT_BUILD/bin/hotfiber-view" ] ||
        tried view "$HOT_BUILD/bin/hotfiber-view" out --screenshot view.png --size 64x64
    if [ -d "$HOT_BUILD/python/hotfiber" ]; then
        export PYTHONPATH="$HOT_BUILD/python" PYTHONDONTWRITEBYTECODE=1
        tried python python3 -c 'import hotfiber, numpy as np; hotfiber.heev(np.eye(300)[None])'
        # from a path that is relative to where Python started
        ln -s "$HOT_BUILD/python/hotfiber" hotfiber
        PYTHONPATH=. tried here python3 -c 'import hotfiber, os; print(hotfiber.version())'
    fi
fi
exit $failed
