// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule

/// A connected stream socket, on the event loop that it lives on.
///
/// An actor whose executor is its loop: a task that is isolated to it, such as the handler of a listener, reads and
/// writes without a hop. Reads of several tasks are served first come, first served, and so are writes, which stay whole.
/// A socket that is dropped without ``close()`` is closed with a reset.
public actor Socket {
    /// The loop that the socket lives on.
    public nonisolated let loop: EventLoop
    /// The address of this side; `nil` when the connection was gone before it could be asked.
    public nonisolated let localAddress: SocketAddress?
    /// The address of the peer; `nil` when the connection was gone before it could be asked.
    ///
    /// Where a listener requires the header of a proxy, the client's; see ``proxyHeader``.
    public nonisolated let remoteAddress: SocketAddress?
    /// What a proxy said; `nil` where none is expected.
    nonisolated let proxy: ProxyOrigin?

    /// What happened while the connection was made; `nil` for one that a listener has accepted.
    public nonisolated let timeline: ConnectTimeline?

    /// The name or address that was connected to; `nil` for an accepted socket.
    nonisolated let host: String?
    nonisolated let channel: LoopBound<Channel>
    /// Bytes that have arrived and that no read has taken.
    var input = InputBuffer()
    /// The task of the listener's handler, while it runs.
    var handlerTask = TaskIdentity.none
    /// The reads that wait, the next one to be served first.
    var readers: Deque<Reader> = []
    /// The writes that wait for room.
    var writers: Deque<Writer> = []
    /// The writes that are sent piece by piece; what is written while there are any becomes another.
    var transfers: Deque<Transfer> = []
    /// Whether files go past the channel, which sends bytes as they are.
    var sendsFilesDirectly = true
    var closing = ClosingCondition()
    private var lastID: UInt64 = 0
    /// Whether the peer has finished writing.
    var hasEnded = false
    var hasFinishedWriting = false
    /// Why nothing goes any more.
    var failure: SocketError?
    /// The bytes that have arrived so far, read or not.
    public var bytesReceived: UInt64 { receivedCount }
    /// The bytes that were written so far, sent or not; also those of a write that failed while it waited for room.
    public var bytesWritten: UInt64 { writtenCount }
    // What only this module sees costs no check of its access on the path of every message.
    var receivedCount: UInt64 = 0
    var writtenCount: UInt64 = 0

    /// The turn of the loop in which something was last received without the poller, and how often in it.
    var lastTurn = Instant(nanoseconds: 0)
    var receivesInTurn = 0
    /// How many small pieces may still come until receiving changes; see ``tookPiece(of:)``.
    var smallPiecesLeft = 0
    static let receivesPerTurn = 16

    /// How long ``close()`` lets what was written go out before it resets the connection: 10 seconds.
    static let closeTimeout = Duration.seconds(10)

    /// A task that waits for bytes.
    struct Reader {
        var waiter: Waiter<[UInt8]?>
        var goal: ReadGoal
        var began: Instant
        var timer: TimerID?
        var extend: TimeoutExtension?
        /// How many of the waiting bytes have been searched for the delimiter.
        var searched = 0
        /// Whether it waits for a handshake, which begins when its turn comes, instead of for bytes.
        var securesStream = false
    }

    /// A task that waits for room behind what is written already.
    struct Writer {
        var waiter: Waiter<Void>
        var began: Instant
        var timer: TimerID?
        var extend: TimeoutExtension?
        /// Which bytes of the stream it has written.
        var range: Range<UInt64>
    }

    init(
        loop: EventLoop,
        channel: LoopBound<Channel>,
        remoteAddress: SocketAddress? = nil,
        host: String? = nil,
        timeline: ConnectTimeline? = nil,
        proxy: ProxyOrigin? = nil
    ) {
        self.host = host
        self.proxy = proxy
        self.loop = loop
        self.timeline = timeline
        self.channel = channel
        localAddress = channel.value.localAddress
        self.remoteAddress = remoteAddress ?? channel.value.remoteAddress
        channel.value.handler = self
    }

    deinit {
        guard failure == nil else { return }
        let channel = channel
        loop.execute { _ in channel.value.reset() }
    }

    /// The loop, which runs what is isolated to this actor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe loop.asUnownedSerialExecutor()
    }

    // MARK: Closing

    /// The bytes that are written and not sent yet; those of files, and those that wait after a file, don't count.
    public var queuedBytes: Int {
        channel.value.queuedBytes
    }

    /// Closes the socket: what was written still goes out, for at most 10 seconds; after that the connection is reset.
    ///
    /// What the peer still sends is thrown away, until it ends its side too, or for 2 seconds: closing with bytes unread
    /// would have the system reset the connection, and might take with it what was written last.
    ///
    /// Returns at once. Tasks that wait for the socket get ``SocketError/Code/closed``. Closing twice is the same as once.
    /// While a file is being written, or waits for its turn, closing is the same as ``reset()``.
    public func close() {
        guard failure == nil else { return }
        if transfers.contains(where: \.isFile) {
            return reset(because: "The socket was closed on this side while a file was being written, and so reset.")
        }
        forgetInput()
        queueTransfers()
        end(SocketError(.closed, message: "The socket was closed on this side."))
        channel.value.closeInOrder(within: Self.closeTimeout)
    }

    /// Closes the socket at once with a reset; what was written and not sent yet is dropped.
    public func reset() {
        reset(because: "The socket was reset on this side.")
    }

    func reset(because message: String) {
        forgetInput()
        end(SocketError(.closed, message: message))
        channel.value.reset()
    }

    /// Has reads say from here on that this side has closed, and not what the peer did before.
    private func forgetInput() {
        input.removeAll()
        hasEnded = false
    }

    /// Fails everything that waits, and everything that comes.
    func end(_ error: SocketError) {
        if failure == nil { failure = error }
        serveReaders()
        while !writers.isEmpty { endWrite({ _ in true }, .failure(error)) }
        failTransfers(error)
    }

    /// An identity for a wait.
    func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    func startTimer(_ timeout: Duration) -> TimerID {
        channel.value.core.schedule(self, at: loop.clock.now().advanced(by: timeout))
    }
}

