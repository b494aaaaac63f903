// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule

/// A socket for datagrams over UDP, on the event loop that it lives on.
///
/// An actor whose executor is its loop, as ``Socket`` is. Nothing is received unless somebody asks: what comes in
/// between waits in the system's buffer, and is lost when that is full; see ``DatagramOptions/readAhead``. Receivers
/// and senders are served first come, first served. Datagrams may be lost, arrive twice or in another order: the
/// protocol above has to handle that.
///
/// An error of one datagram is thrown by one call, once, and ends nothing: the socket lives until ``close()``, or until
/// it is dropped.
public actor UDPSocket {
    /// The loop that the socket lives on.
    public nonisolated let loop: EventLoop
    /// The address that it is bound to, with the port that the system chose where 0 was asked for.
    public nonisolated let localAddress: SocketAddress
    /// The connected peer; `nil` without one.
    public nonisolated let remoteAddress: SocketAddress?

    nonisolated let channel: LoopBound<DatagramChannel>
    /// What was received before anybody asked.
    var queue: Deque<Datagram> = []
    var readAhead = 0
    var receivers: Deque<Receiver> = []
    var senders: Deque<Sender> = []
    /// What the network has reported, for the next who receives or sends.
    var report: SocketError?
    /// Why nothing goes any more.
    var failure: SocketError?
    private var lastID: UInt64 = 0

    /// The datagrams that were received, asked for or not.
    public internal(set) var datagramsReceived: UInt64 = 0
    /// The datagrams that the system has taken to be sent.
    public internal(set) var datagramsSent: UInt64 = 0
    /// The bytes in the datagrams that were received.
    public internal(set) var bytesReceived: UInt64 = 0
    /// The bytes in the datagrams that the system has taken to be sent.
    public internal(set) var bytesSent: UInt64 = 0

    /// The turn of the loop in which something last went over without the poller, and how often in it.
    private var lastTurn = Instant(nanoseconds: 0)
    private var callsInTurn = 0
    static let callsPerTurn = 16

    /// A task that waits for datagrams.
    struct Receiver {
        var waiter: Waiter<[Datagram]>
        var count: Int
        var timer: TimerID?
    }

    /// A task that waits for room to send.
    struct Sender {
        var waiter: Waiter<Int>
        var datagrams: ArraySlice<Datagram>
        var sent: Int
        var timer: TimerID?
    }

    private init(
        _ loop: EventLoop,
        _ channel: LoopBound<DatagramChannel>,
        local: SocketAddress,
        remote: SocketAddress?
    ) {
        self.loop = loop
        self.channel = channel
        localAddress = local
        remoteAddress = remote
        channel.value.handler = self
    }

    deinit {
        guard failure == nil else { return }
        let channel = channel
        loop.execute { _ in channel.value.close() }
    }

    /// The loop, which runs what is isolated to this actor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe loop.asUnownedSerialExecutor()
    }

    // MARK: Making one

    /// Binds an address, for datagrams from and to any peer.
    ///
    /// - Parameters:
    ///   - host: which addresses of this machine. Default: all.
    ///   - port: the port, 0 to 65,535. Default: 0, and the system chooses.
    ///   - families: which families. Default: both.
    ///   - sharing: whether others may bind the same. Default: no.
    ///   - options: how to send and receive.
    ///   - group: the loops of which one becomes the socket's.
    /// - Throws: ``SocketError`` with ``SocketError/Code/cannotBind``, ``SocketError/Code/invalidAddress``, or
    ///   ``SocketError/Code/system`` for an option that was refused.
    /// - Returns: the socket.
    public static func bind(
        _ host: Host = .any,
        port: Int = 0,
        families: Families = .both,
        sharing: Sharing = .none,
        options: DatagramOptions = DatagramOptions(),
        on group: EventLoopGroup = .shared
    ) async throws(SocketError) -> UDPSocket {
        let binding = DatagramBinding(host: host, port: port, families: families, sharing: sharing, options: options)
        return try await make(try binding.bind(), remote: nil, options, on: group.next())
    }

    /// Connects to one peer: only its datagrams are received, and the system reports when it can't be reached.
    ///
    /// That sends nothing. Of a host's addresses it uses the first one with a route. Cancelling ends the look-up of a
    /// name at once.
    ///
    /// - Parameters:
    ///   - endpoint: a host and a port, or an address.
    ///   - host: the address of this machine to use. Default: the system's choice.
    ///   - port: the port of this side. Default: the system's choice.
    ///   - families: which families the peer may be of. Default: both.
    ///   - sharing: whether others may bind the same. Default: no.
    ///   - options: how to send and receive.
    ///   - resolver: looks the name up. Default: the system.
    ///   - timeout: how long that may take. Default: 10 s.
    ///   - group: the loops of which one becomes the socket's.
    /// - Throws: ``SocketError``, with one cause for each address that was tried, or `CancellationError`.
    /// - Returns: the socket.
    public static func connect(
        to endpoint: Endpoint,
        from host: Host = .any,
        port: Int = 0,
        families: Families = .both,
        sharing: Sharing = .none,
        options: DatagramOptions = DatagramOptions(),
        resolver: any Resolver = SystemResolver(),
        timeout: Duration = .seconds(10),
        on group: EventLoopGroup = .shared
    ) async throws -> UDPSocket {
        let loop = group.next()
        let binding = DatagramBinding(host: host, port: port, families: families, sharing: sharing, options: options)
        var failures: [SocketError] = []
        for address in try await DatagramLookup.addresses(of: endpoint, by: resolver, within: timeout, on: loop) {
            do {
                return try await make(try binding.connect(to: address), remote: address, options, on: loop)
            } catch {
                failures.append(error)
            }
        }
        if let only = failures.first, failures.count == 1 { throw only }
        throw SocketError(.cannotConnect, message: "\(endpoint) can't be reached.", causes: failures)
    }

    private static func make(
        _ bound: DatagramBinding.Bound,
        remote: SocketAddress?,
        _ options: DatagramOptions,
        on loop: EventLoop
    ) async throws(SocketError) -> UDPSocket {
        let local: SocketAddress
        do throws(SocketError) {
            local = try DatagramCalls.localAddress(of: bound.descriptor)
        } catch {
            SystemCalls.close(bound.descriptor)
            throw error
        }
        return await adopt(bound, local: local, remote: remote, options, on: loop)
    }

    /// Takes over a descriptor whose options are set.
    static func adopt(
        _ bound: DatagramBinding.Bound,
        local: SocketAddress,
        remote: SocketAddress?,
        _ options: DatagramOptions = DatagramOptions(),
        on loop: EventLoop
    ) async -> UDPSocket {
        await loop.make { core in
            let channel = DatagramChannel(
                descriptor: bound.descriptor,
                family: bound.family,
                port: local.port,
                core: core
            )
            let socket = UDPSocket(loop, LoopBound(channel, on: loop.thread), local: local, remote: remote)
            socket.onLoop(loop, options) { $0.take($1) }
            return socket
        }
    }

    // MARK: Options

    /// Sets options; those that are `nil` stay as they are.
    ///
    /// - Parameter options: what to set.
    /// - Throws: ``SocketError`` with ``SocketError/Code/system`` that names the option that was refused, and those before it
    ///   stay set; the reason of the end when the socket has ended.
    public func setOptions(_ options: DatagramOptions) throws(SocketError) {
        try options.apply(to: try openDescriptor(), family: channel.value.family)
        take(options)
    }

    /// How the socket sends and receives, as the system says.
    ///
    /// - Returns: every option that it has; `nil` for what can't be read.
    /// - Throws: ``SocketError``: the reason of the end when the socket has ended.
    public func options() throws(SocketError) -> DatagramOptions {
        var options = try DatagramOptions(of: try openDescriptor(), family: channel.value.family)
        options.maximumSize = channel.value.maximumSize
        options.readAhead = readAhead
        return options
    }

    /// Takes over what isn't the system's.
    private func take(_ options: DatagramOptions) {
        if let size = options.maximumSize {
            channel.value.maximumSize = min(max(1, size), DatagramChannel.largestSize)
        }
        if let count = options.readAhead {
            readAhead = max(0, count)
            updateReading()
        }
    }

    /// Lends the system's descriptor, for options and questions that have no other way.
    ///
    /// > Warning: The descriptor stays the socket's. It must not be closed, made blocking, connected, or kept beyond the call:
    /// > its number may be another socket's by then. What blocks in `body` blocks all sockets of the loop.
    ///
    /// - Parameter body: called on the socket's loop with the descriptor.
    /// - Throws: what `body` throws; ``SocketError`` with the reason of the end when the socket has ended.
    /// - Returns: what `body` returned.
    public func withDescriptor<Value: Sendable>(_ body: @Sendable (Int32) throws -> Value) throws -> Value {
        try body(try openDescriptor())
    }

    private func openDescriptor() throws(SocketError) -> Int32 {
        if let failure { throw failure }
        return channel.value.descriptor
    }

    // MARK: Closing

    /// Closes the socket at once; what ``send(_:timeout:)-(Datagram,_)`` has returned for goes out.
    ///
    /// Tasks that wait for the socket get ``SocketError/Code/closed``, and ``datagrams`` ends. Closing twice is the same as
    /// once.
    public func close() {
        channel.value.close()
        end(SocketError(.closed, message: "The socket was closed on this side."))
    }

    private func end(_ error: SocketError) {
        guard failure == nil else { return }
        failure = error
        queue.removeAll()
        while !receivers.isEmpty { endReceive(at: 0, .failure(error)) }
        while !senders.isEmpty { endSend(at: 0, .failure(error)) }
    }

    // MARK: What both ways share

    /// An identity for a wait.
    func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    func startTimer(_ timeout: Duration) -> TimerID {
        channel.value.core.schedule(self, at: loop.clock.now().advanced(by: timeout))
    }

    /// Whether this socket hasn't had its share of the loop's turn.
    ///
    /// A task that never has to wait would otherwise keep the loop from all other sockets.
    func mayCallNow() -> Bool {
        let turn = channel.value.core.now
        if turn != lastTurn {
            lastTurn = turn
            callsInTurn = 0
        }
        callsInTurn += 1
        return callsInTurn <= Self.callsPerTurn
    }

    /// Takes the report of the network, which comes once.
    func takeReport() throws(SocketError) {
        guard let report = report.take() else { return }
        updateReading()
        throw report
    }
}

