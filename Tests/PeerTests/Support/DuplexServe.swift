// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import Foundation

/// The built command, serving in a process of its own: its memory and its descriptors are the server's alone.
struct DuplexServe {
    /// Where the page is, such as `http://localhost:40001`.
    let url: String
    let port: UInt16
    private let process: Int32
    private let peer: PeerProcess

    /// Runs `duplex serve` for the length of a closure.
    ///
    /// - Parameters:
    ///   - arguments: of `serve`, behind the port.
    ///   - port: where it listens. Default: the system's choice.
    ///   - environment: variables beside those of the tests.
    ///   - descriptors: how many descriptors it may have, and can't raise that; default: as many as the tests.
    ///   - body: runs beside it.
    /// - Returns: what `body` returned.
    /// - Throws: what `body` threw, with what the command printed.
    static func withRunning<Result>(
        _ arguments: [String] = [],
        port: UInt16 = 0,
        environment: [String: String] = [:],
        descriptors: Int? = nil,
        _ body: (DuplexServe) async throws -> Result
    ) async throws -> Result {
        var command = [try executable(), "serve", "--port", "\(port)"] + arguments
        if let descriptors { command = ["/bin/sh", "-c", "ulimit -n \(descriptors) && exec \"$0\" \"$@\""] + command }
        return try await PeerProcess.withRunning(command, environment: environment) { process, line in
            guard let url = line.split(separator: " ").last,
                let port = url.split(separator: ":").last.flatMap({ UInt16($0) })
            else { throw PeerProcess.Failed(description: "duplex serve began with “\(line)”, not with its address") }
            return try await body(DuplexServe(url: String(url), port: port, process: process.identifier, peer: process))
        }
    }

    /// The command is built together with the tests, into the same folder; or another one that `DUPLEX_TEST_COMMAND` names.
    static func executable() throws -> String {
        if let named = ProcessInfo.processInfo.environment["DUPLEX_TEST_COMMAND"] { return named }
        let beside = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let folders = [beside, Peer.root.appending(path: ".build/debug")]
        let files = folders.map { $0.appending(path: "duplex").path(percentEncoded: false) }
        guard let file = files.first(where: FileManager.default.isExecutableFile(atPath:)) else {
            throw PeerProcess.Failed(description: "none of \(files) is there: run swift build")
        }
        return file
    }

    /// Ends the process as a fault would, with no chance to say anything to anybody.
    ///
    /// Returns at once: the end of ``withRunning(_:port:descriptors:_:)`` waits until it is gone.
    func kill() {
        peer.kill()
    }

    /// Waits for a line that the command prints behind its first one; as of `PeerProcess`.
    func line(containing text: String) async throws -> String { try await peer.waitForLine(containing: text) }

    // MARK: What the server holds

    /// By how many bytes the resident memory may grow before that is a leak.
    ///
    /// In a build with a sanitizer the memory includes what the sanitizer keeps about it, several times as much, and what
    /// was freed and is kept for a while to find uses of it: 16 MiB of that (scripts/more/sanitize).
    static var memoryTolerance: Int { (Sanitizer.isPresent ? 16 + 16 : 3) << 20 }

    /// The resident memory in bytes.
    func residentMemory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        guard let kibibytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) }) else {
            throw PeerProcess.Failed(description: "the server tells nothing of its memory, it has probably ended")
        }
        return kibibytes * 1_024
    }

    /// The number of open descriptors.
    ///
    /// What the runtime needs once it opens whenever it comes to it.
    func descriptors() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
    }

    /// The number of open sockets.
    func sockets() throws -> Int {
        let folder = "/proc/\(process)/fd/"
        return try FileManager.default.contentsOfDirectory(atPath: folder).count { name in
            // One that has just been closed has no target.
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: folder + name)
            return target?.hasPrefix("socket:") == true
        }
    }
}
