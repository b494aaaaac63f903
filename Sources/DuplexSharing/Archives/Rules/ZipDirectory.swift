// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The directory at the end of a zip, in blocks, so that it needn't be copied as it grows.
struct ZipDirectory: Sendable {
    private static let blockSize = 64 * 1_024
    private static let long16: UInt64 = 0xFFFF

    private var blocks: [[UInt8]] = []
    private var block: [UInt8] = []
    private var count: UInt64 = 0
    private var entries: UInt64 = 0

    /// Adds an entry whose header is at that place of the zip.
    mutating func add(_ record: ZipRecord, _ content: ZipContent, at offset: UInt64) {
        if block.count >= Self.blockSize - 256 {
            blocks.append(block)
            block = []
            // The first one grows: most zips are small.
            block.reserveCapacity(Self.blockSize)
        }
        let before = block.count
        record.appendDirectoryHeader(content, at: offset, to: &block)
        count += UInt64(block.count - before)
        entries += 1
    }

    /// The directory, and what says where it is (APPNOTE sections 4.3.14 to 4.3.16).
    ///
    /// - Parameter offset: where it begins.
    /// - Returns: all of it; this is empty afterwards.
    mutating func finish(at offset: UInt64) -> [[UInt8]] {
        var end: [UInt8] = []
        if entries >= Self.long16 || count >= ZipRecord.long32 || offset >= ZipRecord.long32 {
            appendLongEnd(at: offset, to: &end)
        }
        end.append(little: UInt32(0x0605_4B50))
        for _ in 0..<2 { end.append(little: UInt16(0)) }
        for _ in 0..<2 { end.append(little: UInt16(clamping: entries)) }
        end.append(little: UInt32(clamping: count))
        end.append(little: UInt32(clamping: offset))
        end.append(little: UInt16(0))
        let all = blocks + [block + end]
        self = ZipDirectory()
        return all
    }

    private func appendLongEnd(at offset: UInt64, to end: inout [UInt8]) {
        end.append(little: UInt32(0x0606_4B50))
        // How much of this record follows.
        end.append(little: UInt64(44))
        end.append(little: UInt16(3 << 8 | 45))
        end.append(little: UInt16(45))
        for _ in 0..<2 { end.append(little: UInt32(0)) }
        for _ in 0..<2 { end.append(little: entries) }
        end.append(little: count)
        end.append(little: offset)
        // Where that record is.
        end.append(little: UInt32(0x0706_4B50))
        end.append(little: UInt32(0))
        end.append(little: offset + count)
        end.append(little: UInt32(1))
    }
}
