// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

/// The connection in memory between two ends.
///
/// It has a bounded capacity each way, so that a writer waits for a slow reader as it does with TCP, and goes wrong as
/// ``Faults`` say.
public struct MemoryConnection: Sendable {
    let link: MemoryLink

    init(faults: Faults, capacity: ByteCount) {
        link = MemoryLink(
            capacity: capacity.bytes,
            toNear: MemoryFlow.Faults(faults.toClient),
            toFar: MemoryFlow.Faults(faults.toServer)
        )
    }

    /// Replaces what goes wrong from here on; bytes are counted again.
    public func setFaults(_ faults: Faults) {
        link.setFaults(MemoryFlow.Faults(faults.toClient), to: .near)
        link.setFaults(MemoryFlow.Faults(faults.toServer), to: .far)
    }

    /// Lets through what a stall holds back.
    ///
    /// - Parameters:
    ///   - direction: which way. Default: both.
    ///   - count: how many bytes. Default: all.
    public func release(_ direction: Faults.Direction? = nil, bytes count: Int? = nil) {
        if direction != .toClient { link.release(count, to: .far) }
        if direction != .toServer { link.release(count, to: .near) }
    }

    /// Resets the connection for both sides, as when a machine between them was switched off and on.
    public func reset() {
        link.reset()
    }

    /// How many bytes have been received in a direction so far.
    public func received(_ direction: Faults.Direction) -> Int {
        link.received(by: direction == .toServer ? .far : .near)
    }
}

extension MemoryFlow.Faults {
    fileprivate init(_ flow: Faults.Flow) {
        self.init()
        pieceSize = flow.pieceSize
        resetAfter = flow.resetAfter
        endAfter = flow.endAfter
        stallAfter = flow.stallAfter
        pace = flow.pace.map { MemoryFlow.Pace(bytes: $0.bytes, interval: $0.interval) }
    }
}
