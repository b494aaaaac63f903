// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
import Synchronization

// Reads, writes and the end, as they are asked for; long ones are served piece by piece.

extension DelegatedSocket {
    /// Asks for what there is, and waits only while there is nothing.
    ///
    /// - Parameters:
    ///   - count: the most bytes to take. Default: 64 KiB.
    ///   - timeout: how long it may take from its turn on. Default: no limit. A read that times out ends the connection.
    ///   - tag: what the delegate is called with.
    ///   - extend: asked when the time is over, and may give more; on the loop, so it must not block.
    /// - Throws: `SocketError` with `closed` before ``connect(to:options:)`` and once the connection
    ///   closes, with `limitExceeded` when `queueCount` reads wait, and with
    ///   `invalidArgument`.
    public func readData(
        upTo count: Int = 65_536,
        timeout: Duration? = nil,
        tag: Int = 0,
        extend: TimeoutExtension? = nil
    ) throws {
        try SocketError.check(timeout: timeout)
        try add(.available(upTo: count), tag) { try await $0.read(upTo: count, timeout: timeout, extend: extend) }
    }

    /// Asks for that many bytes; see ``readData(upTo:timeout:tag:extend:)``.
    ///
    /// The delegate hears how far it has come. When the peer finishes before, the connection ends with
    /// `endOfStream`.
    public func readData(
        toLength count: Int,
        timeout: Duration? = nil,
        tag: Int = 0,
        extend: TimeoutExtension? = nil
    ) throws {
        try SocketError.check(timeout: timeout)
        try add(.exactly(count), tag) { [weak self] socket in
            let time = PieceTime(socket.loop.clock, timeout, extend)
            return try await self?.read(exactly: count, tag: tag, from: socket, time)
        }
    }

    /// Asks for what comes up to a delimiter, which is part of it; see ``readData(upTo:timeout:tag:extend:)``.
    ///
    /// - Parameters:
    ///   - delimiter: one byte or more.
    ///   - limit: the most bytes to take, the delimiter among them. Default: 64 KiB. Beyond it the connection ends with
    ///     `limitExceeded`.
    ///   - timeout: as in ``readData(upTo:timeout:tag:extend:)``.
    ///   - tag: what the delegate is called with.
    ///   - extend: as in ``readData(upTo:timeout:tag:extend:)``.
    /// - Throws: as ``readData(upTo:timeout:tag:extend:)``.
    public func readData(
        to delimiter: some Collection<UInt8>,
        limit: ByteCount = .kibibytes(64),
        timeout: Duration? = nil,
        tag: Int = 0,
        extend: TimeoutExtension? = nil
    ) throws {
        let delimiter = [UInt8](delimiter)
        try SocketError.check(timeout: timeout)
        try add(.until(delimiter, limit: limit.bytes), tag) {
            try await $0.read(until: delimiter, limit: limit, timeout: timeout, extend: extend)
        }
    }

    /// Asks for what comes up to a delimiter, such as `"\r\n"`; as bytes are.
    public func readData(
        to delimiter: String,
        limit: ByteCount = .kibibytes(64),
        timeout: Duration? = nil,
        tag: Int = 0,
        extend: TimeoutExtension? = nil
    ) throws {
        try readData(to: Array(delimiter.utf8), limit: limit, timeout: timeout, tag: tag, extend: extend)
    }

