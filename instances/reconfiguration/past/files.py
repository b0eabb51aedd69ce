"""The files of looks at a cluster: the time of each, from its name, and their texts, inflated while others are read."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from gzip import BadGzipFile
from io import BytesIO
from pathlib import Path
from typing import TypeAlias

try:
    # The same in Intel's, which takes a third of the time.
    from isal import igzip as gzip
    from isal.isal_zlib import error as Damaged
except ImportError:
    import gzip
    from zlib import error as Damaged

from schedgap.instances.documents.openings import MOST_BYTES, read_given
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.kubernetes.objects import unix_s

# A date and a time of day with anything but a digit between them, or nothing; seconds and the zone may be missing.
NAMED = re.compile(
    r"(?<!\d)(20\d\d)[-_.]?(\d\d)[-_.]?(\d\d)[T_ ./-]?(\d\d)[-_:.h]?(\d\d)(?:[-_:.m]?(\d\d)(?:\.\d+)?s?)?(?!\d)"
    r"(?:(Z)|([+-])(\d\d):?(\d\d)(?!\d))?"
)
UNIX = re.compile(r"(?<!\d)(1\d{9})(?:\d{3})?(?!\d)")
INSIDE = re.compile(
    rb'"(?:creationTimestamp|startTime|lastHeartbeatTime|lastTransitionTime|finishedAt)": ?"([0-9TZ:-]{20})"'
)
GZIP, BOM = b"\x1f\x8b", b"\xef\xbb\xbf"
PART = 2**20
# So many looks are read ahead of the one at hand, by so many threads.
AHEAD, THREADS = 3, 2
# A time with its files, each with what its name says beside the time; and a file with its text, or why it has none.
Files: TypeAlias = tuple[int, list[tuple[Path, str]]]
Text: TypeAlias = tuple[Path, str, bytes | bytearray | InstanceError]
DAMAGED = (EOFError, BadGzipFile, Damaged)


def named_time(name: str) -> tuple[int | None, str, bool]:
    """Return the unix seconds that a file's name says, what else it says, and whether it names the zone, if it must.

    `2026-11-21T10-05Z`, `20261121T1005`, `1795255500`; None where it says none. Without a zone it is UTC.
    """
    for match in NAMED.finditer(name):
        year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
        try:
            moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
        except ValueError:
            continue
        zone, sign, hours, minutes = match.groups()[6:]
        ahead = timedelta(hours=int(hours or 0), minutes=int(minutes or 0)) * (-1 if sign == "-" else 1)
        rest = name[: match.start()] + name[match.end() :]
        return int((moment - ahead).timestamp()), rest, bool(zone or sign)
    found = UNIX.search(name)
    return (None, name, True) if found is None else (int(found[1]), name[: found.start()] + name[found.end() :], True)


def in_order(paths: Sequence[tuple[Path, str]]) -> tuple[list[Files], list[str], list[str]]:
    """Return the looks by time, with the files of each; files that cannot be read, and why; and sentences on the times.

    paths : files, and how each is called within what was given.

    Raises
    ------
    InstanceError
        for two looks of one time, and a time that nothing says.
    """
    looks: defaultdict[int, dict[str, Path]] = defaultdict(dict)
    zoneless, inside, bad = 0, 0, list[str]()
    for path, name in paths:
        moment, rest, is_zoned = named_time(name)
        if moment is None:
            try:
                moment = newest(text_of(path))
            except InstanceError as error:
                bad.append(f"{path.name} ({error})")
                continue
            if moment is None:
                raise InstanceError(
                    f"{path.name}: neither its name nor an object in it says a time; name it as 2026-11-21T10-05Z.json."
                )
            inside += 1
        zoneless += not is_zoned
        slot = rest.removesuffix(".gz")
        if slot in looks[moment]:
            stamp = datetime.fromtimestamp(moment, UTC).isoformat()
            raise InstanceError(
                f"{looks[moment][slot].name} and {path.name} are two looks of one time, {stamp}; leave one out."
            )
        looks[moment][slot] = path
    said = [f"The names of {zoneless} files say a time without a zone, which counts as UTC."] if zoneless else []
    said += [f"The names of {inside} files say no time, which is the newest that is in them."] if inside else []
    ordered = sorted((moment, [(path, slot) for slot, path in files.items()]) for moment, files in looks.items())
    return ordered, bad, said


def newest(text: bytes | bytearray) -> int | None:
    """Return the newest time that objects of a text say, None where they say none."""
    found = [unix_s(stamp.decode()) for stamp in set(INSIDE.findall(text))]
    return max((moment for moment in found if moment is not None), default=None)


def read_ahead(looks: Sequence[Files], spare: list[bytearray]) -> Iterator[tuple[int, list[Text]]]:
    """Yield the texts of the looks, or why one cannot be read; what is deflated is inflated meanwhile by other threads.

    spare : texts that are not needed any more, in whose place others may be put.
    """

    def texts(files: Sequence[tuple[Path, str]]) -> list[Text]:
        found: list[Text] = []
        for path, slot in files:
            try:
                found.append((path, slot, text_of(path, spare)))
            except InstanceError as error:
                found.append((path, slot, error))
        return found

    with ThreadPoolExecutor(THREADS) as pool:
        waiting: deque[tuple[int, Future[list[Text]]]] = deque()
        for now, files in looks:
            waiting.append((now, pool.submit(texts, files)))
            if len(waiting) > AHEAD:
                at, ready = waiting.popleft()
                yield at, ready.result()
        for at, ready in waiting:
            yield at, ready.result()


def text_of(path: Path, spare: list[bytearray] | None = None) -> bytes | bytearray:
    """Return the text of a file, inflated if need be, into the last of what is spare if there is any.

    Raises
    ------
    InstanceError
        saying why it cannot be read.
    """
    try:
        content = read_given(path)
        if not content.startswith(GZIP):
            return content.removeprefix(BOM)
        try:
            room = spare.pop() if spare else bytearray()
        except IndexError:
            room = bytearray()
        _inflate(content, room)
    except DAMAGED:
        raise InstanceError("its gzip stream is cut or damaged") from None
    except OSError as error:
        raise InstanceError(error.strerror or str(error)) from None
    if room.startswith(BOM):
        del room[: len(BOM)]
    return room


def _inflate(content: bytes, room: bytearray) -> None:
    """Replace what is in a room, in parts that the processor's cache holds: memory that is there already is not asked for."""
    size, part = 0, -1
    with gzip.GzipFile(fileobj=BytesIO(content)) as file:
        while part:
            if size == len(room):
                room += bytes(PART)
            with memoryview(room) as view:
                part = file.readinto(view[size : size + PART])
            size += part
            if size > MOST_BYTES:
                raise OSError(f"it inflates to more than {MOST_BYTES} bytes")
    del room[size:]
