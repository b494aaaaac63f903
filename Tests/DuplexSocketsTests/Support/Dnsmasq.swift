// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import Foundation
import Testing

@testable import DuplexSockets

#if canImport(Glibc)
import Glibc
#endif

/// A name server that others wrote, for the length of a test: dnsmasq, with names of its own and nobody to ask for others.
struct Dnsmasq {
    /// It couldn't be started, or said something unexpected.
    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    /// Where Debian has it, and Homebrew on either kind of Mac.
    private static let programs = ["/usr/sbin/dnsmasq", "/opt/homebrew/sbin/dnsmasq", "/usr/local/sbin/dnsmasq"]

    /// Where it answers over IPv4; the port is the same over IPv6.
    let address: SocketAddress

    /// How a server that was started goes on.
    private enum Start {
        case running
        case portTaken
    }

    /// Runs the server for the length of a closure.
    ///
    /// - Parameters:
    ///   - arguments: the names that it knows.
    ///   - body: gets the server once it answers.
    /// - Throws: ``Failed`` when it can't be started; what the closure threw.
    static func withRunning(_ arguments: [String], _ body: (Dnsmasq) async throws -> Void) async throws {
        guard let program = programs.first(where: FileManager.default.isExecutableFile(atPath:)) else {
            throw Failed(description: "dnsmasq isn't there: run scripts/setup --tests")
        }
        for _ in 0..<20 {
            let address = try freePort()
            let server = try Running(program, fixed(address.port) + arguments)
            do {
                if try await server.started() == .running {
                    try await body(Dnsmasq(address: address))
                    await server.end()
                    return
                }
            } catch {
                await server.end()
                throw error
            }
            await server.end()
        }
        throw Failed(description: "dnsmasq finds every port taken")
    }

    /// Nothing of the machine's own, no children, no files.
    private static func fixed(_ port: Int) -> [String] {
        [
            "--no-daemon", "--conf-file=/dev/null", "--pid-file=", "--no-resolv", "--no-hosts", "--no-poll",
            "--bind-interfaces", "--listen-address=127.0.0.1", "--listen-address=::1", "--port=\(port)",
        ]
    }

    /// A port that was free for UDP a moment ago.
    private static func freePort() throws -> SocketAddress {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { SystemCalls.close(descriptor) }
        let wanted = try SocketAddress("127.0.0.1", port: 0)
        let code = unsafe wanted.withSystemAddress { unsafe bind(descriptor, $0, $1) }
        try #require(code == 0)
        return try #require(SocketAddress.local(of: descriptor))
    }

    /// The process, and what it prints.
    private final class Running: Sendable {
        private let process = SpawnedProcess()
        private let lines: AsyncStream<String>
        private let exits: AsyncStream<Void>

        init(_ program: String, _ arguments: [String]) throws {
            let (exits, exit) = AsyncStream<Void>.makeStream()
            self.exits = exits
            let output = Pipe()
            lines = try Self.lines(of: output.fileHandleForReading)
            process.executableURL = URL(fileURLWithPath: program)
            process.arguments = arguments
            process.standardOutput = .pipe(output)
            process.standardError = .pipe(output)
            process.terminationHandler = { _ in exit.finish() }
            try process.run()
        }

        /// The lines of a pipe, read to its end by a thread of its own, because reading blocks.
        private static func lines(of handle: FileHandle) throws -> AsyncStream<String> {
            let (lines, line) = AsyncStream<String>.makeStream()
            try LoopThread(name: "dnsmasq").start {
                var rest = ""
                while case let data = handle.availableData, !data.isEmpty {
                    rest += String(decoding: data, as: UTF8.self)
                    let parts = rest.split(separator: "\n", omittingEmptySubsequences: false)
                    for part in parts.dropLast() { line.yield(String(part)) }
                    rest = String(parts.last ?? "")
                }
                line.finish()
            }
            return lines
        }

        /// Waits until the server answers, or can't.
        func started() async throws -> Start {
            var output = ""
            for await line in lines {
                if line.contains("started, version") { return .running }
                output += line + "\n"
            }
            if output.contains("Address already in use") { return .portTaken }
            throw Failed(description: "dnsmasq ended:\n\(output)")
        }

        /// Ends the server and waits for that.
        func end() async {
            process.signal(SIGTERM)
            for await _ in lines {}
            for await _ in exits {}
        }
    }
}
