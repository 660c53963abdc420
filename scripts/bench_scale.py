"""Measure what several workers bring, what the driver takes of it, and whether memory stays flat.

    python scripts/bench_scale.py pairs --data DIR --tokenizer DIR --mb 400 --pairs 3
    python scripts/bench_scale.py ray --data DIR --tokenizer DIR --mb 400 --pairs 3
    python scripts/bench_scale.py memory --tokenizer DIR --workers 2

``pairs`` runs the command in turn with one worker and with several over the rows of a folder, again and again under
other ids, and compares CPU (user and system) and time: of all processes, and of the driver alone. ``ray`` starts a
cluster of this one machine, and compares the time of so many workers there with that of as many local ones.
``memory`` runs it over 1 and 8 times as many rows, small ones and large ones, and compares the most memory the driver
and any worker had resident. Each run is the whole command with the built-in summariser; nothing of the package is
imported. The processes are looked at through ``/proc``, so this needs Linux.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import median

DATA = Path(__file__).resolve().parents[1] / "data"
SHAPES = {"small": (25_000, 3_000), "large": (250, 300_000)}
"""Rows at first, and characters of each."""
TIMES = 8
MOST_GROWTH = 1.10
MOST_WORKER_MB = 450
MOST_DRIVER_SHARE = 0.03
LEAST_OF_LOCAL = 0.9
"""How fast workers on Ray are at least, where local ones are 1."""
_LOOK_EACH_S = 0.1
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Run:
    """Seconds of CPU of all processes and of the driver, seconds that passed, and peaks of memory in bytes."""

    cpu: float
    driver_cpu: float
    wall: float
    driver_peak: int
    worker_peak: int

    @property
    def driver_share(self) -> float:
        """What of all CPU the driver took."""
        return self.driver_cpu / self.cpu


def main() -> int:
    """Run what was asked for; return 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description="Measure runs by several workers.")
    parser.add_argument("what", choices=("pairs", "ray", "memory"))
    parser.add_argument("--data", type=Path, default=DATA, metavar="DIR", help="JSON lines that are repeated")
    parser.add_argument("--tokenizer", required=True, metavar="NAME_OR_DIR")
    parser.add_argument("--workers", type=int, default=2, metavar="N")
    parser.add_argument("--mb", type=int, default=400, help="input of each of the pairs")
    parser.add_argument("--pairs", type=int, default=3, metavar="N")
    parser.add_argument("--part-size", default=None, metavar="SIZE", help="default: that of the command")
    parser.add_argument("--command", choices=("compress", "plan"), default="compress")
    given = parser.parse_args()
    common = ["--tokenizer", given.tokenizer, "--quiet"]
    if given.part_size:
        common += ["--part-size", given.part_size]
    with tempfile.TemporaryDirectory(prefix="bench-scale-") as name:
        missed = list({"pairs": pairs, "ray": on_ray, "memory": memory}[given.what](Path(name), given, common))
    print(*(f"MISSED: {each}" for each in missed), sep="\n")
    return 1 if missed else 0


def pairs(folder: Path, given: argparse.Namespace, common: Sequence[str]) -> Iterator[str]:
    """Compare several workers with one; yield what is missed."""
    source = folder / "rows.jsonl"
    rows = write_repeated(source, given.data, given.mb * 10**6)
    print(f"{given.command}: {rows:,} rows, {source.stat().st_size / 1e6:.0f} MB, {given.workers} workers against 1")
    print(f"{'workers':>7} {'wall s':>8} {'CPU s':>8} {'driver s':>8} {'share':>6} {'driver MB':>9} {'worker MB':>9}")
    of: dict[int, list[Run]] = {1: [], given.workers: []}
    for _ in range(given.pairs):
        for workers, runs in of.items():
            command = [given.command, source, *common, "--num-workers", workers]
            if given.command == "compress":
                command += ["-o", folder / "out", "--overwrite"]
            runs.append(run := measure(command))
            print(
                f"{workers:>7} {run.wall:>8.1f} {run.cpu:>8.1f} {run.driver_cpu:>8.2f} {run.driver_share:>6.1%} "
                f"{run.driver_peak / 1e6:>9.0f} {run.worker_peak / 1e6:>9.0f}",
                flush=True,
            )
    alone, together = of[1], of[given.workers]
    faster = median(one.wall / other.wall for one, other in zip(alone, together, strict=True))
    dearer = median(other.cpu / one.cpu for one, other in zip(alone, together, strict=True))
    share = median(run.driver_share for run in together)
    print(f"wall: {faster:.2f} times as fast; CPU: {dearer:.2f} times; the driver: {share:.1%} of it")
    if share > MOST_DRIVER_SHARE:
        yield f"the driver takes {share:.1%}, more than {MOST_DRIVER_SHARE:.0%}"
    if (peak := max(run.worker_peak for run in together) / 1e6) > MOST_WORKER_MB:
        yield f"a worker takes {peak:.0f} MB, more than {MOST_WORKER_MB}"


def on_ray(folder: Path, given: argparse.Namespace, common: Sequence[str]) -> Iterator[str]:
    """Compare workers on a Ray cluster of this machine with local ones; yield what is missed."""
    source = folder / "rows.jsonl"
    rows = write_repeated(source, given.data, given.mb * 10**6)
    print(f"{rows:,} rows, {source.stat().st_size / 1e6:.0f} MB, {given.workers} workers, on Ray and local")
    command = ["compress", source, *common, "--num-workers", given.workers, "-o", folder / "out", "--overwrite"]
    of = []
    with ray_cluster(given.workers, folder / "ray") as address:
        for _ in range(given.pairs):
            there = measure([*command, "--engine", "ray", "--ray-address", address]).wall
            here = measure([*command, "--engine", "local"]).wall
            of.append(here / there)
            print(f"Ray {there:.1f} s, local {here:.1f} s: {of[-1]:.2f} times as fast", flush=True)
    if (share := median(of)) < LEAST_OF_LOCAL:
        yield f"workers on Ray are {share:.2f} times as fast as local ones, less than {LEAST_OF_LOCAL}"