// MARK: Callbacks of the loop

extension UDPSocket: DatagramHandler {
    package nonisolated func readable() {
        onLoop(loop) { socket, _ in socket.serveReceivers() }
    }

    package nonisolated func writable() {
        onLoop(loop) { socket, _ in socket.serveSenders() }
    }

    package nonisolated func reported(_ code: Int32) {
        onLoop(loop, code) { socket, code in
            let error = SocketError.ofDatagram(socket.remoteAddress, errno: code)
            if !socket.receivers.isEmpty {
                socket.endReceive(at: 0, .failure(error))
            } else if !socket.senders.isEmpty {
                socket.endSend(at: 0, .failure(error))
            } else {
                socket.report = error
            }
        }
    }

    package nonisolated func ended(_ error: SocketError) {
        onLoop(loop, error) { $0.end($1) }
    }
}

extension UDPSocket: TimerTarget {
    package nonisolated func timerFired(_ timer: TimerID, now: Instant) {
        onLoop(loop, timer) { socket, timer in
            socket.timeOutReceive(timer)
            socket.timeOutSend(timer)
        }
    }
}

extension UDPSocket {
    /// Joins a multicast group: what is sent to it, on the port of this socket, is received from here on.
    ///
    /// The socket has to be bound to ``Host/any``, or to the address of the group. An interface leaves its groups when the
    /// socket closes. A datagram that came to a group has its address as ``Datagram/localAddress``.
    ///
    /// - Parameters:
    ///   - group: the address of the group, such as `239.1.2.3` or `ff15::1234`.
    ///   - source: the only sender to receive from (source-specific, RFC 4607); called again with another, that one,
    ///     too. Default: every sender.
    ///   - interface: the name of the interface to join on. Default: the one that the system's routes name.
    /// - Throws: ``SocketError`` with ``SocketError/Code/invalidAddress``, or with ``SocketError/Code/system`` when the system
    ///   refuses: it is a member already, is in too many groups, or has no route that names an interface.
    public func join(_ group: String, from source: String? = nil, on interface: String? = nil) throws(SocketError) {
        try setMembership(true, group, source, interface)
    }

