// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexDeflate
import DuplexSockets
import DuplexWire
import Synchronization

/// Makes a zip of open files, piece by piece; on threads that may block.
///
/// Holds a piece of a file, its deflated form, and zlib's 264 KiB where it deflates.
final class ZipPacker: Sendable {
    /// What goes out next.
    struct Output: Sendable {
        var pieces: [[UInt8]] = []
        /// Whether the file has ended.
        var isLast = false
        /// Why it ended before its end.
        var fault: SocketError?
    }

    fileprivate struct File {
        var range: FileRange
        var deflater: ContentDeflater?
        var checksum = CRC32()
        var size: UInt64 = 0
        var packedSize: UInt64 = 0
    }

    fileprivate struct State {
        var writer = ZipWriter()
        var file: File?
        let pool = ContentPool()
        /// How hard to deflate; nil for not at all.
        let level: Int?
    }

    private let state: Mutex<State>

    /// How much is read before others have the thread: a few milliseconds of deflating.
    fileprivate static let turn = 256 * 1_024

    /// Begins a zip.
    ///
    /// - Parameter level: how hard to deflate, from 1 to 9; nil for not at all.
    init(level: Int?) {
        state = Mutex(State(level: level))
    }

    /// What there is of a folder.
    func folder(_ item: ZipItem) -> [UInt8] {
        state.withLock { $0.writer.begin(item.entry(.stored, size: 0)) }
    }

    /// Begins a file, and packs as much of it as is to go out at once.
    ///
    /// - Parameters:
    ///   - item: what is known of it.
    ///   - file: the file; what it has beyond its size, or beyond the limit, is left out.
    ///   - limit: the most bytes that are read.
    /// - Returns: what goes out.
    /// - Throws: `SocketError` when it can't be read; then there is nothing of it in the zip.
    func begin(_ item: ZipItem, _ file: OpenedFile, upTo limit: UInt64 = .max) throws(SocketError) -> Output {
        let size = min(file.size, limit)
        // Only this call uses `state`, so the disk is waited for under its lock.
        return try state.withLock { state throws(SocketError) in
            let range = try file.range(from: 0, count: size)
            let deflater = state.level(for: item.path).flatMap { ContentDeflater(rawAt: $0, pool: state.pool) }
            let header = state.writer.begin(
                item.entry(
                    deflater == nil ? .stored : .deflated,
                    size: size,
                    permissions: file.status.permissions
                )
            )
            state.file = File(range: range, deflater: deflater)
            return state.pack(behind: header)
        }
    }

    /// Packs more of the file that has begun.
    func more() -> Output {
        state.withLock { $0.pack(behind: []) }
    }

    /// A file whose bytes are at hand.
    func file(_ path: String, _ bytes: [UInt8], modified: UnixTime) -> [[UInt8]] {
        state.withLock { state in
            var checksum = CRC32()
            checksum.add(bytes.span.raw)
            let size = UInt64(bytes.count)
            let kind = ZipEntry.Kind.file(atMost: size, .stored)
            let header = state.writer.begin(ZipEntry(path, kind, modified: modified, permissions: 0o644))
            let content = ZipContent(checksum: checksum.value, size: size, packedSize: size)
            return [header, bytes, state.writer.end(content)]
        }
    }

    /// The end of the zip.
    func finish() -> [[UInt8]] {
        state.withLock { $0.writer.finish() }
    }
}

extension ZipPacker.State {
    /// What gets no shorter isn't deflated: pictures, sound, films, archives.
    fileprivate func level(for path: String) -> Int? {
        guard let level else { return nil }
        let type = MediaType.ofFile(named: path)
        return type.isCompressible || type.essence == "application/octet-stream" ? level : nil
    }

    fileprivate mutating func pack(behind header: [UInt8]) -> ZipPacker.Output {
        var output = ZipPacker.Output(pieces: header.isEmpty ? [] : [header])
        guard var file else { return output }
        do throws(SocketError) {
            try file.read(into: &output)
        } catch {
            output.fault = error
        }
        if file.range.remaining > 0 && output.fault == nil {
            self.file = file
            return output
        }
        output.pieces += file.end()
        let sizes = ZipContent(checksum: file.checksum.value, size: file.size, packedSize: file.packedSize)
        output.pieces.append(writer.end(sizes))
        output.isLast = true
        self.file = nil
        return output
    }
}

extension ZipPacker.File {
    /// Reads and packs as much as is done at once.
    fileprivate mutating func read(into output: inout ZipPacker.Output) throws(SocketError) {
        var taken = 0
        while range.remaining > 0 && taken < ZipPacker.turn {
            let bytes = try range.read(limit: ZipPacker.turn - taken)
            checksum.add(bytes.span.raw)
            size += UInt64(bytes.count)
            taken += bytes.count
            let packed = pack(bytes)
            packedSize += UInt64(packed.count)
            if !packed.isEmpty { output.pieces.append(packed) }
        }
    }

    private func pack(_ bytes: [UInt8]) -> [UInt8] {
        guard let deflater else { return bytes }
        var packed: [UInt8] = []
        packed.reserveCapacity(bytes.count / 2)
        deflater.deflate(bytes.span.raw, flushes: false, into: &packed)
        return packed
    }

    /// What is left in the deflater.
    fileprivate mutating func end() -> [[UInt8]] {
        guard let deflater else { return [] }
        var packed: [UInt8] = []
        deflater.finish(into: &packed)
        packedSize += UInt64(packed.count)
        return [packed]
    }
}
