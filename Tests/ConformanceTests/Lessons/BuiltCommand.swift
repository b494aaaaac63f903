// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexSockets
import DuplexTestProcesses
import Foundation

/// The built command in a process of its own.
enum BuiltCommand {
    /// It isn't there, or said something else than it should.
    struct Failed: Error {
        let description: String
    }

    /// What the command prints as errors until it ends.
    static func errors(of arguments: [String]) async throws -> String {
        let errors = Pipe()
        let process = try process(arguments)
        process.standardError = .pipe(errors)
        try process.run()
        let data = try await offPool { try errors.fileHandleForReading.readToEnd() }
        return String(decoding: data ?? Data(), as: UTF8.self)
    }

    /// Runs `duplex serve` beside the body.
    static func withServe(_ body: (SocketAddress) async throws -> Void) async throws {
        let output = Pipe()
        let process = try process(["serve", "--port", "0", "--quiet"])
        process.standardOutput = .pipe(output)
        try process.run()
        defer { process.signal(SIGTERM) }
        let line = try await offPool {
            var line = Data()
            while let byte = try output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty, byte != Data([0x0A]) {
                line += byte
            }
            return String(decoding: line, as: UTF8.self)
        }
        guard let port = line.split(separator: ":").last.flatMap({ Int($0) }) else { throw Failed(description: line) }
        try await body(try SocketAddress("127.0.0.1", port: port))
    }

    private static func process(_ arguments: [String]) throws -> SpawnedProcess {
        let process = SpawnedProcess()
        process.executableURL = try executable
        process.arguments = arguments
        return process
    }

    /// Reading from a pipe blocks, and would take a thread of the concurrency pool with it.
    private static func offPool<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "duplex.tests.pipe").async {
                continuation.resume(with: Swift.Result { try body() })
            }
        }
    }

    /// Beside the test bundle, where the build has put both.
    private static var executable: URL {
        get throws {
            let places =
                [CommandLine.arguments.first, Bundle.main.executablePath].compactMap(\.self)
                + Bundle.allBundles.map(\.bundlePath)
            let files = places.map { URL(fileURLWithPath: $0).deletingLastPathComponent().appending(path: "duplex") }
            guard let file = files.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
                throw Failed(description: "the built command isn't beside the tests: \(places)")
            }
            return file
        }
    }
}
