// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import Foundation
import Glibc
import Synchronization

@testable import DuplexSockets

/// A program that others wrote, which runs beside a test and is ended with it, whatever comes of it.
///
/// What it prints, to whichever output, is kept in the order of its lines. One that runs longer than its deadline is
/// killed.
final class PeerProgram: Sendable {
    /// It couldn't be started, or didn't do what it should.
    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    /// What it is given to read.
    enum Input {
        case nothing
        /// What the test writes, until it says that this is all.
        case pipe
        case file(String)
    }

    /// Longer than any of these programs takes on a machine that is busy with other things.
    private static let deadline = DispatchTimeInterval.seconds(90)
    /// Where programs are that aren't only for administrators, on Linux and on a Mac with Homebrew.
    private static let folders = ["/usr/bin", "/bin", "/opt/homebrew/bin", "/usr/local/bin"]
    private static let queue = DispatchQueue(label: "duplex.tests.deadlines")

    private let name: String
    private let process = SpawnedProcess()
    private let lines: AsyncStream<String>
    private let exits: AsyncStream<Int32>
    private let input: Pipe?
    private let printed = Mutex("")

    private init(_ command: [String], _ input: Input) throws {
        name = command.joined(separator: " ")
        let (exits, exit) = AsyncStream<Int32>.makeStream()
        let (lines, line) = AsyncStream<String>.makeStream()
        (self.exits, self.lines) = (exits, lines)
        switch input {
        case .nothing:
            self.input = nil
        case .pipe:
            let pipe = Pipe()
            self.input = pipe
            process.standardInput = .pipe(pipe)
        case .file(let path):
            self.input = nil
            process.standardInput = FileHandle(forReadingAtPath: path).map { .handle($0) } ?? .none
        }
        process.executableURL = URL(fileURLWithPath: try Self.path(of: command[0]))
        process.arguments = Array(command.dropFirst())
        let output = Pipe()
        process.standardOutput = .pipe(output)
        process.standardError = .pipe(output)
        process.terminationHandler = { process in
            exit.yield(process.terminationStatus)
            exit.finish()
        }
        try process.run()
        try Self.read(output.fileHandleForReading, to: line)
        Self.queue.asyncAfter(deadline: .now() + Self.deadline) { [weak self] in self?.signal(SIGKILL) }
    }

    /// Where a program is.
    ///
    /// - Parameter name: of a program of this machine, or its path.
    /// - Returns: its path.
    /// - Throws: ``Failed`` when it isn't there: a peer that is missing is a failure, and no reason to skip a test.
    static func path(of name: String) throws -> String {
        let paths = name.contains("/") ? [name] : folders.map { "\($0)/\(name)" }
        if let path = paths.first(where: FileManager.default.isExecutableFile(atPath:)) { return path }
        throw Failed(description: "\(name) isn't there: run scripts/setup --tests")
    }

    /// Reads a pipe to its end, by a thread of its own because reading blocks.
    private static func read(_ handle: FileHandle, to line: AsyncStream<String>.Continuation) throws {
        try LoopThread(name: "peer").start {
            var rest: [UInt8] = []
            while case let data = handle.availableData, !data.isEmpty {
                rest += data
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    line.yield(String(decoding: rest[..<end], as: UTF8.self))
                    rest.removeFirst(end + 1)
                }
            }
            if !rest.isEmpty { line.yield(String(decoding: rest, as: UTF8.self)) }
            line.finish()
        }
    }

    // MARK: Talking to it

    /// Waits for a line with this text in it.
    ///
    /// - Parameter text: a part of the line.
    /// - Returns: the line.
    /// - Throws: ``Failed`` when the program ends without it.
    @discardableResult
    func line(with text: String) async throws -> String {
        while let line = await next() {
            if line.contains(text) { return line }
        }
        throw Failed(description: "“\(text)” was never printed")
    }

    private func next() async -> String? {
        for await line in lines {
            printed.withLock { $0 += line + "\n" }
            return line
        }
        return nil
    }

    /// Gives it something to read.
    func write(_ text: String) throws {
        try input?.fileHandleForWriting.write(contentsOf: Data(text.utf8))
    }

    /// Says that there is no more to read.
    func finishWriting() {
        try? input?.fileHandleForWriting.close()
    }

    /// Sends a signal, if it still runs.
    func signal(_ number: Int32) {
        process.signal(number)
    }

    /// Waits for its end.
    ///
    /// - Returns: its status, and all that it has printed.
    func finished() async -> (status: Int32, output: String) {
        while await next() != nil {}
        var status: Int32 = -1
        for await exit in exits { status = exit }
        return (status, printed.withLock { $0 })
    }

    private func end() async {
        // With what it has started.
        process.signalGroup(SIGKILL)
        // In this order, as one that reads to the end would otherwise take that for the end that it waits for.
        signal(SIGKILL)
        finishWriting()
        _ = await finished()
    }

    // MARK: Running it

    /// Runs a program for the length of a closure.
    ///
    /// - Parameters:
    ///   - command: a program's name or path, and its arguments.
    ///   - input: what it reads.
    ///   - body: runs beside it.
    /// - Returns: what `body` returned.
    /// - Throws: ``Failed`` with what `body` threw and what the program printed.
    static func withRunning<Value>(
        _ command: [String],
        input: Input = .pipe,
        _ body: (PeerProgram) async throws -> Value
    ) async throws -> Value {
        let program = try PeerProgram(command, input)
        do {
            let value = try await body(program)
            await program.end()
            return value
        } catch {
            await program.end()
            let output = program.printed.withLock { $0 }
            throw Failed(description: "\(error)\nand \(program.name) printed:\n\(output)")
        }
    }

    /// Runs a program to its end.
    ///
    /// - Parameters:
    ///   - command: a program's name or path, and its arguments.
    ///   - input: what it reads. Default: nothing.
    /// - Returns: its status, and all that it has printed.
    /// - Throws: ``Failed`` when it can't be started.
    @discardableResult
    static func run(_ command: [String], input: Input = .nothing) async throws -> (status: Int32, output: String) {
        try await withRunning(command, input: input) { await $0.finished() }
    }

    /// Runs a program that has to end well.
    ///
    /// - Parameter command: a program's name or path, and its arguments.
    /// - Returns: what it has printed.
    /// - Throws: ``Failed`` when it ends with anything but 0.
    @discardableResult
    static func succeed(_ command: [String]) async throws -> String {
        let (status, output) = try await run(command)
        if status != 0 {
            throw Failed(description: "\(command.joined(separator: " ")) ended with \(status):\n\(output)")
        }
        return output
    }
}

/// A folder of a test, removed afterwards.
func withFolder<Value>(_ body: (String) async throws -> Value) async throws -> Value {
    // Short, as the path of a Unix socket has to fit into about a hundred bytes.
    let path = "/tmp/duplex-\(UInt32.random(in: 0 ... .max))"
    try FileManager.default.createDirectory(
        atPath: path,
        withIntermediateDirectories: false,
        attributes: [.posixPermissions: 0o700]
    )
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
}