@contextmanager
def ray_cluster(cpus: int, folder: Path) -> Iterator[str]:
    """Start a Ray cluster of this machine alone; yield its address."""
    ray = [sys.executable, "-m", "ray.scripts.scripts"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    start = ["start", "--head", f"--num-cpus={cpus}", f"--port={port}", f"--temp-dir={folder}"]
    subprocess.run(
        [*ray, *start, "--include-dashboard=false", "--disable-usage-stats"], check=True, capture_output=True
    )
    try:
        yield f"127.0.0.1:{port}"
    finally:
        subprocess.run([*ray, "stop", "--force"], check=False, capture_output=True)


def memory(folder: Path, given: argparse.Namespace, common: Sequence[str]) -> Iterator[str]:
    """Compare runs over few rows with runs over many; yield what is missed."""
    print(f"{'rows':>8} {'of chars':>8} {'MB':>5} {'wall s':>8} {'driver MB':>9} {'worker MB':>9}")
    for rows, chars in SHAPES.values():
        peaks = []
        for times in (1, TIMES):
            source = folder / "rows.jsonl"
            write_sized(source, given.data, rows * times, chars)
            command = ["compress", source, *common, "-o", folder / "out", "--overwrite"]
            run = measure([*command, "--num-workers", given.workers])
            print(
                f"{rows * times:>8,} {chars:>8,} {source.stat().st_size / 1e6:>5.0f} {run.wall:>8.1f} "
                f"{run.driver_peak / 1e6:>9.0f} {run.worker_peak / 1e6:>9.0f}",
                flush=True,
            )
            peaks.append(run)
        few, many = peaks
        for who, before, after in (
            ("the driver", few.driver_peak, many.driver_peak),
            ("a worker", few.worker_peak, many.worker_peak),
        ):
            if after > MOST_GROWTH * before:
                yield f"{who} takes {after / before:.2f} times the memory for {TIMES} times the rows of {chars:,}"


def repeated(data: Path) -> Iterator[dict[str, object]]:
    """Yield the rows of all files of JSON lines of a folder over and over, under other ids."""
    for number in count():
        for path in sorted(data.glob("*.jsonl*")):
            with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
                for place, line in enumerate(lines):
                    yield json.loads(line) | {"id": f"{path.stem}-{place}-{number}"}


def write_repeated(path: Path, data: Path, size: int) -> int:
    """Write rows until there are so many bytes; return how many."""
    written = 0
    with path.open("w") as file:
        for rows, row in enumerate(repeated(data)):
            if written >= size:
                return rows
            written += file.write(json.dumps(row, ensure_ascii=False) + "\n")
    raise AssertionError("rows never end")


def write_sized(path: Path, data: Path, rows: int, chars: int) -> None:
    """Write so many rows of about so many characters: turns of the rows of a folder, one after the other."""
    turns = (
        (str(turn["role"]), str(turn["content"]))
        for row in repeated(data)
        if isinstance(found := row.get("messages"), list)
        for turn in found
        if turn.get("content") and turn.get("role") in {"user", "assistant"}
    )
    with path.open("w") as file:
        for number in range(rows):
            messages: list[dict[str, str]] = [{"role": "user", "content": f"Task {number}: go on."}]
            left = chars
            while left > 0:
                role = "assistant" if messages[-1]["role"] == "user" else "user"
                text = next(turns)[1][: max(left, 100)]
                messages.append({"role": role, "content": text})
                left -= len(text)
            file.write(json.dumps({"id": f"row-{number}", "messages": messages}, ensure_ascii=False) + "\n")


def measure(command: Sequence[object]) -> Run:
    """Run the command to its end, and look at its processes meanwhile.

    Raises:
        SystemExit: it failed; its words are those of the exception.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env = kept | {"HF_HUB_OFFLINE": "1", "PYTHONHASHSEED": "0"}
    words = [sys.executable, "-m", "trajcompress", *map(str, command)]
    began = time.monotonic()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL, stderr=errors)
        driver_cpu, peaks = 0.0, {process.pid: 0}
        while (ended := os.wait4(process.pid, os.WNOHANG))[0] == 0:
            driver_cpu = max(driver_cpu, _own_cpu(process.pid))
            for pid in (process.pid, *_children(process.pid)):
                peaks[pid] = max(peaks.get(pid, 0), _peak(pid))
            time.sleep(_LOOK_EACH_S)
        wall = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(ended[1])
        if process.returncode not in {0, 1}:
            errors.seek(0)
            raise SystemExit(f"{' '.join(words)}\nended with {process.returncode}: {errors.read().decode()}")
    usage = ended[2]
    driver_peak = peaks.pop(process.pid)
    return Run(usage.ru_utime + usage.ru_stime, driver_cpu, wall, driver_peak, max(peaks.values(), default=0))


def _own_cpu(pid: int) -> float:
    """Return the seconds of CPU of a process without its children, 0 where it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _children(pid: int) -> list[int]:
    try:
        return [
            int(child)
            for task in Path(f"/proc/{pid}/task").iterdir()
            for child in (task / "children").read_text().split()
        ]
    except OSError:
        return []


def _peak(pid: int) -> int:
    """Return the most memory that a process had resident, in bytes, 0 where it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), 0)


if __name__ == "__main__":
    sys.exit(main())
