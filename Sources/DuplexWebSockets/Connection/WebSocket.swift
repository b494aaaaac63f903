// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexDeflate
public import DuplexSockets
public import DuplexWire

/// One WebSocket connection, client or server, on the event loop that it lives on (RFC 6455).
///
/// An actor whose executor is its loop: a handler that is isolated to its socket receives and sends without a hop. Any
/// number of tasks may send, and messages stay whole and in order; one task receives. Pings are answered and the peer's
/// close is seen whether or not the app receives. A socket that is dropped before its connection has ended
/// resets it: call ``close(code:reason:)``.
public actor WebSocket {
    /// The loop that the connection lives on.
    public nonisolated let loop: EventLoop
    /// The address of the peer; `nil` when the connection was gone before it could be asked.
    public nonisolated let remoteAddress: SocketAddress?
    /// Of a server: how long before the opening the connection was accepted, and the request had come.
    let sinceAccepted: ShortTime
    let upgradeTime: ShortTime
    /// Identifies this connection in the process, as in its log.
    public nonisolated let id = ConnectionID.next()
    // Reached by isolated code only, through `channel`: the loop is this actor's executor, so that such code runs on the
    // thread that the channel belongs to. The deinitialiser hands it back to the loop.
    private nonisolated(unsafe) let loopChannel: Channel
    nonisolated let handler: HandlerBox
    private nonisolated let agreed: AgreedSubprotocol?

    // In an order that leaves few gaps, small fields after those whose size is odd: an idle connection is little more than
    // this object and its session.

    /// What the connection says to its peer and hears from it.
    let session: WebSocketSession
    /// How it ends.
    ///
    /// Not checked for overlapping accesses, as the inbox and the waiters aren't: each message would take ten checks of some fifty instructions,
    /// and what is changed in them is changed while nothing else is called.
    @safe @exclusivity(unchecked) var ending = SocketEnding()
    /// Where whoever keeps the socket has it, for that one alone.
    package var place: Int32 = 0
    /// What has come and isn't the app's yet.
    @safe @exclusivity(unchecked) var inbox = MessageInbox()
    @safe @exclusivity(unchecked) var waiters = SocketWaiters()
    // As the channel above, and notified of the end by the deinitialiser.
    private nonisolated(unsafe) var loopFollower: (any SocketFollower)?
    /// What few connections need at a time; there is none where nothing of it is needed.
    var extras: WebSocketExtras?
    /// The task that ``run(_:logger:)`` runs the handler in, until the connection is closed.
    private var handlerTask = TaskIdentity.none
    private var endObserver: EndObserver?
    /// Of no timer while it isn't armed.
    private var sessionTimer = TimerID.none

    struct PingWaiter {
        var id: UInt64
        var sent: Instant
        var timer: TimerID
        var waiter: Waiter<Duration>
    }

    /// The name of a subprotocol: an object of its own, because hardly any connection has one.
    private final class AgreedSubprotocol: Sendable {
        let name: String

        init(_ name: String) {
            self.name = name
        }
    }

    /// The most bytes that one receive takes when messages are queued for a task; it bounds what isn't parsed as well.
    static let queuedReceiveLimit = 128 * 1_024
    /// The most bytes of a receive behind one whose frames were more than a turn parses, so that little is left to the next one.
    static let crowdedReceiveLimit = 16 * 1_024
    /// Payloads from this size on are sent without being copied, where they aren't masked.
    static let directSendSize = 16 * 1_024

    /// Takes over a channel after the opening handshake; called on its loop, and followed by ``start(leftover:)``.
    package init(loop: EventLoop, channel: LoopBound<Channel>, setup: WebSocketSetup) {
        precondition(channel.value.core === loop.core, "A WebSocket lives on the loop of its channel.")
        self.loop = loop
        unsafe loopChannel = channel.value
        self.handler = setup.handler ?? .none
        agreed = setup.subprotocol.map(AgreedSubprotocol.init)
        self.remoteAddress = setup.remoteAddress ?? channel.value.remoteAddress
        let core = channel.value.core
        sinceAccepted = ShortTime(setup.accepted?.duration(to: core.now) ?? .zero)
        upgradeTime = ShortTime(setup.asked?.duration(to: core.now) ?? .zero)
        session = WebSocketSession(
            role: setup.role,
            settings: setup.settings,
            maskingKeys: setup.role == .client ? Self.maskingKeys(core, loop) : nil,
            compression: setup.compression?.make(
                setup.role,
                core.shared(DeflatePool.init),
                givesBack: setup.handler != nil
            ),
            tap: setup.observation?.tap?.tap(id, loop.clock),
            now: core.now
        )
        let record = ConnectionRecord.make(setup.observation, session, channel.value)
        let rates = ReceivingRates(setup.limits, now: core.now)
        let streams = setup.streamsMessages || rates != nil ? PieceTraffic() : nil
        if setup.tellsControlFrames || record != nil || streams != nil {
            extras = WebSocketExtras(record, streams, setup.tellsControlFrames ? ControlInbox() : nil)
        }
        if setup.streamsMessages { session.streamMessages() }
        if rates != nil { session.countFrames() }
        streams?.isReceiving = setup.streamsMessages
        streams?.rates = rates
    }

    deinit {
        let channel = unsafe LoopBound(loopChannel, on: loop.thread)
        // A timer of the end finds nobody when it fires.
        let timer = sessionTimer
        let follower = unsafe LoopBound(loopFollower, on: loop.thread)
        // A reset could overtake a close frame that is on its way.
        let isLingering = ending.phase == .lingering
        loop.execute { core in
            if timer != .none { core.cancel(timer) }
            if isLingering { channel.value.closeInOrder(within: .seconds(10)) } else { channel.value.reset() }
            follower.value?.ended()
        }
    }

    /// The loop, which runs what is isolated to this actor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe loop.asUnownedSerialExecutor()
    }

    /// The subprotocol that both sides agreed on; `nil` when there is none.
    public nonisolated var subprotocol: String? { agreed?.name }

    /// The connection's transport.
    var channel: Channel { unsafe loopChannel }

    /// Who sends on this connection besides its handler, such as a topic that it is subscribed to; there is none on most.
    package var follower: (any SocketFollower)? {
        get { unsafe loopFollower }
        set { unsafe loopFollower = newValue }
    }

    /// The address of this side; `nil` once the connection is closed.
    public var localAddress: SocketAddress? {
        channel.localAddress
    }

    /// The state of the connection: open, closing or closed.
    public var state: WebSocketSession.State {
        ending.phase == .closed ? .closed : session.state
    }

    /// What each side sent and received to close the connection, who began, and whether it was clean.
    ///
    /// Complete once ``state`` is closed.
    public var closeReport: CloseReport {
        session.report
    }

    /// The bytes that are written and not sent yet.
    public var queuedBytes: Int {
        channel.queuedBytes + (streams?.heldBytes ?? 0)
    }

    private static func maskingKeys(_ core: LoopCore, _ loop: EventLoop) -> MaskingKeys {
        let entropy = LoopBound(core.entropy, on: loop.thread)
        return MaskingKeys { entropy.value.next() }
    }

    /// The most bytes that one receive takes.
    var receiveLimit: Int { !handler.isPresent ? Self.queuedReceiveLimit : ReceiveBuffer.size }

    /// Begins: takes what came together with the handshake, then what arrives.
    ///
    /// - Parameters:
    ///   - leftover: what came behind the handshake.
    ///   - isKept: whether somebody keeps the socket until it has ended, as a server does. Default: nobody does, and one
    ///     that is dropped resets its connection.
    package func start(leftover: [UInt8], isKept: Bool = false) {
        let channel = channel
        if isKept { channel.keep(self) } else { channel.handler = self }
        channel.limitReceive(to: receiveLimit)
        observeOpening()
        // The handshake has read; what comes now lies after what came with its head.
        channel.isReading = false
        handler.opened(self)
        armSessionTimer()
        inbox.keep(leftover)
        parseRest()
        if ending.isTaking { updateReading() }
    }

    // MARK: Time and the end

    /// Arms the timer for the session's next deadline; one that is armed for an earlier instant is left and looks again.
    func armSessionTimer() {
        guard ending.isAttached, let deadline = session.deadline else { return }
        let core = channel.core
        // One without a deadline is about to fire.
        if sessionTimer != .none, core.deadline(of: sessionTimer).map({ $0 <= deadline }) ?? true { return }
        stopSessionTimer()
        sessionTimer = core.schedule(self, at: deadline, keepsTarget: channel.keepsHandler)
    }

    func stopSessionTimer() {
        if sessionTimer != .none { channel.core.cancel(sessionTimer) }
        sessionTimer = .none
    }

    /// Whether that was the timer of the session, which then isn't armed any more.
    func takeSessionTimer(_ timer: TimerID) -> Bool {
        guard timer == sessionTimer else { return false }
        sessionTimer = .none
        return true
    }

    /// Has an observer told once when the connection has ended, on its loop; never where it has by now.
    package func onEnd(_ observer: EndObserver) {
        endObserver = observer
    }

    /// Tells who asked for it that the connection has ended.
    func tellEnd() { endObserver.take()?.ended(self) }

    /// Notes in which task the handler runs, until the connection is closed.
    func noteHandlerTask(_ task: TaskIdentity) { handlerTask = task }

    @usableFromInline var isHandlerTaskCurrent: Bool { handlerTask.isCurrent }
}

