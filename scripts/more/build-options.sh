# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
# shellcheck shell=bash
# shellcheck disable=SC2034 # Those that source this use it.
#
# How what the tests need is built for debug. At a desk files are compiled one by one, so that a change builds little anew. In a fresh
# clone nothing is built twice: .ci/run sets DUPLEX_WHOLE_MODULES=1, by which whole modules are compiled at once. That takes a sixth
# less of the processor.
build_options=()
if [ -n "${DUPLEX_WHOLE_MODULES:-}" ]; then
    # Batches of files, which SwiftPM asks for, don't fit. Its index is how it finds tests.
    for option in -disable-batch-mode -whole-module-optimization -num-threads 2; do build_options+=(-Xswiftc "$option"); done
    unset option
fi
