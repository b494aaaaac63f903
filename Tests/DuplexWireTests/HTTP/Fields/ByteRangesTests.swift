// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@Suite("Ranges of bytes")
struct ByteRangesTests {
    private static func selection(_ value: String, of length: UInt64 = 10_000) -> ByteRanges.Selection? {
        ByteRanges([.range: value])?.selection(of: length)
    }

    @Test("The examples of RFC 9110 section 14.1.2")
    func examples() {
        #expect(Self.selection("bytes=0-499") == .parts([0..<500]))
        #expect(Self.selection("bytes=500-999") == .parts([500..<1_000]))
        #expect(Self.selection("bytes=-500") == .parts([9_500..<10_000]))
        #expect(Self.selection("bytes=9500-") == .parts([9_500..<10_000]))
        #expect(Self.selection("bytes=0-0,-1") == .parts([0..<1, 9_999..<10_000]))
        #expect(Self.selection("bytes= 0-999, 4500-5499, -1000") == .parts([0..<1_000, 4_500..<5_500, 9_000..<10_000]))
    }

    @Test("What reaches beyond the end is cut there; what lies beyond it is left out")
    func cut() {
        #expect(Self.selection("bytes=9999-20000") == .parts([9_999..<10_000]))
        #expect(Self.selection("bytes=-20000") == .parts([0..<10_000]))
        #expect(Self.selection("bytes=10000-, 0-1") == .parts([0..<2]))
        #expect(Self.selection("bytes=0-99999999999999999999999") == .parts([0..<10_000]))
        #expect(Self.selection("BYTES=1-1") == .parts([1..<2]))
    }

    @Test(
        "Nothing within the content is unsatisfiable",
        arguments: ["bytes=10000-", "bytes=-0", "bytes=10000-10001,-0"]
    )
    func unsatisfiable(value: String) {
        #expect(Self.selection(value) == .unsatisfiable)
    }

    @Test(
        "Any range of an empty content is all of it, as other servers have it",
        arguments: ["bytes=0-", "bytes=0-1023", "bytes=5-", "bytes=-1", "bytes=-0", "bytes=0-0,-1"]
    )
    func empty(value: String) {
        #expect(Self.selection(value, of: 0) == .whole)
    }

    @Test("Parts that overlap or touch are joined, in the order of the content")
    func overlapping() {
        #expect(Self.selection("bytes=0-5,5-6") == .parts([0..<7]))
        #expect(Self.selection("bytes=0-5,6-6") == .parts([0..<7]))
        #expect(Self.selection("bytes=20-29,0-5,3-4,30-39") == .parts([0..<6, 20..<40]))
        #expect(Self.selection("bytes=0-,0-") == .parts([0..<10_000]))
        #expect(Self.selection("bytes=-2,0-9999") == .parts([0..<10_000]))
        // Those that are apart stay as they were asked for.
        #expect(Self.selection("bytes=20-29,0-5,7-8") == .parts([20..<30, 0..<6, 7..<9]))
    }

    @Test("No byte is ever sent twice, and none that wasn't asked for", arguments: 0..<200 as Range<UInt64>)
    func random(seed: UInt64) {
        var numbers = SeededGenerator(seed: seed)
        let length = UInt64.random(in: 1...40, using: &numbers)
        let asked = (0..<Int.random(in: 1...8, using: &numbers)).map { _ in
            let first = UInt64.random(in: 0..<length, using: &numbers)
            return first..<UInt64.random(in: first + 1...length, using: &numbers)
        }
        let value = "bytes=" + asked.map { "\($0.lowerBound)-\($0.upperBound - 1)" }.joined(separator: ",")
        guard case .parts(let parts)? = Self.selection(value, of: length) else {
            Issue.record("\(value) of \(length)")
            return
        }
        let sent = parts.flatMap(Array.init)
        #expect(sent.count == Set(sent).count && Set(sent) == Set(asked.flatMap(Array.init)), "\(value)")
    }

    @Test(
        "What is malformed is passed over",
        arguments: [
            "", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=1", "bytes=2-1", "bytes=1-2-3", "lines=0-1",
            "bytes=1-2;3-4",
            "bytes=+1-2", "bytes=0x1-2", "bytes=0 - 1",
        ]
    )
    func malformed(value: String) {
        #expect(ByteRanges([.range: value]) == nil)
    }

    @Test("So are too many parts, and two fields")
    func bounded() {
        let many = (0..<17).map { "\($0 * 2)-\($0 * 2)" }
        #expect(ByteRanges([.range: "bytes=" + many.joined(separator: ",")]) == nil)
        #expect(ByteRanges([.range: "bytes=" + many.dropLast().joined(separator: ",")]) != nil)
        var two = HTTPFields()
        for _ in 0..<2 { two.append(HTTPField(name: .range, value: "bytes=0-1")) }
        #expect(ByteRanges(two) == nil)
        #expect(ByteRanges([:]) == nil)
    }
}

@Suite("Several parts of a content")
struct MultipartRangesTests {
    private static let frame = MultipartRanges([0..<3, 7..<8], of: 10, type: .plainText, boundary: "B")

    private static func body(_ frame: MultipartRanges, of content: [UInt8]) -> [UInt8] {
        frame.parts.flatMap { frame.head(of: $0) + content[Int($0.lowerBound)..<Int($0.upperBound)] } + frame.end
    }

    @Test("The body is that of RFC 9110 section 14.6")
    func body() {
        let text = String(decoding: Self.body(Self.frame, of: Array("0123456789".utf8)), as: UTF8.self)
        let head = "Content-Type: text/plain; charset=utf-8\r\nContent-Range: bytes"
        #expect(text == "\r\n--B\r\n\(head) 0-2/10\r\n\r\n012\r\n--B\r\n\(head) 7-7/10\r\n\r\n7\r\n--B--\r\n")
        #expect(Self.frame.contentType.rawValue == "multipart/byteranges; boundary=B")
    }

    @Test(
        "Its length is known ahead",
        arguments: [[0..<1], [0..<10], [9..<10, 0..<5], [0..<1, 2..<3, 4..<10]] as [[Range<UInt64>]]
    )
    func length(parts: [Range<UInt64>]) {
        let frame = MultipartRanges(parts, of: 10, type: "image/png", boundary: "boundary")
        #expect(frame.count == UInt64(Self.body(frame, of: Array(repeating: 1, count: 10)).count))
    }
}
