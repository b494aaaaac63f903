// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes
import Testing

@testable import DuplexWire

@Suite struct ResponseStartTests {
    private func text(_ start: ResponseStart, _ fields: HTTPFields = [:]) -> String {
        String(decoding: start.lines(beside: fields), as: UTF8.self)
    }

    @Test("The lines are the status, Date and Content-Type, as far as they are given")
    func lines() {
        #expect(text(ResponseStart(.noContent)) == "HTTP/1.1 204 No Content\r\n")
        #expect(
            text(ResponseStart(.ok, mediaType: "text/plain", date: "now"))
                == "HTTP/1.1 200 OK\r\nDate: now\r\nContent-Type: text/plain\r\n"
        )
    }

    @Test("No value begins a line of its own")
    func lineBreaks() {
        let start = ResponseStart(.ok, mediaType: "a\r\nb: c", date: "d\ne: f")
        #expect(text(start) == "HTTP/1.1 200 OK\r\nDate: d e: f\r\nContent-Type: a  b: c\r\n")
    }

    @Test("A Date among the fields takes the place of the server's")
    func date() {
        let start = ResponseStart(.ok, mediaType: "text/plain", date: "now")
        #expect(text(start, [.date: "then"]) == "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n")
        #expect(text(start, [.eTag: "x"]) == text(start))
    }

    @Test("Those of one response aren't those of another")
    func comparing() {
        let start = ResponseStart(.ok, mediaType: "text/plain", date: "now")
        #expect(start.isOf(.ok, "text/plain"))
        #expect(!start.isOf(.ok, "text/html") && !start.isOf(.ok, nil) && !start.isOf(.created, "text/plain"))
        #expect(!start.isOf(HTTPResponse.Status(code: 200, reasonPhrase: "Fine"), "text/plain"))
    }
}
