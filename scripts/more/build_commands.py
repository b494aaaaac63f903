# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""How a debug build has called the compiler."""

import json
import pathlib
import re

# They say where modules are, and have a value.
PLACES = ("-I", "-F", "-target", "-sdk", "-Xcc", "-swift-version", "-module-cache-path")


def places(build, target):
    """The compiler, and the options by which it found the modules that a target imports."""
    manifest = pathlib.Path(build) / "debug.yaml"
    if not manifest.exists():
        raise SystemExit(f"{manifest} isn't there: build the package first")
    command = re.search(rf'args: (\["[^"]*swiftc","-module-name","{target}",.*\])', manifest.read_text())
    if not command:
        raise SystemExit(f"{manifest} has no command that compiles {target}")
    arguments, kept = json.loads(command[1]), []
    for index, argument in enumerate(arguments):
        if argument in PLACES and arguments[index - 1] != "-Xcc":
            kept += arguments[index:index + 2]
    return arguments[0], kept
