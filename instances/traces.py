"""Public traces: where they live, how to know that a copy is whole, and how to download one."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from schedgap.instances.errors import InstanceError, did_you_mean


@dataclass(frozen=True, slots=True)
class Trace:
    """A public trace file. `importer` names the import format that reads it; `sha256` is of the whole file."""

    name: str
    file_name: str
    base_url: str
    sha256: str
    family: str
    importer: str
    about: str


TRACES = {
    trace.name: trace
    for trace in (
        Trace(
            name="alibaba-gpu-v2023",
            file_name="openb_pod_list_default.csv",
            base_url="https://raw.githubusercontent.com/alibaba/clusterdata/master/cluster-trace-gpu-v2023/csv/",
            sha256="1ee7ed79c27a3b0861cda8ddba86a004c6aba904caafa329a76ae93ca63834a8",
            family="provisioning",
            importer="alibaba-gpu-v2023",
            about="8,152 pods of a production GPU cluster (Weng et al., ATC 2023); format openb makes jobs of them",
        ),
        Trace(
            name="alibaba-gpu-v2023-gpuspec33",
            file_name="openb_pod_list_gpuspec33.csv",
            base_url="https://raw.githubusercontent.com/alibaba/clusterdata/master/cluster-trace-gpu-v2023/csv/",
            sha256="eca4f746db1e5b25864ad021b55ece3943e101a3ebd4574d09dcb95c46117652",
            family="fairness",
            importer="openb-constraints",
            about="the same pods, a third of which ask for GPU models; needs alibaba-gpu-v2023-nodes beside it",
        ),
        Trace(
            name="alibaba-gpu-v2023-nodes",
            file_name="openb_node_list_all_node.csv",
            base_url="https://raw.githubusercontent.com/alibaba/clusterdata/master/cluster-trace-gpu-v2023/csv/",
            sha256="5a85c2af79c66a1efff8bbcbda430400aae56d8431370d738480967e1a9c6b15",
            family="fairness",
            importer="openb-constraints",
            about="the 1,523 nodes that alibaba-gpu-v2023-gpuspec33 ran on",
        ),
        Trace(
            name="hpc2n",
            file_name="HPC2N-2002-2.2-cln.swf.gz",
            base_url="https://www.cs.huji.ac.il/labs/parallel/workload/l_hpc2n/",
            sha256="3c534857d6065cfd9cc35aac8d064c9c17172be7acf336de835006f43a626e64",
            family="waiting",
            importer="swf",
            about="202,871 jobs of a Linux cluster of 240 processors, 2002 to 2006 (Parallel Workloads Archive)",
        ),
        Trace(
            name="ctc-sp2",
            file_name="CTC-SP2-1996-3.1-cln.swf.gz",
            base_url="https://www.cs.huji.ac.il/labs/parallel/workload/l_ctc_sp2/",
            sha256="9fa28ac16c4386fb81b72a91d8bd8888281df2948a9d912769d387c5ee285bb4",
            family="waiting",
            importer="swf",
            about="77,222 jobs of an IBM SP2 of 338 processors, 1996 to 1997 (Parallel Workloads Archive)",
        ),
    )
}


def fetch(name: str, folder: Path | str | None = None, *, base_url: str | None = None) -> Path:
    """Download a trace, check its SHA-256 and return the file's path; a good copy that is there is kept.

    folder : where to put it; by default the user's cache (`SCHEDGAP_CACHE` overrides).
    base_url : a mirror, in place of the trace's public home.

    Raises
    ------
    InstanceError
        for an unknown trace, a failed download, or a file whose checksum is another.
    """
    import pooch

    if name not in TRACES:
        raise InstanceError(f"there is no trace '{name}'; {did_you_mean(name, TRACES)}known are {', '.join(TRACES)}.")
    trace = TRACES[name]
    target = (
        Path(folder) if folder is not None else Path(os.environ.get("SCHEDGAP_CACHE") or pooch.os_cache("schedgap"))
    )
    url = (base_url or trace.base_url).rstrip("/") + "/" + trace.file_name
    try:
        path = pooch.retrieve(
            url,
            known_hash=f"sha256:{trace.sha256}",
            fname=trace.file_name,
            path=target,
            downloader=pooch.HTTPDownloader(progressbar=False, timeout=60),
        )
    except (FileExistsError, NotADirectoryError, PermissionError) as problem:
        raise InstanceError(f"{target}: cannot be written ({problem.strerror}); give another directory.") from None
    except OSError as problem:
        raise InstanceError(
            f"trace {name}: {url} could not be downloaded ({problem!s:.160}); check the network, or give --base-url."
        ) from None
    except ValueError as problem:
        raise InstanceError(
            f"trace {name}: {url} does not have the SHA-256 {trace.sha256[:12]}... expected; "
            f"nothing was kept. Try again, or give another --base-url ({str(problem).splitlines()[0]:.120})."
        ) from None
    return Path(path)
