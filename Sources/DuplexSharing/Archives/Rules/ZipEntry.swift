// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// A file or a folder on its way into a zip.
struct ZipEntry: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case folder
        /// A file with at most so many bytes; nil where nobody can say.
        case file(atMost: UInt64?, ZipPacking)
    }

    /// Names with slashes between them; what isn't safe in it is replaced, see ``ZipName``.
    var path: String
    var kind: Kind
    var modified: UnixTime
    /// Who may read, write and execute it on Unix: the last nine bits of its mode.
    var permissions: UInt16

    init(_ path: String, _ kind: Kind, modified: UnixTime, permissions: UInt16) {
        self.path = path
        self.kind = kind
        self.modified = modified
        self.permissions = permissions & 0o777
    }
}

/// How the content of a file lies in a zip.
enum ZipPacking: UInt16, Sendable, Hashable {
    /// As it is.
    case stored = 0
    /// RFC 1951.
    case deflated = 8
}

/// What the content of a file came to be.
struct ZipContent: Sendable, Hashable {
    /// CRC-32 of the bytes as they were.
    var checksum: UInt32
    var size: UInt64
    /// How many bytes of the zip it takes.
    var packedSize: UInt64

    init(checksum: UInt32, size: UInt64, packedSize: UInt64) {
        self.checksum = checksum
        self.size = size
        self.packedSize = packedSize
    }
}

/// What is written of one entry: before its content, behind it, and in the directory.
struct ZipRecord {
    /// What stands in a number of 32 bits whose value is in the field for long ones (APPNOTE section 4.5.3).
    static let long32: UInt64 = 0xFFFF_FFFF

    private static let utf8: UInt16 = 1 << 11
    private static let hasDescriptor: UInt16 = 1 << 3
    private static let timestamp: UInt16 = 0x5455
    private static let longNumbers: UInt16 = 0x0001

    private let name: [UInt8]
    private let isFolder: Bool
    private let packing: ZipPacking
    private let isLong: Bool
    private let modified: UnixTime
    private let permissions: UInt16

    /// Describes an entry; `name` is safe, and that of a folder ends with a slash.
    init(_ entry: ZipEntry, _ name: String, _ packing: ZipPacking, isLong: Bool) {
        self.name = Array(name.utf8)
        isFolder = entry.kind == .folder
        self.packing = packing
        self.isLong = isLong
        modified = entry.modified
        permissions = entry.permissions
    }

    /// APPNOTE section 4.3.7.
    var localHeader: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(64 + name.count)
        bytes.append(little: UInt32(0x0403_4B50))
        appendCommon(to: &bytes)
        bytes.append(little: UInt32(0))
        for _ in 0..<2 { bytes.append(little: isLong ? UInt32.max : 0) }
        bytes.append(little: UInt16(name.count))
        let stamp = stamp
        bytes.append(little: UInt16(stamp.count + (isLong ? 20 : 0)))
        bytes += name
        if isLong {
            // The values are those of the descriptor; that this stands here says that they have 64 bits (section 4.3.9.2).
            bytes.append(little: Self.longNumbers)
            bytes.append(little: UInt16(16))
            for _ in 0..<2 { bytes.append(little: UInt64(0)) }
        }
        return bytes + stamp
    }

    /// APPNOTE section 4.3.9.
    func descriptor(_ content: ZipContent) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(little: UInt32(0x0807_4B50))
        bytes.append(little: content.checksum)
        for size in [content.packedSize, content.size] {
            if isLong { bytes.append(little: size) } else { bytes.append(little: UInt32(size)) }
        }
        return bytes
    }

    /// The entry's part of the directory (APPNOTE section 4.3.12).
    func appendDirectoryHeader(_ content: ZipContent, at offset: UInt64, to bytes: inout [UInt8]) {
        // Those that don't fit, in the order in which the field has them (section 4.5.3).
        let long = [content.size, content.packedSize, offset].filter { $0 >= Self.long32 }
        let stamp = stamp
        bytes.append(little: UInt32(0x0201_4B50))
        // Made on Unix, which says what the mode is; by version 4.5.
        bytes.append(little: UInt16(3 << 8 | 45))
        appendCommon(to: &bytes, isLong: isLong || !long.isEmpty)
        bytes.append(little: content.checksum)
        bytes.append(little: UInt32(clamping: content.packedSize))
        bytes.append(little: UInt32(clamping: content.size))
        bytes.append(little: UInt16(name.count))
        bytes.append(little: UInt16(stamp.count + (long.isEmpty ? 0 : 4 + 8 * long.count)))
        // No comment, the first disk, no text.
        for _ in 0..<3 { bytes.append(little: UInt16(0)) }
        let mode = UInt32(permissions | (isFolder ? 0o040000 : 0o100000))
        bytes.append(little: mode << 16 | (isFolder ? 0x10 : 0))
        bytes.append(little: UInt32(clamping: offset))
        bytes += name
        if !long.isEmpty {
            bytes.append(little: Self.longNumbers)
            bytes.append(little: UInt16(8 * long.count))
            for number in long { bytes.append(little: number) }
        }
        bytes += stamp
    }

    /// What stands in both headers: the version that a reader needs, flags, method, date.
    private func appendCommon(to bytes: inout [UInt8], isLong: Bool? = nil) {
        bytes.append(little: UInt16(isLong ?? self.isLong ? 45 : 20))
        bytes.append(little: Self.utf8 | (isFolder ? 0 : Self.hasDescriptor))
        bytes.append(little: packing.rawValue)
        let (clock, day) = Self.oldDate(modified)
        bytes.append(little: clock)
        bytes.append(little: day)
    }

    /// The extended timestamp, up to 2038; behind that the old date alone says it.
    private var stamp: [UInt8] {
        guard let seconds = Int32(exactly: modified.seconds) else { return [] }
        var bytes: [UInt8] = []
        bytes.append(little: Self.timestamp)
        bytes.append(little: UInt16(5))
        bytes.append(1)
        bytes.append(little: UInt32(bitPattern: seconds))
        return bytes
    }

    /// The date in steps of two seconds from 1980 to 2107 (APPNOTE section 4.4.6); the nearest for any other.
    static func oldDate(_ date: UnixTime) -> (clock: UInt16, day: UInt16) {
        let first = CivilDate(year: 1980, month: 1, day: 1).daysSince1970 * 86_400
        let last = CivilDate(year: 2108, month: 1, day: 1).daysSince1970 * 86_400 - 1
        let seconds = min(max(date.seconds, first), last)
        let (days, second) = seconds.quotientAndRemainder(dividingBy: 86_400)
        let civil = CivilDate(daysSince1970: days)
        return (
            UInt16((second / 3_600) << 11 | (second / 60 % 60) << 5 | (second % 60) / 2),
            UInt16((civil.year - 1980) << 9 | civil.month << 5 | civil.day)
        )
    }
}

extension Array where Element == UInt8 {
    /// Appends a number with its lowest byte first.
    mutating func append(little number: some FixedWidthInteger & UnsignedInteger) {
        for shift in stride(from: 0, to: number.bitWidth, by: 8) { append(UInt8(truncatingIfNeeded: number >> shift)) }
    }
}
