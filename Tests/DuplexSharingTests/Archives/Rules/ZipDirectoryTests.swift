// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSharing
@testable import DuplexWire

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
