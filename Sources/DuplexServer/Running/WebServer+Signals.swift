// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
import UnixSignals

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A signal that shuts a server down gracefully; see ``WebServer/run(until:onListening:onHangUp:)``.
public struct ShutdownSignal: Sendable, Hashable {
    let signal: UnixSignal

    /// SIGTERM, which service managers send.
    public static let terminate = ShutdownSignal(signal: .sigterm)
    /// SIGINT, which Ctrl-C sends.
    public static let interrupt = ShutdownSignal(signal: .sigint)
    /// SIGQUIT, which some service managers send for a graceful shutdown.
    public static let quit = ShutdownSignal(signal: .sigquit)
    /// SIGHUP, which the end of a terminal sends; for a service that reads its settings again at it see `onHangUp`.
    public static let hangUp = ShutdownSignal(signal: .sighup)
}

extension WebServer {
    /// Serves until the process gets one of the signals or the task is cancelled, and then shuts down gracefully, as
    /// ``run()`` does.
    ///
    /// For the main program of a server. Where the server can't listen, or its routes contradict each other, the process
    /// ends with the status 1 and says so in a line on standard error: an error that is thrown at the top of a program would
    /// end it with a trace of the stack. To deal with errors, call ``run()``.
    ///
    /// It notifies a service manager when connections are accepted, when the server reloads, and when it ends, and its
    /// watchdog while all loops run (systemd's `Type=notify`, sd_notify(3)).
    ///
    /// Hazard: the end waits for an `onHangUp` that is at work; it is cancelled, and has to look.
    ///
    /// - Parameters:
    ///   - signals: such as `.terminate, .interrupt`.
    ///   - onListening: as in ``run(onListening:)``. Default: does nothing.
    ///   - onHangUp: called for each SIGHUP, one at a time: for routes that are replaced (``RunningServer/replaceRoutes(_:)``),
    ///     certificates that are read again (`ReloadableTLSIdentity.reload()`), files of logs that are opened again. What it throws is
    ///     logged. Default: none, and SIGHUP ends the process as ever.
    /// - Throws: what `onListening` throws.
    public func run(
        until signals: ShutdownSignal...,
        onListening: @escaping @Sendable (SocketAddress) async throws -> Void = { _ in },
        onHangUp: (@Sendable (RunningServer) async throws -> Void)? = nil
    ) async throws {
        do {
            try await run(until: signals, onHangUp, nil, onListening)
        } catch let error as SocketError {
            Self.giveUp(error.message)
        } catch let error as RouteError {
            Self.giveUp("\(error)")
        }
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
        try await run(until: [], nil, watch, onListening)
    }

    private func run(
        until signals: [ShutdownSignal],
        _ onHangUp: (@Sendable (RunningServer) async throws -> Void)?,
        _ watch: (@Sendable (RunningServer) async -> Void)?,
        _ onListening: @escaping @Sendable (SocketAddress) async throws -> Void
    ) async throws {
        let caught = signals.isEmpty ? nil : await UnixSignalsSequence(trapping: signals.map(\.signal))
        let hangUps = onHangUp == nil ? nil : await UnixSignalsSequence(trapping: .sighup)
        let manager = ServiceNotifier()
        let running = try RunningServer(self) { manager?.stopping() }
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
            if let onHangUp, let hangUps {
                tasks.addTask {
                    await reload(running, at: hangUps, manager, onHangUp)
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

    private func reload(
        _ running: RunningServer,
        at hangUps: UnixSignalsSequence,
        _ manager: ServiceNotifier?,
        _ onHangUp: @Sendable (RunningServer) async throws -> Void
    ) async {
        for await _ in hangUps {
            manager?.reloading()
            do {
                try await onHangUp(running)
            } catch {
                logger.error("reloading failed", metadata: ["error": "\(error)"])
            }
            manager?.ready()
        }
    }

    private static func giveUp(_ reason: String) -> Never {
        let line = Array("The server can't run: \(reason)\n".utf8)
        _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
        exit(EXIT_FAILURE)
    }
}
