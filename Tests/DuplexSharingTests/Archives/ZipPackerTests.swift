// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestProcesses
import DuplexWire
import Foundation
import Testing

@testable import DuplexServer
@testable import DuplexSharing

@Suite("Packing open files")
struct ZipPackerTests {
    private func withFile(_ count: Int, _ body: (OpenedFile, String) throws -> Void) async throws {
        try await withTestFolder { root in
            let path = root + "a.txt"
            try Data((0..<count).map { UInt8(truncatingIfNeeded: $0 / 100) }).write(to: URL(fileURLWithPath: path))
            guard case .found(let file) = try ConfinedFolder(path: root).find("a.txt") else { return }
            try body(file, path)
        }
    }

    private func item(_ file: OpenedFile) -> ZipItem {
        ZipItem("a.txt", .file(size: file.size) { file }, modified: UnixTime(seconds: 0))
    }

    @Test("A long file goes out in pieces, each of a bounded size", arguments: [nil, 1])
    func pieces(level: Int?) async throws {
        try await withFile(3_000_000) { file, _ in
            let packer = ZipPacker(level: level)
            var output = try packer.begin(item(file), file)
            var turns = 1
            var count = 0
            while true {
                let size = output.pieces.reduce(0) { $0 + $1.count }
                #expect(size <= 600_000)
                count += size
                if output.isLast { break }
                output = packer.more()
                turns += 1
            }
            #expect(turns > 2 && output.fault == nil)
            #expect(level == nil ? count > 3_000_000 : count < 300_000)
        }
    }

    @Test("A file that is cut short while it is read ends there, and what was read is what is said")
    func cut() async throws {
        try await withFile(1_000_000) { file, path in
            let packer = ZipPacker(level: nil)
            let first = try packer.begin(item(file), file)
            #expect(!first.isLast)
            try Data([1, 2, 3]).write(to: URL(fileURLWithPath: path), options: [])
            // The same file, shorter: what was written above may have replaced it.
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try handle.truncate(atOffset: 3)
            let next = packer.more()
            #expect(next.isLast && next.fault != nil)
            let read = first.pieces.dropFirst().reduce(0) { $0 + $1.count }
            let descriptor = try #require(next.pieces.last)
            #expect(descriptor.count == 16)
            let size = descriptor[12..<16].reversed().reduce(0) { $0 << 8 | Int($1) }
            #expect(size == read && read < 1_000_000)
        }
    }

    @Test("A file that can't be read leaves nothing in the zip")
    func unreadable() async throws {
        try await withTestFolder(["a/": ""]) { root in
            guard case .found(let folder) = try ConfinedFolder(path: root).find("a") else { return }
            let packer = ZipPacker(level: nil)
            #expect(throws: SocketError.self) { try packer.begin(item(folder), folder) }
            #expect(packer.finish().map(\.count) == [22])
        }
    }
}
