// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("Parts of a form")
struct MultipartEventTests {
    @Test("A part without a type is plain text, and one without a name has an empty one")
    func defaults() throws {
        var parser = try MultipartParser("multipart/form-data; boundary=b")
        var position = 0
        let event = try parser.next(Array("--b\r\n\r\nx\r\n--b--".utf8).span, from: &position)
        guard case .begin(let head) = event else {
            Issue.record("no part has begun: \(String(describing: event))")
            return
        }
        #expect(head.name.isEmpty && head.filename == nil && head.disposition == nil && head.fields.isEmpty)
        #expect(head.mediaType.essence == "text/plain")
    }

    @Test("By default a form has 1,000 parts with small heads, and contents as long as the body")
    func limits() {
        let limits = MultipartLimits()
        #expect(limits.partCount == 1_000 && limits.headSize == .kibibytes(8) && limits.headFields == 32)
        #expect(limits.partSize == .unlimited && limits.totalSize == .unlimited)
    }
}