    /// Writes bytes, after those of earlier calls.
    ///
    /// - Parameters:
    ///   - bytes: what to write; nothing is written, and answered, for none.
    ///   - timeout: how long to wait for room at most, from its turn on. Default: no limit. A write that times out ends the
    ///     connection.
    ///   - tag: what the delegate is called with.
    ///   - extend: asked when the time is over, and may give more; on the loop, so it must not block.
    /// - Throws: `SocketError` with `closed` before ``connect(to:options:)`` and once the connection
    ///   closes, and with `limitExceeded` when `queueLimit` or `queueCount` is reached; the bytes
    ///   aren't written then.
    public func write(
        _ bytes: some Collection<UInt8>,
        timeout: Duration? = nil,
        tag: Int = 0,
        extend: TimeoutExtension? = nil
    ) throws {
        let bytes = [UInt8](bytes)
        try SocketError.check(timeout: timeout)
        try shared.withLock { shared in
            try shared.checkWriting()
            guard bytes.count <= queueLimit.bytes - shared.queuedBytes else {
                throw SocketError.queueFull(shared.queuedBytes, bytes.count, queueLimit)
            }
            guard shared.queuedWrites < queueCount else {
                throw SocketError(.limitExceeded, message: "\(queueCount) writes wait.")
            }
            shared.queuedBytes += bytes.count
            shared.queuedWrites += 1
            // With the lock held, so that they go in the order in which they were counted.
            orders.add(SocketOrders.Write(bytes: bytes, tag: tag, timeout: timeout, extend: extend))
        }
    }

    /// Writes a text as UTF-8; as bytes are.
    public func write(
        _ text: String,
        timeout: Duration? = nil,
        tag: Int = 0,
        extend: TimeoutExtension? = nil
    ) throws {
        try write(Array(text.utf8), timeout: timeout, tag: tag, extend: extend)
    }

    private func add(
        _ goal: ReadGoal,
        _ tag: Int,
        _ take: @escaping @Sendable (Socket) async throws -> [UInt8]?
    ) throws {
        try goal.check()
        try shared.withLock { shared in
            try shared.checkReading()
            guard shared.queuedReads < queueCount else {
                throw SocketError(.limitExceeded, message: "\(queueCount) reads wait.")
            }
            shared.queuedReads += 1
            orders.add(SocketOrders.Read(tag: tag, take: take))
        }
    }

    /// Secures the connection as a client, once the reads and the writes before have been served.
    ///
    /// What is asked for behind it waits for the handshake. A handshake that fails ends the connection with the reason.
    ///
    /// - Parameter options: as in `Socket.startTLS(_:)`. Default: the system's roots, and the name of the host.
    /// - Throws: as ``readData(upTo:timeout:tag:extend:)``.
    public func startTLS(_ options: TLSOptions = TLSOptions()) throws {
        try secure(.client(options))
    }

    /// Secures the connection as a server; see ``startTLS(_:)-(TLSOptions)``.
    public func startTLS(_ options: TLSServerOptions) throws {
        try secure(.server(options))
    }

    private func secure(_ role: SocketOrders.Securing.Role) throws {
        try shared.withLock { shared in
            try shared.checkReading()
            try shared.checkWriting()
            orders.secure(role)
        }
    }

    // MARK: Closing

    /// Closes the connection: what the connection has taken over still goes out, for at most 10 seconds; what waits here,
    /// reads and writes, is dropped without an answer.
    ///
    /// The delegate gets the end, without an error, and nothing else. Closing twice is the same as once.
    public func disconnect() { disconnect(isForced: false) }

    /// Ends the connection at once with a reset; what waits to be sent is dropped, here and in the connection.
    ///
    /// The delegate gets the end, without an error, and nothing else.
    public func reset() { disconnect(isForced: true) }

    private func disconnect(isForced: Bool) {
        let (socket, task) = shared.withLock { shared -> (Socket?, Task<Void, Never>?) in
            shared.isSilent = true
            if shared.isOver || shared.state == .closed { return (isForced ? shared.socket : nil, nil) }
            shared.isOver = true
            guard shared.state == .idle else {
                shared.state = .closing
                return (shared.socket, shared.connecting)
            }
            shared.state = .closed
            Task { await self.ended() }
            return (nil, nil)
        }
        orders.finishReads()
        orders.finishWrites()
        guard let socket else {
            task?.cancel()
            return
        }
        Task { if isForced { await socket.reset() } else { await socket.close() } }
    }

    /// Closes the connection once the reads that wait have been answered.
    ///
    /// Nothing new is taken. Together with ``disconnectAfterWriting()``, both are waited for.
    public func disconnectAfterReading() { disconnect(afterReads: true, afterWrites: false) }

    /// Closes the connection once the writes that wait have been answered; see ``disconnectAfterReading()``.
    public func disconnectAfterWriting() { disconnect(afterReads: false, afterWrites: true) }

