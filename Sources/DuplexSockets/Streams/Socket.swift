// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule

/// A connected stream socket, on the event loop that it lives on.
///
/// An actor whose executor is its loop: a task that is isolated to it, such as the handler of a listener, reads and
/// writes without a hop. One task may read while others write; writes keep their order and stay whole. A socket that is
/// dropped without ``close()`` is closed with a reset.
public actor Socket {
    /// The loop that the socket lives on.
    public nonisolated let loop: EventLoop
    /// The address of this side; `nil` when the connection was gone before it could be asked.
    public nonisolated let localAddress: SocketAddress?
    /// The address of the peer; `nil` when the connection was gone before it could be asked.
    public nonisolated let remoteAddress: SocketAddress?

    private nonisolated let channel: LoopBound<Channel>
    private var reader: Reader?
    private var writers: Deque<Writer> = []
    private var nextID: UInt64 = 0
    private var hasEnded = false
    private var hasFinishedWriting = false
    private var failure: SocketError?

    /// How long ``close()`` lets what was written go out before it resets the connection: 10 seconds.
    static let closeTimeout = Duration.seconds(10)

    /// A task that waits for bytes.
    private struct Reader {
        var waiter: Waiter<[UInt8]?>
        var timer: TimerID?
    }

    /// A task that waits for room behind what is written already.
    private struct Writer {
        var waiter: Waiter<Void>
        var timer: TimerID?
    }

    init(loop: EventLoop, channel: LoopBound<Channel>, remoteAddress: SocketAddress? = nil) {
        self.loop = loop
        self.channel = channel
        let descriptor = channel.value.descriptor
        localAddress = SocketAddress.local(of: descriptor)
        self.remoteAddress = remoteAddress ?? SocketAddress.remote(of: descriptor)
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

    // MARK: Connecting

    /// Connects over TCP, with `TCP_NODELAY` set.
    ///
    /// A host that has several addresses is tried at all of them, a new one every 250 ms (RFC 8305); the first to answer
    /// wins and the others are closed. Cancelling ends it at once and leaves nothing behind.
    ///
    /// - Parameters:
    ///   - endpoint: where to.
    ///   - timeout: how long looking the name up and connecting may take together; 10 seconds unless told otherwise.
    ///   - group: the loops of which one becomes the socket's.
    /// - Throws: ``SocketError``, with one cause for each address that was tried, or `CancellationError`.
    /// - Returns: the connected socket.
    public static func connect(
        to endpoint: Endpoint,
        timeout: Duration = .seconds(10),
        on group: EventLoopGroup = .shared
    ) async throws -> Socket {
        let loop = group.next()
        return try await Connector.connect(to: endpoint, on: loop, timeout: timeout) { channel in
            Socket(loop: loop, channel: channel)
        }
    }

    // MARK: Reading

    /// Reads what there is, and waits only while there is nothing.
    ///
    /// Cancelling ends the wait at once; the connection lives on and nothing that arrives is lost.
    ///
    /// - Parameters:
    ///   - count: the most bytes to take; 64 KiB unless told otherwise.
    ///   - timeout: how long to wait at most; for ever unless told otherwise. A read that times out fails alone.
    /// - Returns: 1 to `count` bytes, or `nil` once the peer has finished writing.
    /// - Throws: ``SocketError`` with ``SocketError/Code/timedOut``, ``SocketError/Code/connectionReset``,
    ///   ``SocketError/Code/closed``, or ``SocketError/Code/alreadyReading``; `CancellationError`.
    public func read(upTo count: Int = 65_536, timeout: Duration? = nil) async throws -> [UInt8]? {
        precondition(count > 0, "A read takes at least one byte.")
        nextID += 1
        let id = nextID
        return try await waitOnLoop(id: id) { waiter in
            startRead(waiter, count, timeout)
        } onCancel: {
            loop.execute { _ in self.assumeIsolated { $0.endRead(id, .failure(CancellationError())) } }
        }
    }

    /// Gives the reader what there is, or keeps it until there is something.
    private func startRead(_ waiter: Waiter<[UInt8]?>, _ count: Int, _ timeout: Duration?) {
        if reader != nil {
            waiter.resume(throwing: SocketError(.alreadyReading, message: "Another task is reading from this socket."))
        } else if let failure {
            waiter.resume(throwing: failure)
        } else if hasEnded {
            waiter.resume(returning: nil)
        } else if Task.isCancelled {
            waiter.resume(throwing: CancellationError())
        } else {
            channel.value.limitReceive(to: count)
            reader = Reader(waiter: waiter, timer: timeout.map(startTimer))
            if !channel.value.receiveNow() { channel.value.isReading = true }
        }
    }

    /// Ends the read that waits, or the one with that identity.
    private func endRead(_ id: UInt64? = nil, _ result: sending Result<[UInt8]?, any Error>) {
        guard let reader, id == nil || id == reader.waiter.id else { return }
        self.reader = nil
        channel.value.isReading = false
        if let timer = reader.timer { channel.value.core.cancel(timer) }
        reader.waiter.resume(with: result)
    }

    // MARK: Writing

    /// Writes bytes, behind those of earlier calls and never mixed with them.
    ///
    /// Returns once the bytes are sent or wait behind less than the high-water mark (64 KiB): a slow peer slows the
    /// writer down. Cancelling or timing out ends the wait; the bytes were taken over by then and still go out.
    ///
    /// - Parameters:
    ///   - bytes: what to write.
    ///   - timeout: how long to wait for room at most; for ever unless told otherwise.
    /// - Throws: ``SocketError`` with ``SocketError/Code/timedOut``, ``SocketError/Code/connectionReset`` or
    ///   ``SocketError/Code/closed``; `CancellationError`.
    public func write(_ bytes: [UInt8], timeout: Duration? = nil) async throws {
        if let failure { throw failure }
        if hasFinishedWriting {
            throw SocketError(.closed, message: "This side has finished writing.")
        }
        try Task.checkCancellation()
        channel.value.write(bytes.span.raw)
        guard channel.value.isAboveHighWaterMark else { return }
        nextID += 1
        let id = nextID
        try await waitOnLoop(id: id) { waiter in
            waitForRoom(waiter, timeout)
        } onCancel: {
            loop.execute { _ in
                self.assumeIsolated { $0.endWrite({ $0.waiter.id == id }, .failure(CancellationError())) }
            }
        }
    }

    /// Keeps the writer until there is room, if there still is none.
    private func waitForRoom(_ waiter: Waiter<Void>, _ timeout: Duration?) {
        if let failure {
            waiter.resume(throwing: failure)
        } else if !channel.value.isAboveHighWaterMark {
            waiter.resume(returning: ())
        } else if Task.isCancelled {
            waiter.resume(throwing: CancellationError())
        } else {
            writers.append(Writer(waiter: waiter, timer: timeout.map(startTimer)))
        }
    }

    /// Writes a text as UTF-8; see ``write(_:timeout:)-([UInt8],_)``.
    public func write(_ text: String, timeout: Duration? = nil) async throws {
        try await write(Array(text.utf8), timeout: timeout)
    }

    private func endWrite(_ isMeant: (Writer) -> Bool, _ result: Result<Void, any Error>) {
        guard let index = writers.firstIndex(where: isMeant) else { return }
        let writer = writers.remove(at: index)
        if let timer = writer.timer { channel.value.core.cancel(timer) }
        writer.waiter.resume(with: result)
    }

    /// Says that this side writes nothing more; the peer sees the end of the stream once all bytes have arrived.
    ///
    /// Reading goes on.
    public func finishWriting() {
        hasFinishedWriting = true
        channel.value.finishWriting()
    }

    // MARK: Closing

    /// Closes the socket: what was written still goes out, for at most 10 seconds; after that the connection is reset.
    ///
    /// Returns at once. Tasks that wait for the socket get ``SocketError/Code/closed``. Closing twice is the same as once.
    public func close() {
        guard failure == nil else { return }
        end(SocketError(.closed, message: "The socket was closed on this side."))
        channel.value.closeWhenSent(within: Self.closeTimeout)
    }

    /// Closes the socket at once with a reset; what was written and not sent yet is dropped.
    public func reset() {
        end(SocketError(.closed, message: "The socket was reset on this side."))
        channel.value.reset()
    }

    /// Fails everything that waits, and everything that comes.
    private func end(_ error: SocketError) {
        if failure == nil { failure = error }
        endRead(nil, .failure(error))
        while !writers.isEmpty { endWrite({ _ in true }, .failure(error)) }
    }

    private func startTimer(_ timeout: Duration) -> TimerID {
        channel.value.core.schedule(self, at: MonotonicInstant.now().advanced(by: timeout))
    }
}

// MARK: What the loop tells

extension Socket: ChannelHandler {
    package nonisolated func received(_ bytes: inout MutableRawSpan) {
        onLoop(loop, &bytes) { $0.endRead(nil, .success([UInt8](copying: $1.bytes))) }
    }

    package nonisolated func inputEnded() {
        onLoop(loop) { socket, _ in
            socket.hasEnded = true
            socket.endRead(nil, .success(nil))
        }
    }

    package nonisolated func outputDrained() {
        onLoop(loop) { socket, _ in
            while !socket.writers.isEmpty { socket.endWrite({ _ in true }, .success(())) }
        }
    }

    package nonisolated func failed(_ error: SocketError) {
        onLoop(loop, error) { $0.end($1) }
    }
}

extension Socket: TimerTarget {
    package nonisolated func timerFired(_ timer: TimerID, now: MonotonicInstant) {
        onLoop(loop, timer) { socket, timer in
            let error = SocketError(.timedOut, message: "The operation took longer than it was given.")
            if socket.reader?.timer == timer { socket.endRead(nil, .failure(error)) }
            socket.endWrite({ $0.timer == timer }, .failure(error))
        }
    }
}
