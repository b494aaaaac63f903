// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// How many watch something that is looked at only while somebody does, and for a while behind the last, who may only have
/// loaded the page again.
struct LiveWatchers: Sendable {
    private(set) var count = 0
    /// Counts the times that watching began: a wait for its end is over when it has begun anew.
    private var turn = 0

    /// One more.
    mutating func enter() {
        count += 1
        turn += 1
    }

    /// One less.
    ///
    /// - Returns: of the last one what ``areGone(since:)`` takes once the while is over; `nil` of others.
    mutating func leave() -> Int? {
        count -= 1
        return count == 0 ? turn : nil
    }

    /// Whether nobody has come since the last one has left.
    func areGone(since turn: Int) -> Bool { count == 0 && self.turn == turn }
}

/// Something that is wanted for as long as this is kept.
final class LiveHold: Sendable {
    private let release: @Sendable () -> Void

    init(_ release: @escaping @Sendable () -> Void) {
        self.release = release
    }

    deinit { release() }
}
