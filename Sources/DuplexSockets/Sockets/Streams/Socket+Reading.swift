// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule

/// Asked when the time of a read or a write is over: how much more it gets, or `nil` to fail it; zero
/// or less fails it, too.
///
/// Called on the socket's loop, so it must not block.
///
/// - Parameters: how long it has taken so far, and how many bytes it has come: those that wait for the read, or those of
///   the write that the system has taken.
public typealias TimeoutExtension = @Sendable (_ elapsed: Duration, _ bytes: Int) -> Duration?

// From the channel to the reads that wait: each is served in its turn, as soon as what it asks for is there.

extension Socket {
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
        limit: Int = 65_536,
        timeout: Duration? = nil,
        extend: TimeoutExtension? = nil
    ) async throws -> [UInt8]? {
        try ReadGoal.until(delimiter, limit: limit).check()
        return try await read(.until(delimiter, limit: limit), timeout, extend)
    }

    /// Reads up to a delimiter; see ``read(until:limit:timeout:extend:)-([UInt8],_,_,_)``.
    public nonisolated func read(
        until delimiter: String,
        limit: Int = 65_536,
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
        limit: Int = 65_536,
        timeout: Duration? = nil,
        extend: TimeoutExtension? = nil
    ) async throws -> String? {
        try ReadGoal.line(limit: limit).check()
        guard let bytes = try await read(.line(limit: limit), timeout, extend) else { return nil }
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

    // MARK: Waiting

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
    func take(_ bytes: RawSpan) {
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
    func serveReaders() {
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

    func endFirstRead(_ result: sending Result<[UInt8]?, any Error>) {
        end(readers.removeFirst(), result)
    }

    func endRead(at index: Int, _ result: sending Result<[UInt8]?, any Error>) {
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
    func timeOutRead(_ timer: TimerID, _ error: SocketError) {
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
    public nonisolated var lines: Lines {
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
    public struct Lines: AsyncSequence, Sendable {
        let socket: Socket

        /// Reads one line after the other.
        public struct AsyncIterator: AsyncIteratorProtocol {
            let socket: Socket

            /// The next line; `nil` once the peer has finished writing and nothing is left.
            public mutating func next() async throws -> String? {
                try await socket.readLine()
            }
        }

        /// Begins to iterate.
        public func makeAsyncIterator() -> AsyncIterator {
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
    static let ownReceiveSize = 32 * 1_024
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

    package nonisolated func receive(from carrier: Carrier, limit: Int) -> TransferResult? {
        onLoop(loop, (carrier, limit)) { socket, call in socket.receiveForReader(from: call.0, limit: call.1) }
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
}
