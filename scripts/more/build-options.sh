# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
# shellcheck shell=bash
# shellcheck disable=SC2034 # Those that source this use it.
#
# How what the tests need is built for debug. At a desk files are compiled one by one, so that a change builds little anew. In a fresh
# clone nothing is built twice: .ci/run sets DUPLEX_WHOLE_MODULES=1, by which whole modules are compiled at once, each by one
# process that makes its interface as well. That takes a third less of the processor. LLVM's linker takes half of what GNU's does for
# each of a hundred programs.
build_options=()
# SwiftPM passes the package's traits in the order of a set. It plans anew whenever a variable of the environment has changed, and
# another order builds everything anew, for debug and for release. So it hashes the same each time, in scripts/run and scripts/bench
# as well, which set this for the build alone.
export SWIFT_DETERMINISTIC_HASHING=1
if [ -n "${DUPLEX_WHOLE_MODULES:-}" ]; then
    # Batches of files, which SwiftPM asks for, don't fit. Its index is how it finds tests.
    for option in -disable-batch-mode -whole-module-optimization -no-emit-module-separately-wmo -num-threads 2; do
        build_options+=(-Xswiftc "$option")
    done
    unset option
    if [ "$(uname -s)" = Linux ]; then build_options+=(-Xswiftc -use-ld=lld); fi
fi
