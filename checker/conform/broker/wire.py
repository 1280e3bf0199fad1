# SPDX-License-Identifier: Apache-2.0
"""Kafka's protocol over a socket: one request at a time, written and read by ``kio``, whose types are made from Kafka's schemas."""

from __future__ import annotations

import dataclasses
import io
import select
import socket
import struct
import time
import types
import typing
from collections.abc import Mapping
from datetime import timedelta
from functools import cache
from typing import Any

from attrs import define, field
from kio.index import load_request_schema, load_response_schema
from kio.schema.response_header.v0.header import ResponseHeader as OldHeader
from kio.schema.response_header.v1.header import ResponseHeader
from kio.serial import entity_reader, entity_writer

from .asking import TIMEOUT, BrokenError

MOST_BYTES = 1 << 21
"""An answer that says it is longer is not waited for: none that is asked for here has half of it, and read it takes much more memory."""
API_VERSIONS = 18


def build(cls: Any, values: dict[str, Any]) -> Any:
    """Return a message of kio's from plain data; what is not given has the default of Kafka's schema."""
    return cls(**{name: _value(kind, values[name]) for name, kind in _kinds(cls).items() if name in values})


@cache
def _kinds(cls: Any) -> dict[str, Any]:
    """Return the types of the fields of one of kio's messages."""
    hints = typing.get_type_hints(cls)
    return {one.name: hints[one.name] for one in dataclasses.fields(cls)}


def _value(kind: Any, value: Any) -> Any:
    arguments = typing.get_args(kind)
    if isinstance(kind, types.UnionType):
        return None if value is None else _value(next(one for one in arguments if one is not type(None)), value)
    if typing.get_origin(kind) is tuple:
        is_message, inner = dataclasses.is_dataclass(arguments[0]), arguments[0]
        return tuple(build(inner, one) if is_message else one for one in value)
    return timedelta(milliseconds=value) if "Timedelta" in getattr(kind, "__name__", "") else value


@define
class Connection:
    """A connection to one broker. ``versions`` are those that it says it knows, by API."""

    host: str
    port: int
    timeout: float = TIMEOUT
    versions: dict[int, tuple[int, int]] = field(factory=dict)
    most: Mapping[int, int] = field(factory=dict)
    """The highest versions that are spoken with a broker that says more than it knows, by API."""
    unasked: Mapping[int, str] = field(factory=dict)
    """APIs that are not asked, with the reasons."""
    _socket: socket.socket | None = None
    _number: int = 0

    def open(self) -> None:
        """Connect, and ask which versions are known."""
        self.close()
        try:
            self._socket = socket.create_connection((self.host, self.port), self.timeout)
        except OSError as error:
            raise BrokenError(f"{self.host}:{self.port} cannot be reached: {error.strerror or error}") from None
        try:
            answer = self.call(API_VERSIONS, 0, {})
        except BrokenError:
            self.close()
            raise
        self.versions = {one.api_key: (one.min_version, one.max_version) for one in answer.api_keys}

    def close(self) -> None:
        """Close the connection."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def version(self, api: int, lowest: int, highest: int) -> int | None:
        """Return the highest version that both know, ``None`` if there is none."""
        known = self.versions.get(api)
        both = None if known is None else min(known[1], highest, self.most.get(api, highest))
        return None if known is None or both is None or both < max(known[0], lowest) else both

    def call(self, api: int, version: int, values: dict[str, Any], *, is_answered: bool = True) -> Any:
        """Send a request, and return the answer; ``None`` where none is to come."""
        self._number += 1
        request: Any = load_request_schema(api, version)
        self._send(request, build(request, values))
        return self.receive(api, version) if is_answered else None

    def is_answered(self, seconds: float) -> bool:
        """Whether something comes for so long."""
        return self._socket is not None and bool(select.select([self._socket], [], [], seconds)[0])

    def _send(self, cls: Any, request: Any) -> None:
        content = io.BytesIO()
        header = cls.__header_schema__
        said = {"request_api_key": cls.__api_key__, "request_api_version": cls.__version__, "correlation_id": self._number}
        entity_writer(header)(content, header(**said, client_id="hwmark"))
        entity_writer(cls)(content, request)
        written = content.getvalue()
        if self._socket is None:
            raise BrokenError("the connection is closed")
        try:
            self._socket.settimeout(self.timeout)
            self._socket.sendall(struct.pack(">i", len(written)) + written)
        except OSError as error:
            raise BrokenError(f"the connection broke: {error.strerror or error}") from None

    def receive(self, api: int, version: int) -> Any:
        """Return the answer to the last request."""
        last = time.monotonic() + self.timeout
        (size,) = struct.unpack(">i", self._read(4, last))
        if not 4 <= size <= MOST_BYTES:
            raise BrokenError(f"an answer says that it has {size} bytes")
        content = self._read(size, last)
        response = load_response_schema(api, version)
        header: Any = ResponseHeader if response.__header_schema__ is ResponseHeader else OldHeader
        try:
            head, at = entity_reader(header)(content, 0)
            answer, _ = entity_reader(response)(content, at)  # clients pass over bytes that are left, and so do we
        except Exception as error:  # noqa: BLE001 - whatever a reader says of bytes that are no answer
            raise BrokenError(f"an answer cannot be read: {type(error).__name__}") from None
        if head.correlation_id != self._number:
            raise BrokenError(f"an answer is to request {head.correlation_id}, not to {self._number}")
        return answer

    def _read(self, count: int, last: float) -> bytes:
        """Return so many bytes, if they are all there before a time: one by one they do not take longer."""
        parts = bytearray()
        while len(parts) < count:
            if self._socket is None:
                raise BrokenError("the connection is closed")
            try:
                self._socket.settimeout(max(last - time.monotonic(), 0.001))
                part = self._socket.recv(count - len(parts))
            except TimeoutError:
                raise BrokenError(f"no answer for {self.timeout:g} s") from None
            except OSError as error:
                raise BrokenError(f"the connection broke: {error.strerror or error}") from None
            if not part:
                raise BrokenError("the broker closed the connection")
            parts += part
        return bytes(parts)
