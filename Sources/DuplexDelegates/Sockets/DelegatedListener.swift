// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import Dispatch
public import DuplexSockets
import Synchronization

/// The callbacks of a ``DelegatedListener``, on its queue, one call after the other.
public protocol SocketListenerDelegate: AnyObject {
    /// A connection was accepted, and secured where the listener secures.
    ///
    /// Set its delegate before this returns, and ask for what you want to read: a connection that nobody takes is reset.
    /// Its delegate is called on this queue as well, beside the listener's.
    func listener(_ listener: DelegatedListener, didAccept socket: DelegatedSocket)

    /// The listener has ended.
    ///
    /// - Parameters:
    ///   - listener: the listener.
    ///   - error: why; `nil` when this side has closed it.
    func listener(_ listener: DelegatedListener, didStopWith error: SocketError?)
}

extension SocketListenerDelegate {
    /// Does nothing.
    public func listener(_ listener: DelegatedListener, didStopWith error: SocketError?) {}
}

/// A listener with a delegate, for code that isn't `async`: what it accepts are ``DelegatedSocket``s.
///
/// It listens from ``listen(on:backlog:tls:options:)`` until it is closed, keeps itself alive meanwhile, and keeps its
/// delegate weakly. Its methods may be called on any thread.
public final class DelegatedListener: Sendable {
    private let delegates: DelegateQueue<any SocketListenerDelegate>
    private let place: DelegatePlace
    private let group: EventLoopGroup
    private let shared = Mutex(Shared())

    private struct Shared {
        var listener: SocketListener?
        var accepting: Task<Void, Never>?
        var isClosed = false
    }

    /// Makes a listener, whose delegate and whose connections' delegates are called on the main queue.
    ///
    /// - Parameters:
    ///   - delegate: gets the connections; kept weakly.
    ///   - group: the loops that the connections are spread over.
    @MainActor
    public convenience init(delegate: (any SocketListenerDelegate)?, on group: EventLoopGroup = .shared) {
        self.init(.queue(.main), group)
        delegates.tellOnMain { [weak delegate] in delegate }
    }

    /// Makes a listener, whose delegate and whose connections' delegates are called on a queue of the caller's.
    ///
    /// - Parameters:
    ///   - delegate: gets the connections; kept weakly.
    ///   - queue: where they are called, each one call at a time. On a concurrent queue different connections' delegates are
    ///     called side by side.
    ///   - group: the loops that the connections are spread over.
    public convenience init(
        delegate: (any SocketListenerDelegate & Sendable)?,
        queue: DispatchQueue,
        on group: EventLoopGroup = .shared
    ) {
        self.init(delegate: delegate, place: .queue(queue), on: group)
    }

    /// Makes a listener, whose delegates are called on a place of the caller's.
    package convenience init(
        delegate: (any SocketListenerDelegate & Sendable)?,
        place: DelegatePlace,
        on group: EventLoopGroup
    ) {
        self.init(place, group)
        delegates.tell { [weak delegate] in delegate }
    }

    private init(_ place: DelegatePlace, _ group: EventLoopGroup) {
        self.place = place
        self.group = group
        delegates = DelegateQueue(place, label: "duplex.listener")
    }

    /// The address with the port that the system has chosen; `nil` before ``listen(on:backlog:tls:options:)``.
    public var localAddress: SocketAddress? { shared.withLock { $0.listener?.localAddress } }

    /// Binds an address and accepts from here on.
    ///
    /// - Parameters:
    ///   - address: where; with port 0 the system chooses.
    ///   - backlog: how many connections may wait to be accepted. Default: 4,096.
    ///   - tls: secures the connections before the delegate gets them. Default: no TLS.
    ///   - options: the socket options of each connection.
    /// - Throws: `SocketError` with `cannotBind`, and with `invalidArgument` when it
    ///   listens, or has listened, already.
    public func listen(
        on address: ListenAddress,
        backlog: Int = 4_096,
        tls: TLSServerOptions? = nil,
        options: SocketOptions = SocketOptions()
    ) throws(SocketError) {
        try shared.withLock { shared throws(SocketError) in
            guard shared.listener == nil, !shared.isClosed else {
                throw SocketError.invalidArgument("A listener listens once.")
            }
            let listener = try SocketListener.bind(address, on: group, backlog: backlog, tls: tls, options: options)
            shared.listener = listener
            shared.accepting = Task { await self.accept(from: listener) }
        }
    }

    private func accept(from listener: SocketListener) async {
        var failure: SocketError?
        do {
            for try await socket in listener {
                let accepted = DelegatedSocket(accepted: socket, place: place, on: group)
                await accepted.takeFacts(of: socket)
                await delegates.call { $0.listener(self, didAccept: accepted) }
                guard accepted.delegates.hasDelegate else {
                    await socket.reset()
                    continue
                }
                Task { await accepted.begin(socket) }
            }
        } catch {
            failure = SocketError(ending: error)
        }
        let isClosed = shared.withLock { shared in
            defer { (shared.isClosed, shared.accepting) = (true, nil) }
            return shared.isClosed
        }
        if isClosed { failure = nil }
        await delegates.call { [failure] in $0.listener(self, didStopWith: failure) }
    }

    /// Stops listening; accepted connections stay open.
    ///
    /// Returns at once, and the delegate gets the end.
    public func close() {
        let accepting = shared.withLock { shared in
            shared.isClosed = true
            return shared.accepting
        }
        accepting?.cancel()
    }
}
