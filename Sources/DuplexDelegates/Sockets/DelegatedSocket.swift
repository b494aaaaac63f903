// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import Dispatch
public import DuplexSockets
import Synchronization

/// A stream socket with a delegate, for code that isn't `async`: reads and writes with tags, as CocoaAsyncSocket has them.
///
/// One object is one connection. It keeps itself alive from ``connect(to:options:)`` until it has ended, and keeps its
/// delegate weakly. Its methods may be called on any thread and return at once. Reads and writes may be asked for before
/// the connection is made.
///
/// A delegate with state, such as a view controller, belongs to the main actor and conforms there
/// (`final class Console: @MainActor SocketDelegate`); it is called on the main queue. One that is `Sendable` may be called
/// on a queue of the caller's choice.
public final class DelegatedSocket: Sendable {
    /// The state of the connection.
    public enum State: Sendable, Hashable {
        /// Not connected yet.
        case idle
        /// The name is being looked up, or a handshake is under way.
        case connecting
        /// Bytes go both ways.
        case open
        /// This side has begun to close: nothing new is taken.
        case closing
        /// It has ended, and the delegate was called or is about to be.
        case closed
    }

    /// The most bytes that wait to be written; a write that doesn't fit is refused.
    package let queueLimit: ByteCount
    /// The most reads, and the most writes, that wait to be served.
    package let queueCount: Int
    /// Whether the connection ends when the peer has finished writing, behind the writes that wait.
    package let closesAtEndOfStream: Bool
    let delegates: DelegateQueue<any SocketDelegate>
    let orders = SocketOrders()
    let shared: Mutex<Shared>
    private let group: EventLoopGroup

    /// What any thread may know and change.
    struct Shared {
        /// Tells of each state.
        let states = ChangeBroadcast<State>(.idle)
        var state = State.idle {
            didSet {
                if state != oldValue { states.tell(state) }
                if state == .closed { states.finish() }
            }
        }
        var userData: (any Sendable)?
        /// What was agreed upon for a connection that is secured.
        var tls: TLSInfo?
        var bytesReceived: UInt64 = 0
        var bytesSent: UInt64 = 0
        /// Options that aren't set yet, and whether that is being done.
        var waitingOptions: [SocketOptions] = []
        var isSettingOptions = false
        /// How much of a read or a write has been served that goes on, while the delegate is about to hear of it.
        var readProgress: Progress?
        var writeProgress: Progress?
        var socket: Socket?
        var connecting: Task<Void, Never>?
        var watcher: Task<Void, Never>?
        /// Tells the watcher that a read was served.
        var served: AsyncStream<Void>.Continuation?
        var queuedBytes = 0
        var queuedReads = 0
        var queuedWrites = 0
        /// What is waited for before the connection closes; `nil` for nothing.
        var closing: (reads: Bool, writes: Bool)?
        var hasServedReads = false
        var hasServedWrites = false
        /// Whether nothing more is served.
        var isOver = false
        /// Whether the delegate hears of nothing but the end, not even of what was read before.
        var isSilent = false
        /// Whether a read is served, or what it has brought is on its way to the delegate.
        var isReading = false
        var isAtEndOfStream = false
        var failure: SocketError?
    }

    /// Makes a socket, whose delegate is called on the main queue.
    ///
    /// - Parameters:
    ///   - delegate: gets all events; kept weakly. It may be set later as ``delegate``. Default: none.
    ///   - closesAtEndOfStream: whether the connection ends when the peer has finished writing. Default: yes.
    ///   - queueLimit: the most bytes that wait to be written. Default: 16 MiB.
    ///   - queueCount: the most reads, and the most writes, that wait. Default: 16,384.
    ///   - group: the loops of which one becomes the connection's.
    @MainActor
    public convenience init(
        delegate: (any SocketDelegate)? = nil,
        closesAtEndOfStream: Bool = true,
        queueLimit: ByteCount = .mebibytes(16),
        queueCount: Int = 16_384,
        on group: EventLoopGroup = .shared
    ) {
        self.init(.queue(.main), closesAtEndOfStream, queueLimit, queueCount, group)
        self.delegate = delegate
    }

