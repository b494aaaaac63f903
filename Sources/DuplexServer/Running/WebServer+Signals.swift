// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
import UnixSignals

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A signal that ends a server in order; see ``WebServer/run(until:onListening:)``.
public struct ShutdownSignal: Sendable, Hashable {
    let signal: UnixSignal

    /// SIGTERM, which service managers send.
    public static let terminate = ShutdownSignal(signal: .sigterm)
    /// SIGINT, which Ctrl-C sends.
    public static let interrupt = ShutdownSignal(signal: .sigint)
    /// SIGQUIT, which some service managers send to have a server end in order.
    public static let quit = ShutdownSignal(signal: .sigquit)
    /// SIGHUP, which the end of a terminal sends.
    public static let hangUp = ShutdownSignal(signal: .sighup)
}

extension WebServer {
    /// Serves until the process gets one of the signals or the task is cancelled, and then ends in order, as ``run()`` does.
    ///
    /// For the main program of a server. Where the server can't listen, or its routes contradict each other, the process
    /// ends with the status 1 and says so in a line on standard error: an error that is thrown at the top of a program would
    /// end it with a trace of the stack. To deal with errors, call ``run()``.
    ///
    /// - Parameters:
    ///   - signals: such as `.terminate, .interrupt`.
    ///   - onListening: as of ``run(onListening:)``; does nothing by default.
    /// - Throws: what `onListening` throws.
    public func run(
        until signals: ShutdownSignal...,
        onListening: @escaping @Sendable (SocketAddress) async throws -> Void = { _ in }
    ) async throws {
        do {
            try await run(until: signals, onListening)
        } catch let error as SocketError {
            Self.giveUp("\(address): \(error.message)")
        } catch let error as RouteError {
            Self.giveUp("\(error)")
        }
    }

    private func run(
        until signals: [ShutdownSignal],
        _ onListening: @escaping @Sendable (SocketAddress) async throws -> Void
    ) async throws {
        let caught = await UnixSignalsSequence(trapping: signals.map(\.signal))
        try await withThrowingTaskGroup(of: Bool.self) { tasks in
            tasks.addTask {
                try await run(onListening: onListening)
                return true
            }
            tasks.addTask {
                for await _ in caught { break }
                return false
            }
            _ = try await tasks.next()
            tasks.cancelAll()
            while try await tasks.next() != nil {}
        }
    }

    private static func giveUp(_ reason: String) -> Never {
        let line = Array("The server can't run: \(reason)\n".utf8)
        _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
        exit(EXIT_FAILURE)
    }
}
