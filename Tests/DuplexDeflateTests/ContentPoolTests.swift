// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexDeflate

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
