// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What moves the bytes of a channel.
///
/// The choice costs a branch for each call, which is small beside a system call. Nothing above a channel sees a difference.
package enum Carrier {
    /// A connected, non-blocking stream socket of the system.
    case descriptor(Int32)
    /// One end of a connection within the process.
    case memory(MemoryEnd)

    /// The system's descriptor; `nil` where there is none.
    package var descriptor: Int32? {
        if case .descriptor(let descriptor) = self { descriptor } else { nil }
    }

    // MARK: Bytes

    @inline(__always)
    package func receive(into buffer: UnsafeMutableRawBufferPointer) -> TransferResult {
        switch self {
        case .descriptor(let descriptor): unsafe SystemCalls.receive(descriptor, into: buffer)
        case .memory(let end): unsafe end.receive(into: buffer)
        }
    }

    @inline(__always)
    func send(_ bytes: UnsafeRawBufferPointer, isMoreComing: Bool = false) -> TransferResult {
        switch self {
        case .descriptor(let descriptor): unsafe SystemCalls.send(descriptor, bytes, isMoreComing: isMoreComing)
        case .memory(let end): unsafe end.send([bytes])
        }
    }

    /// Sends two pieces one after the other.
    func send(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> TransferResult {
        switch self {
        case .descriptor(let descriptor): unsafe SystemCalls.send(descriptor, first, second)
        case .memory(let end): unsafe end.send([first, second])
        }
    }

    /// Sends pieces one after the other; no more than ``SystemCalls/pieceLimit``.
    func send(_ pieces: [UnsafeRawBufferPointer]) -> TransferResult {
        switch self {
        case .descriptor(let descriptor): unsafe SystemCalls.send(descriptor, pieces)
        case .memory(let end): unsafe end.send(pieces)
        }
    }

    // MARK: The end

    /// Says that nothing more will be written; the peer sees the end of the stream.
    func finishWriting() {
        switch self {
        case .descriptor(let descriptor): SystemCalls.finishWriting(descriptor)
        case .memory(let end): end.finishWriting()
        }
    }

    /// Has the next ``close()`` reset the connection and drop what is on its way.
    func resetOnClose() {
        switch self {
        case .descriptor(let descriptor): SystemCalls.setResetOnClose(descriptor)
        case .memory(let end): end.resetOnClose()
        }
    }

    func close() {
        switch self {
        case .descriptor(let descriptor): SystemCalls.close(descriptor)
        case .memory(let end): end.close()
        }
    }

    /// The error number that is pending; 0 when there is none.
    var pendingError: Int32 {
        switch self {
        case .descriptor(let descriptor): SystemCalls.pendingError(descriptor)
        case .memory(let end): end.pendingError
        }
    }

    // MARK: Watching

    func watch(for interest: Readiness, handler: any DescriptorHandler, _ core: LoopCore) throws(SocketError) {
        switch self {
        case .descriptor(let descriptor): try core.watch(descriptor, for: interest, handler: handler)
        case .memory(let end): try end.watch(for: interest, handler: handler)
        }
    }

    func modify(_ interest: Readiness, _ core: LoopCore) {
        switch self {
        case .descriptor(let descriptor): core.modify(descriptor, interest: interest)
        case .memory(let end): end.modify(interest)
        }
    }

    func unwatch(_ core: LoopCore) {
        switch self {
        case .descriptor(let descriptor): core.unwatch(descriptor)
        case .memory(let end): end.unwatch()
        }
    }

    // MARK: Addresses

    /// The address of this side; `nil` when the connection was gone before it could be asked.
    package var localAddress: SocketAddress? {
        switch self {
        case .descriptor(let descriptor): SocketAddress.local(of: descriptor)
        case .memory(let end): end.localAddress
        }
    }

    /// The address of the peer; `nil` when the connection was gone before it could be asked.
    package var remoteAddress: SocketAddress? {
        switch self {
        case .descriptor(let descriptor): SocketAddress.remote(of: descriptor)
        case .memory(let end): end.remoteAddress
        }
    }
}

// MARK: From the buffer to the carrier

extension OutputBuffer {
    /// Sends what waits, as far as the socket takes it.
    ///
    /// - Parameters:
    ///   - carrier: what sends it.
    ///   - isMoreComing: whether something is sent right behind it, with which it may go in one segment.
    /// - Returns: what the call gave.
    @inline(__always)
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
