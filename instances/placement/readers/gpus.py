"""GPUs by device: what nodes have and pods ask for, in the words of NVIDIA, AMD, KAI, Alibaba and HAMi.

Where a share does not translate exactly it is rounded down, or left out, and that is said: a bound stays one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from schedgap.instances.placement.model import MAX_GPUS, ONE
from schedgap.instances.provisioning.readers.kubernetes.objects import Annotations
from schedgap.instances.provisioning.readers.quantities import THOUSAND, decimal

NVIDIA = "nvidia.com/gpu"
VENDORS = (NVIDIA, "amd.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe", "habana.ai/gaudi")
ALIYUN, ALIYUN_COUNT = "aliyun.com/gpu-mem", "aliyun.com/gpu-count"
ALIBABA, ALIBABA_COUNT = "alibabacloud.com/gpu-milli", "alibabacloud.com/gpu-count"
HAMI_PERCENT, HAMI_MEMORY, HAMI_CORES = "nvidia.com/gpumem-percentage", "nvidia.com/gpumem", "nvidia.com/gpucores"
SHARING = (ALIYUN, ALIYUN_COUNT, ALIBABA, ALIBABA_COUNT, HAMI_PERCENT, HAMI_MEMORY, HAMI_CORES)
KAI_GROUP = "runai-gpu-group"
MODEL_LABELS = (
    *("nvidia.com/gpu.product", "alibabacloud.com/gpu-card-model", "aliyun.accelerator/nvidia_name"),
    *("cloud.google.com/gke-accelerator", "gpu.nvidia.com/model", "k8s.amazonaws.com/accelerator"),
    *("amd.com/gpu.product-name", "accelerator", "gpu"),
)
MEMORY_LABEL = "nvidia.com/gpu.memory"
SEVERAL = "shares of several GPUs, which count as none"
ROUNDED = "shares of a GPU by its memory, rounded down to thousandths of the largest GPU"
UNKNOWN = "shares of a GPU whose memory is not known, which count as a thousandth"
CORES = "shares of a GPU's cores beside its memory"
NO_SHARE = "annotations on GPUs that are no share or number, which count as no GPU"


class Devices(NamedTuple):
    """GPUs of a node. kind : the resource that pods ask for. memory_mib : of one, 0 where it is not known. uuids : in order."""

    kind: str = ""
    number: int = 0
    model: str = ""
    memory_mib: int = 0
    uuids: tuple[str, ...] = ()


class Ask(NamedTuple):
    """What a pod takes of GPUs. kind : of the devices, empty for any. models : those that will do, empty for any."""

    kind: str = ""
    gpus: int = 0
    milli: int = 0
    models: tuple[str, ...] = ()


def devices_of_node(
    labels: Mapping[str, str], notes: Annotations | None, has: Mapping[str, int], kinds: Collection[str]
) -> Devices:
    """Return the GPUs of a node. has : fine units by resource. kinds : resources that count by device."""
    noted = notes.gpu_model if notes is not None else None
    model = noted or next((labels[key] for key in MODEL_LABELS if labels.get(key)), "")
    given = labels.get(MEMORY_LABEL, "")
    memory = int(given) if re.fullmatch(r"[0-9]{1,9}", given) else 0
    registered = _registered(notes.hami_register) if notes is not None and notes.hami_register else ()
    if registered and len(registered) <= MAX_GPUS:
        uuids, sizes = zip(*registered, strict=True)
        return Devices(NVIDIA, len(uuids), model or "nvidia", max(sizes) or memory, uuids)
    for kind, count_of in ((ALIYUN, ALIYUN_COUNT), (ALIBABA, ALIBABA_COUNT)):
        if 0 < (count := has.get(count_of, 0) // THOUSAND) <= MAX_GPUS:
            # Alibaba's `gpu-mem` counts in GiB, of all GPUs together.
            size = -(-has.get(ALIYUN, 0) // (THOUSAND * count)) if kind == ALIYUN else memory
            return Devices(kind, count, model or "gpu", size)
    kind = max(kinds, key=lambda kind: has.get(kind, 0), default="")
    count = has.get(kind, 0) // THOUSAND
    return Devices(kind, count, model or kind.partition(".")[0], memory) if count else Devices()


def _registered(text: str) -> tuple[tuple[str, int], ...]:
    """Return ID and MiB of each GPU of HAMi's register: JSON, or `id,splits,MiB,...:` one after the other."""
    try:
        found = msgspec.json.decode(text.encode(), type=list[dict[str, object]])
        return tuple((str(each.get("id", n)), _whole(str(each.get("devmem", 0)))) for n, each in enumerate(found))
    except msgspec.MsgspecError:
        rows = [row.split(",") for row in text.split(":")]
        return tuple((row[0], _whole(row[2])) for row in rows if len(row) > 3)


def _whole(text: str) -> int:
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else 0


