// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexServer

@Suite("What an access log says of a request")
struct AccessEntryTests {
    private static let time = LogTime(UnixTime(seconds: 971_211_336), offset: -25_200)

    private func entry(
        _ target: String = "/a?secret=1",
        status: HTTPResponse.Status? = .ok,
        sent: Int = 2_326,
        headers: HTTPFields = [:],
        user: String? = nil,
        from address: String? = "192.0.2.7",
        showsQuery: Bool = true,
        isIncomplete: Bool = false
    ) throws -> AccessEntry {
        var all = headers
        all[try #require(HTTPField.Name("Host"))] = "example.com"
        let head = target.isEmpty ? RequestHead.unread : try RequestHead(method: .get, target: target, headers: all)
        let remote = try address.map { try $0.hasPrefix("/") ? .unix($0) : SocketAddress($0, port: 1) }
        let request = Request(head: head, connection: Request.Connection(remoteAddress: remote, tls: nil))
        if let user { request.user = user }
        let outcome = RequestOutcome(
            route: target.isEmpty ? nil : "/:x",
            status: status,
            bytesReceived: 3,
            bytesSent: sent,
            duration: .microseconds(1_234),
            isIncomplete: isIncomplete,
            error: nil
        )
        return AccessEntry(request: request, outcome: outcome, showsQuery: showsQuery)
    }

    @Test("Fields are logged as they are read: once or several times, in any case of letters")
    func odd() throws {
        func line(_ headers: String) throws -> String {
            let head = "GET /?a\"b HTTP/1.1\r\nHost: a\r\n\(headers)\r\n"
            var (parser, position) = (RequestHeadParser(), 0)
            let read = try parser.parse(Array(head.utf8).span, from: &position)
            let request = Request(
                head: try #require(read),
                connection: Request.Connection(remoteAddress: nil, tls: nil)
            )
            let outcome = RequestOutcome(
                route: nil,
                status: .ok,
                bytesReceived: 0,
                bytesSent: 0,
                duration: .zero,
                isIncomplete: false,
                error: nil
            )
            let line = AccessEntry(request: request, outcome: outcome, showsQuery: true).combined(Self.time)
            return String(line.drop { $0 != "\"" })
        }
        let start = #""GET /?a\"b HTTP/1.1" 200 - "#
        #expect(try line("") == start + #""-" "-""#)
        #expect(try line("referer:\r\nUSER-AGENT:  a \t\r\n") == start + #""" "a""#)
        #expect(try line("Referer: a\r\nX: y\r\nREFERER: b\r\n") == start + #""a, b" "-""#)
        #expect(try line("Referers: a\r\nX-User-Agent: b\r\nUser-Agen: c\r\n") == start + #""-" "-""#)
        #expect(try line("User-Agent: \u{e9}\"\\\r\n") == start + #""-" "\xc3\xa9\"\\""#)
        #expect(
            try line("User-Agent: a long one that has a tab\tin it\r\n") == start
                + #""-" "a long one that has a tab\x09in it""#
        )
    }

    @Test("The combined format is Apache's")
    func combined() throws {
        let headers: HTTPFields = [.referer: "http://www.example.com/start.html", .userAgent: "Mozilla/4.08 [en]"]
        let line = try entry(headers: headers, user: "frank").combined(Self.time)
        #expect(
            line == #"192.0.2.7 - frank [10/Oct/2000:13:55:36 -0700] "GET /a?secret=1 HTTP/1.1" 200 2326 "#
                + #""http://www.example.com/start.html" "Mozilla/4.08 [en]""#
        )
        let bare = try entry(status: nil, sent: 0, from: "/run/socket", showsQuery: false).combined(Self.time)
        #expect(bare == #"- - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" - - "-" "-""#)
        let unread = try entry("", status: .badRequest, sent: 5).combined(Self.time)
        #expect(unread == #"192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] "-" 400 5 "-" "-""#)
    }

    @Test("Nobody forges a line or a field of one")
    func forged() throws {
        let headers: HTTPFields = [.referer: #"x" 200 1 "y"#, .userAgent: "é\\"]
        let entry = try entry(headers: headers, user: "frank\n192.0.2.8 - root")
        let line = entry.combined(Self.time)
        #expect(!line.contains("\n") && line.utf8.allSatisfy { (0x20...0x7E).contains($0) })
        #expect(line.hasPrefix(#"192.0.2.7 - frank\x0a192.0.2.8\x20-\x20root [10/"#))
        #expect(line.hasSuffix(#""x\" 200 1 \"y" "\xc3\xa9\\""#))
        #expect(!entry.json(at: Self.time).contains("\n"))
        #expect(entry.metadata["user"] == #"frank\x0a192.0.2.8 - root"#)
    }

    @Test("JSON has the same and more, without what isn't known")
    func json() throws {
        let text = try entry(user: "frank", isIncomplete: true).json(at: Self.time)
        #expect(
            text == #"{"time":"2000-10-10T20:55:36Z","address":"192.0.2.7","user":"frank","method":"GET","#
                + #""host":"example.com","target":"/a?secret=1","protocol":"HTTP/1.1","route":"/:x","status":200,"#
                + #""received_bytes":3,"sent_bytes":2326,"duration_us":1234,"cut":true}"#
        )
        let unread = try entry("", status: nil, sent: 0, from: nil).json(at: Self.time)
        #expect(
            unread == #"{"time":"2000-10-10T20:55:36Z","received_bytes":3,"sent_bytes":0,"duration_us":1234}"#
        )
    }

    @Test("Metadata have what people look for")
    func metadata() throws {
        let metadata = try entry(showsQuery: false).metadata
        #expect(metadata["target"] == "/a" && metadata["status"] == "200" && metadata["route"] == "/:x")
        #expect(metadata["duration"] == "1 ms" && metadata["bytes"] == "2326" && metadata["cut"] == nil)
        #expect(metadata["address"] == "192.0.2.7" && metadata["user"] == nil)
    }
}

extension AccessEntry {
    fileprivate func combined(_ time: LogTime) -> String {
        var line: [UInt8] = []
        appendCombined(at: time, to: &line)
        return String(decoding: line, as: UTF8.self)
    }
}
