// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// What the process uses.

#ifndef CDUPLEX_PROCESS_H
#define CDUPLEX_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/// getrusage(2) and getrlimit(2).
typedef struct {
    double user_seconds;
    double system_seconds;
    /// The most memory that it has had, in bytes.
    uint64_t peak_memory;
    /// How many descriptors it may have; 0 for no limit.
    uint64_t descriptor_limit;
} cduplex_usage;

bool cduplex_get_usage(cduplex_usage *usage);

/// mallinfo2(3), of glibc from 2.33 on.
typedef struct {
    /// Bytes that the process has from the allocator.
    uint64_t used;
    /// Bytes that the allocator keeps for the next time.
    uint64_t kept;
    /// Those of `used` that have mappings of their own.
    uint64_t mapped;
} cduplex_allocations;

/// Returns false where the C library doesn't tell.
bool cduplex_get_allocations(cduplex_allocations *allocations);

#endif
