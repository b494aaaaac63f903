// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule

// Large pieces, without the copy that small ones are cheaper with.

extension Socket {
    /// From this size on a piece is received where its reader gets it.
    ///
    /// Smaller ones go through the loop's buffer: an array has to be as large as what might come.
    static let ownReceiveSize = 32 * 1_024

    package nonisolated func receive(from descriptor: Int32, limit: Int) -> TransferResult? {
        onLoop(loop, (descriptor, limit)) { socket, call in socket.receiveForReader(from: call.0, limit: call.1) }
    }

    /// Receives into the array that the first reader gets; `nil` when it wants something else than what there is.
    private func receiveForReader(from descriptor: Int32, limit: Int) -> TransferResult? {
        guard case .available = readers.first?.goal, input.isEmpty else { return nil }
        var result = TransferResult.wouldBlock
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            result = unsafe SystemCalls.receive(descriptor, into: UnsafeMutableRawBufferPointer(buffer))
            if case .transferred(let received) = result { count = received }
        }
        channel.value.handlerReceives = bytes.count >= Self.ownReceiveSize
        guard !bytes.isEmpty else { return result }
        bytesReceived += UInt64(bytes.count)
        // What is much smaller than its array isn't given away in it.
        endFirstRead(.success(bytes.count >= limit / 4 ? bytes : Array(bytes[...])))
        serveReaders()
        return result
    }
}
