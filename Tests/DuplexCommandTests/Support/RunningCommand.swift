// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexTestProcesses
import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What a run of the built command left behind.
struct CommandResult: Sendable, Equatable {
    var status: Int32
    var output: String
    var errors: String
}

/// The built command in a process of its own, with pipes to talk to it.
final class RunningCommand: Sendable {
    private let process: SpawnedProcess
    private let input = Pipe()
    private let output = Pipe()
    private let errors = Pipe()
    private let ended: AsyncStream<Int32>

    /// Starts the command.
    ///
    /// - Parameters:
    ///   - arguments: without the command's name.
    ///   - descriptors: the limit of descriptors that it begins with, which it may raise. Default: ours.
    ///   - variables: what its environment has besides ours. Default: nothing.
    ///   - redirection: what a shell does with its streams, such as `>&-`. Default: nothing.
    ///   - hasReader: whether somebody reads its output. Default: true.
    /// - Throws: when it can't be started.
    init(
        _ arguments: [String],
        descriptors: Int? = nil,
        variables: [String: String] = [:],
        redirecting redirection: String? = nil,
        hasReader: Bool = true
    ) throws {
        let (ended, continuation) = AsyncStream<Int32>.makeStream()
        self.ended = ended
        process = SpawnedProcess()
        if !hasReader { try output.fileHandleForReading.close() }
        if descriptors != nil || redirection != nil {
            let limit = descriptors.map { "ulimit -S -n \($0) && " } ?? ""
            let script = "\(limit)exec \"$0\" \"$@\" \(redirection ?? "")"
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", script, try Self.executable.path] + arguments
        } else {
            process.executableURL = try Self.executable
            process.arguments = arguments
        }
        process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        process.standardInput = .pipe(input)
        process.standardOutput = .pipe(output)
        process.standardError = .pipe(errors)
        process.terminationHandler = { process in
            continuation.yield(process.terminationStatus)
            continuation.finish()
        }
        try process.run()
    }

    /// Runs the command to its end.
    static func run(_ arguments: [String], input: String = "") async throws -> CommandResult {
        try await run(arguments, input: Array(input.utf8))
    }

    /// Runs the command to its end.
    static func run(_ arguments: [String], input: [UInt8]) async throws -> CommandResult {
        let command = try RunningCommand(arguments)
        try command.write(input)
        try command.endInput()
        return try await command.finish()
    }

    func write(_ bytes: [UInt8]) throws {
        try input.fileHandleForWriting.write(contentsOf: Data(bytes))
    }

    func endInput() throws {
        try input.fileHandleForWriting.close()
    }

    /// Has nobody read its output any more.
    func endReading() throws {
        try output.fileHandleForReading.close()
    }

    func signal(_ number: Int32) {
        process.signal(number)
    }

    /// The next line of standard output, without its end; what there is of it at the end of the output.
    func readLine() async throws -> String {
        try await Self.readLine(output.fileHandleForReading)
    }

    /// The next line of standard error; see ``readLine()``.
    func readError() async throws -> String {
        try await Self.readLine(errors.fileHandleForReading)
    }

    private static func readLine(_ handle: FileHandle) async throws -> String {
        try await offPool {
            var line = Data()
            while let byte = try handle.read(upToCount: 1), !byte.isEmpty, byte != Data("\n".utf8) { line += byte }
            return String(decoding: line, as: UTF8.self)
        }
    }

    /// Waits for the end, and reads nothing; a command is waited for once.
    func status() async throws -> Int32 {
        var status: Int32?
        for await value in ended { status = value }
        return try #require(status)
    }

    /// Reads all that is still to come and waits for the end.
    func finish() async throws -> CommandResult {
        async let output = Self.readAll(output.fileHandleForReading)
        async let errors = Self.readAll(errors.fileHandleForReading)
        let status = try await status()
        return CommandResult(status: status, output: try await output, errors: try await errors)
    }

