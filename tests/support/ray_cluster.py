"""A real Ray cluster on this machine, of nodes that share no temporary folder, in a process of its own.

with RayNodes(folder, 3) as cluster:
    ...  # cluster.address
    cluster.kill(2)
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Self

import commands


class RayNodes:
    """Nodes of one CPU each, the first of which is the head; from ``with`` to its end."""

    def __init__(self, folder: Path, nodes: int) -> None:
        # of sockets the names may be 107 bytes long
        self._short = tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True)
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(folder), str(nodes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=commands.environment() | {"RAY_USAGE_STATS_ENABLED": "0", "RAY_TMPDIR": self._short.name},
            text=True,
        )
        self.address = self._answer()

    def kill(self, node: int) -> None:
        """Kill a node, with all that runs there."""
        self._say(f"kill {node}")
        assert self._answer() == "killed"

    def _say(self, line: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def _answer(self) -> str:
        assert self._process.stdout
        for line in self._process.stdout:
            if line.startswith("> "):
                return line[2:].strip()
        raise AssertionError("the cluster has ended")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._short, self._process:
            self._say("end")


def main(folder: Path, count: int) -> None:
    """Serve a cluster until told to end."""
    from ray.cluster_utils import Cluster

    cluster = Cluster()
    nodes = []
    for number in range(count):
        os.environ["TMPDIR"] = str(folder / f"node-{number}")
        Path(os.environ["TMPDIR"]).mkdir(parents=True)
        nodes.append(cluster.add_node(num_cpus=1, include_dashboard=False))
    cluster.wait_for_nodes()
    print(f"> {cluster.address}", flush=True)  # noqa: T201 - it is what is said to who started this
    for line in sys.stdin:
        said, _, number = line.partition(" ")
        if said != "kill":
            break
        cluster.remove_node(nodes[int(number)], allow_graceful=False)
        print("> killed", flush=True)  # noqa: T201
    cluster.shutdown()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
