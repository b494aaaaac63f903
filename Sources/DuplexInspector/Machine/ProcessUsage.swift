// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import CDuplexSystem

/// What the system counts of the process, on every system.
struct ProcessUsage: Sendable {
    /// Seconds of all processors.
    var user: Double
    var system: Double
    /// The most memory that it has had, in bytes.
    var peakMemory: Int
    /// How many descriptors it may have; `nil` for no limit.
    var descriptorLimit: Int?

    /// `nil` where the system doesn't report it.
    static var now: ProcessUsage? {
        var usage = cduplex_usage()
        guard unsafe cduplex_get_usage(&usage) else { return nil }
        return ProcessUsage(
            user: usage.user_seconds,
            system: usage.system_seconds,
            peakMemory: Int(clamping: usage.peak_memory),
            descriptorLimit: usage.descriptor_limit == 0 ? nil : Int(clamping: usage.descriptor_limit)
        )
    }
}

/// What the allocator of the C library reports; encoded as the page gets it.
struct Allocations: Codable, Hashable, Sendable {
    /// Bytes that the process has.
    var used: Int
    /// Bytes that are kept for the next time.
    var kept: Int
    /// Those of ``used`` that have mappings of their own.
    var mapped: Int

    /// `nil` where the C library doesn't report it: only glibc does.
    static var now: Allocations? {
        var told = cduplex_allocations()
        guard unsafe cduplex_get_allocations(&told) else { return nil }
        return Allocations(
            used: Int(clamping: told.used),
            kept: Int(clamping: told.kept),
            mapped: Int(clamping: told.mapped)
        )
    }
}
