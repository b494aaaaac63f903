// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule

// Large pieces, without the copy that small ones are cheaper with.

extension Socket {
    /// From this size on a piece is received where its reader gets it.
    ///
    /// Smaller ones go through the loop's buffer: an array has to be as large as what might come.
    static let ownReceiveSize = 32 * 1_024
    /// How many small pieces may come behind a large one before receiving changes: those that large ones are cut into don't
    /// change it.
    private static let patience = 16

    /// Chooses where the next piece is received, by those that came.
    func tookPiece(of count: Int) {
        if count >= Self.ownReceiveSize {
            smallPiecesLeft = Self.patience
        } else if smallPiecesLeft > 0 {
            smallPiecesLeft -= 1
        } else {
            return
        }
        channel.value.handlerReceives = smallPiecesLeft > 0 && !channel.value.isSecured
    }

    package nonisolated func receive(from carrier: Carrier, limit: Int) -> TransferResult? {
        onLoop(loop, (carrier, limit)) { socket, call in socket.receiveForReader(from: call.0, limit: call.1) }
    }

    /// Receives into the array that the first reader gets; `nil` when it wants something else than what there is.
    private func receiveForReader(from carrier: Carrier, limit: Int) -> TransferResult? {
        guard case .available = readers.first?.goal, input.isEmpty else { return nil }
        // Whatever was asked for: an array as large as nothing that comes would only take memory.
        let limit = min(limit, ReceiveBuffer.size)
        var result = TransferResult.wouldBlock
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            result = unsafe carrier.receive(into: UnsafeMutableRawBufferPointer(buffer))
            if case .transferred(let received) = result { count = received }
        }
        guard !bytes.isEmpty else { return result }
        receivedCount += UInt64(bytes.count)
        tookPiece(of: bytes.count)
        // What is much smaller than its array isn't given away in it.
        endFirstRead(.success(bytes.count >= limit / 4 ? bytes : Array(bytes[...])))
        serveReaders()
        return result
    }
}
