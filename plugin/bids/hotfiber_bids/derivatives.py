"""A derivatives data set: names and sidecars of BEP016 (diffusion derivatives), its description, what is ignored."""
import os
import shutil
import urllib.parse

from . import files
from .files import read_json, write_json, write_text

BIDS_VERSION = "1.10.0"
# BIDS itself does not have BEP016's names yet, nor programs' pages and tables: its validator must ignore them.
IGNORED = ["*_dwimap*", "*.html", "group_dwi.*", "logs/", "figures"]
XYZ = {"Reference": "xyz", "EncodingAxis": 3}
VECTORS = {"Type": "3vector", "FillValue": 0.0, "AntipodalSymmetry": True, **XYZ}
SCALARS = {"Type": "scalar"}
# File of a run: model, parameter, what it is, units, orientations (of images with more than three axes).
MAPS = {
    "peaks": ("hot", "direction", "Directions of up to three fibres, 3 volumes each, longest first; the length is "
              "the amplitude (volume fraction)", None, VECTORS),
    "nfibers": ("hot", "nfibers", "Number of fibres", None, None),
    "dec": ("hot", "dec", "Direction-encoded colours", None, {"Type": "dec", **XYZ}),
    "certainty": ("hot", "certainty", "How certain each fibre is, 0 to 1: the probability of so many fibres times that "
                  "of a direction within 15 degrees, a volume per fibre", None, SCALARS),
    "probability": ("hot", "probability", "Probability of 0, 1, 2 and 3 fibres, a volume each", None, SCALARS),
    "amplitude": ("hot", "amplitude", "Amplitude (volume fraction) of each fibre, a volume each", None, SCALARS),
    "cone": ("hot", "cone", "Half angle of the cone that holds a fibre's direction with 95 %, a volume per fibre; "
             "NaN: no fibre", "degree", SCALARS),
    "cone_axes": ("hot", "coneaxes", "Semi-axes of an elliptic cone that holds a fibre's direction with 95 %, 6 "
                  "volumes per fibre", None, VECTORS),
    "fraction_sd": ("hot", "fractionsd", "Standard deviation of the volume fractions, a volume per fibre; NaN: no "
                    "fibre", None, SCALARS),
    "isotropic": ("hot", "isotropic", "Volume fraction of the isotropic compartment, without free water",
                  None, None),
    "free_water": ("hot", "freewater", "Volume fraction of free water", None, None),
    "noise_sd": ("hot", "noisesd", "Standard deviation of the noise, each voxel's own", None, None),
    "peaks_fod": ("hot", "peaksfod", "Directions with amplitudes as of MRtrix's fODF", None, VECTORS),
    "tissues": ("hot", "tissues", "Amounts of white matter and the other tissues, a volume each", None, SCALARS),
    "residual": ("hot", "residual", "Residual of the optimality conditions of the constrained minimum", None, None),
    "afd_total": ("hot", "afdtotal", "Apparent fibre density: the fODF's coefficient of degree 0", None, None),
    "afd_max": ("hot", "afdmax", "Largest amplitude of the fODF", None, None),
    "afd_sum": ("hot", "afdsum", "Norm of the fODF's coefficients", None, None),
    "nufo": ("hot", "nufo", "Number of maxima of the fODF", None, None),
    "noise": ("mppca", "noise", "Standard deviation of the noise, from denoising", None, None),
    "fa": ("tensor", "fa", "Fractional anisotropy", None, None),
    "md": ("tensor", "md", "Mean diffusivity", "mm^2/s", None),
}
MODELS = {
    "hot": "Fibre directions by higher-order tensors",
    "tensor": "Diffusion tensor, weighted least squares, b up to 1500 s/mm^2",
    "mppca": "Marchenko-Pastur principal component analysis",
}


def write_description(out, root, version):
    """dataset_description.json, README and .bidsignore; the user's own README stays."""
    source = read_json(os.path.join(root, "dataset_description.json"))
    source = source if isinstance(source, dict) else {}
    link = urllib.parse.quote(os.path.relpath(root, out).replace(os.sep, "/"), errors="surrogateescape")
    origin = {"URL": link}
    if isinstance(source.get("DatasetDOI"), str):
        origin = {"URL": source["DatasetDOI"] if "://" in source["DatasetDOI"] else
                  "https://doi.org/" + source["DatasetDOI"].replace("doi:", "")}
    name = source["Name"] if isinstance(source.get("Name"), str) and source["Name"] else os.path.basename(root)
    about = {
        "Name": f"hotfiber of {name}",
        "BIDSVersion": BIDS_VERSION,
        "DatasetType": "derivative",
        "GeneratedBy": [{"Name": "hotfiber", "Version": version,
                         "Description": "Fibre directions from diffusion MRI by higher-order tensors"}],
        "SourceDatasets": [origin],
        "DatasetLinks": {"source": link},
        "HowToAcknowledge": "The pages sub-....html have a paragraph for a paper with its references.",
    }
    if isinstance(source.get("License"), str):
        about["License"] = source["License"]
    files.sweep(out, {"dataset_description.json", ".bidsignore", "README.md", "group_dwi.html",
                      "group_dwi.tsv"}.__contains__)
    path = os.path.join(out, "dataset_description.json")
    if read_json(path) != about:
        write_json(path, about)
    ignored = "".join(line + "\n" for line in IGNORED)
    path = os.path.join(out, ".bidsignore")
    if not os.path.exists(path):
        write_text(path, ignored)
    path = os.path.join(out, "README.md")
    if not os.path.exists(path) and not os.path.exists(os.path.join(out, "README")):
        write_text(path, "# Fibre directions by hotfiber\n\n"
                   "Each scan has a page, `sub-....html`; `group_dwi.html` compares them. Maps are named as in\n"
                   "BEP016, the proposal of BIDS for diffusion derivatives:\n"
                   "`..._model-<model>_param-<parameter>_dwimap.nii.gz`, described in the `.json` next to\n"
                   "them. Directions are in scanner axes (RAS).\n"
                   "`logs/` says of each scan how it was made and whether it failed.\n")


