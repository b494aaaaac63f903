// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// ISA-L's deflate and inflate, whose states Swift can't look into: they have arrays that are too long for it.

#ifndef CDUPLEX_ISAL_H
#define CDUPLEX_ISAL_H

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// What inflates: `struct inflate_state`.
typedef struct cduplex_inflater *cduplex_inflater_ref;
// What deflates: `struct isal_zstream`, and behind it the memory of its level.
typedef struct cduplex_deflater *cduplex_deflater_ref;

// MARK: Inflating
//
// ISA-L inflates into a buffer in its state first, with the window in front. It is given no other room, so that all that
// comes out is there: output[0 ..< count]. What of it was given to whom asked is counted outside.

static inline struct inflate_state *cduplex_inflate_state(cduplex_inflater_ref ref) {
    return (struct inflate_state *)ref;
}

static inline cduplex_inflater_ref cduplex_inflater_new(void) {
    return (cduplex_inflater_ref)calloc(1, sizeof(struct inflate_state));
}

static inline void cduplex_inflater_free(cduplex_inflater_ref ref) { free(ref); }

static inline const uint8_t *cduplex_inflater_output(cduplex_inflater_ref ref) {
    return cduplex_inflate_state(ref)->tmp_out_buffer;
}

static inline size_t cduplex_inflater_count(cduplex_inflater_ref ref) {
    return (size_t)cduplex_inflate_state(ref)->tmp_out_valid;
}

// Where ISA-L stops when its buffer is full.
static inline size_t cduplex_inflater_room(void) { return 2 * ISAL_DEF_HIST_SIZE; }

// Begins a stream with nothing but these bytes in the buffer; more than it has room for are left out.
static inline void cduplex_inflater_begin(cduplex_inflater_ref ref, const uint8_t *bytes, size_t count) {
    struct inflate_state *state = cduplex_inflate_state(ref);
    isal_inflate_init(state);
    if (count > 2 * ISAL_DEF_HIST_SIZE + ISAL_LOOK_AHEAD) count = 0;
    if (count > 0) memcpy(state->tmp_out_buffer, bytes, count);
    state->tmp_out_valid = (int32_t)count;
}

// Leaves so many of the last bytes in the buffer.
static inline void cduplex_inflater_slide(cduplex_inflater_ref ref, size_t kept) {
    struct inflate_state *state = cduplex_inflate_state(ref);
    if (kept >= (size_t)state->tmp_out_valid) return;
    memmove(state->tmp_out_buffer, state->tmp_out_buffer + state->tmp_out_valid - kept, kept);
    state->tmp_out_valid = (int32_t)kept;
}

// Inflates what there is room for. Returns what ISA-L says, negative for what is corrupt; `*left` is what it didn't take.
static inline int cduplex_inflater_run(cduplex_inflater_ref ref, const uint8_t *input, size_t count, size_t *left) {
    struct inflate_state *state = cduplex_inflate_state(ref);
    uint8_t none = 0;
    state->next_in = (uint8_t *)(input ? input : &none);
    state->avail_in = count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
    size_t taken = state->avail_in;
    state->next_out = &none;
    state->avail_out = 0;
    // None of it counts as given, so that ISA-L leaves it where it is.
    state->tmp_out_processed = 0;
    int result = isal_inflate(state);
    *left = count - taken + state->avail_in;
    state->next_in = NULL;
    state->avail_in = 0;
    state->next_out = NULL;
    return result;
}

// Whether a block that says to be the last one has ended.
static inline int cduplex_inflater_has_ended(cduplex_inflater_ref ref) {
    enum isal_block_state state = cduplex_inflate_state(ref)->block_state;
    return state == ISAL_BLOCK_INPUT_DONE || state == ISAL_BLOCK_FINISH;
}

// The bits that were taken from the input, and aren't inflated yet.
static inline int cduplex_inflater_bits(cduplex_inflater_ref ref) {
    return cduplex_inflate_state(ref)->read_in_length;
}

// Whether it stands where a block may begin, and has nothing of its header.
static inline int cduplex_inflater_is_between_blocks(cduplex_inflater_ref ref) {
    struct inflate_state *state = cduplex_inflate_state(ref);
    int begins = state->block_state == ISAL_BLOCK_NEW_HDR || state->block_state == ISAL_BLOCK_HDR;
    // Three bits are a header's beginning (RFC 1951 section 3.2.3).
    return begins && state->tmp_in_size == 0 && state->read_in_length < 3;
}

// Begins another stream at the next whole byte of the input, with the buffer as it is.
static inline void cduplex_inflater_begin_again(cduplex_inflater_ref ref) {
    struct inflate_state *state = cduplex_inflate_state(ref);
    int odd = state->read_in_length % 8;
    state->read_in >>= odd;
    state->read_in_length -= odd;
    state->bfinal = 0;
    state->block_state = ISAL_BLOCK_NEW_HDR;
    state->tmp_in_size = 0;
}

// Takes a whole byte that was taken from the input, and isn't inflated; -1 if there is none.
static inline int cduplex_inflater_take_byte(cduplex_inflater_ref ref) {
    struct inflate_state *state = cduplex_inflate_state(ref);
    if (state->read_in_length < 8) return -1;
    int byte = (int)(state->read_in & 0xFF);
    state->read_in >>= 8;
    state->read_in_length -= 8;
    return byte;
}