    /// Leaves a multicast group; the arguments have to be those of ``join(_:from:on:)``.
    ///
    /// - Parameters:
    ///   - group: the address of the group.
    ///   - source: the sender that was joined.
    ///   - interface: the name of the interface that was joined on.
    /// - Throws: as ``join(_:from:on:)``, also when the socket isn't a member.
    public func leave(_ group: String, from source: String? = nil, on interface: String? = nil) throws(SocketError) {
        try setMembership(false, group, source, interface)
    }

    private func setMembership(
        _ joins: Bool,
        _ group: String,
        _ source: String?,
        _ interface: String?
    ) throws(SocketError) {
        let address = try SocketAddress(group, port: 0)
        guard address.isMulticast else {
            throw SocketError(.invalidAddress, message: "\(group) is not the address of a multicast group.")
        }
        if address.isIPv6 && channel.value.family != .ipv6 {
            throw SocketError(.invalidAddress, message: "\(group): the socket is one for IPv4.")
        }
        let sender = try source.map { source throws(SocketError) in try SocketAddress(source, port: 0) }
        if let sender, sender.family != address.family {
            throw SocketError(.invalidAddress, message: "\(group) and \(sender.host) are not of one family.")
        }
        var index = address.scope
        if let interface { index = try NetworkInterface.index(of: interface) }
        let code = DatagramCalls.setMembership(
            try openDescriptor(),
            joins: joins,
            group: address,
            source: sender,
            interface: index
        )
        if code == 0 { return }
        let place = interface.map { " on \($0)" } ?? ""
        let what = joins ? "joined" : "left"
        throw SocketError(.system, message: "The group \(group) could not be \(what)\(place).", errno: code)
    }
}