def _model(model, report, scan):
    """The field `Model` of a sidecar."""
    parameters = {key: value for key, value in (report.get("settings") or {}).items() if key != "population"}
    about = {"Description": MODELS[model], "Parameters": parameters if model == "hot" else
             {"FitMethod": "wls"} if model == "tensor" else {}}
    return {"Model": about, "Sources": [f"bids:source:{scan.relative}"]}


def _response(report):
    """The response function as BEP016 has it: zonal harmonics, a row per shell."""
    response = report.get("response") or {}
    rows = [shell.get("coefficients") for shell in response.get("shells") or [] if isinstance(shell, dict)]
    return {"ResponseFunction": {"Type": "zsh", "Coefficients": rows}} if rows else {}


def _belongs(scan):
    """Whether a name is one of this scan's files, and of no other's that begins alike."""
    ends = ("_model-", "_desc-brain_mask.", "_S0map.", "_fibers.", ".html", ".json")
    starts = tuple(scan.name + end for end in ends)
    return lambda name: name.startswith(starts)


def sweep(scan, out):
    """Removes what a call that was killed has left of this scan under hidden names."""
    for where in (scan.folder(out), scan.figures(out), out, os.path.join(out, "logs")):
        files.sweep(where, _belongs(scan))


def remove(scan, out):
    """The results of an earlier run of this scan."""
    sweep(scan, out)
    belongs = _belongs(scan)
    for where in (scan.folder(out), scan.figures(out)):
        for name in os.listdir(where) if os.path.isdir(where) else []:
            if belongs(name):
                path = os.path.join(where, name)
                shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
    page = os.path.join(out, f"{scan.name}.html")
    if os.path.exists(page):
        os.unlink(page)


def _without(hide, value):
    """JSON with every text of it as `hide` has it."""
    if isinstance(value, dict):
        return {key: _without(hide, item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without(hide, item) for item in value]
    return hide(value) if isinstance(value, str) else value


def publish(run, scan, out, hide):
    """Moves the files of a run to their names in the data set and writes their sidecars. hide: takes the folders of
    this machine out of a text. Returns what report.json says."""
    report = read_json(os.path.join(run, "report.json"))
    if not isinstance(report, dict):
        raise ValueError(f"'{run}' has no report.json that can be read")
    report = _without(hide, report)
    remove(scan, out)
    folder = scan.folder(out)
    start = os.path.join(folder, scan.name)
    for name in sorted(os.listdir(run)):
        path, stem = os.path.join(run, name), name.split(".")[0]
        sidecar, target = None, None
        if name == "report.html":
            with open(path, encoding="utf-8", errors="replace") as file:
                write_text(os.path.join(out, f"{scan.name}.html"), hide(file.read()))
        elif name == "report.json":
            write_json(start + "_model-hot_dwimap.json", {**_model("hot", report, scan), **_response(report),
                                                          "HotfiberReport": report})
        elif name == "fibers.png":
            target = os.path.join(scan.figures(out), f"{scan.name}_fibers.png")
        elif name == "mask.nii.gz":
            target = start + "_desc-brain_mask.nii.gz"
            sidecar = {"Type": "Brain", "SpatialReference": f"bids:source:{scan.relative}",
                       "Sources": [f"bids:source:{scan.relative}"],
                       "Description": "The voxels in which fibres were fitted"}
        elif name == "b0.nii.gz":
            target = start + "_S0map.nii.gz"
            sidecar = {"Description": "Mean of the b=0 volumes", "Sources": [f"bids:source:{scan.relative}"],
                       "SkullStripped": False}
        elif stem in MAPS and name.endswith(".nii.gz"):
            model, parameter, description, units, orientation = MAPS[stem]
            target = f"{start}_model-{model}_param-{parameter}_dwimap.nii.gz"
            sidecar = {"Description": description, **({"Units": units} if units else {}),
                       **({"OrientationEncoding": orientation} if orientation else {}), **_model(model, report, scan)}
        else: # other requested files keep their name as a parameter's
            model, parameter = MAPS[stem][:2] if stem in MAPS else ("hot", "".join(filter(str.isalnum, stem)))
            target = f"{start}_model-{model}_param-{parameter}_dwimap{name[len(stem):]}"
        if target:
            files.move(path, target)
        if sidecar:
            write_json(target[:-len(".nii.gz")] + ".json", sidecar)
    return report
