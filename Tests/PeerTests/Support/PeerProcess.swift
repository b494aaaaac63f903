// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexSockets
import DuplexTestProcesses
import Foundation

#if canImport(Glibc)
import Glibc
#endif

/// A program that runs beside a test and prints lines; what it prints to standard error counts as well.
final class PeerProcess: Sendable {
    /// The program couldn't be started, or didn't do what it should.
    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    private let command: [String]
    private let process: SpawnedProcess
    private let lines: AsyncStream<String>
    private let exits: AsyncStream<Int32>

    var identifier: Int32 { process.processIdentifier }

    private init(_ command: [String], environment: [String: String], input: Int32? = nil) throws {
        guard let program = command.first, FileManager.default.isExecutableFile(atPath: program) else {
            throw Failed(description: "\(command.first ?? "") isn't there: run scripts/setup --tests")
        }
        self.command = command
        process = SpawnedProcess()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = Array(command.dropFirst())
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        process.standardInput = input.map { .handle(FileHandle(fileDescriptor: $0)) } ?? .none
        let output = Pipe()
        process.standardOutput = .pipe(output)
        process.standardError = .pipe(output)
        lines = Self.lines(of: output.fileHandleForReading)
        let (exits, continuation) = AsyncStream<Int32>.makeStream()
        self.exits = exits
        process.terminationHandler = { process in
            continuation.yield(process.terminationStatus)
            continuation.finish()
        }
        try process.run()
    }

    /// The lines of a pipe, read by a thread of its own, because reading blocks.
    ///
    /// Not by a readability handler: with one, the descriptor is closed while libdispatch still watches it, and libdispatch
    /// crashed in its event loop when the number had a new owner by then.
    private static func lines(of handle: FileHandle) -> AsyncStream<String> {
        AsyncStream { continuation in
            DispatchQueue(label: "duplex.tests.peer").async {
                var splitter = LineSplitter()
                var data: Data
                repeat {
                    data = handle.availableData
                    for line in splitter.lines(in: data) { continuation.yield(line) }
                } while !data.isEmpty
                continuation.finish()
            }
        }
    }

    /// The next line; `nil` once the program has closed its output, or the test has run out of time.
    private func nextLine() async -> String? {
        for await line in lines { return line }
        return nil
    }

    /// Runs a program to its end.
    ///
    /// - Returns: what it printed.
    /// - Throws: ``Failed`` with what it printed, if it didn't end with 0.
    @discardableResult
    static func run(_ command: [String], environment: [String: String] = [:]) async throws -> String {
        let peer = try PeerProcess(command, environment: environment)
        defer { peer.terminate() }
        var output = ""
        while let line = await peer.nextLine() { output += line + "\n" }
        for await status in peer.exits where status == 0 { return output }
        let name = command.map { $0.split(separator: "/").last.map(String.init) ?? $0 }.joined(separator: " ")
        throw Failed(description: "\(name) failed:\n\(output)")
    }

    /// Runs a program for the length of a closure, which gets the first line that the program prints.
    ///
    /// - Parameters:
    ///   - command: the program's path and its arguments.
    ///   - environment: variables beside those of the tests.
    ///   - input: what the program gets as standard input. Default: nothing.
    ///   - body: runs beside it.
    /// - Returns: what `body` returned.
    /// - Throws: ``Failed`` with what `body` threw and what the program printed.
    static func withRunning<Result>(
        _ command: [String],
        environment: [String: String] = [:],
        input: Int32? = nil,
        _ body: (PeerProcess, String) async throws -> Result
    ) async throws -> Result {
        let peer = try PeerProcess(command, environment: environment, input: input)
        do {
            guard let line = await peer.nextLine() else {
                throw Failed(description: "\(command.joined(separator: " ")) ended without printing anything")
            }
            let result = try await body(peer, line)
            await peer.end()
            return result
        } catch {
            let output = await peer.end()
            throw Failed(description: "\(error)\nand \(command.joined(separator: " ")) printed:\n\(output)")
        }
    }

    /// Waits for a line with that text in it, behind the first one.
    ///
    /// - Throws: ``Failed`` when the program closes its output before.
    /// - Returns: the line.
    @discardableResult
    func waitForLine(containing text: String) async throws -> String {
        while let line = await nextLine() { if line.contains(text) { return line } }
        throw Failed(description: "“\(text)” was never printed")
    }

    /// Waits until somebody listens at an address, as the program is to.
    ///
    /// - Throws: ``Failed`` when the program ends before, and the refusal when nobody listens within a minute.
    func waitForListener(at address: SocketAddress) async throws {
        let end = ContinuousClock.now.advanced(by: .seconds(60))
        while process.isRunning {
            do {
                return try await Socket.connect(to: .address(address)).close()
            } catch  where ContinuousClock.now < end {
                await Task.yield()
            }
        }
        throw Failed(description: "It ended before anybody listened at \(address)")
    }

    /// Ends the program, which can do nothing about it.
    func kill() {
        process.signal(SIGKILL)
    }

    /// Asks the program to end, and insists when the test has run out of time.
    private func terminate() {
        process.signal(Task.isCancelled ? SIGKILL : SIGTERM)
    }

    /// Ends the program and waits for that.
    ///
    /// - Returns: what it had printed and nobody read.
    @discardableResult
    private func end() async -> String {
        terminate()
        var output = ""
        while let line = await nextLine() { output += line + "\n" }
        for await _ in exits {}
        return output
    }
}

/// Cuts output into lines.
private struct LineSplitter {
    private var rest = Data()

    /// The lines that the data completes; empty data is the end, and completes the last one.
    mutating func lines(in data: Data) -> [String] {
        rest += data
        var lines: [String] = []
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            lines.append(String(decoding: rest[..<end], as: UTF8.self))
            rest = Data(rest[(end + 1)...])
        }
        if data.isEmpty && !rest.isEmpty { lines.append(String(decoding: rest, as: UTF8.self)) }
        return lines
    }
}
