"""Prints the software bill of materials of a build as CycloneDX 1.5 (JSON): hotfiber itself and every library that its
programs and libraries are linked with, with version and licence by Debian's packages.

    python3 cmake/sbom.py BUILD_FOLDER

It is reproducible: no times, no serial number; components are sorted."""
import glob
import hashlib
import json
import os
import re
import subprocess
import sys


def output(*words, partly=False):
    """partly: also the output of a command that failed because it could not answer everything."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return done.stdout if done.returncode == 0 or partly else ""


def needed(path):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", path))


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def where(names):
    """Soname -> file, as the loader finds them."""
    cache = dict(re.findall(r"^\s*(\S+) \(.*\) => (\S+)$", output("/sbin/ldconfig", "-p"), re.MULTILINE))
    return {name: cache.get(name) for name in names}


def licences(package):
    """The short names that the package's copyright file declares, where it is written for machines."""
    try:
        with open("/usr/share/doc/%s/copyright" % package, errors="replace") as file:
            return sorted(set(re.findall(r"^License: *(\S.*)$", file.read(), re.MULTILINE)))
    except OSError:
        return []


def names_of(path):
    """Those that a package may know a library by."""
    real = os.path.realpath(path)
    return path, real, real.removeprefix("/usr")


def owners(paths):
    """Path -> package and version, as far as packages have brought them. Asked for all at once: a query takes long."""
    wanted = sorted({name for path in paths for name in names_of(path)})
    found = {}
    for line in output("dpkg-query", "-S", *wanted, partly=True).splitlines():
        packages, _, name = line.partition(": ")
        found[name] = packages.split(",")[0]
    told = output("dpkg-query", "-W", "-f", "${binary:Package}\t${Package}\t${Version}\n", *sorted(set(found.values())))
    versions = {}
    for line in told.splitlines():
        full, package, version = line.split("\t")
        versions[full] = versions[package] = version
    return {path: next(((found[name], versions.get(found[name], "")) for name in names_of(path) if name in found),
                       ("", "")) for path in paths}


def component(soname, path, owner, version):
    real = os.path.realpath(path)
    made = {"type": "library", "name": soname, "bom-ref": soname}
    if owner:
        package = owner.split(":")[0]
        made["version"] = version
        made["purl"] = "pkg:deb/debian/%s@%s" % (package, version.replace(":", "%3A").replace("+", "%2B"))
        found = licences(package)
        if found:
            made["licenses"] = [{"license": {"name": name}} for name in found]
    with open(real, "rb") as file:
        made["hashes"] = [{"alg": "SHA-256", "content": hashlib.sha256(file.read()).hexdigest()}]
    return made


def main():
    build = sys.argv[1]
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "CMakeLists.txt")) as file:
        version = re.search(r"project\(hotfiber VERSION (\S+)", file.read()).group(1)
    ours = sorted(path for path in glob.glob(build + "/bin/hotfiber*") + glob.glob(build + "/bin/HotFiber") +
                  glob.glob(build + "/lib/lib*.so") if is_elf(path))
    if not ours:
        sys.exit("sbom.py: nothing is built in '%s'" % build)
    uses = {os.path.basename(path): sorted(name for name in needed(path)) for path in ours}
    known = {name for names in uses.values() for name in names}
    foreign = sorted(name for name in known if not re.match(r"lib(hot|HotFiber)", name))
    places = where(foreign)
    lost = [name for name in foreign if not places[name]]
    if lost:
        sys.exit("sbom.py: not found: %s" % ", ".join(lost))
    owned = owners(list(places.values()))
    print(json.dumps({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"component": {"type": "application", "name": "hotfiber", "version": version, "bom-ref": "hotfiber",
                                   "licenses": [{"license": {"id": "BSD-3-Clause"}}]}},
        "components": [component(name, places[name], *owned[places[name]]) for name in foreign],
        "dependencies": [{"ref": "hotfiber", "dependsOn": foreign}],
        "properties": [{"name": "hotfiber:" + name, "value": " ".join(uses[name])} for name in sorted(uses)],
    }, indent=1))


if __name__ == "__main__":
    main()
