// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// zlib, and as functions what it has as macros, which Swift can't see.

#ifndef CDUPLEX_ZLIB_H
#define CDUPLEX_ZLIB_H

// What zlib reads it doesn't change; without this its header says otherwise.
#define ZLIB_CONST
#include <zlib.h>

static inline int cduplex_inflate_init(z_stream *stream, int window_bits) {
    return inflateInit2(stream, window_bits);
}

static inline int cduplex_deflate_init(z_stream *stream, int level, int window_bits, int memory_level) {
    return deflateInit2(stream, level, Z_DEFLATED, window_bits, memory_level, Z_DEFAULT_STRATEGY);
}

#endif