    /// Closes the connection once the reads and the writes that wait have been answered; see ``disconnectAfterReading()``.
    public func disconnectAfterReadingAndWriting() { disconnect(afterReads: true, afterWrites: true) }

    private func disconnect(afterReads: Bool, afterWrites: Bool) {
        let isIdle = shared.withLock { shared in
            if shared.state == .idle { return true }
            guard !shared.isOver, shared.state != .closed else { return false }
            shared.state = .closing
            let before = shared.closing ?? (false, false)
            shared.closing = (before.reads || afterReads, before.writes || afterWrites)
            return false
        }
        if isIdle { return disconnect() }
        orders.finishReads()
        orders.finishWrites()
    }

    // MARK: Piece by piece

    /// How far a read or a write has come.
    struct Progress: Sendable {
        var count: Int
        var tag: Int
    }

    /// Which of the two.
    enum Direction: Sendable {
        case reading
        case writing
    }

    /// The bytes of a write that are handed to the connection at once.
    private static let pieceSize = 65_536

    /// Reads that many bytes.
    ///
    /// - Returns: the bytes.
    func read(exactly count: Int, tag: Int, from socket: Socket, _ time: PieceTime) async throws -> [UInt8] {
        if count == 0 { return [] }
        var bytes: [UInt8] = []
        while bytes.count < count {
            if !bytes.isEmpty { tellProgress(.reading, bytes.count, tag) { $0.socket($1, hasRead: $2, tag: $3) } }
            let missing = count - bytes.count
            let (timeout, extend) = time.rest(after: bytes.count)
            guard let piece = try await socket.read(upTo: missing, timeout: timeout, extend: extend) else {
                let message = "The stream ended after \(bytes.count) of \(count) bytes."
                throw SocketError(.endOfStream, message: message)
            }
            if bytes.isEmpty { bytes = piece } else { bytes += piece }
        }
        shared.withLock { $0[.reading] = nil }
        return bytes
    }

    /// Writes bytes, a long row of them in pieces.
    func write(_ write: SocketOrders.Write, to socket: Socket) async throws {
        let time = PieceTime(socket.loop.clock, write.timeout, write.extend)
        var sent = 0
        repeat {
            let end = min(write.bytes.count, sent + Self.pieceSize)
            let isWhole = sent == 0 && end == write.bytes.count
            let (timeout, extend) = time.rest(after: sent)
            let piece = isWhole ? write.bytes : Array(write.bytes[sent..<end])
            try await socket.write(piece, timeout: timeout, extend: extend)
            sent = end
            if sent < write.bytes.count {
                tellProgress(.writing, sent, write.tag) { $0.socket($1, hasWritten: $2, tag: $3) }
            }
        } while sent < write.bytes.count
        shared.withLock { $0[.writing] = nil }
    }

    /// Has the delegate called with the latest progress, unless a call is on its way.
    private func tellProgress(
        _ direction: Direction,
        _ count: Int,
        _ tag: Int,
        _ call: @escaping @Sendable (any SocketDelegate, DelegatedSocket, Int, Int) -> Void
    ) {
        let isOnItsWay = shared.withLock { shared in
            defer { shared[direction] = Progress(count: count, tag: tag) }
            return shared[direction] != nil
        }
        if isOnItsWay { return }
        let tell: @Sendable (any SocketDelegate) -> Void = { delegate in
            // None if it has been served meanwhile: the delegate hears of that next.
            guard let progress = self.shared.withLock({ $0[direction].take() }) else { return }
            call(delegate, self, progress.count, progress.tag)
        }
        delegates.post(if: { !self.isSilent }, tell)
    }
}

extension DelegatedSocket.Shared {
    func checkReading() throws(SocketError) {
        if isAtEndOfStream { throw SocketError(.endOfStream, message: "The peer has finished writing.") }
        try checkWriting()
    }

    func checkWriting() throws(SocketError) {
        switch state {
        case .connecting, .open: if isOver { throw Self.notOpen(.closing) }
        case .idle, .closing, .closed: throw Self.notOpen(state)
        }
    }