/// Finds the addresses of where datagrams are to go.
enum DatagramLookup {
    /// The addresses of an endpoint, the most preferred first.
    ///
    /// - Parameters:
    ///   - endpoint: a host and port, or an address.
    ///   - resolver: looks a name up.
    ///   - timeout: how long looking a name up may take.
    ///   - loop: whose timers are used.
    /// - Returns: at least one address.
    /// - Throws: ``SocketError`` or `CancellationError`.
    static func addresses(
        of endpoint: Endpoint,
        by resolver: any Resolver,
        within timeout: Duration,
        on loop: EventLoop
    ) async throws -> [SocketAddress] {
        try SocketError.check([DurationSetting("timeout", timeout)])
        try Task.checkCancellation()
        if case .address(let address) = endpoint.target { return [address] }
        guard case .host(let host, let port) = endpoint.target else {
            throw SocketError(.invalidAddress, message: "No datagrams can go to \(endpoint).")
        }
        guard (1...65_535).contains(port) else {
            throw SocketError(.invalidAddress, message: "\(port) is not a port: ports go from 1 to 65535.")
        }
        if let literal = try? SocketAddress(host, port: port) { return [literal] }
        let resolution = try await LookupDeadline.resolve(resolver, host, within: timeout, on: loop)
        return resolution.addresses.map { address in
            var address = address
            address.port = port
            return address
        }
    }
}
