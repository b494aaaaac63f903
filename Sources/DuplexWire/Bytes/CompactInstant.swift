// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// An instant or none, in the room of an instant.
struct CompactInstant: Sendable {
    private var nanoseconds = Int64.max

    var instant: Instant? {
        get { nanoseconds == .max ? nil : Instant(nanoseconds: nanoseconds) }
        // The end of time is none, and nobody waits for it.
        set { nanoseconds = newValue?.nanoseconds ?? .max }
    }
}
