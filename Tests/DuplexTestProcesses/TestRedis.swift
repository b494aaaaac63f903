// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A Redis server, or a sentinel, that a test runs on a port of its own and in a folder of its own.
package final class TestRedis: Sendable {
    /// It couldn't be started.
    package struct Failed: Error, CustomStringConvertible {
        package let description: String
    }

    /// What is run.
    package enum Kind: Sendable {
        case server
        case sentinel

        fileprivate var program: String { self == .server ? "redis-server" : "redis-sentinel" }
        fileprivate var readiness: String { self == .server ? "Ready to accept connections" : "Sentinel ID is" }
    }

    private struct Running {
        let process: SpawnedProcess
        let end: AsyncStream<Void>
    }

    /// The folder, with a slash at its end.
    package let folder: String
    private let kind: Kind
    private let reserved: ReservedPort
    private let configuration: [String]
    private let running = Mutex<Running?>(nil)

    private init(_ kind: Kind, folder: String, _ configuration: [String]) throws {
        self.kind = kind
        self.folder = folder
        self.configuration = configuration
        reserved = try ReservedPort()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    /// The port of 127.0.0.1.
    package var port: Int { reserved.address.port }

    /// The path of its Unix socket; a server's.
    package var socketPath: String { folder + "redis.sock" }

    /// The URL of the port.
    package var url: String { "redis://127.0.0.1:\(port)" }

    /// Runs the body with a server that keeps nothing on the disk unless it is told to.
    ///
    /// - Parameters:
    ///   - kind: what is run.
    ///   - configuration: lines of its configuration, behind those that every one has; `PORT` and `FOLDER/` stand for its own.
    ///   - files: what is in its folder.
    ///   - body: gets the server, which may be killed and started again.
    /// - Returns: what the body returns.
    /// - Throws: what the body throws; ``Failed``.
    package static func run<Result>(
        _ kind: Kind = .server,
        _ configuration: [String] = [],
        files: [String: String] = [:],
        _ body: (TestRedis) async throws -> Result
    ) async throws -> Result {
        try await withTestFolder(files) { folder in
            let redis = try TestRedis(kind, folder: folder, configuration)
            do {
                try await redis.start()
                let result = try await body(redis)
                await redis.kill()
                return result
            } catch {
                await redis.kill()
                throw error
            }
        }
    }

    /// Starts it, and waits until it takes connections.
    package func start() async throws {
        let process = SpawnedProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [kind.program, try writeConfiguration()]
        let (end, ended) = AsyncStream<Void>.makeStream()
        process.terminationHandler = { _ in ended.finish() }
        let output = try Self.run(process)
        running.withLock { $0 = Running(process: process, end: end) }
        var text = ""
        for await piece in output {
            text += piece
            if text.contains(kind.readiness) { return }
        }
        throw Failed(description: "\(kind.program) has ended: \(text)")
    }

    private func writeConfiguration() throws -> String {
        var lines = ["bind 127.0.0.1", "dir \(folder)", "daemonize no"]
        if !configuration.contains(where: { $0.hasPrefix("tls-port") }) { lines.append("port \(port)") }
        if kind == .server {
            lines += [
                "save \"\"", "unixsocket \(socketPath)", "enable-debug-command yes", "repl-diskless-sync-delay 0",
            ]
        }
        lines += configuration.map { $0.replacing("PORT", with: "\(port)").replacing("FOLDER/", with: folder) }
        let path = folder + "redis.conf"
        // A sentinel keeps what it has learnt in its file.
        if kind == .server || !FileManager.default.fileExists(atPath: path) {
            try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: path))
        }
        return path
    }

    /// Ends it at once, as a machine that fails.
    package func kill() async {
        guard let running = running.withLock({ $0.take() }) else { return }
        running.process.signal(SIGKILL)
        for await _ in running.end {}
    }

    /// Has it stand still: connections stay, and nobody answers.
    package func pause() {
        running.withLock { $0?.process.signal(SIGSTOP) }
    }

    /// Has it go on.
    package func resume() {
        running.withLock { $0?.process.signal(SIGCONT) }
    }

    /// What `redis-cli` says.
    ///
    /// - Parameter words: the command.
    /// - Returns: its output without the line end.
    /// - Throws: when it can't be run.
    package func cli(_ words: String...) async throws -> String {
        let run = try await ProgramRun(["redis-cli", "-s", socketPath] + words)
        return run.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// What `redis-cli MONITOR` shows of the commands that come meanwhile, each in a line.
    ///
    /// - Parameter body: has them come.
    /// - Returns: the lines.
    /// - Throws: what the body throws; when it can't be run.
    package func monitored(_ body: () async throws -> Void) async throws -> [String] {
        let process = SpawnedProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["redis-cli", "-s", socketPath, "MONITOR"]
        let output = try Self.run(process)
        defer { process.signal(SIGKILL) }
        var pieces = output.makeAsyncIterator()
        var text = ""
        while !text.hasPrefix("OK\n") {
            guard let piece = await pieces.next() else { throw Failed(description: "MONITOR has ended: \(text)") }
            text += piece
        }
        try await body()
        let end = "the end of what is monitored"
        _ = try await cli("ECHO", end)
        while !text.contains(end) {
            guard let piece = await pieces.next() else { throw Failed(description: "MONITOR has ended: \(text)") }
            text += piece
        }
        return text.split(separator: "\n").dropFirst().map { String($0) }.filter { !$0.contains(end) }
    }

    /// Starts a program, and gives what it prints.
    private static func run(_ process: SpawnedProcess) throws -> AsyncStream<String> {
        let pipe = Pipe()
        process.standardOutput = .pipe(pipe)
        process.standardError = .pipe(pipe)
        let (output, lines) = AsyncStream<String>.makeStream()
        try process.run()
        // Read to its end, so that it never waits for a reader.
        Thread.detachNewThread {
            while true {
                let data = pipe.fileHandleForReading.availableData
                if data.isEmpty { break }
                lines.yield(String(decoding: data, as: UTF8.self))
            }
            lines.finish()
        }
        return output
    }
}
