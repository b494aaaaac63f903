// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Logging
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What a listener does with each connection before it hands it over.
struct ListenerSetup: Sendable {
    var proxyProtocol: ProxyProtocol
    var options: SocketOptions
    var tls: TLSServerOptions?
    /// With ``tls``: judges the first bytes of clients.
    var probe: PlainProbe?
    var logger: Logger
    /// Counts those that didn't come to a connection.
    var ends: EndSummary
    /// Whether the sockets were made here, and are nobody else's: they stop listening for all who have copies.
    var ownsSockets = false

    /// The durations that the caller has set.
    var durations: [DurationSetting] {
        proxyProtocol.durations.within("proxyProtocol") + options.durations.within("options")
            + (tls?.durations.within("tls") ?? [])
    }
}

/// Takes the connections of one loop: accepts them, hears what a proxy says of them, sets their options and secures them.
final class LoopAcceptors {
    /// Gets each connection on its loop, with the client's address and, where it is expected, what the proxy said.
    typealias Accepted = @Sendable (EventLoop, LoopBound<Channel>, SocketAddress?, ProxyOrigin?) -> Void

    private let loop: EventLoop
    private let core: LoopCore
    private let setup: ListenerSetup
    private let mayAccept: @Sendable () -> Bool
    private let lost: @Sendable () -> Void
    private let accepted: Accepted
    private var acceptors: [Acceptor] = []
    /// Where connections wait for the headers of proxies.
    private var gate: ProxyGate?

    init(
        loop: EventLoop,
        core: LoopCore,
        setup: ListenerSetup,
        mayAccept: @escaping @Sendable () -> Bool = { true },
        lost: @escaping @Sendable () -> Void = {},
        accepted: @escaping Accepted
    ) {
        self.loop = loop
        self.core = core
        self.setup = setup
        self.mayAccept = mayAccept
        self.lost = lost
        self.accepted = accepted
    }

    /// Takes over listening sockets; to be closed in the end, in any case.
    func start(_ descriptors: [Int32]) throws(SocketError) {
        if !setup.proxyProtocol.isOff {
            gate = ProxyGate(policy: setup.proxyProtocol, core: core, logger: setup.logger, ends: setup.ends) {
                [self] connection, origin in
                admit(connection, origin.header.source ?? origin.address, origin)
            }
        }
        acceptors = descriptors.map { descriptor in
            Acceptor(
                descriptor: descriptor,
                isOwn: setup.ownsSockets,
                core: core,
                logger: setup.logger,
                mayAccept: mayAccept,
                lost: lost
            ) { [self] connection, address in
                if let gate { gate.admit(connection, address) } else { admit(connection, address, nil) }
            }
        }
        for acceptor in acceptors { try acceptor.start() }
    }

    /// Stops listening; handshakes that were begun come to their ends.
    func close() {
        for acceptor in acceptors { acceptor.close() }
        gate?.close()
        // They hold this object.
        acceptors = []
        gate = nil
    }

    private func admit(_ connection: Int32, _ address: SocketAddress?, _ proxy: ProxyOrigin?) {
        do throws(SocketError) {
            try setup.options.apply(to: connection, family: address?.family ?? .unix)
        } catch {
            // A connection that goes on without an option is worth more than none.
            log(.debug, error, "a connection has not all of its options", address)
        }
        let channel = Channel(descriptor: connection, core: core)
        if let tls = setup.tls {
            secure(channel, tls, address, proxy)
        } else {
            accepted(loop, LoopBound(channel, on: loop.thread), address, proxy)
        }
    }

    private func secure(
        _ channel: Channel,
        _ options: TLSServerOptions,
        _ address: SocketAddress?,
        _ proxy: ProxyOrigin?
    ) {
        let bound = LoopBound(channel, on: loop.thread)
        do throws(SocketError) {
            let context = try options.context()
            let timeout = options.handshakeTimeout
            let probe = setup.probe
            try channel.prepareTLS(context, serverName: nil, timeout: timeout, loop: loop, probe: probe) {
                [self] result in
                switch result {
                case .success: accepted(loop, bound, address, proxy)
                case .failure(let error): fail(error, address)
                }
            }
            channel.startTLS()
        } catch {
            log(.info, error, "no connection can be secured", address)
            channel.close()
        }
    }

    /// A handshake has come to nothing, as any client can have it: a line of the log's sums, and one of its own for who looks.
    private func fail(_ error: SocketError, _ address: SocketAddress?) {
        setup.ends.count(.unsecured, on: core)
        log(.debug, error, "a client was not let in", address)
    }

    private func log(
        _ level: Logger.Level,
        _ error: SocketError,
        _ message: Logger.Message,
        _ address: SocketAddress?
    ) {
        let metadata: Logger.Metadata = ["peer": "\(address?.description ?? "?")", "error": "\(error)"]
        setup.logger.log(level: level, message, metadata: metadata)
    }
}

/// Takes the connections of one listening descriptor on one loop.
///
/// When the process has no descriptor left, it stops looking for a tenth of a second instead of spinning: what waits
/// stays in the backlog. It stops a little before, so that files can still be opened, and other servers reached, for the connections
/// there are. The descriptor stays watched meanwhile, for nothing, so that the loop's end is noticed here in
/// a pause, too. The pause is logged once, and its end.
final class Acceptor: DescriptorHandler, TimerTarget {
    /// How long nothing is accepted after the system had no descriptor or memory.
    static let pause = Duration.milliseconds(100)
    /// The most connections taken in one turn, so that a burst doesn't starve the connections there are.
    private static let burst = 64