// What of a state a stream can be continued with, besides the buffer: all before it, and the codes within a coded block.
enum {
    CDUPLEX_CODES = offsetof(struct inflate_state, lit_huff_code),
    CDUPLEX_REST = offsetof(struct inflate_state, block_state),
    CDUPLEX_BUFFER = offsetof(struct inflate_state, tmp_out_buffer),
};

// Saves it where there is room for CDUPLEX_BUFFER bytes. Returns how many they are.
static inline size_t cduplex_inflater_save(cduplex_inflater_ref ref, uint8_t *into) {
    const uint8_t *state = (const uint8_t *)ref;
    size_t size = CDUPLEX_CODES + CDUPLEX_BUFFER - CDUPLEX_REST;
    memcpy(into, state, CDUPLEX_CODES);
    memcpy(into + CDUPLEX_CODES, state + CDUPLEX_REST, CDUPLEX_BUFFER - CDUPLEX_REST);
    if (cduplex_inflate_state(ref)->block_state != ISAL_BLOCK_CODED) return size;
    memcpy(into + size, state + CDUPLEX_CODES, CDUPLEX_REST - CDUPLEX_CODES);
    return CDUPLEX_BUFFER;
}

// Makes a state what it was, but for the buffer, in which so much is.
static inline void cduplex_inflater_restore(cduplex_inflater_ref ref, const uint8_t *from, size_t size, size_t count) {
    uint8_t *state = (uint8_t *)ref;
    memcpy(state, from, CDUPLEX_CODES);
    memcpy(state + CDUPLEX_REST, from + CDUPLEX_CODES, CDUPLEX_BUFFER - CDUPLEX_REST);
    if (size == CDUPLEX_BUFFER)
        memcpy(state + CDUPLEX_CODES, from + CDUPLEX_CODES + CDUPLEX_BUFFER - CDUPLEX_REST, CDUPLEX_REST - CDUPLEX_CODES);
    cduplex_inflate_state(ref)->tmp_out_valid = (int32_t)count;
}

// MARK: Deflating

static inline struct isal_zstream *cduplex_deflate_state(cduplex_deflater_ref ref) {
    return (struct isal_zstream *)ref;
}

static inline size_t cduplex_level_size(int level) {
    switch (level) {
    case 0: return ISAL_DEF_LVL0_DEFAULT;
    case 1: return ISAL_DEF_LVL1_DEFAULT;
    case 2: return ISAL_DEF_LVL2_DEFAULT;
    default: return ISAL_DEF_LVL3_DEFAULT;
    }
}

// A deflater of a level from 0 to 3; NULL without memory.
static inline cduplex_deflater_ref cduplex_deflater_new(int level) {
    // Rounded up, so that what is behind it is aligned as it would be by itself.
    size_t size = (sizeof(struct isal_zstream) + 63) / 64 * 64;
    struct isal_zstream *stream = (struct isal_zstream *)calloc(1, size + cduplex_level_size(level));
    if (!stream) return NULL;
    isal_deflate_init(stream);
    stream->level = (uint32_t)level;
    stream->level_buf_size = (uint32_t)cduplex_level_size(level);
    stream->level_buf = level > 0 ? (uint8_t *)stream + size : NULL;
    return (cduplex_deflater_ref)stream;
}

static inline void cduplex_deflater_free(cduplex_deflater_ref ref) { free(ref); }

// Begins a stream that may refer to these bytes, and to nothing that is 2 to the power of `bits` or more bytes back. At level
// 0 the codes are those of the standard where the stream is short; else ISA-L's own.
static inline void cduplex_deflater_begin(
    cduplex_deflater_ref ref, int bits, int is_short, const uint8_t *window, size_t count
) {
    struct isal_zstream *stream = cduplex_deflate_state(ref);
    isal_deflate_reset(stream);
    stream->hist_bits = (uint16_t)bits;
    stream->end_of_stream = 0;
    isal_deflate_set_hufftables(stream, NULL, is_short ? IGZIP_HUFFTABLE_STATIC : IGZIP_HUFFTABLE_DEFAULT);
    if (count > 0) isal_deflate_set_dict(stream, (uint8_t *)window, (uint32_t)count);
}

// How a call of `cduplex_deflater_run` treats the end of its input.
enum { CDUPLEX_MORE_FOLLOWS, CDUPLEX_FLUSH, CDUPLEX_END };

// Deflates; `*left` is what wasn't taken of the input, `*room` what is left of the output. Returns whether all is done that
// was asked for: if not, there must be more room.
static inline int cduplex_deflater_run(
    cduplex_deflater_ref ref, const uint8_t *input, size_t *left, uint8_t *output, size_t *room, int what
) {
    struct isal_zstream *stream = cduplex_deflate_state(ref);
    uint8_t none = 0;
    uint32_t count = *left > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)*left;
    int isWhole = count == *left;
    uint32_t available = *room > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)*room;
    stream->next_in = (uint8_t *)(input ? input : &none);
    stream->avail_in = count;
    stream->next_out = output;
    stream->avail_out = available;
    stream->flush = isWhole && what == CDUPLEX_FLUSH ? SYNC_FLUSH : NO_FLUSH;
    stream->end_of_stream = isWhole && what == CDUPLEX_END;
    isal_deflate(stream);
    *left -= count - stream->avail_in;
    *room -= available - stream->avail_out;
    stream->next_in = NULL;
    stream->next_out = NULL;
    if (what == CDUPLEX_END) return stream->internal_state.state == ZSTATE_END;
    return *left == 0 && stream->avail_out > 0;
}

#endif
