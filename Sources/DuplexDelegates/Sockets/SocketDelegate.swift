// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets

/// The callbacks of a ``DelegatedSocket``, on its queue, one call after the other.
///
/// For code that was written for CocoaAsyncSocket. A class of the main actor conforms there: `@MainActor SocketDelegate`.
/// Each method has a default implementation, so implement only those that you need. Reads are answered in the order in
/// which they were asked for, and so are writes. The last one is called once, and nothing after it.
public protocol SocketDelegate: AnyObject {
    /// A stage of connecting has begun, or is over: the name, each address, the proxy, TLS.
    func socket(_ socket: DelegatedSocket, didReach event: StageEvent)

    /// The connection is made; that of an endpoint with TLS is secured by then. An accepted one isn't reported here.
    func socketDidConnect(_ socket: DelegatedSocket)

    /// The handshake of ``DelegatedSocket/startTLS(_:)-(TLSOptions)`` is done: what follows is secured.
    func socketDidSecure(_ socket: DelegatedSocket)

    /// What a read asked for has come. The next read is served once this returns.
    func socket(_ socket: DelegatedSocket, didRead bytes: [UInt8], tag: Int)

    /// The bytes of a write are sent, or wait behind less than the high-water mark of the socket.
    func socket(_ socket: DelegatedSocket, didWriteWithTag tag: Int)

    /// Of a read of a length so many bytes have come, and it waits for more.
    ///
    /// Gets the latest number: pieces that come while the queue is busy make one call.
    func socket(_ socket: DelegatedSocket, hasRead count: Int, tag: Int)

    /// Of a write of more than 64 KiB so many bytes are sent, or wait in the connection; told as
    /// `socket(_:hasRead:tag:)` is.
    func socket(_ socket: DelegatedSocket, hasWritten count: Int, tag: Int)

    /// The system has refused options of ``DelegatedSocket/setOptions(_:)``; the connection goes on.
    func socket(_ socket: DelegatedSocket, didNotSet options: SocketOptions, error: SocketError)

    /// The peer has finished writing, and nothing is left to read, or less than the read asks for.
    ///
    /// Once this returns nothing new is taken, and the connection ends with `endOfStream` behind the writes
    /// that wait. Where `closesAtEndOfStream` of the socket says otherwise writing goes on, and reads aren't answered any
    /// more.
    func socketDidReachEndOfStream(_ socket: DelegatedSocket)

    /// The connection couldn't be made, or has ended.
    ///
    /// - Parameters:
    ///   - socket: the connection.
    ///   - error: why; `nil` when this side has closed it.
    func socket(_ socket: DelegatedSocket, didDisconnectWith error: SocketError?)
}

extension SocketDelegate {
    /// Does nothing.
    public func socket(_ socket: DelegatedSocket, didReach event: StageEvent) {}

    /// Does nothing.
    public func socketDidConnect(_ socket: DelegatedSocket) {}

    /// Does nothing.
    public func socketDidSecure(_ socket: DelegatedSocket) {}

    /// Does nothing.
    public func socket(_ socket: DelegatedSocket, didRead bytes: [UInt8], tag: Int) {}

    /// Does nothing.
    public func socket(_ socket: DelegatedSocket, didWriteWithTag tag: Int) {}

    /// Does nothing.
    public func socket(_ socket: DelegatedSocket, hasRead count: Int, tag: Int) {}

    /// Does nothing.
    public func socket(_ socket: DelegatedSocket, hasWritten count: Int, tag: Int) {}

    /// Does nothing.
    public func socket(_ socket: DelegatedSocket, didNotSet options: SocketOptions, error: SocketError) {}

    /// Does nothing.
    public func socketDidReachEndOfStream(_ socket: DelegatedSocket) {}

    /// Does nothing.
    public func socket(_ socket: DelegatedSocket, didDisconnectWith error: SocketError?) {}
}

// MARK: What delegates get

extension SocketError {
    /// The error itself; for a task that was cancelled, that this side has closed.
    init(ending error: any Error) {
        self = error as? SocketError ?? SocketError(.closed, message: "The connection was closed on this side.")
    }

    /// What is refused because too much waits.
    static func queueFull(_ waiting: Int, _ more: Int, _ limit: ByteCount) -> SocketError {
        SocketError(.limitExceeded, message: "\(waiting) bytes wait, and \(more) more are beyond \(limit.bytes).")
    }
}
