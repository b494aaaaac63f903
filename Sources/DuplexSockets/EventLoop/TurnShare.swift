// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// How long one kind of work may keep a loop in one turn: what is left goes on in the next, behind what is ready by then.
///
/// The clock is read once in ``stride`` steps only, so that few steps cost nothing; as many are always done.
package struct TurnShare {
    /// How long the work may take.
    package static let length: Int64 = 5_000_000
    /// How many steps there are from one look at the clock to the next.
    package static let stride = 64

    private var end = Int64.max
    private var steps = 0

    package init() {}

    /// To be asked behind each step but the last.
    ///
    /// - Returns: whether the rest is for the next turn.
    @inline(__always)
    package mutating func isOver(_ core: LoopCore) -> Bool {
        steps &+= 1
        return steps & (Self.stride - 1) == 0 && hasPassed(core)
    }

    @inline(never)
    private mutating func hasPassed(_ core: LoopCore) -> Bool {
        let now = core.readClock().nanoseconds
        if end == .max { end = now + Self.length }
        return now >= end
    }
}
