// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Writes a zip while it is made (PKWARE APPNOTE 6.3.10): what stands before, between and behind the contents of files.
///
/// The caller sends what it returns, and each content between ``begin(_:)`` and ``end(_:)``. Names are UTF-8 (flag 11),
/// its length and checksum follow it (flag 3, a data descriptor), dates are in the field of old, in UTC, and as seconds
/// in an extended timestamp. What grows is the directory: 55 bytes for each entry and its name, up to 28 more beyond 4
/// GiB, and about 16 for the look-up of its name.
///
/// **Zip64.** A descriptor has sizes of 32 or of 64 bits, and nothing in it says which: the local header does, by a field that
/// has to be there before anything was read. So it is decided by the most that the file may have. A file of less than 4 GiB,
/// with what deflate may add to it, has short ones, which every reader knows; one that is longer, and one of which nobody can
/// say, has long ones. In the directory, where all is known, each number is long only where it has to be.
struct ZipWriter: Sendable {
    /// A file between its header and its descriptor.
    private struct OpenFile {
        var entry: ZipEntry
        var name: String
        var offset: UInt64
        var packing: ZipPacking
        var isLong: Bool
    }

    private var names = ZipNames()
    private var directory = ZipDirectory()
    /// How many bytes there are so far.
    private(set) var count: UInt64 = 0
    private var open: OpenFile?

    /// Begins a zip.
    init() {}

    /// What stands before the content of a file, or all that there is of a folder; nothing for a folder that is there already.
    mutating func begin(_ entry: ZipEntry) -> [UInt8] {
        precondition(open == nil, "A file has begun and not ended.")
        let path = ZipName.safe(entry.path)
        switch entry.kind {
        case .folder:
            guard let name = names.folder(path) else { return [] }
            let record = ZipRecord(entry, name + "/", .stored, isLong: false)
            directory.add(record, ZipContent(checksum: 0, size: 0, packedSize: 0), at: count)
            return counted(record.localHeader)
        case .file(let most, let packing):
            let isLong = Self.isLong(most, packing)
            let name = names.file(path)
            open = OpenFile(entry: entry, name: name, offset: count, packing: packing, isLong: isLong)
            return counted(ZipRecord(entry, name, packing, isLong: isLong).localHeader)
        }
    }

    /// What stands behind the content of the file that has begun.
    ///
    /// - Parameter content: what was read and sent; not more than was said when it began.
    /// - Returns: the descriptor.
    mutating func end(_ content: ZipContent) -> [UInt8] {
        guard let file = open else { preconditionFailure("No file has begun.") }
        precondition(
            file.isLong || max(content.size, content.packedSize) < ZipRecord.long32,
            "A file is longer than was said."
        )
        open = nil
        count += content.packedSize
        let record = ZipRecord(file.entry, file.name, file.packing, isLong: file.isLong)
        directory.add(record, content, at: file.offset)
        return counted(record.descriptor(content))
    }

    /// Ends the zip: its directory, in blocks.
    mutating func finish() -> [[UInt8]] {
        precondition(open == nil, "A file has begun and not ended.")
        let blocks = directory.finish(at: count)
        count += blocks.reduce(0) { $0 + UInt64($1.count) }
        return blocks
    }

    private mutating func counted(_ bytes: [UInt8]) -> [UInt8] {
        count += UInt64(bytes.count)
        return bytes
    }

    /// Whether a file may become so long that its sizes need 64 bits; deflate adds less than an eighth to what it can't pack.
    private static func isLong(_ most: UInt64?, _ packing: ZipPacking) -> Bool {
        guard let most, most < ZipRecord.long32 else { return true }
        return packing == .deflated && most + most / 8 + 1_024 >= ZipRecord.long32
    }

    /// How long a zip of these entries is, where each has just as many bytes as it may have at most.
    ///
    /// - Parameter entries: what is in it.
    /// - Returns: the length; `nil` where the length of an entry isn't known before.
    static func length(of entries: some Sequence<ZipEntry>) -> UInt64? {
        var writer = ZipWriter()
        for entry in entries {
            _ = writer.begin(entry)
            guard case .file(let most, let packing) = entry.kind else { continue }
            guard let most, packing == .stored else { return nil }
            _ = writer.end(ZipContent(checksum: 0, size: most, packedSize: most))
        }
        _ = writer.finish()
        return writer.count
    }
}

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
