// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestSplits
import DuplexWire
import HTTPTypes
import Testing

@Suite("Writing heads")
struct HeadWriterTests {
    @Test("A response head is written line by line, with the date that's handed in")
    func response() {
        let head = ResponseHead(status: .switchingProtocols, headers: [.upgrade: "websocket", .connection: "Upgrade"])
        var bytes: [UInt8] = []
        head.write(to: &bytes, date: "Sun, 06 Nov 1994 08:49:37 GMT")
        let expected = """
            HTTP/1.1 101 Switching Protocols
            Date: Sun, 06 Nov 1994 08:49:37 GMT
            Upgrade: websocket
            Connection: Upgrade


            """
        #expect(bytes == wire(expected))
    }

    @Test("A date among the fields isn't doubled")
    func date() {
        var bytes: [UInt8] = []
        ResponseHead(status: 7, headers: [.date: "mine"]).write(to: &bytes, date: "other")
        #expect(bytes == wire("HTTP/1.1 007 \nDate: mine\n\n"))
    }

    @Test("A request head is written as it was read")
    func request() throws {
        let input = wire("GET /a?b HTTP/1.1\nHost: x\nAccept: */*\nAccept: y\n\n")
        var parser = RequestHeadParser()
        var position = 0
        let head = try #require(try parser.parse(input.span, from: &position))
        var bytes = wire("before\n")
        head.write(to: &bytes)
        #expect(bytes == wire("before\n") + input)
    }

    @Test("The parts of a cookie are written in one line")
    func cookies() throws {
        var headers = host("x")
        headers[.cookie] = "a=1; b=2"
        headers[.accept] = "y"
        var bytes: [UInt8] = []
        try RequestHead(method: .get, target: "/", headers: headers).write(to: &bytes)
        #expect(bytes == wire("GET / HTTP/1.1\nHost: x\nAccept: y\nCookie: a=1; b=2\n\n"))
    }

    @Test(
        "No value, reason or date begins a line of its own",
        arguments: ["a\r\nX: y", "a\nX: y", "a\rX: y", "a\u{0}X: y"]
    )
    func injection(value: String) throws {
        var headers: HTTPFields = [.location: value, .setCookie: value]
        headers.append(HTTPField(name: .accept, lenientValue: Array(value.utf8)))
        let head = ResponseHead(status: HTTPResponse.Status(code: 200, reasonPhrase: value), headers: headers)
        var bytes: [UInt8] = []
        head.write(to: &bytes, date: value)
        var parser = ResponseHeadParser()
        var position = 0
        let read = try #require(try parser.parse(bytes.span, from: &position))
        #expect(position == bytes.count)
        #expect(read.headers.map(\.name) == [.date, .location, .setCookie, .accept])
        #expect(Set(bytes.filter { $0 < 0x20 }) == [0x0D, 0x0A])
        #expect(bytes.filter { $0 == 0x0A }.count == 6)
    }

    @Test("A name, a method or a target with a line break can't be made")
    func names() {
        #expect(HTTPField.Name("A\r\nB") == nil)
        #expect(HTTPRequest.Method("GET\r\n") == nil)
        #expect(throws: HTTPProtocolError.self) {
            try RequestHead(method: .get, target: "/\r\nA: b", headers: host("a"))
        }
    }

    @Test("A reason beyond Latin-1 is written in one byte for each character")
    func reason() {
        var bytes: [UInt8] = []
        ResponseHead(status: HTTPResponse.Status(code: 404, reasonPhrase: "\u{E9}")).write(to: &bytes)
        #expect(bytes == wire("HTTP/1.1 404 ") + [0xE9] + wire("\n\n"))
    }

    @Test("The first line has the status, whatever the reason", arguments: [200, 201, 404])
    func statusLine(code: Int) {
        var bytes: [UInt8] = []
        ResponseHead(status: .init(code: code, reasonPhrase: "OK"), headers: [.date: "d"]).write(to: &bytes, date: "d")
        #expect(bytes == wire("HTTP/1.1 \(code) OK\nDate: d\n\n"))
    }
}
