// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSharing
import DuplexSockets
import DuplexTestPeers
import DuplexTestProcesses
import Foundation
import Logging
import Testing

/// A server of a shared folder in a process of its own, so that it can be killed: the program of these tests, as
/// ``ServerProcessTests`` has it serve.
final class ServerProcess: Sendable {
    struct Failed: Error {
        let output: String
    }

    /// The variable that says which folder is shared.
    static let variable = "DUPLEX_TEST_SHARE"
    /// What stands before the port in what the process prints.
    static let mark = "serving at port "
    /// The folder, in such a process.
    static var folder: String? { ProcessInfo.processInfo.environment[variable] }

    let address: SocketAddress
    private let process: SpawnedProcess
    /// Closed with the last reference, whereupon the process ends.
    private let input: Pipe
    private let ends: AsyncStream<Void>

    /// Starts it, and waits until it serves.
    init(sharing folder: String) async throws {
        process = SpawnedProcess()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--testing-library", "swift-testing", "--filter", "ServerProcessTests/serves"]
        process.environment = ProcessInfo.processInfo.environment.merging([Self.variable: folder]) { _, new in new }
        input = Pipe()
        let output = Pipe()
        process.standardInput = .pipe(input)
        process.standardOutput = .pipe(output)
        process.standardError = .pipe(output)
        let (ends, end) = AsyncStream<Void>.makeStream()
        self.ends = ends
        process.terminationHandler = { _ in end.finish() }
        try process.run()
        let text = await Self.read(output.fileHandleForReading, until: Self.mark)
        let digits = text.components(separatedBy: Self.mark).dropFirst().first?.prefix { $0.isNumber } ?? ""
        guard let port = Int(digits) else { throw Failed(output: text) }
        address = try SocketAddress("127.0.0.1", port: port)
    }

    /// What is printed up to the end of the line with the mark; what comes later is thrown away.
    private static func read(_ handle: FileHandle, until mark: String) async -> String {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var text = ""
                var isWaiting = true
                while true {
                    let data = handle.availableData
                    if isWaiting {
                        text += String(decoding: data, as: UTF8.self)
                        let behind = text.components(separatedBy: mark).dropFirst().first
                        if behind?.contains("\n") == true || data.isEmpty {
                            continuation.resume(returning: text)
                            isWaiting = false
                        }
                    }
                    if data.isEmpty { return }
                }
            }
        }
    }

    /// Ends it as a fault would, and waits until it is gone.
    func kill() async {
        process.signal(SIGKILL)
        for await _ in ends {}
    }

    /// The most memory that it has had, in bytes.
    func peakMemory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        let kibibytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
        return try #require(kibibytes) << 10
    }

    // MARK: Requests

    struct Answer {
        var status: Int
        var text: String
        var head: String

        func value(_ name: String) -> String? {
            let lines = head.components(separatedBy: "\r\n").filter {
                $0.lowercased().hasPrefix(name.lowercased() + ":")
            }
            return lines.first.map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
        }
    }

    /// Makes a request over a connection of its own.
    ///
    /// - Throws: where the server has gone before it said how it went.
    func request(_ method: String, _ path: String, _ headers: String = "", _ body: [UInt8] = []) async throws -> Answer
    {
        let peer = try await RawPeer.connect(to: address)
        do {
            let head = "\(method) /dav/\(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(headers)"
            try await peer.send("\(head)Content-Length: \(body.count)\r\n\r\n")
            // A long body goes in pieces, so that the end comes between them, too.
            for start in stride(from: 0, to: body.count, by: 16_384) {
                try await peer.send(Array(body[start..<min(body.count, start + 16_384)]))
            }
            let answer = try await peer.readHead()
            let status = Int(answer.dropFirst(9).prefix(3)) ?? 0
            // What was answered was done, also where the rest of the answer doesn't come.
            let rest = (try? await peer.readToEnd()) ?? []
            await peer.close()
            return Answer(status: status, text: String(decoding: rest, as: UTF8.self), head: answer)
        } catch {
            await peer.reset()
            throw error
        }
    }
}
