// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

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
