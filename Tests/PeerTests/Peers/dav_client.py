# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""webdav4 takes the folder `tree` to a server, and gets it back as `back`.

    dav_client.py URL FOLDER
"""

import pathlib
import sys

from webdav4.client import Client

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "scripts" / "more" / "peers"))
from limits import limit

url, folder = sys.argv[1], pathlib.Path(sys.argv[2])
client = Client(url, timeout=limit(20))

for path in sorted((folder / "tree").rglob("*"), key=lambda path: len(path.parts)):
    name = path.relative_to(folder).as_posix()
    if path.is_dir():
        if not client.exists("tree"):
            client.mkdir("tree")
        client.mkdir(name)
    else:
        client.upload_file(path, name)
        assert client.content_length(name) == path.stat().st_size, name


def fetch(name):
    target = folder / "back" / pathlib.Path(name).relative_to("tree")
    if client.isdir(name):
        target.mkdir(parents=True, exist_ok=True)
        for entry in client.ls(name, detail=False):
            fetch(entry)
    else:
        client.download_file(name, target)


fetch("tree")
client.copy("tree", "copy")
client.move("copy", "moved")
assert len(client.ls("moved")) == len(client.ls("tree"))
client.remove("moved")
assert not client.exists("moved")
print("ok")