// MARK: Callbacks of the loop

extension Socket: ChannelHandler {
    package nonisolated func received(_ bytes: inout MutableRawSpan) {
        onLoop(loop, &bytes) { $0.take($1.bytes) }
    }

    package nonisolated func inputEnded() {
        onLoop(loop) { socket, _ in
            socket.hasEnded = true
            socket.serveReaders()
        }
    }

    package nonisolated func outputDrained() {
        onLoop(loop) { socket, _ in
            socket.resumeWriters()
        }
    }

    package nonisolated func sendMore() -> TransferResult {
        onLoop(loop) { socket, _ in socket.sendTransfers() }
    }

    package nonisolated func failed(_ error: SocketError) {
        onLoop(loop, error) { $0.end($1) }
    }
}

extension Socket: TimerTarget {
    package nonisolated func timerFired(_ timer: TimerID, now: Instant) {
        onLoop(loop, timer) { socket, timer in
            let error = SocketError(.timedOut, message: "The operation took longer than it was given.")
            socket.timeOutRead(timer, error)
            socket.timeOutWrite(timer, error)
            socket.timeOutTransfer(timer, error)
        }
    }
}

extension Socket {
    /// Connects, with `TCP_NODELAY` set.
    ///
    /// A host that has several addresses is tried at all of them (RFC 8305): the families take turns, a new attempt
    /// begins every 250 ms or as soon as one has failed, the first to answer wins, and the others are closed.
    /// ``timeline`` has what was tried. Cancelling ends it at once and leaves nothing behind.
    ///
    /// A resolver gives the addresses of both families in one answer, so there is no "Resolution Delay" (RFC 8305
    /// section 3): connecting begins when the slower of the two is known.
    ///
    /// - Parameters:
    ///   - endpoint: where to.
    ///   - options: deadlines, addresses that may be used and in which order, local end, resolver.
    ///   - group: the loops of which one becomes the socket's.
    /// - Throws: ``SocketError``, with one cause for each address that was tried and the ``SocketError/timeline`` of it, or
    ///   `CancellationError`.
    /// - Returns: the connected socket.
    public static func connect(
        to endpoint: Endpoint,
        options: ConnectOptions,
        on group: EventLoopGroup = .shared
    ) async throws -> Socket {
        let loop = group.next()
        return try await Connector.connect(to: endpoint, on: loop, options: options) { channel, timeline in
            Socket(loop: loop, channel: channel, host: endpoint.host, timeline: timeline)
        }
    }

