// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import Dispatch
public import DuplexSockets
import Synchronization

/// A UDP socket with a delegate, for code that isn't `async`: datagrams with tags, as CocoaAsyncSocket has them.
///
/// It keeps itself alive from ``bind(_:port:families:sharing:options:)`` or
/// ``connect(to:from:port:families:sharing:options:)`` until it is closed, and keeps its delegate weakly. Its methods may be called on any thread and return at once.
public final class DelegatedUDPSocket: Sendable {
    /// The most bytes of datagrams that wait to be sent.
    package let queueLimit: ByteCount
    private let delegates: DelegateQueue<any UDPSocketDelegate>
    private let group: EventLoopGroup
    private let shared = Mutex(Shared())
    private let sends: AsyncStream<Order>
    private let orders: AsyncStream<Order>.Continuation
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    private enum Order: Sendable {
        case send(Send)
        /// Something that is changed about the socket.
        case change(@Sendable (UDPSocket) async throws -> Void)
    }

    private struct Send: Sendable {
        var bytes: [UInt8]
        var peer: Endpoint?
        var timeout: Duration
        var tag: Int
    }

    private enum Receiving {
        case paused
        case once
        case always
    }

    private struct Shared {
        var isOpened = false
        var isClosing = false
        /// Whether what waits to be sent goes out before the end.
        var sendsRest = false
        var socket: UDPSocket?
        var opening: Task<Void, Never>?
        var queuedBytes = 0
        var receiving = Receiving.paused
        var userData: (any Sendable)?
        var receivedCount: UInt64 = 0
        var sentCount: UInt64 = 0
    }

    /// Makes a socket, whose delegate is called on the main queue.
    ///
    /// - Parameters:
    ///   - delegate: gets all events; kept weakly.
    ///   - queueLimit: the most bytes of datagrams that wait to be sent. Default: 16 MiB.
    ///   - group: the loops of which one becomes the socket's.
    @MainActor
    public convenience init(
        delegate: (any UDPSocketDelegate)?,
        queueLimit: ByteCount = .mebibytes(16),
        on group: EventLoopGroup = .shared
    ) {
        self.init(.queue(.main), queueLimit, group)
        delegates.tellOnMain { [weak delegate] in delegate }
    }

    /// Makes a socket, whose delegate is called on a queue of the caller's.
    ///
    /// - Parameters:
    ///   - delegate: gets all events; kept weakly.
    ///   - queue: where it is called, in order, one call at a time. A concurrent queue is fine.
    ///   - queueLimit: the most bytes of datagrams that wait to be sent. Default: 16 MiB.
    ///   - group: the loops of which one becomes the socket's.
    public convenience init(
        delegate: (any UDPSocketDelegate & Sendable)?,
        queue: DispatchQueue,
        queueLimit: ByteCount = .mebibytes(16),
        on group: EventLoopGroup = .shared
    ) {
        self.init(delegate: delegate, place: .queue(queue), queueLimit: queueLimit, on: group)
    }

    /// Makes a socket, whose delegate is called on a place of the caller's.
    package convenience init(
        delegate: (any UDPSocketDelegate & Sendable)?,
        place: DelegatePlace,
        queueLimit: ByteCount,
        on group: EventLoopGroup
    ) {
        self.init(place, queueLimit, group)
        delegates.tell { [weak delegate] in delegate }
    }

