// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexDelegates
public import DuplexSockets
public import Foundation

extension DelegatedUDPSocket {
    /// Makes a socket, whose delegate is called by operations of a queue.
    ///
    /// - Parameters:
    ///   - delegate: gets all events; kept weakly.
    ///   - queue: where it is called, in order, one call at a time, however many operations the queue runs at once.
    ///   - queueLimit: the most bytes of datagrams that wait to be sent. Default: 16 MiB.
    ///   - group: the loops of which one becomes the socket's.
    public convenience init(
        delegate: (any UDPSocketDelegate & Sendable)?,
        queue: OperationQueue,
        queueLimit: ByteCount = .mebibytes(16),
        on group: EventLoopGroup = .shared
    ) {
        self.init(delegate: delegate, place: DelegatePlace(queue), queueLimit: queueLimit, on: group)
    }

    /// Sends a datagram; as `send(_:to:timeout:tag:)` with an array, and with a copy of the bytes before.
    ///
    /// - Throws: as `send(_:to:timeout:tag:)` with an array.
    public func send(
        _ data: Data,
        to peer: Endpoint? = nil,
        timeout: Duration = .seconds(10),
        tag: Int = 0
    ) throws {
        try send([UInt8](data), to: peer, timeout: timeout, tag: tag)
    }
}