    /// Connects with the default options and a deadline for the whole; see ``connect(to:options:on:)``.
    ///
    /// - Parameters:
    ///   - endpoint: where to.
    ///   - timeout: how long looking the name up and connecting may take together. Default: 10 s.
    ///   - group: the loops of which one becomes the socket's.
    /// - Throws: ``SocketError``, with one cause for each address that was tried, or `CancellationError`.
    /// - Returns: the connected socket.
    public static func connect(
        to endpoint: Endpoint,
        timeout: Duration = .seconds(10),
        on group: EventLoopGroup = .shared
    ) async throws -> Socket {
        try await connect(to: endpoint, options: ConnectOptions(timeout: timeout), on: group)
    }

    // MARK: Adopting

    /// Takes over a stream socket that was connected elsewhere: by another library, by the parent process, by
    /// socketpair(2).
    ///
    /// From here on the descriptor is the socket's, which closes it. It becomes non-blocking, also for whoever has a
    /// copy of it, and programs that are started don't inherit it. Its other options stay as they are: `TCP_NODELAY`
    /// isn't set. Bytes that other code received from it before aren't known here; nothing else may go on reading or
    /// writing it.
    ///
    /// - Parameters:
    ///   - descriptor: a connected stream socket, TCP or Unix.
    ///   - group: the loops of which one becomes the socket's.
    /// - Returns: the socket.
    /// - Throws: ``SocketError`` with ``SocketError/Code/cannotConnect`` when it isn't a connected stream socket; the
    ///   descriptor is still the caller's then.
    public static func adopt(
        descriptor: Int32,
        on group: EventLoopGroup = .shared
    ) async throws(SocketError) -> Socket {
        try AdoptedDescriptor.connected(descriptor)
        try AdoptedDescriptor.prepare(descriptor)
        let loop = group.next()
        return await loop.make { core in
            Socket(loop: loop, channel: LoopBound(Channel(descriptor: descriptor, core: core), on: loop.thread))
        }
    }

    // MARK: The handler's task

    /// The identity of the reads of the handler's own task: they are cancelled together, so none needs one of its own.
    static let handlerRead: UInt64 = 0

    /// Runs the handler of a connection.
    ///
    /// That the task is cancelled is heard of once, for all of its reads, instead of by each: to ask for it takes a lock of
    /// the runtime twice for each wait.
    func run(_ handler: @Sendable (isolated Socket) async throws -> Void) async throws {
        handlerTask = .current
        defer { handlerTask = .none }
        try await withTaskCancellationHandler {
            try await handler(self)
        } onCancel: {
            loop.execute { _ in self.assumeIsolated { $0.cancelHandlerReads() } }
        }
    }

    private func cancelHandlerReads() {
        while let index = readers.firstIndex(where: { $0.waiter.id == Self.handlerRead }) {
            endRead(at: index, .failure(CancellationError()))
        }
        serveReaders()
    }

    // MARK: TLS

    /// What TLS has agreed on; `nil` while the connection isn't secured.
    public var tls: TLSConnection? { channel.value.tlsConnection }

