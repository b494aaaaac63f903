// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWire
import Synchronization

/// How much memory the answers of an inspector may take that are being made or sent, all of them together.
///
/// Each part says before it begins how much its answer may take; where that isn't left, it is refused, and nothing is done.
final class AnswerBudget: Sendable {
    /// For all who look.
    static let limit = ByteCount.mebibytes(256)

    private let all: Int
    private let taken = Mutex(0)

    init(_ limit: ByteCount = AnswerBudget.limit) { all = limit.bytes }

    /// How many bytes are left.
    var left: Int { taken.withLock { all - $0 } }

    /// Takes a part of it, until the result is let go.
    ///
    /// - Parameter bytes: how much; more than there is counts as all of it.
    /// - Returns: the part.
    /// - Throws: `Problem` with 503 where it isn't left.
    func share(_ bytes: Int) throws(Problem) -> AnswerShare {
        let bytes = min(max(0, bytes), all)
        let isLeft = taken.withLock { taken in
            if taken + bytes > all { return false }
            taken += bytes
            return true
        }
        if !isLeft {
            throw Problem(.serviceUnavailable, "Too much is being looked at and exported at a time: try again.")
        }
        return AnswerShare(bytes, of: self)
    }

    /// Makes an answer within a share, which it holds until it has been sent.
    ///
    /// - Parameters:
    ///   - size: how much the making and the answer may take.
    ///   - body: makes it.
    /// - Returns: the response.
    /// - Throws: as ``share(_:)``; what the body throws.
    func holding(_ size: ByteCount, _ body: () async throws -> Response) async throws -> Response {
        let share = try share(size.bytes)
        var response = try await body()
        response.body = response.body.holding(share)
        return response
    }

    fileprivate func give(back bytes: Int) { taken.withLock { $0 -= bytes } }
}

/// A part of a budget, for as long as it is kept.
final class AnswerShare: Sendable {
    private let bytes: Int
    private let budget: AnswerBudget

    fileprivate init(_ bytes: Int, of budget: AnswerBudget) {
        self.bytes = bytes
        self.budget = budget
    }

    deinit { budget.give(back: bytes) }
}
