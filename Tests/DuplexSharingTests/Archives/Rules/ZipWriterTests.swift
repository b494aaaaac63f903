// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSharing
@testable import DuplexWire

@Suite("A zip while it is written")
struct ZipWriterTests {
    private static let day = UnixTime(seconds: 1_795_424_461)

    private static func file(
        _ path: String,
        atMost size: UInt64?,
        _ packing: ZipPacking = .stored,
        _ permissions: UInt16 = 0o644
    ) -> ZipEntry {
        ZipEntry(path, .file(atMost: size, packing), modified: day, permissions: permissions)
    }

    /// Drives a writer with sizes and no bytes, and reads what it has written.
    private static func read(_ items: [(ZipEntry, ZipContent)]) throws -> (ZipReader, UInt64) {
        var writer = ZipWriter()
        var headers: [UInt64: [UInt8]] = [:]
        for (entry, content) in items {
            let place = writer.count
            let header = writer.begin(entry)
            if !header.isEmpty { headers[place] = header }
            guard case .file = entry.kind else { continue }
            let before = writer.count
            let descriptor = writer.end(content)
            #expect(writer.count == before + content.packedSize + UInt64(descriptor.count))
        }
        let start = writer.count
        let end = writer.finish()
        #expect(writer.count == start + UInt64(end.reduce(0) { $0 + $1.count }))
        return (try #require(ZipReader(headers: headers, end: Array(end.joined()), at: start)), writer.count)
    }

    private static func content(_ size: UInt64, packed: UInt64? = nil) -> ZipContent {
        ZipContent(checksum: UInt32(truncatingIfNeeded: size &* 7), size: size, packedSize: packed ?? size)
    }

    @Test("What was said of entries stands in the directory: UTF-8, descriptors, modes, seconds")
    func headers() throws {
        let (reader, _) = try Self.read([
            (ZipEntry("ä", .folder, modified: Self.day, permissions: 0o750), Self.content(0)),
            (Self.file("ä/ö.txt", atMost: 5), Self.content(5)),
            (Self.file("ä/run", atMost: 500, .deflated, 0o4755), Self.content(500, packed: 20)),
        ])
        #expect(reader.entries.map(\.name) == ["ä/", "ä/ö.txt", "ä/run"])
        #expect(reader.entries.map(\.flags) == [0x800, 0x808, 0x808])
        #expect(reader.entries.map(\.method) == [0, 0, 8])
        #expect(reader.entries.map(\.mode) == [0o040750, 0o100644, 0o100755])
        #expect(reader.entries.map(\.size) == [0, 5, 500] && reader.entries.map(\.packedSize) == [0, 5, 20])
        #expect(reader.entries.map(\.checksum) == [0, 35, 3_500])
        #expect(reader.entries.map(\.seconds) == Array(repeating: 1_795_424_461, count: 3))
        #expect(reader.entries.map(\.version) == [20, 20, 20] && !reader.hasLongEnd)
    }

    @Test("A zip of nothing is one")
    func empty() throws {
        let (reader, count) = try Self.read([])
        #expect(reader.entries.isEmpty && count == 22)
    }

    @Test(
        "Descriptors are long where the file may be, and only there",
        arguments: [
            (0xFFFF_FFFE as UInt64?, ZipPacking.stored, false), (0xFFFF_FFFF, .stored, true), (nil, .stored, true),
            (0xE000_0000, .deflated, false), (0xFFFF_FFFE, .deflated, true), (nil, .deflated, true),
        ]
    )
    func descriptors(most: UInt64?, packing: ZipPacking, isLong: Bool) throws {
        var writer = ZipWriter()
        let header = writer.begin(Self.file("a", atMost: most, packing))
        let descriptor = writer.end(Self.content(10))
        #expect(descriptor.count == (isLong ? 24 : 16))
        #expect(header.count == 30 + 1 + 9 + (isLong ? 20 : 0))
        // The sizes of the header are in the field, or behind the content.
        #expect(header[18..<26].allSatisfy { $0 == (isLong ? 0xFF : 0) })
        let (reader, _) = try Self.read([(Self.file("a", atMost: most, packing), Self.content(10))])
        let entry = try #require(reader.entries.first)
        #expect(entry.isLongInLocalHeader == isLong && entry.size == 10 && entry.version == (isLong ? 45 : 20))
    }

    @Test("Sizes and places beyond 4 GiB are long in the directory, each by itself")
    func longNumbers() throws {
        let five: UInt64 = 5 << 30
        let (reader, count) = try Self.read([
            (Self.file("deflated", atMost: five, .deflated), Self.content(five, packed: 5 << 20)),
            (Self.file("stored", atMost: five), Self.content(five)),
            (Self.file("behind", atMost: 3), Self.content(3)),
            (Self.file("edge", atMost: 0xFFFF_FFFE), Self.content(0xFFFF_FFFE)),
            (Self.file("over", atMost: 0xFFFF_FFFF), Self.content(0xFFFF_FFFF)),
        ])
        #expect(reader.entries.map(\.size) == [five, five, 3, 0xFFFF_FFFE, 0xFFFF_FFFF])
        #expect(reader.entries.map(\.packedSize) == [5 << 20, five, 3, 0xFFFF_FFFE, 0xFFFF_FFFF])
        #expect(reader.entries[1].offset < 6 << 20 && reader.entries[2].offset > five)
        #expect(reader.hasLongEnd && count > 13 << 30)
    }

    @Test("The directory of an entry takes 55 bytes and its name")
    func compactness() {
        var writer = ZipWriter()
        for number in 0..<10_000 {
            _ = writer.begin(Self.file(String(number + 10_000), atMost: 0))
            _ = writer.end(Self.content(0))
        }
        let blocks = writer.finish()
        #expect(blocks.reduce(0) { $0 + $1.count } == 10_000 * 60 + 22)
        #expect(blocks.allSatisfy { $0.count <= 64 * 1_024 } && blocks.count == 10)
    }

    @Test("The length is known before where everything is stored and has a size")
    func length() throws {
        let folder = ZipEntry("a", .folder, modified: Self.day, permissions: 0o755)
        let entries = [folder, Self.file("a/b", atMost: 7), folder, Self.file("a/b", atMost: 6 << 30)]
        let (reader, count) = try Self.read(
            entries.map { entry in
                guard case .file(let most, _) = entry.kind else { return (entry, Self.content(0)) }
                return (entry, Self.content(most ?? 0))
            }
        )
        #expect(ZipWriter.length(of: entries) == count)
        #expect(reader.entries.map(\.name) == ["a/", "a/b", "a/b (2)"])
        #expect(ZipWriter.length(of: [Self.file("a", atMost: nil)]) == nil)
        #expect(ZipWriter.length(of: [Self.file("a", atMost: 3, .deflated)]) == nil)
    }
}

@Suite("The directory of a zip")
struct ZipDirectoryTests {
    @Test("It grows in blocks, and is given away at the end")
    func blocks() {
        var directory = ZipDirectory()
        let date = UnixTime(seconds: 0)
        let entry = ZipEntry("a", .file(atMost: 0, .stored), modified: date, permissions: 0o644)
        let record = ZipRecord(entry, String(repeating: "x", count: 945), .stored, isLong: false)
        let content = ZipContent(checksum: 0, size: 0, packedSize: 0)
        for _ in 0..<1_000 { directory.add(record, content, at: 0) }
        let blocks = directory.finish(at: 0)
        #expect(blocks.map(\.count).reduce(0, +) == 1_000_022)
        #expect(blocks.allSatisfy { $0.count < 67_000 } && blocks.count == 16)
        #expect(directory.finish(at: 0).map(\.count) == [22])
    }

