// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@Suite("Response heads")
struct ResponseHeadTests {
    @Test("A head is HTTP/1.1 without fields by default")
    func defaults() {
        let head = ResponseHead(status: .ok)
        #expect(head.version == .http11)
        #expect(head.headers.isEmpty)
        #expect(head.keepsAlive)
    }

    @Test("The framing is refused where the fields contradict each other")
    func framing() {
        let head = ResponseHead(status: .ok, headers: [.contentLength: "1", .transferEncoding: "chunked"])
        let error = #expect(throws: HTTPProtocolError.self) { try head.framing(answering: .get) }
        #expect(error?.code == .conflictingContentLength)
    }
}
