// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWire

/// A zip on its way to one client.
final class ZipRun {
    private let packer: ZipPacker
    private let writer: ResponseWriter
    /// Whether the length was said: then nothing may be left out.
    private let keepsLength: Bool
    private var faults = ZipFaults()

    init(_ method: ZipMethod, _ writer: ResponseWriter, keepsLength: Bool) {
        packer = ZipPacker(level: method.level)
        self.writer = writer
        self.keepsLength = keepsLength
    }

    /// Sends an item, as much as there is of it.
    func send(_ item: ZipItem) async throws {
        if let remark = item.remark { faults.add(renamed: item.path, remark) }
        switch item.content {
        case .folder: try await write([packer.folder(item)])
        case .missing(let reason): faults.add(item.path, "is missing, as it \(reason)")
        case .file(let size, let open): try await send(item, size, open)
        }
    }

    private func send(
        _ item: ZipItem,
        _ size: UInt64,
        _ open: @Sendable () async throws -> OpenedFile
    ) async throws {
        guard let (file, first) = try await begin(item, size, open) else { return }
        var output = first
        while true {
            try await write(output.pieces)
            if output.isLast { break }
            output = try await BlockingThreads.files.runToEnd { [packer] () throws(SocketError) in packer.more() }
        }
        if let fault = output.fault { try note(item, fault, "was cut short") }
        _ = file
    }

    /// Opens a file and packs the beginning of it; nil where it is left out.
    private func begin(
        _ item: ZipItem,
        _ size: UInt64,
        _ open: @Sendable () async throws -> OpenedFile
    ) async throws -> (OpenedFile, ZipPacker.Output)? {
        do {
            let file = try await open()
            if keepsLength && file.size < size {
                throw SocketError(.unreadableFile, message: "The file has become shorter.")
            }
            let limit = keepsLength ? size : .max
            let first = try await BlockingThreads.files.runToEnd { [packer] () throws(SocketError) in
                try packer.begin(item, file, upTo: limit)
            }
            return (file, first)
        } catch let error as CancellationError {
            throw error
        } catch {
            try note(item, error, "is missing")
            return nil
        }
    }

    private func note(_ item: ZipItem, _ error: any Error, _ text: String) throws {
        if keepsLength { throw error }
        faults.add(item.path, text)
    }

    /// Sends the report of faults, and the end.
    func finish() async throws {
        if let text = faults.text {
            try await write(packer.file("errors.txt", Array(text.utf8), modified: .now))
        }
        try await write(packer.finish())
    }

    private func write(_ pieces: [[UInt8]]) async throws {
        for piece in pieces where !piece.isEmpty { try await writer.write(piece) }
    }
}

/// What isn't in a zip as it should be; bounded.
struct ZipFaults {
    private static let bound = 1_000

    /// How much of a path an error shows: its end.
    private static let pathBound = 1_000

    private var lines: [String] = []
    private var more = 0
    /// Whether something isn't there as it was, rather than under another name.
    private var isMissing = false

    /// Adds a line: the reason is for the server alone, and may name what clients shouldn't see.
    mutating func add(_ path: String, _ text: String) {
        isMissing = true
        append(path, text)
    }

    /// Adds a line about something that is there, and not as it was called.
    mutating func add(renamed path: String, _ text: String) { append(path, text) }

    private mutating func append(_ path: String, _ text: String) {
        if lines.count == Self.bound {
            more += 1
            return
        }
        let path = ZipName.safe(path)
        let end = path.unicodeScalars.suffix(Self.pathBound)
        lines.append("\(end.count < path.unicodeScalars.count ? "…" : "")\(String(end)): \(text)\n")
    }

    /// The text; nil where there is nothing to report.
    var text: String? {
        if lines.isEmpty { return nil }
        let head = isMissing ? "This archive isn't whole." : "Some names in this archive aren't as they were."
        return head + "\n\n" + lines.joined() + (more > 0 ? "and \(more) more\n" : "")
    }
}
