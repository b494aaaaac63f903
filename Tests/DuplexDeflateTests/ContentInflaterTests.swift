// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import DuplexWire
import Testing

@testable import DuplexDeflate

@Suite("Taking codings off contents")
struct ContentInflaterTests {
    /// What comes of pieces, and why no more does.
    private struct Outcome: Equatable, Sendable {
        var bytes: [UInt8] = []
        var error: HTTPProtocolError?
    }

    private static func outcome(
        _ pieces: [[UInt8]],
        _ codings: [ContentCoding] = [.gzip],
        upTo limit: ByteCount = .unlimited
    ) -> Outcome {
        let inflater = ContentInflater(codings, upTo: limit, pool: ContentPool())
        var outcome = Outcome()
        do throws(HTTPProtocolError) {
            for piece in pieces {
                inflater.take(piece)
                while let plain = try inflater.next() {
                    #expect(!plain.isEmpty && plain.count <= ContentInflater.pieceSize)
                    outcome.bytes += plain
                }
            }
            try inflater.finish()
        } catch {
            outcome.error = error
        }
        return outcome
    }

    private static let hello = Array("Hello".utf8)

    @Test("gzip, zlib's wrapping, and deflate without one, in every split", arguments: Samples.all)
    func formats(content: [UInt8]) throws {
        let raw = coded(content, .deflate).dropFirst(2).dropLast(4)
        let inputs: [(ContentCoding, [UInt8])] = [
            (.gzip, coded(content)), (.deflate, coded(content, .deflate)), (.deflate, Array(raw)),
        ]
        for (coding, input) in inputs {
            let outcome = try SplitVerifier().verify(input) { Self.outcome($0, [coding]) }
            #expect(outcome == Outcome(bytes: content))
        }
    }

    @Test("Two codings come off in the reverse of their order, in every split")
    func twoCodings() throws {
        let input = coded(coded(Samples.text, .deflate))
        let outcome = try SplitVerifier().verify(input) { Self.outcome($0, [.deflate, .gzip]) }
        #expect(outcome == Outcome(bytes: Samples.text))
        #expect(Self.outcome([input], [.gzip, .deflate]).error?.status.code == 400)
    }

    @Test("Members of gzip follow one another; nothing follows zlib's end")
    func members() throws {
        let member = coded(Self.hello)
        let two = try SplitVerifier().verify(member + member) { Self.outcome($0) }
        #expect(two == Outcome(bytes: Self.hello + Self.hello))
        let deflate = coded(Self.hello, .deflate)
        for input in [member + [0], deflate + deflate, deflate + [0]] {
            let outcome = Self.outcome([input], input.starts(with: [0x1F]) ? [.gzip] : [.deflate])
            #expect(outcome.error?.code == .malformedBody)
        }
    }

    @Test("A content that ends too early is malformed, wherever it does; none at all is empty")
    func truncated() {
        for coding in ContentCoding.allCases {
            let input = coded(Samples.text, coding)
            for count in 1..<input.count {
                #expect(Self.outcome([Array(input.prefix(count))], [coding]).error?.status.code == 400, "\(count)")
            }
            #expect(Self.outcome([], [coding]) == Outcome())
        }
    }

    @Test("A wrong header, checksum or length is found, and found again")
    func damaged() {
        let good = coded(Samples.text)
        for place in [0, 2, good.count - 8, good.count - 1] {
            var bad = good
            bad[place] ^= 1
            #expect(Self.outcome([bad]).error?.code == .malformedBody, "\(place)")
        }
        let inflater = ContentInflater([.gzip], upTo: .unlimited, pool: ContentPool())
        inflater.take([1, 2, 3])
        for _ in 0..<2 { #expect(throws: HTTPProtocolError.self) { try inflater.next() } }
        #expect(throws: HTTPProtocolError.self) { try inflater.finish() }
    }

    @Test("What comes out has a bound, and so has what lies between two codings")
    func bounds() {
        let zeros = coded([UInt8](repeating: 0, count: 200_000))
        #expect(Self.outcome([zeros], upTo: 200_000) == Outcome(bytes: [UInt8](repeating: 0, count: 200_000)))
        for limit in [0, 1, 65_535, 65_536, 199_999] {
            let outcome = Self.outcome([zeros], upTo: ByteCount(limit))
            #expect(outcome.error?.status.code == 413 && outcome.bytes.count <= limit, "\(limit)")
        }
        // The inner one gives nothing: a header of gzip that goes on and on.
        let name = [0x1F, 0x8B, 8, 8, 0, 0, 0, 0, 0, 3] + [UInt8](repeating: 0x61, count: 100_000)
        #expect(Self.outcome([coded(name)], [.gzip, .gzip], upTo: 1_000).error?.status.code == 413)
    }
}
