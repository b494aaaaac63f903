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