    private let core: LoopCore
    private let descriptor: Int32
    private let isOwn: Bool
    private let logger: Logger
    private let accepted: (Int32, SocketAddress?) -> Void
    private let mayAccept: () -> Bool
    private let lost: () -> Void
    private var resumeTimer: TimerID?
    private var isOpen = true
    private var isWatched = false
    private var isExhausted = false
    /// The last descriptor that a connection may have, when it was looked last.
    private var scarceFrom: Int32 = 0

    /// Takes over a listening socket.
    ///
    /// - Parameters:
    ///   - descriptor: a listening, non-blocking socket; the acceptor closes it.
    ///   - isOwn: whether it is a TCP socket that was made for this acceptor alone: copies of it end with it.
    ///   - core: the loop that connections are taken on.
    ///   - logger: logs pauses.
    ///   - mayAccept: asked before each connection; where it says no, nothing is accepted for a moment.
    ///   - lost: called once when the system has taken the socket away, as it does to apps that it suspends; nothing is tried
    ///     again then.
    ///   - accepted: called on the loop with each connected, non-blocking descriptor, which is the callee's then.
    init(
        descriptor: Int32,
        isOwn: Bool = false,
        core: LoopCore,
        logger: Logger,
        mayAccept: @escaping () -> Bool = { true },
        lost: @escaping () -> Void = {},
        accepted: @escaping (Int32, SocketAddress?) -> Void
    ) {
        self.descriptor = descriptor
        self.isOwn = isOwn
        self.core = core
        self.logger = logger
        self.mayAccept = mayAccept
        self.lost = lost
        self.accepted = accepted
    }

    func start() throws(SocketError) {
        try core.watch(descriptor, for: .readable, handler: self)
        isWatched = true
    }

    /// Stops listening; connections that wait in the backlog are reset by the system.
    func close() {
        guard isOpen else { return }
        isOpen = false
        if let timer = resumeTimer { core.cancel(timer) }
        resumeTimer = nil
        if isWatched { core.unwatch(descriptor) }
        if isOwn { SystemCalls.stopListening(descriptor) } else { SystemCalls.close(descriptor) }
    }

    func ready(_ readiness: Readiness) {
        for _ in 0..<Self.burst {
            guard isOpen, resumeTimer == nil else { return }
            guard mayAccept() else { return pause() }
            if DescriptorReserve.mustRest { return rest(EMFILE) }
            switch SystemCalls.accept(descriptor) {
            case .accepted(let connection, let address): took(connection, address)
            case .aborted: continue
            case .none:
                // A Unix socket that was shut down has no error, and is ready for ever.
                if readiness.contains(.failed) { lose() }
                return
            case .failed(let code) where Self.isLost(code): return lose()
            case .exhausted(let code), .failed(let code): return rest(code)
            }
        }
    }

    func loopStopped() {
        close()
    }

    func timerFired(_ timer: TimerID, now: Instant) {
        guard timer == resumeTimer else { return }
        resumeTimer = nil
        core.modify(descriptor, interest: .readable)
    }

    /// Whether the error says that the socket doesn't listen, or isn't there any more.
    private static func isLost(_ code: Int32) -> Bool {
        [EINVAL, EBADF, ENOTSOCK, ENOTCONN].contains(code)
    }

    private func lose() {
        close()
        lost()
    }

    private func took(_ connection: Int32, _ address: SocketAddress?) {
        noteScarcity(connection)
        if isExhausted {
            isExhausted = false
            logger.notice("accepting connections again")
        }
        accepted(connection, address)
    }

    /// The limit is asked for again only by a descriptor that may be beyond it.
    private func noteScarcity(_ connection: Int32) {
        guard connection >= scarceFrom else { return }
        scarceFrom = DescriptorReserve.first - 1
        if connection >= scarceFrom { DescriptorReserve.noteScarcity() }
    }

    private func rest(_ code: Int32) {
        if !isExhausted {
            isExhausted = true
            logger.error(
                "no connection can be accepted; trying again every \(Self.pause.rounded)",
                metadata: ["reason": "\(SocketError.system(SocketError.text(of: code), errno: code).message)"]
            )
        }
        pause()
    }

    /// Takes nothing for a moment; what waits stays in the backlog.
    private func pause() {
        core.modify(descriptor, interest: [])
        resumeTimer = core.schedule(self, at: core.now.advanced(by: Self.pause))
    }
}

/// The descriptors that connections leave for files and for other servers: an eighth of those that the process may have, and 128 at
/// most.
///
/// The system gives out the lowest number that is free, so a high one says how many are taken.
enum DescriptorReserve {
    /// Whether a connection of the process has taken the last in front of them, and nobody has seen since that one is free.
    ///
    /// One for all acceptors: each has a socket and a loop of its own, and each of them would take one more.
    private static let isScarce = Atomic<Bool>(false)

    static func noteScarcity() { isScarce.store(true, ordering: .relaxed) }

    /// Whether the next connection would take one of them.
    static var mustRest: Bool {
        guard isScarce.load(ordering: .relaxed) else { return false }
        if !isUntouched { return true }
        isScarce.store(false, ordering: .relaxed)
        return false
    }

    /// The lowest of them.
    static var first: Int32 {
        SocketError.mostDescriptors.map { Int32(clamping: first(of: $0)) } ?? .max
    }

    static func first(of most: UInt64) -> UInt64 {
        most - min(128, most / 8)
    }

    /// Whether the next descriptor that the system gives is none of them.
    static var isUntouched: Bool {
        let next = fcntl(0, F_DUPFD_CLOEXEC, 0)
        // Where descriptor 0 is closed, the next is 0.
        if next < 0 { return errno == EBADF }
        SystemCalls.close(next)
        return next < first
    }
}