    private init(_ place: DelegatePlace, _ queueLimit: ByteCount, _ group: EventLoopGroup) {
        self.queueLimit = queueLimit
        self.group = group
        delegates = DelegateQueue(place, label: "duplex.datagrams")
        (sends, orders) = AsyncStream.makeStream()
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The socket: its addresses, its options, its groups; `nil` before it is open, and once the delegate got its end.
    ///
    /// Its datagrams are the delegate's: do not receive from it. To close it, close this.
    public var connection: UDPSocket? { shared.withLock { $0.socket } }

    /// The bytes of datagrams that wait to be sent.
    public var queuedBytes: Int { shared.withLock { $0.queuedBytes } }

    /// The number of datagrams that the delegate got.
    package var receivedCount: UInt64 { shared.withLock { $0.receivedCount } }

    /// The number of datagrams that the system has taken.
    package var sentCount: UInt64 { shared.withLock { $0.sentCount } }

    /// Anything that the app wants to keep with the socket.
    public var userData: (any Sendable)? {
        get { shared.withLock { $0.userData } }
        set { shared.withLock { $0.userData = newValue } }
    }

    // MARK: Opening

    /// Binds an address, for datagrams from and to any peer; see `UDPSocket.bind(_:port:families:sharing:options:on:)`.
    ///
    /// - Parameters:
    ///   - host: which addresses of this machine. Default: all.
    ///   - port: the port, 0 to 65,535. Default: 0, and the system chooses.
    ///   - families: which families. Default: both.
    ///   - sharing: whether others may bind the same. Default: no.
    ///   - options: how to send and receive.
    /// - Throws: `SocketError` with `invalidArgument` when it was opened, or closed, before. Why it can't
    ///   be bound is reported to the delegate.
    public func bind(
        _ host: LocalHost = .any,
        port: Int = 0,
        families: AddressFamilies = .all,
        sharing: UDPSocket.Sharing = .none,
        options: DatagramOptions = DatagramOptions()
    ) throws {
        try SocketError.check(options.durations)
        try open { group in
            try await UDPSocket.bind(
                host,
                port: port,
                families: families,
                sharing: sharing,
                options: options,
                on: group
            )
        }
    }

    /// Binds an address, and connects to one peer; see `UDPSocket.connect(to:from:port:families:sharing:options:resolver:timeout:on:)`.
    ///
    /// - Parameters:
    ///   - endpoint: a host and a port, or an address.
    ///   - host: the address of this machine to bind. Default: the system's choice.
    ///   - port: the port of this side. Default: the system's choice.
    ///   - families: which families the peer may be of. Default: both.
    ///   - sharing: whether others may bind the same. Default: no.
    ///   - options: how to send and receive.
    /// - Throws: as ``bind(_:port:families:sharing:options:)``.
    public func connect(
        to endpoint: Endpoint,
        from host: LocalHost = .any,
        port: Int = 0,
        families: AddressFamilies = .all,
        sharing: UDPSocket.Sharing = .none,
        options: DatagramOptions = DatagramOptions()
    ) throws {
        try SocketError.check(options.durations)
        try open { group in
            try await UDPSocket.connect(
                to: endpoint,
                from: host,
                port: port,
                families: families,
                sharing: sharing,
                options: options,
                on: group
            )
        }
    }

    private func open(_ make: @escaping @Sendable (EventLoopGroup) async throws -> UDPSocket) throws {
        try shared.withLock { shared in
            guard !shared.isOpened, !shared.isClosing else {
                throw SocketError.invalidArgument("A socket is opened once.")
            }
            shared.isOpened = true
            shared.opening = Task { await self.run(make) }
        }
    }

    // MARK: What is asked for

    /// Sends a datagram, after those of earlier calls.
    ///
    /// - Parameters:
    ///   - bytes: what to send; 0 to 65,507 bytes over IPv4, 65,527 over IPv6.
    ///   - peer: a host and a port, or an address; `nil` for the peer of a connected socket. Default: `nil`.
    ///   - timeout: how long looking the name up, and then waiting for room, may take each. Default: 10 s.
    ///   - tag: what the delegate is called with.
    /// - Throws: `SocketError` with `closed` before it is opened and once it closes, and with
    ///   `limitExceeded` when `queueLimit` is reached; with `invalidArgument` for a
    ///   timeout that isn't longer than zero.
    public func send(
        _ bytes: some Collection<UInt8>,
        to peer: Endpoint? = nil,
        timeout: Duration = .seconds(10),
        tag: Int = 0
    ) throws {
        let bytes = [UInt8](bytes)
        try SocketError.check([DurationSetting("timeout", timeout)])
        try add(.send(Send(bytes: bytes, peer: peer, timeout: timeout, tag: tag)), bytes.count)
    }

    private func add(_ order: Order, _ count: Int) throws {
        try shared.withLock { shared in
            guard shared.isOpened, !shared.isClosing else {
                throw SocketError(.closed, message: "The socket takes nothing: it isn't open.")
            }
            // Each counts something, so that empty ones are bounded as well.
            guard count + Self.overhead <= queueLimit.bytes - shared.queuedBytes else {
                throw SocketError.queueFull(shared.queuedBytes, count, queueLimit)
            }
            shared.queuedBytes += count + Self.overhead
            orders.yield(order)
        }
    }

    /// Joins a multicast group, after the datagrams of earlier calls; see `UDPSocket.join(_:from:on:)`.
    ///
    /// The delegate gets a refusal.
    ///
    /// - Parameters:
    ///   - group: the address of the group, such as `239.1.2.3` or `ff15::1234`.
    ///   - source: the only sender to receive from. Default: every sender.
    ///   - interface: the name of the interface to join on. Default: the one that the system's routes name.
    /// - Throws: as ``send(_:to:timeout:tag:)``.
    public func join(_ group: String, from source: String? = nil, on interface: String? = nil) throws {
        try add(.change { try await $0.join(group, from: source, on: interface) }, 0)
    }

    /// Leaves a multicast group; the arguments have to be those of ``join(_:from:on:)``.
    public func leave(_ group: String, from source: String? = nil, on interface: String? = nil) throws {
        try add(.change { try await $0.leave(group, from: source, on: interface) }, 0)
    }

    /// Sets options, after the datagrams of earlier calls; see `UDPSocket.setOptions(_:)`.
    ///
    /// The delegate gets a refusal.
    ///
    /// - Parameter options: what to set; what is `nil` stays as it is.
    /// - Throws: as ``send(_:to:timeout:tag:)``.
    public func setOptions(_ options: DatagramOptions) throws {
        try SocketError.check(options.durations)
        try add(.change { try await $0.setOptions(options) }, 0)
    }

    /// What a datagram counts beside its bytes.
    private static let overhead = 128

    /// Has the delegate get each datagram that comes, until ``pauseReceiving()``.
    public func beginReceiving() { receive(.always) }

    /// Has the delegate get one datagram.
    public func receiveOnce() { receive(.once) }

    /// Has the delegate get no more; what comes waits in the system's buffer.
    ///
    /// A datagram that was received already is kept for later.
    public func pauseReceiving() { receive(.paused) }

    private func receive(_ receiving: Receiving) {
        shared.withLock { $0.receiving = receiving }
        wake.yield()
    }

    // MARK: Closing

    /// Closes the socket at once; datagrams that wait to be sent are dropped without an answer.
    ///
    /// The delegate gets the end, without an error, and nothing else. Closing twice is the same as once.
    public func close() { close(sendsRest: false) }

    /// Closes the socket once the datagrams that wait have been sent, or have failed.
    ///
    /// Nothing new is taken.
    public func closeAfterSending() { close(sendsRest: true) }

    private func close(sendsRest: Bool) {
        let (socket, opening, wasOpened) = shared.withLock { shared in
            if !shared.isClosing { shared.sendsRest = sendsRest }
            if !sendsRest { shared.sendsRest = false }
            defer { shared.isClosing = true }
            return (shared.socket, shared.opening, shared.isOpened || shared.isClosing)
        }
        orders.finish()
        wake.finish()
        guard wasOpened else {
            Task { await self.ended(nil) }
            return
        }
        guard !sendsRest else { return }
        if let socket { Task { await socket.close() } } else { opening?.cancel() }
    }

    // MARK: Serving

    private var isOver: Bool { shared.withLock { $0.isClosing && !$0.sendsRest } }

    private func run(_ make: @Sendable (EventLoopGroup) async throws -> UDPSocket) async {
        let socket: UDPSocket
        do {
            socket = try await make(group)
        } catch {
            orders.finish()
            wake.finish()
            let isClosing = shared.withLock { shared in
                defer { shared.isClosing = true }
                return shared.isClosing
            }
            return await ended(isClosing && error is CancellationError ? nil : SocketError(ending: error))
        }
        shared.withLock { $0.socket = socket }
        if !isOver { await tell { $0.socketDidOpen(self) } }
        async let failure = receiveAll(from: socket)
        await sendAll(by: socket)
        await socket.close()
        await ended(await failure)
    }

    private func sendAll(by socket: UDPSocket) async {
        for await order in sends where !isOver {
            switch order {
            case .send(let send): await self.send(send, by: socket)
            case .change(let change):
                do {
                    try await change(socket)
                } catch {
                    let error = SocketError(ending: error)
                    await tell { $0.socket(self, didNotChangeBecauseOf: error) }
                }
                shared.withLock { $0.queuedBytes -= Self.overhead }
            }
        }
    }

    private func send(_ order: Send, by socket: UDPSocket) async {
        do {
            if let peer = order.peer {
                try await socket.send(order.bytes, to: peer, timeout: order.timeout)
            } else {
                try await socket.send(order.bytes, timeout: order.timeout)
            }
            count(order)
            shared.withLock { $0.sentCount += 1 }
            await tell { $0.socket(self, didSendWithTag: order.tag) }
        } catch {
            count(order)
            await tell { $0.socket(self, didNotSendWithTag: order.tag, error: SocketError(ending: error)) }
        }
    }

    private func count(_ order: Send) {
        shared.withLock { $0.queuedBytes -= order.bytes.count + Self.overhead }
    }

    /// Receives when the delegate wants it, until the socket is closed.
    ///
    /// - Returns: why it was closed; `nil` by this side.
    private func receiveAll(from socket: UDPSocket) async -> SocketError? {
        var held: Datagram?
        for await _ in wakes {
            while shared.withLock({ $0.receiving != .paused && !$0.isClosing }) {
                do {
                    let datagram: Datagram
                    if let waiting = held.take() { datagram = waiting } else { datagram = try await socket.receive() }
                    guard takes() else {
                        held = datagram
                        break
                    }
                    shared.withLock { $0.receivedCount += 1 }
                    await tell { $0.socket(self, didReceive: datagram) }
                } catch let error as SocketError where error.code == .cannotConnect {
                    await tell { $0.socket(self, didFailToReceiveWith: error) }
                } catch {
                    return end(SocketError(ending: error))
                }
            }
        }
        return nil
    }

    /// Whether a datagram is wanted now.
    private func takes() -> Bool {
        shared.withLock { shared in
            defer { if shared.receiving == .once { shared.receiving = .paused } }
            return shared.receiving != .paused && !shared.isClosing
        }
    }

    /// The socket has ended by itself, or was closed.
    private func end(_ error: SocketError) -> SocketError? {
        let isClosing = shared.withLock { shared in
            defer { shared.isClosing = true }
            return shared.isClosing
        }
        orders.finish()
        wake.finish()
        return isClosing ? nil : error
    }

    private func tell(_ call: @escaping @Sendable (any UDPSocketDelegate) -> Void) async {
        await delegates.call(if: { !self.isOver }, call)
    }

    private func ended(_ failure: SocketError?) async {
        await delegates.call { $0.socket(self, didCloseWith: failure) }
        shared.withLock { ($0.socket, $0.opening, $0.queuedBytes) = (nil, nil, 0) }
    }
}

/// The callbacks of a ``DelegatedUDPSocket``, on its queue, one call after the other.
///
/// For code that was written for CocoaAsyncSocket. A class of the main actor conforms there:
/// `@MainActor UDPSocketDelegate`. Each method has a default implementation. The last one is called once, and nothing after
/// it.
public protocol UDPSocketDelegate: AnyObject {
    /// The socket is bound, or connected: its address is known.
    func socketDidOpen(_ socket: DelegatedUDPSocket)

