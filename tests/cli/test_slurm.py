"""The Snakemake workflow on a cluster: a real slurmctld and slurmd with munged, on this machine. Long form only."""
import pwd
import socket
import sys

from _bids import *

SLURM = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmctldPort={port}
SlurmdPort={port_d}
AuthType=auth/munge
AuthInfo=socket={here}/munge.socket
CredType=cred/munge
StateSaveLocation={here}/state
SlurmdSpoolDir={here}/spool
SlurmctldPidFile={here}/slurmctld.pid
SlurmdPidFile={here}/slurmd.pid
SlurmctldLogFile={here}/slurmctld.log
SlurmdLogFile={here}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,sched_min_interval=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
GresTypes=gpu
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory} State=UNKNOWN Gres=gpu:1
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def skip(why):
    print("skipped:", why)
    sys.exit(77)


if not LONG:
    skip("a test of the long form (HOT_TEST_LONG=1)")
if os.geteuid() != 0:
    skip("slurmd and munged need root")
for program in ("munged", "slurmctld", "slurmd", "sbatch", "snakemake"):
    if not shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
        skip(f"{program} is not installed (Debian: slurm-wlm, munge, snakemake)")
here = f"/tmp/hotfiber-slurm-{os.getpid()}" # a socket's path is short
for name in ("", "/state", "/spool"):
    os.mkdir(here + name, 0o755)
os.environ["PATH"] = f"{os.path.dirname(BIDS)}:{os.environ['PATH']}:/usr/sbin:/sbin"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


host = socket.gethostname().split(".")[0]
about = {"host": host, "here": here, "port": free_port(), "port_d": free_port(), "cpus": os.cpu_count(),
         "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 1048576 - 500}
open(f"{here}/slurm.conf", "w").write(SLURM.format(**about))
# A GPU that is only a file: enough for Slurm to count it.
open(f"{here}/gres.conf", "w").write(f"NodeName={host} Name=gpu File=/dev/null\n")
os.environ["SLURM_CONF"] = f"{here}/slurm.conf"
open(f"{here}/munge.key", "wb").write(os.urandom(128))
os.chmod(f"{here}/munge.key", 0o400)
munge = pwd.getpwnam("munge") if "munge" in [user.pw_name for user in pwd.getpwall()] else None
running = []


def start(*command):
    running.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=open(f"{here}/{command[0]}.out", "w"),
                                    stderr=subprocess.STDOUT))


def ask(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout


def snakemake(out, *more, settings=()):
    """Starts it on the cluster."""
    workflow = bids("--workflow").stdout.strip()
    return subprocess.Popen(["snakemake", "-s", f"{workflow}/Snakefile", "--profile", f"{workflow}/profiles/slurm",
                             "--latency-wait", "20", *more, "--config", "bids=raw", f"out={out}", "parts=2",
                             "mem_mb=1000", *settings], stdin=subprocess.DEVNULL, stdout=open(f"{out}.log", "w"),
                            stderr=subprocess.STDOUT)


try:
    start("munged", "--foreground", "--force", f"--key-file={here}/munge.key", f"--socket={here}/munge.socket",
          f"--pid-file={here}/munged.pid", f"--log-file={here}/munged.log", f"--seed-file={here}/munged.seed")
    time.sleep(2)
    start("slurmctld", "-D", "-i")
    time.sleep(2)
    start("slurmd", "-D")
    for _ in range(40):
        if "idle" in ask("sinfo", "-h", "-o", "%t"):
            break
        time.sleep(1)
    else:
        logs = "".join(open(os.path.join(here, name), errors="replace").read()[-600:] for name in os.listdir(here)
                       if name.endswith((".log", ".out")))
        skip("Slurm does not come up here: " + ask("sinfo").replace("\n", " ") + logs.replace("\n", " | "))

    raw = dataset("raw")
    for subject in ("01", "02", "03"):
        scan(raw, subject, seed=int(subject))
    truncate("raw/sub-02/dwi/sub-02_dwi.nii.gz")

    # The node loses one job: it is tried again.
    job = snakemake("out")
    killed = False
    while job.poll() is None:
        for line in ask("squeue", "-h", "-t", "R", "-o", "%i %j").splitlines():
            if not killed and "hotfiber-part" in line:
                killed = "error" not in ask("scancel", line.split()[0])
        time.sleep(.2)
    text = open("out.log").read()
    check(killed, "a running job was cancelled")
    check("Trying to restart job" in text, f"and was tried again: {text[-1500:]}")
    check(job.returncode == 1 and "1 of 3 scans failed or were not done: sub-02" in text, text[-1500:])
    rows = table("out")
    check([rows[f"sub-0{n}"]["status"] for n in (1, 2, 3)] == ["done", "failed", "done"], f"{rows}")
    jobs = [line for line in os.listdir(".snakemake/slurm")]
    check(all(any(name.startswith(rule) for name in jobs) for rule in ("learn", "part", "merge", "report")), f"{jobs}")
    bids(raw, "alone", "participant", "--skip-bids-validation", "--hotfiber-options", "--device cpu")
    for subject in ("01", "03"):
        name = f"sub-{subject}/dwi/sub-{subject}_model-hot_param-direction_dwimap.nii.gz"
        check(open(f"out/{name}", "rb").read() == open(f"alone/{name}", "rb").read(), f"{name}: the same bytes")

    # Again: no job is sent. With a GPU: the jobs request it (there is none, so that they fail with a message).
    before = len(os.listdir(".snakemake/slurm"))
    snakemake("out").wait()
    check(len(os.listdir(".snakemake/slurm")) == before, "finished jobs are not repeated")
    job = snakemake("gpu", "--retries", "0", settings=("gpu=1", "subjects=sub-01"))
    asked = ""
    while job.poll() is None:
        asked += ask("squeue", "-h", "-o", "%j %b")
        time.sleep(.1)
    check("hotfiber-learn gres:gpu:1" in asked or "hotfiber-learn gres/gpu:1" in asked, f"GPUs are requested: {asked}")
finally:
    for process in running[::-1]:
        process.terminate()
        process.wait(20)
    shutil.rmtree(here, ignore_errors=True)
end()