    /// Makes a socket, whose delegate is called on a queue of the caller's.
    ///
    /// - Parameters:
    ///   - delegate: gets all events; kept weakly. It may be set later by ``setDelegate(_:)``.
    ///   - queue: where it is called, in order, one call at a time. A concurrent queue is fine.
    ///   - closesAtEndOfStream: whether the connection ends when the peer has finished writing. Default: yes.
    ///   - queueLimit: the most bytes that wait to be written. Default: 16 MiB.
    ///   - queueCount: the most reads, and the most writes, that wait. Default: 16,384.
    ///   - group: the loops of which one becomes the connection's.
    public convenience init(
        delegate: (any SocketDelegate & Sendable)?,
        queue: DispatchQueue,
        closesAtEndOfStream: Bool = true,
        queueLimit: ByteCount = .mebibytes(16),
        queueCount: Int = 16_384,
        on group: EventLoopGroup = .shared
    ) {
        self.init(
            delegate: delegate,
            place: .queue(queue),
            closesAtEndOfStream: closesAtEndOfStream,
            queueLimit: queueLimit,
            queueCount: queueCount,
            on: group
        )
    }

    /// Makes a socket, whose delegate is called on a place of the caller's.
    package convenience init(
        delegate: (any SocketDelegate & Sendable)?,
        place: DelegatePlace,
        closesAtEndOfStream: Bool,
        queueLimit: ByteCount,
        queueCount: Int,
        on group: EventLoopGroup
    ) {
        self.init(place, closesAtEndOfStream, queueLimit, queueCount, group)
        setDelegate(delegate)
    }

    private init(
        _ place: DelegatePlace,
        _ closesAtEndOfStream: Bool,
        _ queueLimit: ByteCount,
        _ queueCount: Int,
        _ group: EventLoopGroup
    ) {
        self.closesAtEndOfStream = closesAtEndOfStream
        self.queueLimit = queueLimit
        self.queueCount = queueCount
        self.group = group
        delegates = DelegateQueue(place, label: "duplex.socket")
        shared = Mutex(Shared())
    }

    /// One that a listener has accepted; ``begin(_:)`` follows.
    convenience init(accepted socket: Socket, place: DelegatePlace, on group: EventLoopGroup) {
        self.init(place, true, .mebibytes(16), 16_384, group)
        shared.withLock { ($0.state, $0.socket) = (.open, socket) }
    }

    // MARK: The delegate

    /// The delegate, which gets all events from here on, on the main queue; kept weakly.
    ///
    /// While there is none, what reads bring is dropped.
    @MainActor public var delegate: (any SocketDelegate)? {
        get { delegates.delegate }
        set { delegates.tellOnMain { [weak newValue] in newValue } }
    }

    /// Sets the delegate, which gets all events from here on, on the queue that this object was made with; kept weakly.
    ///
    /// - Parameter delegate: may be called on any thread; `nil` for nobody.
    public func setDelegate(_ delegate: (any SocketDelegate & Sendable)?) {
        delegates.tell { [weak delegate] in delegate }
    }

    // MARK: What is known

    /// The state of the connection.
    public var state: State { shared.withLock { $0.state } }

    /// The connection: its addresses, its TLS, its options, how far it has come; `nil` before it is made, and once the
    /// delegate got its end.
    ///
    /// Its bytes are the delegate's: do not read from it or write to it. Closing it closes this.
    public var connection: Socket? { shared.withLock { $0.socket } }

    /// The address of the peer; `nil` where there is no connection.
    public var remoteAddress: SocketAddress? { connection?.remoteAddress }

    /// The address of this side; `nil` where there is no connection.
    public var localAddress: SocketAddress? { connection?.localAddress }

    /// The bytes that wait to be written; those that the connection has taken over don't count.
    public var queuedBytes: Int { shared.withLock { $0.queuedBytes } }

    // MARK: Connecting

    /// Connects; the delegate gets the result.
    ///
    /// - Parameters:
    ///   - endpoint: where to; a host and a port, with TLS or without, an address, or the path of a Unix socket.
    ///   - options: as in `Socket.connect(to:timeout:options:on:)`. Default: 10 s for the whole.
    /// - Throws: `SocketError` with `invalidArgument` when it was connected, or closed, before,
    ///   and for a duration of the options that isn't longer than zero.
    public func connect(to endpoint: Endpoint, options: ConnectOptions = ConnectOptions(timeout: .seconds(10))) throws {
        try SocketError.check(options.durations)
        var options = options
        options.onStage = { [weak self, onStage = options.onStage] event in
            onStage?(event)
            guard let self else { return }
            delegates.post(if: { !self.isSilent }, { $0.socket(self, didReach: event) })
        }
        try open { [options, group] in try await Socket.connect(to: endpoint, options: options, on: group) }
    }

