// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import Synchronization

/// Numbers for what values are, by which a page tells that one has changed.
///
/// A number is given once: it says nothing about a value, not even that it is what it was before. A hash of the value would: whoever
/// may set one to a guess could compare it with that of a secret.
final class ValueVersions: Sendable {
    private struct Key: Hashable {
        let group: String
        let name: String
    }

    private struct Seen {
        let digest: Int
        let number: UInt64
    }

    private struct State {
        var last: UInt64 = 0
        var seen: [Key: Seen] = [:]
    }

    /// Beyond these all get new numbers.
    private static let bound = 100_000

    /// Numbers of an earlier process are none of this one's.
    private let prefix = String(RandomText.hexadecimal().prefix(12))
    private let state = Mutex(State())

    /// The version of a value that is this now: the same as long as that is what it has been.
    func version(of value: String, in group: String, _ name: String) -> String {
        let (key, digest) = (Key(group: group, name: name), Self.digest(value))
        let number = state.withLock { state -> UInt64 in
            if let seen = state.seen[key], seen.digest == digest { return seen.number }
            if state.seen.count >= Self.bound { state.seen = [:] }
            state.last += 1
            state.seen[key] = Seen(digest: digest, number: state.last)
            return state.last
        }
        return "\(prefix)-\(number)"
    }

    /// With a secret of this process.
    private static func digest(_ value: String) -> Int {
        var hasher = Hasher()
        hasher.combine(value)
        return hasher.finalize()
    }
}
