# SPDX-License-Identifier: Apache-2.0
"""The round robin assigner of ``kafkajs``, asked through Node.

kafkajs passes its assigner the topics that the group's leader subscribes to, so those are what it is asked about; the
leader is the first member that is listed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import IO, Any, cast

from hwmark.model.assignors.groups import Assignment, Group, TopicPartition

from .subjects import NotInstalledError, Subject

FOLDER = "HWMARK_NODE_FOLDER"
"""The environment variable that names a folder with ``node_modules/kafkajs``; without it, the current folder."""
SCRIPT = Path(__file__).with_name("kafkajs.js")
ANSWER_SECONDS = 20.0
END_SECONDS = 5.0
ERROR = re.compile(r"\w*Error\b.*: ")
"""How the line begins in which Node says what went wrong."""


class Kafkajs:
    """``kafkajs`` in a Node process of its own."""

    def __init__(self) -> None:
        """Start Node, if it and the package are there."""
        node, place = shutil.which("node"), Path(os.environ.get(FOLDER) or ".").resolve()
        package = place / "node_modules" / "kafkajs"
        if node is None:
            raise NotInstalledError("not installed: it needs node on the PATH")
        if not package.is_dir():
            raise NotInstalledError(f"not installed in {place}: npm install kafkajs there, or name another folder in {FOLDER}")
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the program
        self._process = subprocess.Popen(  # noqa: S603 - node of the PATH, our own script
            (node, str(SCRIPT), str(package)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._complaints, encoding="utf-8"
        )
        self._to, self._from = cast("IO[str]", self._process.stdin), cast("IO[str]", self._process.stdout)  # both are pipes
        self._said: SimpleQueue[str] = SimpleQueue()
        self._listener = Thread(target=self._listen, daemon=True)
        self._listener.start()
        try:
            self.version: str = self._heard()["version"]
        except RuntimeError as error:
            self.close()
            raise NotInstalledError(f"not usable: {error}") from None

    def subjects(self) -> tuple[Subject, ...]:
        """Return its only assignor."""
        return (Subject("kafkajs.roundrobin", "roundrobin", self._ask),)

    def close(self) -> None:
        """End the process."""
        with suppress(OSError):
            self._to.close()
        try:
            self._process.wait(timeout=END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._listener.join()
        self._complaints.close()

    def _ask(self, group: Group) -> Assignment:
        question = {
            "topics": {topic.name: topic.partitions for topic in group.topics},
            "subscribed": sorted(group.members[0].topics),
            "members": [{"id": member.id, "topics": sorted(member.topics)} for member in group.members],
        }
        self._to.write(f"{json.dumps(question)}\n")
        self._to.flush()
        answer = self._heard()
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return {member: tuple(TopicPartition(*one) for one in share) for member, share in answer["assignment"].items()}

    def _listen(self) -> None:
        with self._from as lines:
            for line in lines:
                self._said.put(line)
        self._said.put("")

    def _heard(self) -> dict[str, Any]:
        try:
            line = self._said.get(timeout=ANSWER_SECONDS)
        except Empty:
            self._process.kill()  # a late answer would be taken for that to the next question
            raise RuntimeError(f"node gave no answer within {ANSWER_SECONDS:g} s") from None
        if not line:
            self._said.put("")  # nor will there be another one
            self._complaints.seek(0)
            lines = self._complaints.read().decode(errors="replace").strip().splitlines()
            raise RuntimeError(f"node ended: {next((one for one in lines if ERROR.match(one)), 'it said nothing')}")
        heard: dict[str, Any] = json.loads(line)
        return heard
