// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation

/// What a program that others wrote has said, and how it ended.
package struct ProgramRun: Sendable {
    /// As of `SpawnedProcess.terminationStatus`.
    package let status: Int32
    /// Both of its streams.
    package let text: String

    /// Runs a program to its end.
    ///
    /// - Parameter command: the program, looked for in the PATH, and its arguments.
    /// - Throws: when it can't be started.
    package init(_ command: String...) async throws {
        try await self.init(command)
    }

    /// Runs a program to its end.
    package init(_ command: [String]) async throws {
        let program = SpawnedProcess()
        program.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        program.arguments = command
        let pipe = Pipe()
        program.standardOutput = .pipe(pipe)
        program.standardError = .pipe(pipe)
        let (ends, end) = AsyncStream<Int32>.makeStream()
        program.terminationHandler = { end.yield($0.terminationStatus) }
        try program.run()
        text = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                let data = Result { try pipe.fileHandleForReading.readToEnd() ?? Data() }
                continuation.resume(with: data.map { String(decoding: $0, as: UTF8.self) })
            }
        }
        status = await ends.first { _ in true } ?? -1
    }
}
