// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexDeflate

@Suite("Putting contents into codings")
struct ContentDeflaterTests {
    private static func inflated(_ bytes: [UInt8], _ coding: ContentCoding, isWhole: Bool = true) throws -> [UInt8] {
        let inflater = ContentInflater([coding], upTo: .unlimited, pool: ContentPool())
        inflater.take(bytes)
        var output: [UInt8] = []
        while let piece = try inflater.next() { output += piece }
        if isWhole { try inflater.finish() }
        return output
    }

    @Test("Contents come back as they were", arguments: ContentCoding.allCases, Samples.all)
    func roundTrip(coding: ContentCoding, content: [UInt8]) throws {
        let pool = ContentPool()
        for isWhole in [true, false] {
            let deflater = try #require(ContentDeflater(coding, level: 6, isWhole: isWhole, pool: pool))
            var coded: [UInt8] = []
            deflater.deflate(rawSpan(of: content), flushes: false, into: &coded)
            deflater.deflate(rawSpan(of: content), flushes: true, into: &coded)
            deflater.finish(into: &coded)
            #expect(try Self.inflated(coded, coding) == content + content)
        }
    }

    @Test("A content that something else stands around has neither header nor checksum")
    func raw() throws {
        let content = Array(String(repeating: "Hello, hello. ", count: 10_000).utf8)
        let pool = ContentPool()
        for _ in 0..<2 {
            let deflater = try #require(ContentDeflater(rawAt: 1, pool: pool))
            var coded: [UInt8] = []
            deflater.deflate(rawSpan(of: content), flushes: false, into: &coded)
            deflater.finish(into: &coded)
            let stream = try #require(ZlibStream(.inflating(windowBits: 15)))
            var (position, output) = (0, [UInt8]())
            let status = stream.run(rawSpan(of: coded), from: &position, into: &output, upTo: content.count + 1)
            #expect(status == .ended && output == content && position == coded.count)
            #expect(pool.spareStreams == 1)
        }
    }

    @Test("What is flushed can be inflated before there is more; what isn't may wait")
    func flushes() throws {
        let deflater = try #require(ContentDeflater(.gzip, level: 6, isWhole: false, pool: ContentPool()))
        var coded: [UInt8] = []
        deflater.deflate(rawSpan(of: Array("one".utf8)), flushes: false, into: &coded)
        #expect(try Self.inflated(coded, .gzip, isWhole: false).isEmpty)
        deflater.deflate(rawSpan(of: Array("two".utf8)), flushes: true, into: &coded)
        #expect(try Self.inflated(coded, .gzip, isWhole: false) == Array("onetwo".utf8))
    }

    @Test("gzip is gzip, and deflate has zlib's wrapping; levels that there aren't become the nearest")
    func formats() {
        #expect(coded(Samples.text, level: 99).prefix(3) == [0x1F, 0x8B, 8])
        #expect(coded(Samples.text, .deflate, level: -1).first == 0x78)
        #expect(coded(Samples.text, level: 9).count < Samples.text.count / 4)
    }
}

@Suite("What contents of one loop share")
struct ContentPoolTests {
    @Test("What was used to its end serves the next one, and of a kind only a few wait")
    func reuses() throws {
        let pool = ContentPool()
        for _ in 0..<3 { _ = coded(Samples.text, pool: pool) }
        #expect(pool.spareStreams == 1)
        let inflaters = (0..<4).map { _ in ContentInflater([.gzip], upTo: .unlimited, pool: pool) }
        let input = coded(Samples.text, level: 1, pool: pool)
        for inflater in inflaters {
            inflater.take(input)
            while try inflater.next() != nil {}
        }
        for inflater in inflaters { try inflater.finish() }
        #expect(pool.spareStreams == 2 + ContentPool.spares)
    }

    @Test("One that serves again knows nothing of the content before", arguments: ContentCoding.allCases)
    func forgets(coding: ContentCoding) {
        let pool = ContentPool()
        let first = coded(Samples.text, coding, pool: pool)
        #expect(!first.isEmpty && coded(Samples.text, coding, pool: pool) == first)
    }

    @Test("What is dropped halfway is nobody's")
    func drops() throws {
        let pool = ContentPool()
        do {
            let input = coded(Samples.text, pool: pool)
            let inflater = ContentInflater([.gzip], upTo: .unlimited, pool: pool)
            inflater.take(Array(input.prefix(20)))
            while try inflater.next() != nil {}
        }
        #expect(pool.spareStreams == 1)
    }
}
