#!/usr/bin/python3
"""`hotfiber fit --model msmt` compared with MRtrix's `dwi2fod msmt_csd`, from file to file, one thread each, in turns:
voxels per second of CPU time.

    bench/accuracy/msmt_speed.py [--hotfiber FILE] [--rounds N] [--voxels N]

A phantom of three shells of 90 directions (b = 1000, 2000, 3000) and 18 b=0 volumes, SNR 25, tissue as in tissue.py;
responses of three tissues from the same data, harmonics to degree 8. MRtrix requires that the fODF is not negative in
its 300 directions, as `--constraint nonnegative` does; `hpsd` is not negative anywhere. Needs mrtrix3, python3-nibabel,
python3-numpy, python3-scipy."""
import os
import resource
import subprocess
import tempfile

import nibabel
import numpy as np

import tissue


def cpu_seconds(*command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = tissue.command_line(__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--voxels", type=int, default=8000)
    options = parser.parse_args()
    hot = options.hotfiber
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        tissue.call(hot, "phantom", "-o", "d.nii.gz", "--truth", "t.nii.gz", *tissue.MIX.split(), "--tissue",
                    "stick-zeppelin", "-b", "1000,2000,3000", "--directions", 90, "--b0", 18, "--size",
                    "20,20,%d" % max(1, options.voxels // 400), "--snr", 25, "--seed", 19, "--quiet")
        image = nibabel.load("d.nii.gz")
        nibabel.save(nibabel.Nifti1Image(np.ones(image.shape[:3], "u1"), image.affine), "mask.nii.gz")
        voxels = int(np.prod(image.shape[:3]))
        tissue.call("mrconvert", "d.nii.gz", "-fslgrad", "d.bvec", "d.bval", "d.mif", "-quiet")
        tissue.call(hot, "response", "-i", "d.mif", "--mask", "mask.nii.gz", "--tissues", 3, "-o", "wm.txt", "--gm",
                    "gm.txt", "--csf", "csf.txt", "--quiet")
        ours = [hot, "fit", "-i", "d.mif", "--mask", "mask.nii.gz", "--model", "msmt", "--order", 8, "--response",
                "wm.txt,gm.txt,csf.txt", "--threads", 1, "--device", "cpu", "-o", "t.nrrd", "--quiet", "--constraint"]
        commands = {
            "dwi2fod msmt_csd": ["dwi2fod", "msmt_csd", "d.mif", "wm.txt", "wm.mif", "gm.txt", "gm.mif", "csf.txt",
                                 "csf.mif", "-mask", "mask.nii.gz", "-lmax", "8,0,0", "-nthreads", "0", "-force",
                                 "-quiet"],
            "nonnegative": ours + ["nonnegative"], "hpsd": ours + ["hpsd"], "none": ours + ["none"]}
        seconds = {name: [] for name in commands}
        for _ in range(options.rounds):
            for name, command in commands.items():
                seconds[name].append(cpu_seconds(*command))
        theirs = np.array(seconds["dwi2fod msmt_csd"])
        for name, each in seconds.items():
            print("%-18s %8.0f voxels/s   times dwi2fod's: %s" % (
                name, voxels / np.median(each), " ".join("%.1f" % r for r in theirs / each)))


if __name__ == "__main__":
    main()