    /// Secures the connection as its client: what was written before goes out in the clear, what is written from now on
    /// goes out secured, or not at all.
    ///
    /// Reads that wait already are served first, from what arrives in the clear. What has arrived after that counts as
    /// the beginning of the peer's handshake and never as something that was read: bytes that an attacker has injected
    /// there (CVE-2011-0411) make the handshake fail. Reads that come later wait for its end.
    ///
    /// ```swift
    /// try await socket.write("STARTTLS\r\n")
    /// guard try await socket.readLine()?.hasPrefix("220 ") == true else { … }
    /// try await socket.startTLS()
    /// ```
    ///
    /// Wait for a file that is still being written first. Cancelling resets the connection, as a handshake can't be
    /// resumed.
    ///
    /// - Parameter options: what to trust and what to offer. The handshake has ``TLSOptions/handshakeTimeout`` from
    ///   when its turn comes.
    /// - Throws: ``SocketError`` with ``SocketError/Code/untrustedPeer``, ``SocketError/Code/tls`` or
    ///   ``SocketError/Code/timedOut``, and the connection is closed; `CancellationError`.
    public func startTLS(_ options: TLSOptions = TLSOptions()) async throws {
        try SocketError.check(options.durations)
        let context = try options.context()
        try await startTLS(context, serverName: options.serverName ?? host, options.handshakeTimeout)
    }

    /// Secures the connection as its server; see ``startTLS(_:)-(TLSOptions)``.
    public func startTLS(_ options: TLSServerOptions) async throws {
        try SocketError.check(options.durations)
        let context = try options.context()
        try await startTLS(context, serverName: nil, options.handshakeTimeout)
    }

    private func startTLS(_ context: TLSContext, serverName: String?, _ timeout: Duration) async throws {
        if let failure { throw failure }
        if channel.value.isSecured {
            throw SocketError(.tls, message: "The connection is secured already, or is about to be.")
        }
        if !transfers.isEmpty {
            throw SocketError(.tls, message: "A file is still being written in the clear: wait for its end first.")
        }
        try Task.checkCancellation()
        try channel.value.prepareTLS(context, serverName: serverName, timeout: timeout, loop: loop) { [weak self] in
            self?.handshakeEnded($0)
        }
        let id = nextID()
        _ = try await waitOnLoop(id: id) { waiter in
            waitForHandshake(waiter)
        } onCancel: {
            loop.execute { _ in self.assumeIsolated { $0.cancelHandshake(id) } }
        }
    }

    private func waitForHandshake(_ waiter: Waiter<[UInt8]?>) {
        if Task.isCancelled {
            waiter.resume(throwing: CancellationError())
            reset()
            return
        }
        var reader = Reader(waiter: waiter, goal: .available(upTo: 1), began: channel.value.core.now)
        reader.securesStream = true
        readers.append(reader)
        if readers.count == 1 { serveReaders() }
    }

    /// Begins the handshake that is the first to be served, or finds that it is over.
    ///
    /// - Returns: whether it has to be waited for.
    func beginsHandshake() -> Bool {
        if let failure {
            endFirstRead(.failure(failure))
            return false
        }
        if channel.value.tlsConnection != nil {
            endFirstRead(.success(nil))
            return false
        }
        channel.value.isReading = false
        // It may fail at once, and then nobody waits any more.
        channel.value.startTLS(early: input.takeAll())
        return true
    }

    private nonisolated func handshakeEnded(_ result: Result<TLSConnection, SocketError>) {
        onLoop(loop, result) { socket, result in
            switch result {
            case .success: socket.serveReaders()
            case .failure(let error): socket.end(error)
            }
        }
    }

    private func cancelHandshake(_ id: UInt64) {
        guard let index = readers.firstIndex(where: { $0.waiter.id == id }) else { return }
        endRead(at: index, .failure(CancellationError()))
        reset()
    }

    // MARK: Options

    /// Sets options of the connection; those that are `nil` stay as they are.
    ///
    /// - Parameter options: what to set. ``SocketOptions/fastOpen`` comes too late here.
    /// - Throws: ``SocketError`` with ``SocketError/Code/system`` that names the option that was refused, and those before it
    ///   stay set; the reason of the end when the socket has ended.
    public func setOptions(_ options: SocketOptions) throws(SocketError) {
        try options.apply(to: try openDescriptor(), family: family)
    }

    /// What the system says of the connection.
    ///
    /// - Returns: every option that it has; `nil` for what sockets of its kind don't have.
    /// - Throws: ``SocketError``: the reason of the end when the socket has ended.
    public func options() throws(SocketError) -> SocketOptions {
        try SocketOptions(of: try openDescriptor(), family: family)
    }

