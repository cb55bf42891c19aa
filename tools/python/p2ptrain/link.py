"""One connection to p2pd's tensor.sock: JSON lines, and shared memory handed over with the first.

What the lines say is written in daemon/tensor_line.hpp. Every failure, of the daemon or of the
line, is a LinkError with a sentence; what to do about it is left to run.py.
"""

import array
import errno
import fcntl
import json
import mmap
import os
import select
import socket

import numpy as np

SLOW_SECONDS = 3.0
LINE_BYTES_MAX = 1 << 24  # offers name ranges; a daemon gone mad must not fill our memory


class LinkError(Exception):
    """The daemon is not there, went away, or refused."""


class Refused(LinkError):
    """The daemon is there and said no; asking again will not help."""


def default_socket():
    """Where p2pd listens: $P2PD_TENSOR_SOCKET, a user's own p2pd, the system's."""
    named = os.environ.get("P2PD_TENSOR_SOCKET")
    if named:
        return named
    own = os.path.join(os.environ.get("XDG_RUNTIME_DIR", "/nonexistent"), "p2pd", "tensor.sock")
    return own if os.path.exists(own) else "/run/p2pd/tensor.sock"


class SharedFloats:
    """Two areas of `count` float32 each, in a memfd that can neither shrink nor grow."""

    def __init__(self, count):
        size = 2 * 4 * count
        self.fd = os.memfd_create("p2ptrain", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.fd, size)
        fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        both = np.frombuffer(mmap.mmap(self.fd, size), dtype=np.float32)
        self.snapshot = both[:count]
        self.displacement = both[count:]

    def close(self):
        """The memory goes when the last array over it does."""
        os.close(self.fd)


class Link:
    """Asks and waits for the answer; one question at a time."""

    def __init__(self, path, timeout):
        self._input = b""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout)
        try:
            self._socket.connect(path)
        except OSError as error:
            self._socket.close()
            hint = {errno.EACCES: "; join the group: sudo usermod -aG p2pd $USER, log in again",
                    errno.ENOENT: "; is p2pd started? else name its socket in P2PD_TENSOR_SOCKET"}
            raise LinkError(f"p2pd does not answer on {path}: {error.strerror or error}"
                            f"{hint.get(error.errno, '')}") from error

    def ask(self, line, fd=None, on_slow=None):
        """The daemon's answer to `line`; `fd` travels with it. `on_slow` is called once when none
        has come for some seconds."""
        data = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        try:
            if fd is None:
                self._socket.sendall(data)
            else:
                rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))]
                sent = self._socket.sendmsg([data], rights)
                self._socket.sendall(data[sent:])
            answer = json.loads(self._read_line(on_slow))
        except (OSError, ValueError) as error:
            raise LinkError(f"p2pd went away: {error}") from error
        if not isinstance(answer, dict):
            raise LinkError("p2pd said something that is no answer")
        if not answer.get("ok"):
            told = answer.get("error", {})
            parts = [told.get("text", "refused"), told.get("why"), told.get("next")]
            raise Refused(": ".join(part for part in parts if part))
        return answer

    def close(self):
        self._socket.close()

    def _read_line(self, on_slow):
        while b"\n" not in self._input:
            if on_slow and not select.select([self._socket], [], [], SLOW_SECONDS)[0]:
                on_slow()
                on_slow = None
            more = self._socket.recv(65536)
            if not more or len(self._input) > LINE_BYTES_MAX:
                raise OSError("it closed the connection")
            self._input += more
        line, self._input = self._input.split(b"\n", 1)
        return line