    /// A datagram came; the next one is received once this returns.
    func socket(_ socket: DelegatedUDPSocket, didReceive datagram: Datagram)

    /// The system says that something which was sent before didn't get there; receiving goes on.
    func socket(_ socket: DelegatedUDPSocket, didFailToReceiveWith error: SocketError)

    /// The system has taken a datagram; it may not arrive.
    func socket(_ socket: DelegatedUDPSocket, didSendWithTag tag: Int)

    /// A datagram wasn't sent; the socket lives on.
    func socket(_ socket: DelegatedUDPSocket, didNotSendWithTag tag: Int, error: SocketError)

    /// The system has refused to join or leave a group, or to set options; the socket lives on.
    func socket(_ socket: DelegatedUDPSocket, didNotChangeBecauseOf error: SocketError)

    /// The socket couldn't be opened, or has ended.
    ///
    /// - Parameters:
    ///   - socket: the socket.
    ///   - error: why; `nil` when this side has closed it.
    func socket(_ socket: DelegatedUDPSocket, didCloseWith error: SocketError?)
}

extension UDPSocketDelegate {
    /// Does nothing.
    public func socketDidOpen(_ socket: DelegatedUDPSocket) {}

    /// Does nothing.
    public func socket(_ socket: DelegatedUDPSocket, didReceive datagram: Datagram) {}

    /// Does nothing.
    public func socket(_ socket: DelegatedUDPSocket, didFailToReceiveWith error: SocketError) {}

    /// Does nothing.
    public func socket(_ socket: DelegatedUDPSocket, didSendWithTag tag: Int) {}

    /// Does nothing.
    public func socket(_ socket: DelegatedUDPSocket, didNotSendWithTag tag: Int, error: SocketError) {}

    /// Does nothing.
    public func socket(_ socket: DelegatedUDPSocket, didNotChangeBecauseOf error: SocketError) {}

    /// Does nothing.
    public func socket(_ socket: DelegatedUDPSocket, didCloseWith error: SocketError?) {}
}
