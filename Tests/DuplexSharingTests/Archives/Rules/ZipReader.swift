// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

@testable import DuplexSharing
@testable import DuplexWire

/// Reads the directory of a zip and the headers that it leads to, for tests; `nil` for what isn't one.
struct ZipReader {
    struct Entry: Equatable {
        var name = ""
        var flags = 0
        var method = 0
        var checksum: UInt32 = 0
        var size: UInt64 = 0
        var packedSize: UInt64 = 0
        var offset: UInt64 = 0
        var mode = 0
        var seconds: Int32?
        /// Whether the local header says that sizes have 64 bits.
        var isLongInLocalHeader = false
        var version = 0
    }

    private(set) var entries: [Entry] = []
    private(set) var hasLongEnd = false

    private let bytes: [UInt8]
    /// Which byte of the zip the first one of `bytes` is: contents may be left out.
    private let start: UInt64

    /// - Parameters:
    ///   - headers: the bytes of local headers by their places.
    ///   - end: the directory and what is behind it.
    ///   - start: where the directory begins.
    init?(headers: [UInt64: [UInt8]], end: [UInt8], at start: UInt64) {
        bytes = end
        self.start = start
        let last = end.count - 22
        guard last >= 0, number(last, 4) == 0x0605_4B50 else { return nil }
        var count = number(last + 10, 2)
        var offset = number(last + 16, 4)
        if last >= 20, number(last - 20, 4) == 0x0706_4B50 {
            hasLongEnd = true
            let place = Int(number(last - 12, 8) - start)
            guard number(place, 4) == 0x0606_4B50 else { return nil }
            count = number(place + 32, 8)
            offset = number(place + 48, 8)
        }
        guard offset == start else { return nil }
        var position = 0
        for _ in 0..<count {
            guard var entry = entry(at: &position) else { return nil }
            guard let header = headers[entry.offset], header.starts(with: [0x50, 0x4B, 3, 4]) else { return nil }
            let nameLength = Int(header[26]) | Int(header[27]) << 8
            guard Array(header[30..<(30 + nameLength)]) == Array(entry.name.utf8) else { return nil }
            entry.isLongInLocalHeader = header[(30 + nameLength)...].starts(with: [1, 0, 16, 0])
            entries.append(entry)
        }
    }

    private func number(_ position: Int, _ count: Int) -> UInt64 {
        bytes[position..<(position + count)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func entry(at position: inout Int) -> Entry? {
        guard number(position, 4) == 0x0201_4B50 else { return nil }
        var entry = Entry()
        entry.version = Int(number(position + 6, 2))
        entry.flags = Int(number(position + 8, 2))
        entry.method = Int(number(position + 10, 2))
        entry.checksum = UInt32(number(position + 16, 4))
        entry.packedSize = number(position + 20, 4)
        entry.size = number(position + 24, 4)
        entry.mode = Int(number(position + 38, 4) >> 16)
        entry.offset = number(position + 42, 4)
        let nameEnd = position + 46 + Int(number(position + 28, 2))
        entry.name = String(decoding: bytes[(position + 46)..<nameEnd], as: UTF8.self)
        let end = nameEnd + Int(number(position + 30, 2))
        var place = nameEnd
        while place < end {
            let (id, count) = (number(place, 2), Int(number(place + 2, 2)))
            var value = place + 4
            if id == 0x5455 { entry.seconds = Int32(truncatingIfNeeded: number(value + 1, 4)) }
            if id == 1 {
                for path in [\Entry.size, \.packedSize, \.offset] where entry[keyPath: path] == 0xFFFF_FFFF {
                    entry[keyPath: path] = number(value, 8)
                    value += 8
                }
                guard value == place + 4 + count else { return nil }
            }
            place += 4 + count
        }
        position = end
        return place == end ? entry : nil
    }
}
