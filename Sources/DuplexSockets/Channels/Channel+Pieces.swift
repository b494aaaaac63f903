// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// Several pieces that are written as one.

extension Channel {
    /// The time of its loop; see ``LoopCore/now``.
    package var now: Instant { core.now }

    /// Appends the lowest `size` bytes of `head`, which are no more than eight, and a copy of the bytes behind them to what is
    /// sent at the end of the turn: a short message and what stands in front of it, in one call.
    ///
    /// - Returns: whether it is sent, and what waits is not ``isAboveHighWaterMark``.
    package func write(_ head: UInt64, _ size: Int, then bytes: RawSpan) -> Bool {
        guard canWrite else {
            missOutput()
            return false
        }
        let buffer = takeOutput()
        buffer.append(head, size, then: bytes)
        let waiting = buffer.count
        output = consume buffer
        planFlush()
        if tls == nil && waiting <= highWaterMark && sentAtOnce <= Self.fairShare { return true }
        return !isAboveHighWaterMark
    }

    /// Pieces from this size on go out from where they lie; several smaller ones in a row are put together first.
    ///
    /// A place in a vectored call costs about as much as copying that many bytes.
    private static let smallPiece = 2 * 1_024

    /// Sends at once what waits and the pieces behind it, in as few calls as there may be, copying only small pieces and what
    /// the socket doesn't take.
    ///
    /// For pieces that are large together.
    func writeNow(_ pieces: [[UInt8]]) {
        guard canWrite else { return missOutput() }
        if isSecured {
            // Copied anyway, on the way into records.
            for piece in pieces {
                if piece.count < Self.smallPiece { write(piece.span.raw) } else { writeNow(piece.span.raw) }
            }
            return
        }
        for piece in pieces { sentAtOnce += piece.count }
        let buffer = takeOutput()
        guard !isFull else {
            for piece in pieces { buffer.append(piece.span.raw) }
            output = consume buffer
            return
        }
        let result = buffer.send(to: carrier, then: Self.gathered(pieces))
        output = consume buffer
        sentNow(result)
    }

    /// The same bytes in no more pieces, of which none is empty and no two small ones lie side by side.
    static func gathered(_ pieces: [[UInt8]]) -> [[UInt8]] {
        var gathered: [[UInt8]] = []
        gathered.reserveCapacity(pieces.count)
        var isSmallLast = false
        for piece in pieces where !piece.isEmpty {
            let isSmall = piece.count < smallPiece
            if isSmall && isSmallLast {
                gathered[gathered.count - 1] += piece
            } else {
                gathered.append(piece)
            }
            isSmallLast = isSmall
        }
        return gathered
    }
}