    @Test("A directory that begins beyond 4 GiB has a long end", arguments: [(0xFFFF_FFFE, 22), (0xFFFF_FFFF, 98)])
    func farBeginning(offset: UInt64, count: Int) {
        var directory = ZipDirectory()
        #expect(directory.finish(at: offset).map(\.count) == [count])
    }

    @Test(
        "More entries than 16 bits count have a long end, and are counted in it",
        arguments: [65_534, 65_535, 65_536]
    )
    func manyEntries(count: Int) throws {
        var directory = ZipDirectory()
        let date = UnixTime(seconds: .max)
        let entry = ZipEntry("a", .file(atMost: 0, .stored), modified: date, permissions: 0o644)
        let record = ZipRecord(entry, "a", .stored, isLong: false)
        let content = ZipContent(checksum: 0, size: 0, packedSize: 0)
        for _ in 0..<count { directory.add(record, content, at: 0) }
        let blocks = directory.finish(at: 0)
        let size = blocks.reduce(0) { $0 + $1.count } - count * 47
        #expect(size == (count < 65_535 ? 22 : 98))
        let end = try #require(blocks.last)
        let shortCount = Int(end[end.count - 12]) | Int(end[end.count - 11]) << 8
        #expect(shortCount == min(count, 0xFFFF))
        if count < 65_535 { return }
        let longCount = end.suffix(98)[(end.count - 98 + 32)..<(end.count - 98 + 40)]
        #expect(longCount.reversed().reduce(0) { $0 << 8 | Int($1) } == count)
    }
}
