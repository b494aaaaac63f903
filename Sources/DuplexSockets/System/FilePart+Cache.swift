// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

#if canImport(Glibc)
import CDuplexSystem
import Glibc
#else
import Darwin
#endif

// What of a file is in the system's cache, and how it gets there.

extension FilePart {
    /// How far it is between two bytes that are looked at where the kernel doesn't report all pages at once.
    private static let probeStep: UInt64 = 64 * 1_024
    /// How much is read at once into the cache.
    private static let pieceSize: UInt64 = 128 * 1_024

    /// Whether it can be read without waiting for the disk; no where that isn't known.
    ///
    /// Pages may leave the cache later, or be in it before they have come: of each answer the last byte is looked at, which
    /// comes last as a rule.
    package var isCached: Bool {
        guard count > 0 else { return true }
        let end = offset + count
        switch cachedPages {
        case .all: return [.cached, .unknown].contains(probe(end - 1))
        case .notAll: return false
        case .unknown:
            for place in stride(from: offset, to: end, by: UInt64.Stride(Self.probeStep)) where probe(place) != .cached
            {
                return false
            }
            return probe(end - 1) == .cached
        }
    }

    // MARK: What was seen

    /// For how long a part that was in the cache is taken to be there still.
    package static let cachedTime = Duration.seconds(1)
    /// How many bytes at the beginning of a file are remembered, less one.
    private static let beginning: UInt64 = (1 << 21) - 1

    /// Whether it was in the cache within the last second: what many ask for isn't looked for each time.
    ///
    /// Only of the first 2 MiB of an open file is anything remembered.
    ///
    /// - Parameter now: the time.
    /// - Returns: whether it was, as far as is known; ``isCached`` otherwise.
    package func isCached(now: Instant) -> Bool {
        let seen = file.cachedBeginning.load(ordering: .relaxed)
        let milliseconds = UInt64(clamping: now.nanoseconds / 1_000_000)
        if offset + count <= seen & Self.beginning && milliseconds < seen >> 21 { return true }
        guard isCached else { return false }
        if offset == 0 && count <= Self.beginning {
            let until = milliseconds + UInt64(Self.cachedTime.wholeNanoseconds / 1_000_000)
            // One value, so that nobody on another loop takes the length of one look for that of another.
            file.cachedBeginning.store(until << 21 | count, ordering: .relaxed)
        }
        return true
    }

    /// Reads it, so that it is in the system's cache; blocks for as long as the disk takes.
    ///
    /// What can't be read shows when it is sent.
    package func readAhead() {
        var rest = self
        var bytes: [UInt8] = []
        while rest.count > 0 {
            let piece = FileRange(rest.prefix(Self.pieceSize))
            bytes.removeAll(keepingCapacity: true)
            guard let count = try? piece.read(limit: Int(Self.pieceSize)).count else { return }
            rest = FilePart(file: file, offset: rest.offset + UInt64(count), count: rest.count - UInt64(count))
        }
    }

    /// Its beginning.
    package func prefix(_ limit: UInt64) -> FilePart {
        FilePart(file: file, offset: offset, count: min(count, limit))
    }

    private enum Pages {
        case all, notAll, unknown
    }

    private var cachedPages: Pages {
        #if os(Linux)
        let result = SystemCall.readCached.make(on: file.descriptor) {
            cduplex_is_in_cache(file.descriptor, offset, count)
        }
        if result < 0 { return errno == EAGAIN ? .notAll : .unknown }
        return result == 1 ? .all : .notAll
        #else
        return .unknown
        #endif
    }

    private enum Probe {
        case cached, notCached, unknown
    }

    /// Looks at one byte.
    private func probe(_ place: UInt64) -> Probe {
        var byte: UInt8 = 0
        let read = unsafe withUnsafeMutableBytes(of: &byte) { room in
            unsafe SystemCalls.readCached(file.descriptor, into: room.baseAddress, 1, at: place)
        }
        if read >= 0 { return .cached }
        return errno == EAGAIN || errno == EINTR ? .notCached : .unknown
    }
}
