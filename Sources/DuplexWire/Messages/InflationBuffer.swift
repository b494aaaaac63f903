// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The memory that a message is inflated into, from one message to the next.
///
/// The connections of a loop share it where messages are only lent to who receives them. Without it each message would take
/// memory and give it back between the windows of the connections, which stay, and a third as much as the windows would lie
/// between them unused. Not safe to use from several threads.
public final class InflationBuffer {
    private var spare: [UInt8] = []

    /// The most memory that is kept.
    static let bound = 64 * 1_024

    /// Makes one without memory.
    public init() {}

    /// What is there, empty; it is gone from here then.
    func take() -> [UInt8] {
        let taken = spare
        spare = []
        return taken
    }

    /// Keeps the memory of a message that nobody needs any more, unless it is too much or there is some already.
    public func giveBack(_ message: consuming [UInt8]) {
        guard message.capacity <= Self.bound, message.capacity > spare.capacity else { return }
        message.removeAll(keepingCapacity: true)
        spare = message
    }
}
