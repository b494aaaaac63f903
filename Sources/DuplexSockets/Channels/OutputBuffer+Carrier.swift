// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// From the buffer to what moves bytes.

extension OutputBuffer {
    /// Sends what waits, as far as the socket takes it.
    ///
    /// - Parameters:
    ///   - carrier: what sends it.
    ///   - isMoreComing: whether something is sent right behind it, with which it may go in one segment.
    /// - Returns: what the call gave.
    func send(to carrier: Carrier, isMoreComing: Bool = false) -> TransferResult {
        let result = unsafe withWaiting { unsafe carrier.send($0, isMoreComing: isMoreComing) }
        if case .transferred(let count) = result { drop(count) }
        return result
    }

    /// Sends what waits and `bytes` behind it in one call, and keeps of `bytes` what the socket didn't take.
    func send(to carrier: Carrier, then bytes: RawSpan) -> TransferResult {
        let result = unsafe bytes.withUnsafeBytes { tail -> TransferResult in
            if count == 0 { return unsafe carrier.send(tail) }
            return unsafe withWaiting { unsafe carrier.send($0, tail) }
        }
        switch result {
        case .transferred(let sent):
            let ofTail = max(0, sent - count)
            drop(sent - ofTail)
            append(bytes.extracting(droppingFirst: ofTail))
        case .wouldBlock: append(bytes)
        case .failed: break
        }
        return result
    }

    /// Sends what waits and the pieces behind it, in one call or in one for each ``SystemCalls/pieceLimit`` of them, and keeps
    /// what the socket didn't take.
    ///
    /// - Parameters:
    ///   - carrier: what sends them.
    ///   - pieces: none of which is empty.
    /// - Returns: what the last call gave.
    func send(to carrier: Carrier, then pieces: [[UInt8]]) -> TransferResult {
        var rest = pieces[...]
        var result = TransferResult.transferred(0)
        while !rest.isEmpty {
            let batch = rest.prefix(SystemCalls.pieceLimit - (count > 0 ? 1 : 0))
            let whole = batch.reduce(count) { $0 + $1.count }
            var places: [UnsafeRawBufferPointer] = unsafe []
            unsafe places.reserveCapacity(batch.count + 1)
            // Nothing moves what waits before it is sent.
            if count > 0 { unsafe withWaiting { unsafe places.append($0) } }
            result = unsafe Self.send(to: carrier, batch, behind: &places)
            guard case .transferred(let sent) = result else { break }
            let ofBatch = max(0, sent - count)
            drop(sent - ofBatch)
            guard sent == whole else {
                append(rest, from: ofBatch)
                return result
            }
            rest = rest.dropFirst(batch.count)
        }
        if result == .wouldBlock { append(rest, from: 0) }
        return result
    }

    /// Sends what lies at these places and the pieces behind it in one call.
    private static func send(
        to carrier: Carrier,
        _ pieces: ArraySlice<[UInt8]>,
        behind places: inout [UnsafeRawBufferPointer]
    ) -> TransferResult {
        guard let piece = pieces.first else { return unsafe carrier.send(places) }
        // Each place is known for as long as its array is borrowed: one call within the other, as deep as there are pieces.
        return unsafe piece.withUnsafeBytes { place in
            unsafe places.append(place)
            return unsafe send(to: carrier, pieces.dropFirst(), behind: &places)
        }
    }
}
