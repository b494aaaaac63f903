// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import Foundation
import Glibc

/// A program that a test runs to its end.
enum ChildProcess {
    /// Starts a program, runs `body` beside it, and waits for the program's end.
    ///
    /// - Parameters:
    ///   - command: the program's path and its arguments.
    ///   - input: a descriptor that the program gets as standard input.
    ///   - body: runs beside it; when it throws, the program is killed.
    /// - Returns: with what status it ended, and what it printed.
    /// - Throws: what `body` threw, or that the program can't be started.
    static func run(
        _ command: [String],
        input: Int32,
        _ body: () async throws -> Void
    ) async throws -> (status: Int32, output: String) {
        let file = FileManager.default.temporaryDirectory.appending(path: "duplex-\(UUID().uuidString).log")
        _ = FileManager.default.createFile(atPath: file.path(percentEncoded: false), contents: nil)
        defer { try? FileManager.default.removeItem(at: file) }
        let output = try FileHandle(forWritingTo: file)
        _ = fcntl(output.fileDescriptor, F_SETFD, FD_CLOEXEC)
        let process = SpawnedProcess()
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.standardInput = .handle(FileHandle(fileDescriptor: input))
        process.standardOutput = .handle(output)
        process.standardError = .handle(output)
        let (exits, continuation) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = { process in
            continuation.yield(process.terminationStatus)
            continuation.finish()
        }
        try process.run()
        do {
            try await body()
        } catch {
            process.signal(SIGKILL)
            for await _ in exits {}
            throw error
        }
        var status: Int32 = -1
        for await exit in exits { status = exit }
        return (status, (try? String(contentsOf: file, encoding: .utf8)) ?? "")
    }

    /// The command that runs one test, by its name, in a process of its own.
    static func test(_ name: String) -> [String] {
        [CommandLine.arguments[0], "--testing-library", "swift-testing", "--filter", name]
    }
}