    /// Takes over a stream socket that was connected elsewhere, in place of ``connect(to:options:)``; see
    /// `Socket.adopt(descriptor:on:)`.
    ///
    /// The delegate gets `socketDidConnect(_:)`. From here on the descriptor is this socket's.
    ///
    /// - Parameter descriptor: a connected stream socket, TCP or Unix.
    /// - Throws: `SocketError` with `cannotConnect` when it isn't one, and with
    ///   `invalidArgument` when this socket was connected, or closed, before; the descriptor is still the
    ///   caller's then.
    public func adopt(descriptor: Int32) throws {
        try AdoptedDescriptor.connected(descriptor)
        try open { [group] in try await Socket.adopt(descriptor: descriptor, on: group) }
    }

    private func open(_ make: @escaping @Sendable () async throws -> Socket) throws {
        try shared.withLock { shared in
            guard shared.state == .idle else {
                throw SocketError.invalidArgument("A socket connects once, and this one is \(shared.state).")
            }
            shared.state = .connecting
            shared.connecting = Task { await self.run(make) }
        }
    }

    private func run(_ make: @Sendable () async throws -> Socket) async {
        do {
            let socket = try await make()
            let isWanted = shared.withLock { shared in
                guard !shared.isOver else { return false }
                shared.socket = socket
                // One that is to be closed once something is done stays so.
                if shared.state == .connecting { shared.state = .open }
                return true
            }
            guard isWanted else {
                await socket.reset()
                return await ended()
            }
            await takeFacts(of: socket)
            await tell { $0.socketDidConnect(self) }
            await begin(socket)
        } catch {
            let error = SocketError(ending: error)
            shared.withLock { if !$0.isOver { ($0.isOver, $0.failure) = (true, error) } }
            await ended()
        }
    }

    // MARK: What is known, and set

    /// The states from here on, after the present one; ends after ``State/closed``.
    ///
    /// Any number of tasks may observe; one that falls more than 1,024 states behind loses the oldest.
    public var states: AsyncStream<State> { shared.withLock { $0.states }.observe() }

    /// Anything that the app wants to keep with the connection.
    public var userData: (any Sendable)? {
        get { shared.withLock { $0.userData } }
        set { shared.withLock { $0.userData = newValue } }
    }

    /// What TLS has agreed on; `nil` while the connection isn't secured.
    ///
    /// It stays after the end.
    public var tls: TLSInfo? { shared.withLock { $0.tls } }

    /// The number of bytes that reads have brought.
    public var bytesReceived: UInt64 { shared.withLock { $0.bytesReceived } }

    /// The number of bytes of the writes that have been served.
    public var bytesSent: UInt64 { shared.withLock { $0.bytesSent } }

    /// Sets options of the connection; those that are `nil` stay as they are.
    ///
    /// Before the connection is made they wait for it. The delegate gets those that the system refuses.
    ///
    /// - Parameter options: what to set, as in `Socket.setOptions(_:)`.
    /// - Throws: `SocketError` with `closed` once the connection has ended, with
    ///   `limitExceeded` when `queueCount` options wait, and with
    ///   `invalidArgument` for a duration that can't be set.
    public func setOptions(_ options: SocketOptions) throws {
        try SocketError.check(options.durations)
        let socket = try shared.withLock { shared -> Socket? in
            guard shared.state != .closed else { throw SocketError(.closed, message: "The socket has ended.") }
            guard shared.waitingOptions.count < queueCount else {
                throw SocketError(.limitExceeded, message: "\(queueCount) options wait.")
            }
            shared.waitingOptions.append(options)
            return shared.socket
        }
        if let socket { Task { await self.setWaitingOptions(of: socket) } }
    }

    /// Takes note of what is agreed upon, and sets what waits for the connection.
    func takeFacts(of socket: Socket) async {
        let tls = await socket.tls
        shared.withLock { $0.tls = tls }
        await setWaitingOptions(of: socket)
    }

    /// Sets the options in the order in which they came, one call at a time.
    private func setWaitingOptions(of socket: Socket) async {
        let isFirst = shared.withLock { shared in
            defer { shared.isSettingOptions = true }
            return !shared.isSettingOptions
        }
        guard isFirst else { return }
        while let options = nextOptions() {
            do {
                try await socket.setOptions(options)
            } catch {
                delegates.post(if: { !self.isSilent }, { $0.socket(self, didNotSet: options, error: error) })
            }
        }
    }

    private func nextOptions() -> SocketOptions? {
        shared.withLock { shared in
            guard shared.waitingOptions.isEmpty else { return shared.waitingOptions.removeFirst() }
            shared.isSettingOptions = false
            return nil
        }
    }
}
