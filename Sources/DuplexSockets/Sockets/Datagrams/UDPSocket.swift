// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

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
    private var queue: Deque<Datagram> = []
    private var readAhead = 0
    private var receivers: Deque<Receiver> = []
    private var senders: Deque<Sender> = []
    /// What the network has reported, for the next who receives or sends.
    private var report: SocketError?
    /// Why nothing goes any more.
    private var failure: SocketError?
    private var lastID: UInt64 = 0

    /// The datagrams that were received, asked for or not.
    package private(set) var datagramsReceived: UInt64 = 0
    /// The datagrams that the system has taken to be sent.
    package private(set) var datagramsSent: UInt64 = 0
    /// The bytes in the datagrams that were received.
    public private(set) var bytesReceived: UInt64 = 0
    /// The bytes in the datagrams that the system has taken to be sent.
    public private(set) var bytesSent: UInt64 = 0

    /// The turn of the loop in which something last went over without the poller, and how often in it.
    private var lastTurn = Instant(nanoseconds: 0)
    private var callsInTurn = 0
    private static let callsPerTurn = 16

    /// A task that waits for datagrams.
    private struct Receiver {
        var waiter: Waiter<[Datagram]>
        var count: Int
        var timer: TimerID?
    }

    /// A task that waits for room to send.
    private struct Sender {
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
        _ host: LocalHost = .any,
        port: Int = 0,
        families: AddressFamilies = .all,
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
        from host: LocalHost = .any,
        port: Int = 0,
        families: AddressFamilies = .all,
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

    // For tests: nothing else shows from outside that a task has come to its wait, or that the network has reported something.

    var waitingReceives: Int { receivers.count }
    var waitingSends: Int { senders.count }
    var hasReport: Bool { report != nil }

    /// An identity for a wait.
    private func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    private func startTimer(_ timeout: Duration) -> TimerID {
        channel.value.core.schedule(self, at: loop.clock.now().advanced(by: timeout))
    }

    /// Whether this socket hasn't had its share of the loop's turn.
    ///
    /// A task that never has to wait would otherwise keep the loop from all other sockets.
    private func mayCallNow() -> Bool {
        let turn = channel.value.core.now
        if turn != lastTurn {
            lastTurn = turn
            callsInTurn = 0
        }
        callsInTurn += 1
        return callsInTurn <= Self.callsPerTurn
    }

    /// Takes the report of the network, which comes once.
    private func takeReport() throws(SocketError) {
        guard let report = report.take() else { return }
        updateReading()
        throw report
    }

    // MARK: Receiving

    /// Receives a datagram; waits while there is none.
    ///
    /// Receivers are served first come, first served. Cancelling ends the wait at once, and no datagram is lost by it.
    ///
    /// - Parameter timeout: how long to wait at most. Default: no limit.
    /// - Throws: ``SocketError`` with ``SocketError/Code/timedOut`` or ``SocketError/Code/closed``; on a connected
    ///   socket with ``SocketError/Code/cannotConnect`` once for each report that nobody receives at the peer.
    ///   `CancellationError`.
    /// - Returns: the datagram. It may be empty, which doesn't mean an end.
    public func receive(timeout: Duration? = nil) async throws -> Datagram {
        let datagrams = try await receive(upTo: 1, timeout: timeout)
        return datagrams[0]
    }

    /// Receives all datagrams that there are, up to a number, in one system call; waits only while there is none.
    ///
    /// - Parameters:
    ///   - count: the most to take; no more than 64 come at once.
    ///   - timeout: as in ``receive(timeout:)``.
    /// - Throws: as ``receive(timeout:)``.
    /// - Returns: 1 to `count` datagrams.
    public func receive(upTo count: Int, timeout: Duration? = nil) async throws -> [Datagram] {
        try SocketError.check(timeout: timeout)
        if count < 1 { throw SocketError.invalidArgument("At least one datagram is received, and not \(count).") }
        let id = nextID()
        return try await waitOnLoop(id: id) { waiter in
            startReceive(waiter, count, timeout)
        } onCancel: {
            loop.execute { _ in self.assumeIsolated { $0.cancelReceive(id) } }
        }
    }

    private func startReceive(_ waiter: Waiter<[Datagram]>, _ count: Int, _ timeout: Duration?) {
        if let failure { return waiter.resume(throwing: failure) }
        if Task.isCancelled { return waiter.resume(throwing: CancellationError()) }
        receivers.append(Receiver(waiter: waiter, count: count, timer: nil))
        if receivers.count == 1 { serveFirstReceiver(mayCall: mayCallNow()) }
        // Whoever is still there is the last one.
        guard receivers.last?.waiter.id == waiter.id else { return }
        receivers[receivers.count - 1].timer = timeout.map(startTimer)
        channel.value.isReading = true
    }

    /// Gives the first receiver what there is.
    ///
    /// - Parameter mayCall: whether the system may be asked.
    /// - Returns: whether it got something.
    @discardableResult
    private func serveFirstReceiver(mayCall: Bool) -> Bool {
        guard let receiver = receivers.first else { return false }
        if !queue.isEmpty {
            let count = min(receiver.count, queue.count)
            let datagrams = Array(queue.prefix(count))
            queue.removeFirst(count)
            endReceive(at: 0, .success(datagrams))
            updateReading()
            return true
        }
        if let report = report.take() {
            endReceive(at: 0, .failure(report))
            updateReading()
            return true
        }
        guard mayCall else { return false }
        switch channel.value.receive(upTo: receiver.count) {
        case .received(let datagrams):
            note(datagrams)
            endReceive(at: 0, .success(datagrams))
            return true
        case .failed(let code):
            endReceive(at: 0, .failure(SocketError.ofDatagram(remoteAddress, errno: code)))
            return true
        case .wouldBlock:
            return false
        }
    }

    /// Something can be received: gives it to those who wait, and takes what may be read ahead.
    private func serveReceivers() {
        var calls = 0
        while !receivers.isEmpty && calls < Self.callsPerTurn {
            guard serveFirstReceiver(mayCall: true) else { return }
            calls += 1
        }
        if receivers.isEmpty { fillQueue() }
        updateReading()
    }

    private func fillQueue() {
        var calls = 0
        while queue.count < readAhead && report == nil && calls < Self.callsPerTurn {
            switch channel.value.receive(upTo: readAhead - queue.count) {
            case .received(let datagrams):
                note(datagrams)
                queue.append(contentsOf: datagrams)
            case .failed(let code): report = SocketError.ofDatagram(remoteAddress, errno: code)
            case .wouldBlock: return
            }
            calls += 1
        }
    }

    private func note(_ datagrams: [Datagram]) {
        datagramsReceived += UInt64(datagrams.count)
        for datagram in datagrams { bytesReceived += UInt64(datagram.bytes.count) }
    }

    /// Watches for datagrams while somebody waits for them, or they may be read ahead.
    ///
    /// An error that was not reported yet stops reading ahead: the next call could fail the same way, for ever.
    private func updateReading() {
        channel.value.isReading = !receivers.isEmpty || (queue.count < readAhead && report == nil)
    }

    private func endReceive(at index: Int, _ result: Result<[Datagram], any Error>) {
        let receiver = receivers.remove(at: index)
        if let timer = receiver.timer { channel.value.core.cancel(timer) }
        receiver.waiter.resume(with: result)
    }

    private func cancelReceive(_ id: UInt64) {
        guard let index = receivers.firstIndex(where: { $0.waiter.id == id }) else { return }
        endReceive(at: index, .failure(CancellationError()))
        updateReading()
    }

    private func timeOutReceive(_ timer: TimerID) {
        guard let index = receivers.firstIndex(where: { $0.timer == timer }) else { return }
        endReceive(at: index, .failure(SocketError(.timedOut, message: "No datagram came in the time that was given.")))
        updateReading()
    }

    // MARK: One after the other

    /// The datagrams that come, until the socket is closed on this side.
    ///
    /// An iterator takes up to 16 that are there at once and keeps them: what it hasn't given when it is dropped is lost. An
    /// error of ``receive(timeout:)`` ends the loop over it, but not the socket: another one goes on.
    public nonisolated var datagrams: some AsyncSequence<Datagram, any Error> & Sendable {
        Datagrams(socket: self)
    }

    /// The datagrams of a socket.
    struct Datagrams: AsyncSequence, Sendable {
        let socket: UDPSocket

        /// Receives what there is, and gives it one by one.
        struct AsyncIterator: AsyncIteratorProtocol {
            private static let batch = 16
            private let socket: UDPSocket
            private var received: Deque<Datagram> = []

            init(socket: UDPSocket) {
                self.socket = socket
            }

            /// The next datagram; `nil` once the socket is closed on this side.
            mutating func next() async throws -> Datagram? {
                if let first = received.popFirst() { return first }
                do {
                    received = Deque(try await socket.receive(upTo: Self.batch))
                } catch let error as SocketError where error.code == .closed {
                    return nil
                }
                return received.popFirst()
            }
        }

        /// Begins to iterate.
        func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(socket: socket)
        }
    }

    // MARK: Sending

    /// Sends the bytes of an array, or of a slice or another collection, to the peer of a connected socket.
    ///
    /// See ``send(_:timeout:)-(Datagram,_)``.
    @inlinable
    public func send(_ bytes: some Collection<UInt8> & Sendable, timeout: Duration? = nil) async throws {
        try await send(Datagram([UInt8](bytes)), timeout: timeout)
    }

    /// Sends a text as UTF-8 to the peer of a connected socket.
    ///
    /// See ``send(_:timeout:)-(Datagram,_)``.
    public func send(_ text: String, timeout: Duration? = nil) async throws {
        try await send(Datagram(Array(text.utf8)), timeout: timeout)
    }

    /// Sends the bytes of an array, or of a slice or another collection, to an address.
    ///
    /// See ``send(_:timeout:)-(Datagram,_)``.
    @inlinable
    public func send(
        _ bytes: some Collection<UInt8> & Sendable,
        to peer: SocketAddress,
        timeout: Duration? = nil
    ) async throws {
        try await send(Datagram([UInt8](bytes), to: peer), timeout: timeout)
    }

    /// Sends a datagram to a host, whose name is looked up each time; the first address that there is a way to gets it.
    ///
    /// - Parameters:
    ///   - bytes: what to send.
    ///   - endpoint: a host and a port, or an address.
    ///   - resolver: looks the name up. Default: the system.
    ///   - timeout: how long looking the name up, and then waiting for room, may take each. Default: 10 s.
    /// - Throws: as ``send(_:timeout:)-(Datagram,_)``; ``SocketError`` with ``SocketError/Code/unknownHost``.
    /// - Returns: the address that it was sent to, for the next ones.
    @discardableResult
    public func send(
        _ bytes: [UInt8],
        to endpoint: Endpoint,
        resolver: any Resolver = SystemResolver(),
        timeout: Duration = .seconds(10)
    ) async throws -> SocketAddress {
        var failures: [SocketError] = []
        for address in try await DatagramLookup.addresses(of: endpoint, by: resolver, within: timeout, on: loop) {
            do {
                try await send(Datagram(bytes, to: address), timeout: timeout)
                return address
            } catch let error as SocketError where error.code == .cannotConnect || error.errno == EAFNOSUPPORT {
                failures.append(error)
            }
        }
        throw SocketError(.cannotConnect, message: "\(endpoint) can't be reached.", causes: failures)
    }

    /// Sends a datagram; waits while the system has no room for it.
    ///
    /// Senders are served first come, first served. A sent datagram may not arrive. Cancelling ends the wait at once,
    /// and the datagram isn't sent.
    ///
    /// - Parameters:
    ///   - datagram: what to send; 0 to 65,507 bytes over IPv4, 65,527 over IPv6.
    ///   - timeout: how long to wait for room at most. Default: no limit.
    /// - Throws: ``SocketError`` with ``SocketError/Code/limitExceeded`` when it is too large, with
    ///   ``SocketError/Code/cannotConnect`` when there is no way to the peer, or one sent before didn't get there,
    ///   which a connected socket throws once; with ``SocketError/Code/timedOut``, ``SocketError/Code/closed``, or
    ///   ``SocketError/Code/system``. `CancellationError`.
    public func send(_ datagram: Datagram, timeout: Duration? = nil) async throws {
        _ = try await send(batch: [datagram], timeout: timeout)
    }

    /// Sends several datagrams in their order, in as few system calls as they go into.
    ///
    /// An error of the network in the middle of a batch is lost: the system returns only that fewer were sent, and the
    /// rest is sent (sendmmsg(2)). Later datagrams cause the same error again.
    ///
    /// - Parameters:
    ///   - datagrams: what to send; to different peers, if it has to be.
    ///   - timeout: as in ``send(_:timeout:)-(Datagram,_)``, for all of them together.
    /// - Throws: as ``send(_:timeout:)-(Datagram,_)``, if not a single one was sent; `CancellationError` in any case.
    /// - Returns: how many were sent: fewer than all when the next one failed, or when the time was over. Sending the
    ///   rest throws the error.
    public func send(batch datagrams: [Datagram], timeout: Duration? = nil) async throws -> Int {
        try SocketError.check(timeout: timeout)
        if let failure { throw failure }
        try Task.checkCancellation()
        try takeReport()
        var sender = Attempt(rest: datagrams[...])
        if senders.isEmpty && attempt(&sender) { return try sender.result() }
        let id = nextID()
        return try await waitOnLoop(id: id) { waiter in
            startSend(waiter, sender, timeout)
        } onCancel: {
            loop.execute { _ in self.assumeIsolated { $0.cancelSend(id) } }
        }
    }

    /// How far sending some datagrams has come.
    private struct Attempt {
        var rest: ArraySlice<Datagram>
        var sent = 0
        var error: SocketError?

        /// The result, once it is over.
        func result() throws(SocketError) -> Int {
            if let error, sent == 0 { throw error }
            return sent
        }
    }

    /// Sends as much as there is room for now.
    ///
    /// - Returns: whether it is over: all is sent, or something failed.
    private func attempt(_ attempt: inout Attempt) -> Bool {
        while !attempt.rest.isEmpty {
            guard mayCallNow() else { return false }
            switch channel.value.send(attempt.rest) {
            case .transferred(let count):
                let sent = attempt.rest.prefix(count)
                datagramsSent += UInt64(count)
                for datagram in sent { bytesSent += UInt64(datagram.bytes.count) }
                attempt.rest.removeFirst(count)
                attempt.sent += count
            case .wouldBlock: return false
            case .failed(let code):
                attempt.error = SocketError.ofDatagram(attempt.rest.first?.peer ?? remoteAddress, errno: code)
                return true
            }
        }
        return true
    }

    /// Keeps the sender until there is room.
    private func startSend(_ waiter: Waiter<Int>, _ sender: Attempt, _ timeout: Duration?) {
        if let failure { return waiter.resume(throwing: failure) }
        if Task.isCancelled { return waiter.resume(throwing: CancellationError()) }
        senders.append(
            Sender(waiter: waiter, datagrams: sender.rest, sent: sender.sent, timer: timeout.map(startTimer))
        )
        channel.value.isWriting = true
    }

    /// There is room: sends for those who wait, in their order.
    private func serveSenders() {
        while let first = senders.first {
            var sender = Attempt(rest: first.datagrams, sent: first.sent)
            guard attempt(&sender) else {
                senders[0].datagrams = sender.rest
                senders[0].sent = sender.sent
                return
            }
            endSend(at: 0, Result { try sender.result() })
        }
    }

    private func endSend(at index: Int, _ result: Result<Int, any Error>) {
        let sender = senders.remove(at: index)
        if let timer = sender.timer { channel.value.core.cancel(timer) }
        if senders.isEmpty { channel.value.isWriting = false }
        sender.waiter.resume(with: result)
    }

    private func cancelSend(_ id: UInt64) {
        guard let index = senders.firstIndex(where: { $0.waiter.id == id }) else { return }
        endSend(at: index, .failure(CancellationError()))
    }

    private func timeOutSend(_ timer: TimerID) {
        guard let index = senders.firstIndex(where: { $0.timer == timer }) else { return }
        let sent = senders[index].sent
        let error = SocketError(.timedOut, message: "There was no room to send in the time that was given.")
        endSend(at: index, sent > 0 ? .success(sent) : .failure(error))
    }

    // MARK: Groups

    /// Joins a multicast group: what is sent to it, on the port of this socket, is received from here on.
    ///
    /// The socket has to be bound to ``LocalHost/any``, or to the address of the group. An interface leaves its groups when the
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

extension SocketError {
    /// What an error number means for a datagram.
    fileprivate static func ofDatagram(_ peer: SocketAddress?, errno code: Int32) -> SocketError {
        let name = peer.map { "\($0)" } ?? "the peer"
        switch code {
        case ECONNREFUSED:
            return SocketError(.cannotConnect, message: "Nobody receives at \(name).", errno: code)
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN:
            return SocketError(.cannotConnect, message: "There is no way to \(name).", errno: code)
        case EMSGSIZE:
            return SocketError(.limitExceeded, message: "A datagram is too large for \(name).", errno: code)
        case EACCES:
            let message = "A datagram to \(name) isn't allowed; to a broadcast address it has to be switched on."
            return SocketError(.system, message: message, errno: code)
        case EDESTADDRREQ, EISCONN, ENOTCONN:
            let message = "A datagram needs an address, or a connected socket, and never both."
            return SocketError(.invalidAddress, message: message, errno: code)
        default:
            return SocketError(.system, message: "A datagram could not go over to or from \(name).", errno: code)
        }
    }
}
