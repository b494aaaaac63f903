// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexWire

/// What the connections of one event loop share to code contents of HTTP and to take codings off (RFC 9110 section 8.4.1).
///
/// Whoever has used a stream of zlib to its end leaves it to the next one. Not safe to use from several threads.
package final class ContentPool {
    private var streams: [ZlibStream.Kind: [ZlibStream]] = [:]

    /// The most streams of a kind that wait for the next use: an inflating one has 40 KiB, a deflating one up to 264.
    static let spares = 2

    /// Makes a pool without anything in it.
    package init() {}

    /// How many streams nobody uses.
    var spareStreams: Int { streams.values.reduce(0) { $0 + $1.count } }

    /// A stream as a new one; nil without memory for it.
    func take(_ kind: ZlibStream.Kind) -> ZlibStream? {
        streams[kind]?.popLast() ?? ZlibStream(kind)
    }

    func give(_ stream: ZlibStream) {
        guard streams[stream.kind, default: []].count < Self.spares else { return }
        stream.reset()
        streams[stream.kind, default: []].append(stream)
    }

    /// Deflates a content whole.
    ///
    /// - Parameters:
    ///   - content: the bytes.
    ///   - coding: what they become.
    ///   - level: how hard to try, from 1 to 9.
    /// - Returns: the coded bytes; nil without memory for it.
    package func deflate(_ content: RawSpan, _ coding: ContentCoding, level: Int) -> [UInt8]? {
        guard let deflater = ContentDeflater(coding, level: level, isWhole: true, pool: self) else { return nil }
        var output: [UInt8] = []
        output.reserveCapacity(content.byteCount / 4 + 64)
        deflater.deflate(content, flushes: false, into: &output)
        deflater.finish(into: &output)
        return output
    }
}