    /// Lends the system's descriptor, for options and questions that have no other way.
    ///
    /// > Warning: The descriptor stays the socket's. It must not be closed, made blocking, read from, written to, or kept
    /// > beyond the call: its number may be another socket's by then. What blocks in `body` blocks all sockets of the loop.
    ///
    /// - Parameter body: called on the socket's loop with the descriptor.
    /// - Throws: what `body` throws; ``SocketError`` with the reason of the end when the socket has ended.
    /// - Returns: what `body` returned.
    public func withDescriptor<Value: Sendable>(_ body: @Sendable (Int32) throws -> Value) throws -> Value {
        try body(try openDescriptor())
    }

    private var family: AddressFamily { localAddress?.family ?? .ipv4 }

    private func openDescriptor() throws(SocketError) -> Int32 {
        if let failure { throw failure }
        guard channel.value.isOpen else { throw SocketError(.closed, message: "The socket is closed.") }
        let descriptor = channel.value.descriptor
        if descriptor < 0 {
            throw SocketError(.system, message: "A connection within the process has no descriptor.")
        }
        return descriptor
    }

    // MARK: The peer

    /// Which process is at the other end of a Unix socket: its number, user and group.
    ///
    /// `nil` for other sockets, for a connection in memory, and once the socket is closed. A system call each time.
    ///
    /// ```swift
    /// guard socket.peerCredentials?.userID == getuid() else { return socket.reset() }
    /// ```
    public var peerCredentials: PeerCredentials? { channel.value.peerCredentials }

    /// The proxy's header for a connection that it forwards; `nil` where no header is expected (``ProxyProtocol/off``).
    ///
    /// ``remoteAddress`` is the client's then, if the proxy sent it, and otherwise the proxy's.
    public nonisolated var proxyHeader: ProxyHeader? { proxy?.header }

    /// The address of the proxy that the connection comes through; `nil` where no header is expected, and for a Unix socket
    /// without a name.
    public nonisolated var proxyAddress: SocketAddress? { proxy?.address }

    // MARK: Closing when done

    /// What is waited for before the socket closes.
    struct ClosingCondition {
        var reads = false
        var writes = false
    }

    /// Closes the socket, as ``close()`` does, once no read waits any more; at once if none does.
    ///
    /// Reads and writes that are begun from here on fail with ``SocketError/Code/closed``. The reads that wait are served to
    /// the end, however long that takes: their time-outs still hold. Writes that still wait then fail, but what they wrote
    /// goes out; if there is a file among them, the connection is reset. Returns at once. Together with
    /// ``closeAfterWriting()``, both are waited for.
    public func closeAfterReading() {
        closing.reads = true
        closeIfDone()
    }

    /// Closes the socket, as ``close()`` does, once no write waits any more, files among them; at once if none does.
    ///
    /// Reads and writes that are begun from here on fail with ``SocketError/Code/closed``. The writes that wait are done to
    /// the end, however long that takes: their time-outs still hold. What is written and only waits to be sent has the 10
    /// seconds that ``close()`` gives it. Reads that still wait then fail. Returns at once.
    public func closeAfterWriting() {
        closing.writes = true
        closeIfDone()
    }

    /// Closes the socket once neither a read nor a write waits any more; see ``closeAfterReading()`` and
    /// ``closeAfterWriting()``.
    public func closeAfterReadingAndWriting() {
        closing = ClosingCondition(reads: true, writes: true)
        closeIfDone()
    }

    /// Whether no new reads and writes are taken.
    var isClosing: Bool { closing.reads || closing.writes }

    /// What reads and writes get from then on.
    var closingRefusal: SocketError {
        SocketError(.closed, message: "The socket takes nothing new: it closes once what was begun is done.")
    }

    func closeIfDone() {
        guard isClosing, failure == nil else { return }
        if closing.reads && !readers.isEmpty { return }
        if closing.writes && !(writers.isEmpty && transfers.isEmpty) { return }
        close()
    }
}
