// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexInspector

@Suite("A response of which the length is read")
struct ResponseReadingTests {
    @Test(
        "Status and length are read, wherever the bytes are split",
        arguments: [
            ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", 200, 3),
            (
                "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
                201, 3
            ),
            ("HTTP/1.1 204 No Content\r\n\r\n", 204, 0), ("HTTP/1.1 101 Switching Protocols\r\n\r\n", 101, 0),
        ] as [(String, Int, UInt64)]
    )
    func reads(text: String, status: Int, size: UInt64) throws {
        let bytes = Array(text.utf8)
        for split in 0...bytes.count {
            var reading = ResponseReading(answering: .get)
            try reading.take(Array(bytes[..<split]))
            try reading.take(Array(bytes[split...]))
            #expect(reading.isDone && reading.status == status && reading.size == size)
        }
    }

    @Test("A body may end with the connection, a head and a length may not")
    func ends() throws {
        var open = ResponseReading(answering: .get)
        try open.take(Array("HTTP/1.1 200 OK\r\n\r\nabc".utf8))
        #expect(!open.isDone)
        try open.finish()
        #expect(open.isDone && open.size == 3)
        var head = ResponseReading(answering: .get)
        #expect(throws: HTTPError.self) { try head.finish() }
        var cut = ResponseReading(answering: .get)
        try cut.take(Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc".utf8))
        #expect(throws: HTTPError.self) { try cut.finish() }
    }

    @Test("A body that is too long isn't read")
    func bound() {
        var reading = ResponseReading(answering: .get)
        let text = "HTTP/1.1 200 OK\r\nContent-Length: \(ReplayClient.bodyBound.bytes + 1)\r\n\r\n"
        #expect(throws: HTTPError.self) { try reading.take(Array(text.utf8)) }
    }

    @Test("What answers HEAD has no body")
    func head() throws {
        var reading = ResponseReading(answering: .head)
        try reading.take(Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n".utf8))
        #expect(reading.isDone && reading.size == 0)
    }
}