    /// Waits for the end of a command whose output nobody reads.
    ///
    /// - Returns: its status and what it wrote on standard error.
    func finishWithoutOutput() async throws -> CommandResult {
        async let errors = Self.readAll(errors.fileHandleForReading)
        let status = try await status()
        return CommandResult(status: status, output: "", errors: try await errors)
    }

    private static func readAll(_ handle: FileHandle) async throws -> String {
        try await offPool { String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self) }
    }

    /// Reading from a pipe may block for long, and would take a thread of the concurrency pool with it.
    static func offPool<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "duplex.tests.pipe").async {
                continuation.resume(with: Swift.Result { try body() })
            }
        }
    }

    /// The command beside the test bundle, where the build has put both; or another one that `DUPLEX_TEST_COMMAND` names.
    static var executable: URL {
        get throws {
            let named = ProcessInfo.processInfo.environment["DUPLEX_TEST_COMMAND"]
            if let named { return URL(fileURLWithPath: named) }
            let places =
                [CommandLine.arguments.first, Bundle.main.executablePath].compactMap(\.self)
                + Bundle.allBundles.map(\.bundlePath)
            let found = places.map {
                URL(fileURLWithPath: $0).deletingLastPathComponent().appendingPathComponent("duplex")
            }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
            return try #require(found, "The built command `duplex` isn't beside the tests: \(places)")
        }
    }
}

/// Runs `body` beside `duplex serve`, with the server's authority, and sees that the server ends in order.
func withServeCommand(
    _ arguments: [String] = [],
    descriptors: Int? = nil,
    _ body: (String) async throws -> Void
) async throws {
    let server = try RunningCommand(["serve", "--port", "0"] + arguments, descriptors: descriptors)
    let line = try await server.readLine()
    let authority = line.replacing("Listening on http://", with: "")
    do {
        try #require(line != authority, "The server said: \(line)")
        try await body(authority)
    } catch {
        server.signal(SIGKILL)
        throw error
    }
    server.signal(SIGTERM)
    #expect(try await server.finish().status == 0)
}

/// The built command with a pseudo-terminal for its input and output.
final class TerminalCommand: Sendable {
    private let process = SpawnedProcess()
    private let terminal: FileHandle
    private let ended: AsyncStream<Int32>

    /// Starts the command.
    init(_ arguments: [String]) throws {
        let (ended, continuation) = AsyncStream<Int32>.makeStream()
        self.ended = ended
        let ends = try PseudoTerminal()
        terminal = FileHandle(fileDescriptor: dup(ends.person), closeOnDealloc: true)
        let program = FileHandle(fileDescriptor: dup(ends.program), closeOnDealloc: true)
        process.executableURL = try RunningCommand.executable
        process.arguments = arguments
        process.standardInput = .handle(program)
        process.standardOutput = .handle(program)
        process.standardError = .handle(program)
        process.terminationHandler = { process in
            continuation.yield(process.terminationStatus)
            continuation.finish()
        }
        try process.run()
    }

    func signal(_ number: Int32) {
        process.signal(number)
    }

    /// Types as a person does.
    func type(_ text: String) {
        terminal.write(Data(text.utf8))
    }

    /// Reads until the screen ends with that text.
    func expect(_ text: String) async throws {
        let terminal = terminal
        let seen = try await RunningCommand.offPool {
            var seen = Data()
            while !seen.hasSuffix(text) {
                guard let more = try terminal.read(upToCount: 1), !more.isEmpty else { break }
                seen += more
            }
            return String(decoding: seen, as: UTF8.self)
        }
        #expect(
            seen.unicodeScalars.suffix(text.unicodeScalars.count).elementsEqual(text.unicodeScalars),
            "\(seen.debugDescription)"
        )
    }

    func finish() async throws -> Int32 {
        var status: Int32?
        for await value in ended { status = value }
        return try #require(status)
    }
}

extension Data {
    fileprivate func hasSuffix(_ text: String) -> Bool {
        suffix(text.utf8.count).elementsEqual(text.utf8)
    }
}
