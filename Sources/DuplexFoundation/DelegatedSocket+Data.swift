// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexDelegates
public import DuplexSockets
public import Foundation

extension DelegatedSocket {
    /// Makes a socket, whose delegate is called by operations of a queue.
    ///
    /// - Parameters:
    ///   - delegate: gets all events; kept weakly. It may be set later by `setDelegate(_:)`.
    ///   - queue: where it is called, in order, one call at a time, however many operations the queue runs at once.
    ///   - closesAtEndOfStream: whether the connection ends when the peer has finished writing. Default: yes.
    ///   - queueLimit: the most bytes that wait to be written. Default: 16 MiB.
    ///   - queueCount: the most reads, and the most writes, that wait. Default: 16,384.
    ///   - group: the loops of which one becomes the connection's.
    public convenience init(
        delegate: (any SocketDelegate & Sendable)?,
        queue: OperationQueue,
        closesAtEndOfStream: Bool = true,
        queueLimit: ByteCount = .mebibytes(16),
        queueCount: Int = 16_384,
        on group: EventLoopGroup = .shared
    ) {
        self.init(
            delegate: delegate,
            place: DelegatePlace(queue),
            closesAtEndOfStream: closesAtEndOfStream,
            queueLimit: queueLimit,
            queueCount: queueCount,
            on: group
        )
    }
}

extension DelegatedListener {
    /// Makes a listener, whose delegate and whose connections' delegates are called by operations of a queue.
    ///
    /// - Parameters:
    ///   - delegate: gets the connections; kept weakly.
    ///   - queue: where they are called, each one call at a time.
    ///   - group: the loops that the connections are spread over.
    public convenience init(
        delegate: (any SocketListenerDelegate & Sendable)?,
        queue: OperationQueue,
        on group: EventLoopGroup = .shared
    ) {
        self.init(delegate: delegate, place: DelegatePlace(queue), on: group)
    }
}

extension DelegatePlace {
    /// Calls as operations of a queue.
    init(_ queue: OperationQueue) {
        self = .calls { call in queue.addOperation(call) }
    }
}

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
}
