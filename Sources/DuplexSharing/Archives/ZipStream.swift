// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWire
import HTTPTypes

/// A zip that is made while it is sent: a body of a response.
///
/// Files are opened one after the other and read off the loops, as fast as the client takes the zip. About 1 MiB is held at a
/// time, and what ``ZipWriter`` keeps of each entry.
///
/// A file is read up to the size that it has when it is its turn. One that is changed meanwhile is in the zip as it was read, and
/// one that is cut short ends where it ended: the checksum and the sizes are those of what was read. What can't be opened is left
/// out. Both are named in a last entry, `errors.txt`, so that nobody takes the zip for whole.
///
/// **With a length.** Where all sizes are known before and nothing is deflated, the response may say how long it is. Then it has to
/// keep to that: whatever isn't as it was cuts the connection.
struct ZipStream: Sendable {
    private let method: ZipMethod

    /// Makes a zip of such a kind.
    init(_ method: ZipMethod = .stored) {
        self.method = method
    }

    /// The body, of what a sequence gives.
    ///
    /// - Parameter items: asked for the next one when it is its turn. What it throws cuts the connection.
    /// - Returns: the body, without a length.
    func body<Items: AsyncSequence & Sendable>(of items: Items) -> ResponseBody where Items.Element == ZipItem {
        .writer { [method] writer in
            let run = ZipRun(method, writer, keepsLength: false)
            for try await item in items { try await run.send(item) }
            try await run.finish()
        }
    }

    /// The body, of these items.
    ///
    /// - Parameters:
    ///   - items: in their order.
    ///   - saysLength: whether the response says how long it is, where that is known.
    /// - Returns: the body.
    func body(of items: [ZipItem], saysLength: Bool) -> ResponseBody {
        let length = saysLength ? length(of: items) : nil
        return .writer(length: length) { [method] writer in
            let run = ZipRun(method, writer, keepsLength: length != nil)
            for item in items { try await run.send(item) }
            try await run.finish()
        }
    }

    private func length(of items: [ZipItem]) -> Int? {
        guard method == .stored else { return nil }
        let entries = items.lazy.map { item -> ZipEntry in
            if case .file(let size, _) = item.content { return item.entry(.stored, size: size) }
            return item.entry(.stored, size: 0)
        }
        return ZipWriter.length(of: entries).flatMap { Int(exactly: $0) }
    }
}

/// A zip on its way to one client.
private final class ZipRun {
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

/// Something that is to be in a zip.
struct ZipItem: Sendable {
    enum Content: Sendable {
        case folder
        /// A file of that size, by what is known before; opened when it is its turn.
        case file(size: UInt64, open: @Sendable () async throws -> OpenedFile)
        /// Something that can't be had, which the list of errors names: why not, such as `can't be read`.
        case missing(String)
    }

    /// Where it is in the zip: names with slashes between them.
    var path: String
    var content: Content
    var modified: UnixTime
    /// The last nine bits of its mode; nil for those of the file when it is opened.
    var permissions: UInt16?
    /// Told of it in the zip, such as that it had another name.
    var remark: String?

    /// Whether it is in the zip as it is on the disk, as far as that is known before.
    var isWhole: Bool {
        if case .missing = content { return false }
        return remark == nil
    }

    init(_ path: String, _ content: Content, modified: UnixTime, permissions: UInt16? = nil) {
        self.path = path
        self.content = content
        self.modified = modified
        self.permissions = permissions
    }

    func entry(_ packing: ZipPacking, size: UInt64, permissions known: UInt16? = nil) -> ZipEntry {
        if case .folder = content {
            return ZipEntry(path, .folder, modified: modified, permissions: permissions ?? 0o755)
        }
        let kind = ZipEntry.Kind.file(atMost: size, packing)
        return ZipEntry(path, kind, modified: modified, permissions: permissions ?? known ?? 0o644)
    }
}

/// Whether the files of a zip are deflated.
public enum ZipMethod: Sendable, Hashable {
    /// As they are.
    case stored
    /// From 1, the fastest, to 9; but not those whose type gets no shorter.
    ///
    /// Default: 1, which gives most of what there is to be had for a third of the time.
    case deflated(level: Int = 1)

    var level: Int? {
        if case .deflated(let level) = self { level } else { nil }
    }
}
