// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Logging

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

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
    /// Whether the last connection took one of the last descriptors.
    private var isScarce = false
    /// The first of these when it was looked last.
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
            if isScarce && !DescriptorReserve.isUntouched { return rest(EMFILE) }
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
        isScarce = false
        guard connection >= scarceFrom else { return }
        scarceFrom = DescriptorReserve.first
        isScarce = connection >= scarceFrom
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
