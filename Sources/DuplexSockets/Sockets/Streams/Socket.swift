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
    /// Where a listener requires the header of a proxy, the client's; see ``proxyAddress``.
    public nonisolated let remoteAddress: SocketAddress?
    /// What a proxy said; `nil` where none is expected.
    private nonisolated let proxy: ProxyOrigin?

    /// What happened while the connection was made; `nil` for one that a listener has accepted.
    public nonisolated let timeline: ConnectTimeline?

    /// The name or address that was connected to; `nil` for an accepted socket.
    private nonisolated let host: String?
    nonisolated let channel: LoopBound<Channel>
    /// Bytes that have arrived and that no read has taken.
    private var input = InputBuffer()
    /// The task of the listener's handler, while it runs.
    private var handlerTask = TaskIdentity.none
    /// The reads that wait, the next one to be served first.
    private var readers: Deque<Reader> = []
    /// The writes that wait for room.
    private var writers: Deque<Writer> = []
    /// The writes that are sent piece by piece; what is written while there are any becomes another.
    private var transfers: Deque<Transfer> = []
    /// Whether files go past the channel, which sends bytes as they are.
    private var sendsFilesDirectly = true
    private var closing = ClosingCondition()
    private var lastID: UInt64 = 0
    /// Whether the peer has finished writing.
    private var hasEnded = false
    private var hasFinishedWriting = false
    /// Why nothing goes any more.
    private var failure: SocketError?
    /// The bytes that have arrived so far, read or not.
    public var bytesReceived: UInt64 { receivedCount }
    /// The bytes that were written so far, sent or not; also those of a write that failed while it waited for room.
    public var bytesSent: UInt64 { writtenCount }
    // What only this module sees costs no check of its access on the path of every message.
    private var receivedCount: UInt64 = 0
    private var writtenCount: UInt64 = 0

    /// The turn of the loop in which something was last received without the poller, and how often in it.
    private var lastTurn = Instant(nanoseconds: 0)
    private var receivesInTurn = 0
    /// How many small pieces may still come until receiving changes; see ``tookPiece(of:)``.
    private var smallPiecesLeft = 0
    private static let receivesPerTurn = 16

    /// How long ``close()`` lets what was written go out before it resets the connection: 10 seconds.
    private static let closeTimeout = Duration.seconds(10)

    /// A task that waits for bytes.
    private struct Reader {
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
    private struct Writer {
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

    private func reset(because message: String) {
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
    private func end(_ error: SocketError) {
        if failure == nil { failure = error }
        serveReaders()
        while !writers.isEmpty { endWrite({ _ in true }, .failure(error)) }
        failTransfers(error)
    }

    // For tests: nothing else shows from outside that a task has come to its wait.

    var waitingReads: Int { readers.count }
    var waitingWrites: Int { writers.count }

    /// An identity for a wait.
    private func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    private func startTimer(_ timeout: Duration) -> TimerID {
        channel.value.core.schedule(self, at: loop.clock.now().advanced(by: timeout))
    }

    // MARK: Connecting

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
    ///   - timeout: how long looking the name up and connecting may take together. Default: that of the options, 10 s.
    ///   - options: deadlines, addresses that may be used and in which order, local end, resolver.
    ///   - group: the loops of which one becomes the socket's.
    /// - Throws: ``SocketError``, with one cause for each address that was tried and the ``SocketError/timeline`` of it, or
    ///   `CancellationError`.
    /// - Returns: the connected socket.
    public static func connect(
        to endpoint: Endpoint,
        timeout: Duration? = nil,
        options: ConnectOptions = ConnectOptions(),
        on group: EventLoopGroup = .shared
    ) async throws -> Socket {
        let loop = group.next()
        var chosen = options
        if let timeout { chosen.timeout = timeout }
        return try await Connector.connect(to: endpoint, on: loop, options: chosen) { channel, timeline in
            Socket(loop: loop, channel: channel, host: endpoint.host, timeline: timeline)
        }
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
    private static let handlerRead: UInt64 = 0

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
    public var tls: TLSInfo? { channel.value.tlsConnection }

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
    private func beginsHandshake() -> Bool {
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

    private nonisolated func handshakeEnded(_ result: Result<TLSInfo, SocketError>) {
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
    package nonisolated var proxyHeader: ProxyHeader? { proxy?.header }

    /// The address of the proxy that the connection comes through; `nil` where no header is expected, and for a Unix socket
    /// without a name.
    public nonisolated var proxyAddress: SocketAddress? { proxy?.address }

    // MARK: Closing when done

    /// What is waited for before the socket closes.
    private struct ClosingCondition {
        var reads = false
        var writes = false
    }

    /// Closes the socket, as ``close()`` does, once no read waits any more; at once if none does.
    ///
    /// Reads and writes that are begun from here on fail with ``SocketError/Code/closed``. The reads that wait are served to
    /// the end, however long that takes: their time-outs still hold. Writes that still wait then fail, but what they wrote
    /// goes out; if there is a file among them, the connection is reset. Returns at once. Together with
    /// `closeAfterWriting()`, both are waited for.
    package func closeAfterReading() {
        closing.reads = true
        closeIfDone()
    }

    /// Closes the socket, as ``close()`` does, once no write waits any more, files among them; at once if none does.
    ///
    /// Reads and writes that are begun from here on fail with ``SocketError/Code/closed``. The writes that wait are done to
    /// the end, however long that takes: their time-outs still hold. What is written and only waits to be sent has the 10
    /// seconds that ``close()`` gives it. Reads that still wait then fail. Returns at once.
    package func closeAfterWriting() {
        closing.writes = true
        closeIfDone()
    }

    /// Closes the socket once neither a read nor a write waits any more; see `closeAfterReading()` and
    /// `closeAfterWriting()`.
    package func closeAfterReadingAndWriting() {
        closing = ClosingCondition(reads: true, writes: true)
        closeIfDone()
    }

    /// Whether no new reads and writes are taken.
    private var isClosing: Bool { closing.reads || closing.writes }

    /// What reads and writes get from then on.
    private var closingRefusal: SocketError {
        SocketError(.closed, message: "The socket takes nothing new: it closes once what was begun is done.")
    }

    private func closeIfDone() {
        guard isClosing, failure == nil else { return }
        if closing.reads && !readers.isEmpty { return }
        if closing.writes && !(writers.isEmpty && transfers.isEmpty) { return }
        close()
    }

    // MARK: Reading

    // From the channel to the reads that wait: each is served in its turn, as soon as what it asks for is there.

    /// Reads what there is, and waits only while there is nothing.
    ///
    /// Reads of several tasks are served first come, first served. Cancelling ends the wait at once; the connection
    /// stays open and no byte is lost. The same holds for every read.
    ///
    /// - Parameters:
    ///   - count: the most bytes to take. Default: 64 KiB.
    ///   - timeout: how long to wait at most. Default: no limit. A read that times out fails alone, and what had
    ///     arrived for it stays for the next one.
    ///   - extend: asked when the time is over, and may give more.
    /// - Returns: 1 to `count` bytes, or `nil` once the peer has finished writing.
    /// - Throws: ``SocketError`` with ``SocketError/Code/timedOut``, ``SocketError/Code/connectionReset`` or
    ///   ``SocketError/Code/closed``; `CancellationError`.
    public nonisolated func read(
        upTo count: Int = 65_536,
        timeout: Duration? = nil,
        extend: TimeoutExtension? = nil
    ) async throws -> [UInt8]? {
        try ReadGoal.available(upTo: count).check()
        return try await read(.available(upTo: count), timeout, extend)
    }

    /// Reads that many bytes.
    ///
    /// - Parameters:
    ///   - count: how many; 0 gives none at once.
    ///   - timeout: as in ``read(upTo:timeout:extend:)``.
    ///   - extend: as in ``read(upTo:timeout:extend:)``.
    /// - Returns: `count` bytes.
    /// - Throws: ``SocketError`` with ``SocketError/Code/endOfStream`` when the peer finishes before, and what it sent
    ///   stays for the next read; otherwise as ``read(upTo:timeout:extend:)``.
    public nonisolated func read(
        exactly count: Int,
        timeout: Duration? = nil,
        extend: TimeoutExtension? = nil
    ) async throws -> [UInt8] {
        try ReadGoal.exactly(count).check()
        // A length of zero from the wire asks for nothing, and nothing has to come for it.
        if count == 0 { return [] }
        if let bytes = try await read(.exactly(count), timeout, extend) { return bytes }
        throw SocketError(.endOfStream, message: "The stream ended after 0 of \(count) bytes.")
    }

    /// Reads up to a delimiter, such as the empty line after a head.
    ///
    /// - Parameters:
    ///   - delimiter: one byte or more.
    ///   - limit: the most bytes to take, the delimiter among them. Default: 64 KiB.
    ///   - timeout: as in ``read(upTo:timeout:extend:)``.
    ///   - extend: as in ``read(upTo:timeout:extend:)``.
    /// - Returns: the bytes with the delimiter, or `nil` once the peer has finished writing and nothing is left.
    /// - Throws: ``SocketError`` with ``SocketError/Code/limitExceeded``, or ``SocketError/Code/endOfStream`` when the peer
    ///   finishes without a delimiter, and what it sent stays for the next read; otherwise as
    ///   ``read(upTo:timeout:extend:)``.
    public nonisolated func read(
        until delimiter: [UInt8],
        limit: ByteCount = .kibibytes(64),
        timeout: Duration? = nil,
        extend: TimeoutExtension? = nil
    ) async throws -> [UInt8]? {
        try ReadGoal.until(delimiter, limit: limit.bytes).check()
        return try await read(.until(delimiter, limit: limit.bytes), timeout, extend)
    }

    /// Reads up to a delimiter; see ``read(until:limit:timeout:extend:)-([UInt8],_,_,_)``.
    public nonisolated func read(
        until delimiter: String,
        limit: ByteCount = .kibibytes(64),
        timeout: Duration? = nil,
        extend: TimeoutExtension? = nil
    ) async throws -> [UInt8]? {
        try await read(until: Array(delimiter.utf8), limit: limit, timeout: timeout, extend: extend)
    }

    /// Reads a line of text: up to LF or CR LF, or what is left at the end of the stream.
    ///
    /// - Parameters:
    ///   - limit: the most bytes to take, the line end among them. Default: 64 KiB.
    ///   - timeout: as in ``read(upTo:timeout:extend:)``.
    ///   - extend: as in ``read(upTo:timeout:extend:)``.
    /// - Returns: the line without its end, or `nil` once the peer has finished writing and nothing is left.
    /// - Throws: ``SocketError`` with ``SocketError/Code/limitExceeded``, and what came stays for the next read; with
    ///   ``SocketError/Code/invalidUTF8``, and the line is gone; otherwise as ``read(upTo:timeout:extend:)``.
    public nonisolated func readLine(
        limit: ByteCount = .kibibytes(64),
        timeout: Duration? = nil,
        extend: TimeoutExtension? = nil
    ) async throws -> String? {
        try ReadGoal.line(limit: limit.bytes).check()
        guard let bytes = try await read(.line(limit: limit.bytes), timeout, extend) else { return nil }
        guard let line = String(validating: bytes, as: UTF8.self) else {
            throw SocketError(.invalidUTF8, message: "A line of \(bytes.count) bytes isn't UTF-8.")
        }
        return line
    }

    /// Looks at what arrives next and leaves it for the reads that follow.
    ///
    /// - Parameters:
    ///   - count: how many bytes to wait for.
    ///   - timeout: as in ``read(upTo:timeout:extend:)``.
    /// - Returns: `count` bytes, fewer only where the stream ends; `nil` at its end.
    /// - Throws: as ``read(upTo:timeout:extend:)``.
    public nonisolated func peek(_ count: Int, timeout: Duration? = nil) async throws -> [UInt8]? {
        try ReadGoal.peek(count).check()
        return try await read(.peek(count), timeout, nil)
    }

    /// Waits until something has arrived, and leaves it for the reads that follow, which get all that has.
    ///
    /// - Returns: whether something has; not once the peer has finished writing.
    package nonisolated func waitForInput() async throws -> Bool {
        try await read(.arrival, nil, nil) != nil
    }

    /// Reads what there is into memory of the caller's, and waits only while there is nothing.
    ///
    /// A copy more than ``read(upTo:timeout:extend:)`` takes: other reads may come between the wait and its end, so what a
    /// read gets is taken out for it first.
    ///
    /// - Parameters:
    ///   - output: appended to, as far as it has room, and 64 KiB at most.
    ///   - timeout: as in ``read(upTo:timeout:extend:)``.
    /// - Returns: how many bytes were appended; 0 once the peer has finished writing.
    /// - Throws: as ``read(upTo:timeout:extend:)``.
    public func read(into output: inout OutputRawSpan, timeout: Duration? = nil) async throws -> Int {
        if output.freeCapacity == 0 { throw SocketError.invalidArgument("There is no room to read into.") }
        let count = min(output.freeCapacity, 65_536)
        guard let bytes = try await read(upTo: count, timeout: timeout) else { return 0 }
        output.append(bytes.span.raw)
        return bytes.count
    }

    // MARK: Waiting for bytes

    /// Part of the functions that call it, and isolated as their caller is: code that is isolated to this socket comes here
    /// without a hop and goes back without one, each of which takes a lock of the runtime.
    ///
    /// To be on the loop's thread isn't enough: a task without an actor may be there by chance, and is moved elsewhere before
    /// it waits.
    @inline(__always)
    private nonisolated func read(
        _ goal: ReadGoal,
        _ timeout: Duration?,
        _ extend: TimeoutExtension?
    ) async throws -> [UInt8]? {
        try SocketError.check(timeout: timeout)
        guard isSelf(#isolation) else { return try await readFromElsewhere(goal, timeout, extend) }
        let wait: UInt64
        switch try onLoop(loop, goal, { try $0.begin($1) }) {
        case .taken(let bytes): return bytes
        case .waits(Self.handlerRead):
            // Resumed once, as every ``Waiter`` is.
            return try unsafe await withUnsafeThrowingContinuation(isolation: #isolation) { continuation in
                let waiter = unsafe Waiter<[UInt8]?>(id: Self.handlerRead, continuation)
                onLoop(loop, (waiter, goal, timeout, extend)) { $0.startRead($1.0, $1.1, $1.2, $1.3) }
            }
        case .waits(let id): wait = id
        }
        return try await waitOnLoop(id: wait) { waiter in
            onLoop(loop, (waiter, goal, timeout, extend)) { $0.startRead($1.0, $1.1, $1.2, $1.3) }
        } onCancel: {
            loop.execute { _ in self.assumeIsolated { $0.cancelRead(wait) } }
        }
    }

    /// A function that isn't inlined: Swift 6.3.1 can't optimise the comparison where it would stand.
    @inline(never)
    private nonisolated func isSelf(_ actor: (any Actor)?) -> Bool {
        actor === self
    }

    private func readFromElsewhere(
        _ goal: ReadGoal,
        _ timeout: Duration?,
        _ extend: TimeoutExtension?
    ) async throws -> [UInt8]? {
        try await read(goal, timeout, extend)
    }

    /// What a read has come to before it waits.
    private enum Beginning {
        case taken([UInt8])
        /// The identity of the wait.
        case waits(UInt64)
    }

    /// Takes what the goal asks for, where that waits already and for no other read.
    private func begin(_ goal: ReadGoal) throws -> Beginning {
        if readers.isEmpty, !input.isEmpty, !isClosing {
            try Task.checkCancellation()
            var searched = 0
            let outcome = input.take(goal, hasEnded: hasEnded, searched: &searched)
            if case .bytes(let bytes) = outcome { return .taken(bytes) }
        }
        return .waits(handlerTask.isCurrent ? Self.handlerRead : nextID())
    }

    private func startRead(
        _ waiter: Waiter<[UInt8]?>,
        _ goal: ReadGoal,
        _ timeout: Duration?,
        _ extend: TimeoutExtension?
    ) {
        if Task.isCancelled {
            waiter.resume(throwing: CancellationError())
            return
        }
        if isClosing && failure == nil {
            waiter.resume(throwing: closingRefusal)
            return
        }
        let reader = Reader(
            waiter: waiter,
            goal: goal,
            began: channel.value.core.now,
            timer: timeout.map(startTimer),
            extend: extend
        )
        let isFirst = readers.isEmpty
        readers.append(reader)
        guard isFirst else { return }
        let mayHaveMore = channel.value.mayHaveMore
        // Most find nothing, and nothing but bytes to wait for.
        if input.isEmpty && !hasEnded && failure == nil { receive(for: goal) } else { serveReaders() }
        // What has arrived already is taken without waiting for the poller, but not for ever: a peer that sends as fast as
        // a task reads would otherwise have the loop for itself.
        if !readers.isEmpty && mayHaveMore && mayReceiveNow() { _ = channel.value.receiveNow() }
    }

    /// Whether this socket hasn't had its share of the loop's turn.
    private func mayReceiveNow() -> Bool {
        let turn = channel.value.core.now
        if turn != lastTurn {
            lastTurn = turn
            receivesInTurn = 0
        }
        receivesInTurn += 1
        return receivesInTurn <= Self.receivesPerTurn
    }

    /// Takes what has arrived.
    private func take(_ bytes: RawSpan) {
        receivedCount += UInt64(bytes.byteCount)
        if case .available = readers.first?.goal, input.isEmpty {
            // The whole of it, which was limited to what was asked for: it needs no place in between.
            endFirstRead(.success([UInt8](copying: bytes)))
            tookPiece(of: bytes.byteCount)
        } else {
            input.append(bytes)
        }
        serveReaders()
    }

    /// Ends the reads whose goals are reached, in their order, and receives for the next.
    private func serveReaders() {
        while !readers.isEmpty {
            if readers[0].securesStream {
                if beginsHandshake() { return }
                continue
            }
            let outcome = input.take(readers[0].goal, hasEnded: hasEnded, searched: &readers[0].searched)
            switch outcome {
            case .bytes(let bytes): endFirstRead(.success(bytes))
            case .end: endFirstRead(.success(nil))
            case .failed(let code, let message): endFirstRead(.failure(SocketError(code, message: message)))
            case nil:
                guard let failure else { return receive(for: readers[0].goal) }
                endFirstRead(.failure(failure))
            }
        }
        channel.value.isReading = false
        closeIfDone()
    }

    private func receive(for goal: ReadGoal) {
        channel.value.limitReceive(to: input.missing(for: goal))
        channel.value.isReading = true
    }

    private func endFirstRead(_ result: sending Result<[UInt8]?, any Error>) {
        end(readers.removeFirst(), result)
    }

    private func endRead(at index: Int, _ result: sending Result<[UInt8]?, any Error>) {
        end(readers.remove(at: index), result)
    }

    private func end(_ reader: Reader, _ result: sending Result<[UInt8]?, any Error>) {
        if let timer = reader.timer { channel.value.core.cancel(timer) }
        reader.waiter.resume(with: result)
    }

    private func cancelRead(_ id: UInt64) {
        guard let index = readers.firstIndex(where: { $0.waiter.id == id }) else { return }
        endRead(at: index, .failure(CancellationError()))
        serveReaders()
    }

    /// Fails the read that has that timer, unless it is given more time.
    private func timeOutRead(_ timer: TimerID, _ error: SocketError) {
        guard let waiting = readers.firstIndex(where: { $0.timer == timer }) else { return }
        let elapsed = readers[waiting].began.duration(to: channel.value.core.now)
        let more = readers[waiting].extend?(elapsed, waiting == 0 ? input.count : 0)
        // Looked for anew, as the closure may have closed the socket.
        guard let index = readers.firstIndex(where: { $0.timer == timer }) else { return }
        if let more, more > .zero {
            readers[index].timer = startTimer(more)
            return
        }
        readers[index].timer = nil
        endRead(at: index, .failure(error))
        serveReaders()
    }

    // MARK: Lines and bytes

    /// The lines of text that arrive, without their ends, of at most 64 KiB each; see
    /// ``readLine(limit:timeout:extend:)``.
    ///
    /// Ends once the peer has finished writing. What follows the last line that was taken stays for other reads.
    public nonisolated var lines: some AsyncSequence<String, any Error> & Sendable {
        Lines(socket: self)
    }

    /// The bytes that arrive, one by one; ends once the peer has finished writing.
    ///
    /// An iterator takes up to 64 KiB at once and keeps them: what it hasn't given when it is dropped is lost. To go on
    /// with another kind of read, use ``read(upTo:timeout:extend:)`` in the first place.
    public nonisolated var bytes: Bytes {
        Bytes(socket: self)
    }

    /// The lines of a stream.
    struct Lines: AsyncSequence, Sendable {
        let socket: Socket

        /// Reads one line after the other.
        struct AsyncIterator: AsyncIteratorProtocol {
            let socket: Socket

            /// The next line; `nil` once the peer has finished writing and nothing is left.
            mutating func next() async throws -> String? {
                try await socket.readLine()
            }
        }

        /// Begins to iterate.
        func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(socket: socket)
        }
    }

    /// The bytes of a stream.
    public struct Bytes: AsyncSequence, Sendable {
        let socket: Socket

        /// Reads a piece of the stream at a time, and gives it byte by byte.
        public struct AsyncIterator: AsyncIteratorProtocol {
            let socket: Socket
            private var piece: [UInt8] = []
            private var position = 0

            init(socket: Socket) {
                self.socket = socket
            }

            /// The next byte; `nil` once the peer has finished writing.
            public mutating func next() async throws -> UInt8? {
                if position == piece.count {
                    guard let more = try await socket.read() else { return nil }
                    piece = more
                    position = 0
                }
                defer { position += 1 }
                return piece[position]
            }
        }

        /// Begins to iterate.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(socket: socket)
        }
    }

    // MARK: Large pieces

    /// From this size on a piece is received where its reader gets it.
    ///
    /// Smaller ones go through the loop's buffer: an array has to be as large as what might come.
    private static let ownReceiveSize = 32 * 1_024
    /// How many small pieces may come behind a large one before receiving changes: those that large ones are cut into don't
    /// change it.
    private static let patience = 16

    /// Chooses where the next piece is received, by those that came.
    private func tookPiece(of count: Int) {
        if count >= Self.ownReceiveSize {
            smallPiecesLeft = Self.patience
        } else if smallPiecesLeft > 0 {
            smallPiecesLeft -= 1
        } else {
            return
        }
        channel.value.handlerReceives = smallPiecesLeft > 0 && !channel.value.isSecured
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

    // MARK: Writing

    // From the app to the channel, and the writes that wait for room.

    /// Bytes from this size on are sent from where they lie, and only what the socket doesn't take is copied.
    private static let directSize = 16 * 1_024

    /// Writes bytes, after those of earlier calls and never mixed with them.
    ///
    /// Returns once the bytes are sent or wait behind less than the high-water mark (default: 64 KiB): a slow peer
    /// slows the writer down. Cancelling or timing out ends the wait; the bytes are still sent. After a file, it waits
    /// for the file. Even for a fast peer it waits a moment every 1 MiB, so that others on the loop have their turn.
    ///
    /// - Parameters:
    ///   - bytes: what to write: an array, or a slice or another collection, which is copied before.
    ///   - timeout: how long to wait for room at most. Default: no limit.
    ///   - extend: asked when the time is over, and may give more.
    /// - Throws: ``SocketError`` with ``SocketError/Code/timedOut``, ``SocketError/Code/connectionReset`` or
    ///   ``SocketError/Code/closed``; `CancellationError`.
    @inlinable
    @inline(__always)
    public nonisolated func write(
        _ bytes: some Collection<UInt8> & Sendable,
        timeout: Duration? = nil,
        extend: TimeoutExtension? = nil
    ) async throws {
        try await write(array: [UInt8](bytes), timeout: timeout, extend: extend)
    }

    /// Writes bytes, as the public function does.
    @usableFromInline
    nonisolated func write(array bytes: [UInt8], timeout: Duration?, extend: TimeoutExtension?) async throws {
        try SocketError.check(timeout: timeout)
        // A task on the loop comes and goes without a hop, each of which takes a lock of the runtime.
        let placed = loop.isCurrent ? try onLoop(loop, bytes, { try $0.place($1) }) : try await place(bytes)
        switch placed {
        case .done: return
        case .waits(let range): try await waitForRoom(range, timeout, extend)
        case .hasToQueue: _ = try await transfer(.bytes([bytes]), timeout, extend, nil)
        }
    }

    /// The result of writing bytes at once.
    private enum Placement {
        case done
        /// They wait above the high-water mark, and are these of the stream.
        case waits(Range<UInt64>)
        /// Nothing was written yet: transfers are under way.
        case hasToQueue
    }

    /// Most find room: without an array around them, and without a wait.
    private func place(_ bytes: [UInt8]) throws -> Placement {
        try checkWriting()
        guard transfers.isEmpty else { return .hasToQueue }
        let start = writtenCount
        put(bytes.span.raw)
        try checkSent(since: start)
        return channel.value.isAboveHighWaterMark ? .waits(start..<writtenCount) : .done
    }

    /// Checks that the system has taken what was just written, or the channel holds it: what a send has failed with counts
    /// for nothing.
    @inline(__always)
    private func checkSent(since start: UInt64) throws(SocketError) {
        if let error = channel.value.sendError {
            writtenCount = start
            throw error
        }
    }

    /// Writes a text as UTF-8; see `write(_:timeout:extend:)`.
    public nonisolated func write(
        _ text: String,
        timeout: Duration? = nil,
        extend: TimeoutExtension? = nil
    ) async throws {
        try await write(array: Array(text.utf8), timeout: timeout, extend: extend)
    }

    /// Writes several pieces as one: nothing comes between them, and they go out in one system call as far as they fit into one
    /// and the socket takes them.
    ///
    /// Up to 64 places go into one call (sendmsg(2)); pieces of less than 2 KiB that follow each other are put together into one.
    /// Pieces of less than 16 KiB together are copied and go out with what else is written in that turn of the loop.
    /// See `write(_:timeout:extend:)`.
    public func write(
        _ pieces: [[UInt8]],
        timeout: Duration? = nil,
        extend: TimeoutExtension? = nil
    ) async throws {
        try SocketError.check(timeout: timeout)
        try checkWriting()
        if !transfers.isEmpty {
            _ = try await transfer(.bytes(pieces), timeout, extend, nil)
            return
        }
        let start = writtenCount
        put(pieces)
        try checkSent(since: start)
        if channel.value.isAboveHighWaterMark { try await waitForRoom(start..<writtenCount, timeout, extend) }
    }

    private func waitForRoom(
        _ range: Range<UInt64>,
        _ timeout: Duration?,
        _ extend: TimeoutExtension?
    ) async throws {
        let id = nextID()
        try await waitOnLoop(id: id) { waiter in
            waitForRoom(waiter, range, timeout, extend)
        } onCancel: {
            loop.execute { _ in
                self.assumeIsolated { $0.endWrite({ $0.waiter.id == id }, .failure(CancellationError())) }
            }
        }
    }

    /// - Throws: why nothing can be written; `CancellationError` for a task that is cancelled.
    private func checkWriting() throws {
        if let refusal = writingRefusal { throw refusal }
        try Task.checkCancellation()
    }

    /// Why nothing can be written; `nil` when something can.
    private var writingRefusal: SocketError? {
        if let failure { return failure }
        if isClosing { return closingRefusal }
        if hasFinishedWriting { return SocketError(.closed, message: "This side has finished writing.") }
        return channel.value.sendError
    }

    private func put(_ bytes: RawSpan) {
        writtenCount += UInt64(bytes.byteCount)
        if bytes.byteCount >= Self.directSize {
            channel.value.writeNow(bytes)
        } else {
            channel.value.write(bytes)
        }
    }

    private func put(_ pieces: [[UInt8]]) {
        let count = pieces.reduce(0) { $0 + $1.count }
        if count < Self.directSize || pieces.count == 1 {
            for piece in pieces { put(piece.span.raw) }
        } else {
            writtenCount += UInt64(count)
            channel.value.writeNow(pieces)
        }
    }

    /// Keeps the writer until there is room, if there still is none.
    private func waitForRoom(
        _ waiter: Waiter<Void>,
        _ range: Range<UInt64>,
        _ timeout: Duration?,
        _ extend: TimeoutExtension?
    ) {
        if let failure {
            waiter.resume(throwing: failure)
        } else if !channel.value.isAboveHighWaterMark {
            waiter.resume(returning: ())
        } else if Task.isCancelled {
            waiter.resume(throwing: CancellationError())
        } else {
            let began = channel.value.core.now
            let timer = timeout.map(startTimer)
            writers.append(Writer(waiter: waiter, began: began, timer: timer, extend: extend, range: range))
        }
    }

    private func endWrite(_ isMeant: (Writer) -> Bool, _ result: Result<Void, any Error>) {
        guard let index = writers.firstIndex(where: isMeant) else { return }
        let writer = writers.remove(at: index)
        if let timer = writer.timer { channel.value.core.cancel(timer) }
        writer.waiter.resume(with: result)
        closeIfDone()
    }

    /// Fails the write that has that timer, unless it is given more time.
    private func timeOutWrite(_ timer: TimerID, _ error: SocketError) {
        guard let writer = writers.first(where: { $0.timer == timer }) else { return }
        let elapsed = writer.began.duration(to: channel.value.core.now)
        let sent = writtenCount - UInt64(channel.value.queuedBytes)
        let ofIt = min(max(sent, writer.range.lowerBound), writer.range.upperBound) - writer.range.lowerBound
        let more = writer.extend?(elapsed, Int(clamping: ofIt))
        // Looked for anew, as the closure may have closed the socket.
        guard let index = writers.firstIndex(where: { $0.timer == timer }) else { return }
        if let more, more > .zero {
            writers[index].timer = startTimer(more)
            return
        }
        writers[index].timer = nil
        endWrite({ $0.waiter.id == writer.waiter.id }, .failure(error))
    }

    /// Sets from when on writers wait, and until when.
    ///
    /// A writer waits while more than `high` bytes wait to be sent, until `low` are left. With 0 for both, a write returns
    /// once the system has taken all of it. Writers that wait go on if there is room by the new marks.
    ///
    /// - Parameters:
    ///   - high: the high-water mark in bytes, 0 or more. Before the first call: 65,536.
    ///   - low: the low-water mark in bytes, 0 to `high`. Before the first call: 16,384.
    /// - Throws: ``SocketError`` with ``SocketError/Code/invalidArgument`` for others.
    public func setWaterMarks(high: Int, low: Int) throws(SocketError) {
        guard 0 <= low, low <= high else {
            throw .invalidArgument("The low-water mark lies between 0 and the high one: \(low), \(high).")
        }
        channel.value.setWaterMarks(high: high, low: low)
        if channel.value.queuedBytes <= low { resumeWriters() }
    }

    /// Lets all go on that wait for room.
    private func resumeWriters() {
        while !writers.isEmpty { endWrite({ _ in true }, .success(())) }
    }

    /// Says that this side writes nothing more; the peer sees the end of the stream once all bytes have arrived.
    ///
    /// Reading goes on. What waits to be written, files among it, still is.
    public func finishWriting() {
        hasFinishedWriting = true
        if transfers.isEmpty { channel.value.finishWriting() }
    }

    // MARK: Files and long writes

    /// Writes a part of a file, after what was written before and in front of what is written after.
    ///
    /// The system moves the bytes from the file to the connection by itself (sendfile(2)) where it can. What isn't in
    /// the system's cache is read by a thread first, up to 1 MiB at a time: a slow disk delays no other connection of
    /// the loop.
    ///
    /// Returns once the system has taken all. A write that is cancelled, times out or finds the file cut short fails
    /// alone as long as nothing of the file was sent. After that the peer would take later bytes for the rest of the
    /// file, so the connection is reset, and everything else fails with ``SocketError/Code/closed``. The same goes for
    /// closing the socket meanwhile.
    ///
    /// - Parameters:
    ///   - path: of a regular file; opened before the call waits.
    ///   - offset: where to begin. Default: the beginning of the file.
    ///   - count: how many bytes. Default: up to the end that the file has now.
    ///   - timeout: how long it may take at most, waiting for its turn included. Default: no limit.
    ///   - extend: asked when the time is over, and may give more.
    ///   - progress: called each time the system has taken bytes.
    /// - Returns: how many bytes were written.
    /// - Throws: ``SocketError`` with ``SocketError/Code/unreadableFile``, also when the file is shorter than said;
    ///   otherwise as `write(_:timeout:extend:)`.
    @discardableResult
    public func writeFile(
        _ path: String,
        offset: UInt64 = 0,
        count: UInt64? = nil,
        timeout: Duration? = nil,
        extend: TimeoutExtension? = nil,
        progress: (@Sendable (_ written: UInt64) -> Void)? = nil
    ) async throws -> UInt64 {
        try checkWriting()
        let file = try FileRange(path: path, offset: offset, count: count)
        return try await transfer(.file(file), timeout, extend, progress)
    }

    /// Writes a part of a file that is open; see ``writeFile(_:offset:count:timeout:extend:progress:)``.
    ///
    /// - Parameters:
    ///   - descriptor: of a regular file that is open for reading. It stays the caller's, who may close it meanwhile;
    ///     its position doesn't matter and isn't changed.
    ///   - offset: as in ``writeFile(_:offset:count:timeout:extend:progress:)``, and so are the others.
    ///   - count: how many bytes.
    ///   - timeout: how long it may take.
    ///   - extend: may give more time.
    ///   - progress: called with what was taken.
    /// - Returns: how many bytes were written.
    /// - Throws: as ``writeFile(_:offset:count:timeout:extend:progress:)``.
    @discardableResult
    public func writeFile(
        descriptor: Int32,
        offset: UInt64 = 0,
        count: UInt64? = nil,
        timeout: Duration? = nil,
        extend: TimeoutExtension? = nil,
        progress: (@Sendable (_ written: UInt64) -> Void)? = nil
    ) async throws -> UInt64 {
        try checkWriting()
        let file = try FileRange(descriptor: descriptor, offset: offset, count: count)
        return try await transfer(.file(file), timeout, extend, progress)
    }

    /// Writes bytes, and reports progress.
    ///
    /// Returns once the system has taken all, later than `write(_:timeout:extend:)`, to which it is the
    /// same otherwise: cancelling or timing out ends the wait and the progress, and the bytes still go out.
    ///
    /// - Parameters:
    ///   - bytes: what to write.
    ///   - timeout: how long to wait at most. Default: no limit.
    ///   - extend: asked when the time is over, and may give more.
    ///   - progress: called each time the system has taken bytes, at most 64 KiB of them.
    /// - Throws: as `write(_:timeout:extend:)`.
    public func write(
        _ bytes: [UInt8],
        timeout: Duration? = nil,
        extend: TimeoutExtension? = nil,
        progress: @escaping @Sendable (_ written: UInt64) -> Void
    ) async throws {
        try checkWriting()
        _ = try await transfer(.bytes([bytes]), timeout, extend, progress)
    }

    // MARK: Waiting for the turn

    /// Sends in turn, and waits until all has gone.
    private func transfer(
        _ content: Transfer.Content,
        _ timeout: Duration?,
        _ extend: TimeoutExtension?,
        _ progress: (@Sendable (_ written: UInt64) -> Void)?
    ) async throws -> UInt64 {
        try SocketError.check(timeout: timeout)
        let id = nextID()
        return try await waitOnLoop(id: id) { waiter in
            if Task.isCancelled {
                waiter.resume(throwing: CancellationError())
            } else if let refusal = writingRefusal {
                waiter.resume(throwing: refusal)
            } else {
                start(
                    Transfer(
                        content,
                        id: id,
                        waiter: waiter,
                        began: channel.value.core.now,
                        timer: timeout.map(startTimer),
                        extend: extend,
                        progress: progress
                    )
                )
            }
        } onCancel: {
            loop.execute { _ in
                self.assumeIsolated { $0.abandonTransfer({ $0.id == id }, CancellationError()) }
            }
        }
    }

    private func start(_ transfer: Transfer) {
        transfers.append(transfer)
        if transfers.count == 1 { channel.value.handlerSends = true }
    }

    /// Ends the wait for a transfer before its end: bytes still go out, and a file that has begun takes the connection along.
    private func abandonTransfer(_ isMeant: (Transfer) -> Bool, _ error: any Error) {
        guard let index = transfers.firstIndex(where: { isMeant($0) && $0.waiter != nil }) else { return }
        let transfer = transfers[index]
        if transfer.isFile && transfer.taken == 0 {
            transfers.remove(at: index)
            endWait(of: transfer, .failure(error))
            // The next one may have waited behind one that waits for the disk.
            if transfers.isEmpty { transfersEnded() } else { channel.value.handlerSends = true }
        } else {
            endWait(of: transfer, .failure(error))
            if transfer.isFile { cutOff() }
        }
        closeIfDone()
    }

    /// Resets the connection, as the peer has a part of a file.
    private func cutOff() {
        reset(because: "A file that was being written was cut off, and the connection was reset.")
    }

    private func endWait(of transfer: Transfer, _ result: sending Result<UInt64, any Error>) {
        if let timer = transfer.timer { channel.value.core.cancel(timer) }
        transfer.timer = nil
        transfer.progress = nil
        transfer.waiter.take()?.resume(with: result)
    }

    /// Fails all that waits for its turn.
    private func failTransfers(_ error: SocketError) {
        while let transfer = transfers.popFirst() { endWait(of: transfer, .failure(error)) }
    }

    /// Gives the bytes that wait for their turn to the channel at once.
    private func queueTransfers() {
        guard !transfers.isEmpty else { return }
        channel.value.handlerSends = false
        for transfer in transfers {
            let before = transfer.taken
            transfer.queueRest(to: channel.value)
            writtenCount += transfer.taken - before
        }
    }

    /// Fails the transfer that has that timer, unless it is given more time.
    private func timeOutTransfer(_ timer: TimerID, _ error: SocketError) {
        guard let transfer = transfers.first(where: { $0.timer == timer }) else { return }
        let elapsed = transfer.began.duration(to: channel.value.core.now)
        if let more = transfer.extend?(elapsed, Int(clamping: transfer.reported)), more > .zero {
            if transfer.waiter != nil { transfer.timer = startTimer(more) }
            return
        }
        transfer.timer = nil
        abandonTransfer({ $0 === transfer }, error)
    }

    // MARK: Sending in turn

    /// Sends as much as goes now; the channel is empty.
    private func sendTransfers() -> TransferResult {
        resumeWriters()
        while let transfer = transfers.first {
            tellProgress(of: transfer)
            // The callback may have closed the socket.
            guard transfers.first === transfer else { continue }
            if transfer.isTaken {
                transfers.removeFirst()
                endWait(of: transfer, .success(transfer.total))
                continue
            }
            let before = transfer.taken
            do throws(SocketError) {
                let mayBeDirect = sendsFilesDirectly && !channel.value.isSecured
                let step = try transfer.move(to: channel.value, mayBeDirect: mayBeDirect)
                writtenCount += transfer.taken - before
                switch step {
                case .sent where transfer.isTaken: continue
                case .sent: tellProgress(of: transfer)
                case .queued, .wouldBlock: break
                case .notCached: readAhead(of: transfer)
                case .disconnected(let code): return .failed(code)
                }
                return .wouldBlock
            } catch {
                abandonTransfer({ $0 === transfer }, error)
                if failure != nil { return .wouldBlock }
            }
        }
        if failure == nil { transfersEnded() }
        return .wouldBlock
    }

    /// For tests, which compare both ways over the same connections: has files go through the channel, as where bytes are
    /// changed on the way.
    func sendFilesThroughChannel() {
        sendsFilesDirectly = false
    }

    /// Goes on once the system has in its cache what comes next.
    private func readAhead(of transfer: Transfer) {
        channel.value.handlerSends = false
        transfer.readAhead(on: loop) {
            self.assumeIsolated { socket in
                if socket.failure == nil && !socket.transfers.isEmpty { socket.channel.value.handlerSends = true }
            }
        }
    }

    private func tellProgress(of transfer: Transfer) {
        guard transfer.reported < transfer.taken else { return }
        transfer.reported = transfer.taken
        transfer.progress?(transfer.taken)
    }

    private func transfersEnded() {
        guard failure == nil else { return }
        channel.value.handlerSends = false
        if hasFinishedWriting { channel.value.finishWriting() }
        closeIfDone()
    }
}

// MARK: Callbacks of the loop

extension Socket: ChannelHandler {
    package nonisolated func received(_ bytes: inout MutableRawSpan) {
        onLoop(loop, &bytes) { $0.take($1.bytes) }
    }

    package nonisolated func receive(from carrier: Carrier, limit: Int) -> TransferResult? {
        onLoop(loop, (carrier, limit)) { socket, call in socket.receiveForReader(from: call.0, limit: call.1) }
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

/// Asked when the time of a read or a write is over: how much more it gets, or `nil` to fail it; zero
/// or less fails it, too.
///
/// Called on the socket's loop, so it must not block.
///
/// - Parameters: how long it has taken so far, and how many bytes it has come: those that wait for the read, or those of
///   the write that the system has taken.
public typealias TimeoutExtension = @Sendable (_ elapsed: Duration, _ bytes: Int) -> Duration?
