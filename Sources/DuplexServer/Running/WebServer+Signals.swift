// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
import Logging
import UnixSignals

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A signal that shuts a server down gracefully; see ``WebServer/run(until:onListening:onHangUp:)``.
@nonexhaustive
public enum ShutdownSignal: Sendable, Hashable {
    /// SIGTERM, which service managers send.
    case terminate
    /// SIGINT, which Ctrl-C sends.
    case interrupt
    /// SIGQUIT, which some service managers send for a graceful shutdown.
    case quit
    /// SIGHUP, which the end of a terminal sends; for a service that reads its settings again at it see `onHangUp`.
    case hangUp

    var signal: UnixSignal {
        switch self {
        case .terminate: .sigterm
        case .interrupt: .sigint
        case .quit: .sigquit
        case .hangUp: .sighup
        }
    }
}

extension WebServer {
    /// What SIGHUP has done.
    private struct HangUpWork: Sendable {
        /// What is read again.
        var identities: [ReloadableTLSIdentity] = []
        var action: (@Sendable (RunningServer) async throws -> Void)?

        var isEmpty: Bool { identities.isEmpty && action == nil }
    }

    /// Serves until the process gets one of the signals or the task is cancelled, and then shuts down gracefully, as
    /// ``run(onListening:)`` does.
    ///
    /// For a program that deals with errors itself; ``runAndExit(until:onListening:onHangUp:)`` is for a main program of one
    /// line.
    ///
    /// At SIGHUP certificates of listeners are read again before `onHangUp` is called, if they come from files
    /// (`TLSServerOptions.pem(certificatesAt:keyAt:)`) or from a closure (`ReloadableTLSIdentity(reading:)`). Those that
    /// can't be read stay as they were, and the error is logged. Without such certificates and without `onHangUp`, SIGHUP ends
    /// the process as ever.
    ///
    /// A service manager is notified when connections are accepted, when the server reloads, and when it ends, and its
    /// watchdog while all loops run (systemd's `Type=notify`, sd_notify(3)).
    ///
    /// Hazard: the end waits for an `onHangUp` that is at work; it is cancelled, and has to look.
    ///
    /// Hazard: signals are caught before `onListening` is called, and stay caught when this has returned or thrown: from then on
    /// they do nothing. They are left alone if the routes contradict each other or a port can't be had.
    ///
    /// - Parameters:
    ///   - signals: such as `.terminate, .interrupt`. With `.hangUp` among them certificates aren't read again.
    ///   - onListening: as in ``run(onListening:)``. Default: does nothing.
    ///   - onHangUp: called for each SIGHUP, one at a time: for routes that are replaced (``RunningServer/replaceRoutes(_:)``),
    ///     files of logs that are opened again. What it throws is logged. Default: none.
    /// - Throws: ``RouteError`` when the routes contradict each other, or a duration isn't longer than zero;
    ///   `SocketError` when a port can't be had; what `onListening` throws. Being cancelled throws nothing.
    public func run(
        until signals: ShutdownSignal...,
        onListening: @escaping @Sendable (SocketAddress) async throws -> Void = { _ in },
        onHangUp: (@Sendable (RunningServer) async throws -> Void)? = nil
    ) async throws {
        try await run(until: signals, hangUpWork(until: signals, onHangUp), nil, onListening)
    }

    /// Serves until the process gets one of the signals, shuts down gracefully, and ends the process with the status 0; ends
    /// it with the status 1 and a sentence if the server can't run.
    ///
    /// ```swift
    /// import DuplexServer
    ///
    /// var server = WebServer(port: 8080)
    /// server.get("/") { _ in "Hello" }
    /// await server.runAndExit()
    /// ```
    ///
    /// For a main program of one line: an error that is thrown at the top of a program ends it with a trace of the stack. Here
    /// `The server can't run: …` goes to standard error, such as when the port is taken or the routes contradict each other.
    /// SIGHUP and the service manager are dealt with as by ``run(until:onListening:onHangUp:)``.
    ///
    /// Hazard: the process ends where this is called, also if the task is cancelled. What comes after it in the program, such as
    /// a `defer`, isn't run.
    ///
    /// - Parameters:
    ///   - signals: such as `.terminate`. Default: `.terminate, .interrupt`.
    ///   - onListening: as in ``run(onListening:)``; what it throws ends the process with the status 1. Default: does nothing.
    ///   - onHangUp: as in ``run(until:onListening:onHangUp:)``. Default: none.
    public func runAndExit(
        until signals: ShutdownSignal...,
        onListening: @escaping @Sendable (SocketAddress) async throws -> Void = { _ in },
        onHangUp: (@Sendable (RunningServer) async throws -> Void)? = nil
    ) async -> Never {
        let signals = signals.isEmpty ? [.terminate, .interrupt] : signals
        do {
            try await run(until: signals, hangUpWork(until: signals, onHangUp), nil, onListening)
        } catch {
            Self.giveUp((error as? SocketError)?.message ?? "\(error)")
        }
        exit(EXIT_SUCCESS)
    }

