// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWebSockets
import DuplexWire

/// Writes what comes of one request to an upload's file.
struct UploadWriter {
    private let file: WritableFile
    private let folder: SharedFolder
    /// Where the request began.
    private let start: UInt64
    private let room: UInt64
    private var waiting: [UInt8] = []
    /// How much has come.
    private(set) var count: UInt64 = 0

    /// How much is handed to a thread at once.
    private static let writeSize = 256 * 1_024
    /// How much is read for a digest at once.
    private static let turn = 512 * 1_024

    init(_ file: WritableFile, _ folder: SharedFolder, at start: UInt64, room: UInt64) {
        self.file = file
        self.folder = folder
        self.start = start
        self.room = room
    }

    /// Takes all pieces; what came before one that failed is written.
    ///
    /// - Throws: what reading throws; ``UploadRefusal`` with 413 for more than there is room for, and nothing is kept then.
    mutating func take(_ body: RequestBody) async throws {
        var pieces = body.makeAsyncIterator()
        do {
            while let piece = try await pieces.next() {
                guard UInt64(piece.count) <= room - count else {
                    waiting = []
                    try await drop()
                    throw UploadRefusal(.contentTooLarge, "The upload has no room for more than \(room) bytes.")
                }
                count += UInt64(piece.count)
                if waiting.isEmpty { waiting = piece } else { waiting += piece }
                if waiting.count >= Self.writeSize { try await flush() }
            }
        } catch {
            // The first error is the one that counts.
            try? await flush()
            throw error
        }
        try await flush()
    }

    private mutating func flush() async throws {
        let bytes = waiting
        waiting = []
        if bytes.isEmpty { return }
        try await SharedFolder.run { [file, folder] () throws(FolderError) in
            if folder.options.quota != nil { try folder.checkRoom(for: UInt64(bytes.count)) }
            try FolderStore.attempt(.root) { () throws(SocketError) in try file.write(bytes) }
            folder.usage.add(UInt64(bytes.count))
        }
    }

    /// Drops what came with this request.
    mutating func drop() async throws {
        count = 0
        try await SharedFolder.run { [file, folder, start] () throws(FolderError) in
            try FolderStore.attempt(.root) { () throws(SocketError) in try file.cut(to: start) }
            folder.usage.forget()
        }
    }

    /// The digest of what came with this request, as it is on the disk.
    func digest(_ algorithm: UploadChecksum.Algorithm, of id: String, in store: UploadStore) async throws -> [UInt8] {
        guard let digest = RunningDigest(algorithm.digest) else {
            throw UploadRefusal(.badRequest, "This server has no \(algorithm.rawValue).")
        }
        let end = start + count
        for place in stride(from: start, to: end, by: Self.turn) {
            let bytes = try await SharedFolder.run { () throws(FolderError) in
                try FolderStore.attempt(.root) { () throws(SocketError) in
                    let part = min(UInt64(Self.turn), end - place)
                    return try store.home().file(id).range(from: place, count: part).readAll(atMost: Self.turn)
                }
            }
            digest.add(bytes)
        }
        return digest.finish()
    }

    /// Has the system write it to the disk.
    func sync() async throws {
        try await SharedFolder.run { [file] () throws(FolderError) in
            try FolderStore.attempt(.root) { () throws(SocketError) in try file.sync() }
        }
    }
}

extension UploadChecksum.Algorithm {
    fileprivate var digest: RunningDigest.Algorithm {
        switch self {
        case .md5: .md5
        case .sha1: .sha1
        case .sha256: .sha256
        }
    }
}