/// Who hears of the end of connections; one for all that are kept alike.
package final class EndObserver: Sendable {
    let ended: @Sendable (isolated WebSocket) -> Void

    package init(_ ended: @escaping @Sendable (isolated WebSocket) -> Void) {
        self.ended = ended
    }
}

/// What a connection is made with.
package struct WebSocketSetup: Sendable {
    package var role: WebSocketSession.Role
    package var limits: MessageLimits
    /// Of these limits, and shared by all connections that are made alike.
    package var settings: SessionSettings
    package var subprotocol: String?
    package var remoteAddress: SocketAddress?
    package var handler: HandlerBox?
    package var compression: AgreedCompression?
    /// When a server accepted the connection, and when the request for the WebSocket had come.
    package var accepted: Instant?
    package var asked: Instant?
    package var observation: Observation?
    /// Whether messages are received in pieces from the first one on.
    package var streamsMessages = false
    /// Whether pings and pongs are kept for ``WebSocket/nextTold()``, which alone receives then.
    var tellsControlFrames = false

    package init(
        role: WebSocketSession.Role,
        limits: MessageLimits,
        settings: SessionSettings,
        subprotocol: String? = nil,
        remoteAddress: SocketAddress? = nil,
        handler: HandlerBox? = nil,
        compression: AgreedCompression? = nil
    ) {
        self.role = role
        self.limits = limits
        self.settings = settings
        self.subprotocol = subprotocol
        self.remoteAddress = remoteAddress
        self.handler = handler
        self.compression = compression
    }
}