    /// Serves until the task is cancelled, and notifies a service manager: for programs that have signals of their own.
    ///
    /// - Parameters:
    ///   - watch: is called with the running server, and cancelled when that ends. Default: nothing.
    ///   - onListening: as of ``run(onListening:)``.
    /// - Throws: as ``run(onListening:)`` does.
    package func runManaged(
        watch: (@Sendable (RunningServer) async -> Void)? = nil,
        onListening: @escaping @Sendable (SocketAddress) async throws -> Void
    ) async throws {
        try await run(until: [], HangUpWork(), watch, onListening)
    }

    private func run(
        until signals: [ShutdownSignal],
        _ hangUpWork: HangUpWork,
        _ watch: (@Sendable (RunningServer) async -> Void)?,
        _ onListening: @escaping @Sendable (SocketAddress) async throws -> Void
    ) async throws {
        let manager = ServiceNotifier()
        // First: a signal that was caught once does nothing for the rest of the process, and a program that goes on without
        // this server must end by it.
        let running = try RunningServer(self) { manager?.stopping() }
        let caught = signals.isEmpty ? nil : await UnixSignalsSequence(trapping: signals.map(\.signal))
        let hangUps = hangUpWork.isEmpty ? nil : await UnixSignalsSequence(trapping: .sighup)
        try await withThrowingTaskGroup(of: Bool.self) { tasks in
            tasks.addTask {
                try await running.serve(onListening) { manager?.ready() }
                return true
            }
            tasks.addTask {
                if let caught { for await _ in caught { break } } else { await running.waitUntilStopped() }
                return true
            }
            if let watch {
                tasks.addTask {
                    await watch(running)
                    return false
                }
            }
            if let hangUps {
                tasks.addTask {
                    await reload(running, at: hangUps, manager, hangUpWork)
                    return false
                }
            }
            if let manager, let interval = manager.watchdogInterval {
                tasks.addTask {
                    await running.answer(manager, every: interval / 2)
                    return false
                }
            }
            while let isEnd = try await tasks.next(), !isEnd {}
            tasks.cancelAll()
            while try await tasks.next() != nil {}
        }
    }

    // MARK: SIGHUP

    private func hangUpWork(
        until signals: [ShutdownSignal],
        _ action: (@Sendable (RunningServer) async throws -> Void)?
    ) -> HangUpWork {
        if signals.contains(.hangUp) { return HangUpWork(action: action) }
        // Listeners may share theirs.
        var known: Set<ObjectIdentifier> = []
        let identities = listeners.compactMap { $0.tls?.identities }.filter { identities in
            identities.canReload && known.insert(ObjectIdentifier(identities)).inserted
        }
        return HangUpWork(identities: identities, action: action)
    }

    private func reload(
        _ running: RunningServer,
        at hangUps: UnixSignalsSequence,
        _ manager: ServiceNotifier?,
        _ work: HangUpWork
    ) async {
        for await _ in hangUps {
            manager?.reloading()
            for identities in work.identities { await reload(identities) }
            do {
                try await work.action?(running)
            } catch {
                logger.error("reloading failed", metadata: ["error": "\(error)"])
            }
            manager?.ready()
        }
    }

    private func reload(_ identities: ReloadableTLSIdentity) async {
        do {
            try await BlockingThreads.files.run { try identities.reload() }
        } catch is CancellationError {
            return
        } catch {
            let reason = (error as? SocketError)?.message ?? "\(error)"
            logger.error("the certificate can't be read again, and the old one stays", metadata: ["error": "\(reason)"])
            return
        }
        for certificate in identities.certificates.compactMap(\.first) {
            logger.notice(
                "the certificate was read again",
                metadata: ["certificate": "\(certificate.subject)", "until": "\(certificate.notAfter)"]
            )
        }
    }

    // MARK: The end

    private static func giveUp(_ reason: String) -> Never {
        let line = Array("The server can't run: \(reason)\n".utf8)
        _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
        exit(EXIT_FAILURE)
    }
}