def asked_of(
    request: Mapping[str, int], notes: Annotations | None, kinds: Collection[str], most_mib: Mapping[str, int]
) -> tuple[Ask, str | None]:
    """Return what a pod takes of GPUs, and what of it is relaxed.

    request : fine units by resource. most_mib : by kind of devices, the memory of the largest; `""` for all kinds.
    """
    models = tuple(notes.gpu_model.split("|")) if notes is not None and notes.gpu_model else ()
    if notes is not None and (notes.gpu_fraction or notes.gpu_memory or notes.gpu_milli):
        return _annotated(notes, most_mib, models)
    if memory := request.get(ALIYUN, 0) // THOUSAND:
        size = most_mib.get(ALIYUN, 0)
        milli, why = _of_memory(memory, size)
        return Ask(ALIYUN, 1, milli, models), why
    if milli := request.get(ALIBABA, 0) // THOUSAND:
        return _shared(ALIBABA, request.get(ALIBABA_COUNT, THOUSAND) // THOUSAND, milli, models)
    kind = max(kinds, key=lambda kind: request.get(kind, 0), default="")
    count = request.get(kind, 0) // THOUSAND
    if not count:
        return Ask(), None
    if share := request.get(HAMI_PERCENT, 0) // THOUSAND:
        ask, why = _shared(kind, count, 10 * min(share, 100), models)
    elif memory := request.get(HAMI_MEMORY, 0) // THOUSAND:
        milli, inexact = _of_memory(memory, most_mib.get(kind, 0))
        ask, why = _shared(kind, count, milli, models)
        why = why or inexact
    else:
        return Ask(kind, count, ONE, models), None
    return ask, why or (CORES if request.get(HAMI_CORES, 0) and ask.gpus else None)


def _annotated(notes: Annotations, most_mib: Mapping[str, int], models: tuple[str, ...]) -> tuple[Ask, str | None]:
    """Return what KAI's or Alibaba's annotations ask for; of KAI's a pod has one."""
    if notes.gpu_milli:
        return _shared("", _whole(notes.gpu_count or "1"), _whole(notes.gpu_milli), models)
    count = _whole(notes.fraction_devices or "1")
    if notes.gpu_fraction:
        share = decimal(notes.gpu_fraction)
        if share is None or not 0 < share <= 1:
            return Ask(), NO_SHARE
        ask, why = _shared(NVIDIA, count, max(1, int(share * ONE)), models)
        return ask, why or (ROUNDED if (share * ONE).denominator > 1 else None)
    milli, inexact = _of_memory(_whole(notes.gpu_memory or ""), most_mib.get(NVIDIA, 0))
    ask, why = _shared(NVIDIA, count, milli, models)
    return ask, why or inexact


def _shared(kind: str, count: int, milli: int, models: tuple[str, ...]) -> tuple[Ask, str | None]:
    if not 1 <= count <= MAX_GPUS or milli < 1:
        return Ask(), NO_SHARE
    if milli >= ONE:
        return Ask(kind, count, ONE, models), None
    return (Ask(kind, 1, milli, models), None) if count == 1 else (Ask(), SEVERAL)


def _of_memory(amount: int, size: int) -> tuple[int, str | None]:
    if not size or not amount:
        return 1, UNKNOWN
    return max(1, min(ONE, amount * ONE // size)), None if amount * ONE % size == 0 else ROUNDED


class Held(NamedTuple):
    """A pod that runs on a node, and its GPUs. numbers : as an annotation says. together : pods of one name share a GPU."""

    gpus: int
    milli: int
    numbers: tuple[int, ...] = ()
    together: str = ""


def numbers_of(notes: Annotations | None, uuids: Sequence[str]) -> tuple[int, ...]:
    """Return the numbers of a pod's GPUs, as an annotation says; empty where none does."""
    if notes is None:
        return ()
    if notes.hami_devices:
        named = [row.split(",")[0] for row in re.split("[:;]", notes.hami_devices) if "," in row]
        return tuple(uuids.index(name) for name in named) if named and set(named) <= set(uuids) else ()
    text = notes.gpu_index or notes.gpu_mem_index or ""
    return tuple(map(int, re.split("[-,]", text))) if re.fullmatch(r"[0-9]{1,3}([-,][0-9]{1,3})*", text) else ()


def assigned(pods: Sequence[Held], count: int) -> tuple[list[int], int, int]:
    """Return the GPUs of each pod of a node as bits, how many GPUs the node needs, and of how many pods they are a guess.

    What annotations say goes first, where it fits; then the largest first, each where the least is left that is enough.
    """
    left, bits = [ONE] * count, [0] * len(pods)
    guessed = 0
    units: dict[object, list[int]] = {}
    for p, pod in enumerate(pods):
        numbers = pod.numbers
        if len(set(numbers)) == pod.gpus > 0 and all(g < count and left[g] >= pod.milli for g in numbers):
            bits[p] = sum(1 << g for g in numbers)
            for g in numbers:
                left[g] -= pod.milli
        elif pod.gpus:
            units.setdefault(pod.together or p, []).append(p)
    rows = []
    for members in units.values():
        whole = sum(pods[p].milli for p in members)
        rows += [members] if whole <= ONE or len(members) == 1 else [[p] for p in members]
    for members in sorted(rows, key=lambda m: (-pods[m[0]].gpus, -sum(pods[p].milli for p in m))):
        need, number = sum(pods[p].milli for p in members), pods[members[0]].gpus
        able = sorted((left[g], g) for g in range(len(left)) if left[g] >= need)[:number]
        while len(able) < number:
            # Nobody is evicted: a node has as many as its pods hold.
            able.append((ONE, len(left)))
            left.append(ONE)
        # Which of them a pod of whole GPUs has makes no difference.
        guessed += len(members) if need < ONE else 0
        for p in members:
            bits[p] = sum(1 << g for _, g in able)
        for _, g in able:
            left[g] -= need
    return bits, len(left), guessed


def kinds_of(nodes: Iterable[Mapping[str, int]]) -> tuple[str, ...]:
    """Return the resources that are GPUs by device: those of vendors, unless a node has too many, or two kinds.

    Nodes that have many share each in time: these count as a plain resource.
    """
    most, nodes_of, two = Counter[str](), Counter[str](), False
    for has in nodes:
        found = [kind for kind in VENDORS if has.get(kind, 0) >= THOUSAND]
        two |= len(found) > 1
        for kind in found:
            most[kind] = max(most[kind], has[kind] // THOUSAND)
            nodes_of[kind] += 1
    kinds = [kind for kind, _ in nodes_of.most_common() if most[kind] <= MAX_GPUS]
    return tuple(kinds[:1] if two else kinds)
