# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Uploads files by tuspy, cut off at random places, until each is there, and compares what is there with what was sent.

    tus_client.py FOLDER CUTS URL                   the server is somebody else's
    tus_client.py FOLDER CUTS URL --server COMMAND  the command serves FOLDER, prints its port, and is killed now and then

Ends with a line that begins with "ok".
"""

import hashlib
import io
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

from requests.exceptions import RequestException
from tusclient import client
from tusclient.exceptions import TusCommunicationError, TusUploadFailed


class Line:
    """A way to the server that can be cut after so many bytes."""

    def __init__(self, port):
        self.port = port
        self.budget = None
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.own_port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(near,), daemon=True).start()

    def serve(self, near):
        try:
            far = socket.create_connection(("127.0.0.1", self.port))
        except OSError:
            near.close()
            return
        threading.Thread(target=self.carry, args=(far, near, False), daemon=True).start()
        self.carry(near, far, True)

    def carry(self, source, target, counts):
        try:
            while data := source.recv(65536):
                whole = len(data)
                if counts:
                    with self.lock:
                        if self.budget is not None:
                            data = data[: self.budget]
                            self.budget -= len(data)
                target.sendall(data)
                if len(data) < whole:
                    break
        except OSError:
            pass
        for end in (source, target):
            try:
                if random.random() < 0.5:
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()


class Server:
    """A server that is killed and started again."""

    def __init__(self, command):
        self.command = command
        self.process = None
        self.port = 0
        self.kills = 0
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.kills += 1
        self.start()


def upload(line, path, content, name, checks, rest, server):
    """Uploads one file; takes cuts from `rest`, and returns how many there were."""
    tus = client.TusClient(f"http://127.0.0.1:{line.own_port}{path}")
    url, cuts, late = None, 0, 0
    while True:
        is_cut = cuts < rest and random.random() < 0.9
        line.budget = random.randrange(0, len(content) + 600) if is_cut else None
        killer = None
        if is_cut and server and random.random() < 0.4:
            line.budget = None
            killer = threading.Timer(random.random() * 0.05, server.kill)
            killer.start()
        try:
            uploader = tus.uploader(
                file_stream=io.BytesIO(content),
                url=url,
                metadata={"name": name, "clash": "number"},
                chunk_size=random.choice([sys.maxsize, 100_000]),
                upload_checksum=checks,
            )
            if uploader.url is None:
                uploader.set_url(uploader.create_url())
            url = uploader.url
            uploader.upload()
            return cuts, url
        except (TusCommunicationError, TusUploadFailed, RequestException, OSError) as error:
            cuts += is_cut
            # The request that was cut may come to the server behind the question where to go on: then the answer is 409, and
            # clients ask again.
            is_late = not is_cut and getattr(error, "status_code", None) == 409
            late += is_late
            if not is_cut and not (is_late and late <= 3):
                raise SystemExit(f"failed without a cut: {error!r} {getattr(error, 'response_content', '')}")
        finally:
            if killer:
                killer.join()
                line.port = server.port


def main():
    folder, wanted, url = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    server = Server(sys.argv[5:]) if "--server" in sys.argv else None
    parts = urlsplit(url)
    line = Line(server.port if server else parts.port)
    seed = int(os.environ.get("DUPLEX_SEED", time.time_ns() % 1_000_000))
    random.seed(seed)
    cuts = files = filled = 0
    while cuts < wanted:
        content = random.randbytes(random.choice([0, 1, 1000, 300_000, 3_000_000]))
        name = f"tus/ä {files}.bin"
        more, _ = upload(line, parts.path, content, name, random.random() < 0.3, min(wanted - cuts, 20), server)
        there = (folder / name).read_bytes()
        if hashlib.sha256(there).digest() != hashlib.sha256(content).digest():
            raise SystemExit(f"seed {seed}: {name} has {len(there)} bytes, and {len(content)} were sent")
        cuts += more
        files += 1
        filled += len(content) > 0
    # A creation whose answer was lost is begun anew: it leaves an upload without bytes, and no second file but an empty one.
    found = sorted(path.name for path in (folder / "tus").iterdir() if path.stat().st_size)
    if len(found) != filled:
        raise SystemExit(f"seed {seed}: {len(found)} files for {filled} uploads: {found}")
    left = [path for path in (folder / ".duplex" / "uploads").iterdir() if "." not in path.name and path.stat().st_size]
    if left:
        raise SystemExit(f"seed {seed}: left behind: {left}")
    if server:
        server.process.kill()
    print(f"ok {files} files, {cuts} cuts, {server.kills if server else 0} kills, seed {seed}")


main()