    private static func notOpen(_ state: DelegatedSocket.State) -> SocketError {
        SocketError(.closed, message: "The socket takes nothing: it is \(state).")
    }

    /// What the delegate is about to hear of.
    fileprivate subscript(direction: DelegatedSocket.Direction) -> DelegatedSocket.Progress? {
        get { direction == .reading ? readProgress : writeProgress }
        set { if direction == .reading { readProgress = newValue } else { writeProgress = newValue } }
    }
}

/// What a ``DelegatedSocket`` was asked for, in order, and what waits of it.
struct SocketOrders: Sendable {
    /// A read, and what its answer is called with.
    struct Read: Sendable {
        var tag: Int
        /// Reads it; `nil` at the end of the stream.
        var take: @Sendable (Socket) async throws -> [UInt8]?
    }

    /// A write, and what its answer is called with.
    struct Write: Sendable {
        var bytes: [UInt8]
        var tag: Int
        var timeout: Duration?
        var extend: TimeoutExtension?
    }

    enum Reading: Sendable {
        case read(Read)
        case secure(Securing)
    }

    enum Writing: Sendable {
        case write(Write)
        case secure(Securing)
    }

    /// A handshake, which waits for the reads and the writes that were asked for before it.
    struct Securing: Sendable {
        enum Role: Sendable {
            case client(TLSOptions)
            case server(TLSServerOptions)
        }

        let role: Role
        private let written: (stream: AsyncStream<Never>, continuation: AsyncStream<Never>.Continuation)
        private let secured: (stream: AsyncStream<Never>, continuation: AsyncStream<Never>.Continuation)

        init(_ role: Role) {
            self.role = role
            written = AsyncStream.makeStream()
            secured = AsyncStream.makeStream()
        }

        /// The writes before it are done.
        func endWriting() { written.continuation.finish() }

        /// The handshake is over, or there will be none.
        func endSecuring() { secured.continuation.finish() }

        /// Waits until the writes before it are done.
        func waitForWrites() async { for await _ in written.stream {} }

        /// Waits until the handshake is over.
        func waitUntilOver() async { for await _ in secured.stream {} }
    }

    let reads: AsyncStream<Reading>
    let writes: AsyncStream<Writing>
    private let reading: AsyncStream<Reading>.Continuation
    private let writing: AsyncStream<Writing>.Continuation

    init() {
        (reads, reading) = AsyncStream.makeStream()
        (writes, writing) = AsyncStream.makeStream()
    }

    func add(_ read: Read) { reading.yield(.read(read)) }

    func add(_ write: Write) { writing.yield(.write(write)) }

    func secure(_ role: Securing.Role) {
        let securing = Securing(role)
        reading.yield(.secure(securing))
        writing.yield(.secure(securing))
    }

    func finishReads() { reading.finish() }

    func finishWrites() { writing.finish() }
}

/// The time of a read or a write that is served in pieces: all of them have one deadline, which may be moved.
final class PieceTime: Sendable {
    private let clock: LoopClock
    private let began: Instant
    private let deadline: Mutex<Instant?>
    private let extend: TimeoutExtension?

    init(_ clock: LoopClock, _ timeout: Duration?, _ extend: TimeoutExtension?) {
        self.clock = clock
        let began = clock.now()
        self.began = began
        self.extend = extend
        deadline = Mutex(timeout.map { began.advanced(by: $0) })
    }

    /// What is left of the time, and what asks for more.
    ///
    /// - Parameter count: the bytes of the pieces before.
    /// - Returns: the time for the next piece, `nil` for no limit, and what is asked when it is over.
    func rest(after count: Int) -> (Duration?, TimeoutExtension?) {
        let timeout = deadline.withLock { $0 }.map { max(.nanoseconds(1), clock.now().duration(to: $0)) }
        guard let extend else { return (timeout, nil) }
        return (
            timeout,
            { [self] _, bytes in
                let now = clock.now()
                guard let more = extend(began.duration(to: now), count + bytes), more > .zero else { return nil }
                deadline.withLock { $0 = now.advanced(by: more) }
                return more
            }
        )
    }
}
