// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestSplits
import DuplexWire
import HTTPTypes
import Testing

@Suite("Request heads")
struct RequestHeadTests {
    @Test(
        "An HTTP/1.1 request has exactly one Host",
        arguments: [[], ["a", "a"], ["a", "b"], [""], ["a b"], ["a, a"], ["http://a"]]
    )
    func badHost(hosts: [String]) {
        var headers = HTTPFields()
        for value in hosts { headers.append(contentsOf: host(value)) }
        let error = #expect(throws: HTTPProtocolError.self) {
            try RequestHead(method: .get, target: "/", headers: headers)
        }
        #expect(error?.code == .badHost)
        // A target with a host of its own doesn't make up for it (RFC 9112 section 3.2).
        #expect(throws: HTTPProtocolError.self) { try RequestHead(method: .get, target: "http://a/", headers: headers) }
    }

    @Test("An HTTP/1.0 request needs no Host")
    func oldHost() throws {
        #expect(try RequestHead(method: .get, target: "/", version: .http10, headers: [:]).host == "")
        #expect(try RequestHead(method: .get, target: "/", version: .http10, headers: host("A:8")).host == "a:8")
    }

    @Test(
        "A connection persists as the version and Connection say",
        arguments: [
            (HTTPVersion.http11, nil, true), (.http11, "close", false), (.http11, "Upgrade, CLOSE", false),
            (.http11, "keep-alive", true), (.http11, "closed", true), (.http10, nil, false),
            (.http10, "Keep-Alive", true),
            (.http10, "keep-alive, close", false),
        ] as [(HTTPVersion, String?, Bool)]
    )
    func keepsAlive(version: HTTPVersion, connection: String?, expected: Bool) throws {
        var headers = host("a")
        headers[.connection] = connection
        #expect(try RequestHead(method: .get, target: "/", version: version, headers: headers).keepsAlive == expected)
        #expect(ResponseHead(status: .ok, version: version, headers: headers).keepsAlive == expected)
    }

    @Test(
        "The client waits for 100 Continue if it says so in HTTP/1.1",
        arguments: [
            (HTTPVersion.http11, "100-continue", true), (.http11, "100-Continue", true), (.http11, "", false),
            (.http10, "100-continue", false), (.http11, nil, false), (.http11, "100-continue,, 100-continue", true),
            (.http10, "other", false),
        ] as [(HTTPVersion, String?, Bool)]
    )
    func expectsContinue(version: HTTPVersion, expect: String?, expected: Bool) throws {
        var headers = host("a")
        headers[.expect] = expect
        let head = try RequestHead(method: .post, target: "/", version: version, headers: headers)
        #expect(head.expectsContinue == expected)
    }

    @Test("What stands for a head that couldn't be read is a GET of nothing, with values of its own")
    func unread() {
        let (one, other) = (RequestHead.unread, RequestHead.unread)
        #expect(one.method == .get && one.target.isEmpty && one.path.isEmpty && one.query == nil && one.host.isEmpty)
        #expect(one.headers.isEmpty && one.framing == .none)
        one[attachment: ObjectIdentifier(Self.self)] = 1
        #expect(one[attachment: ObjectIdentifier(Self.self)] as? Int == 1)
        #expect(other[attachment: ObjectIdentifier(Self.self)] == nil)
    }

    @Test(
        "Nothing else can be expected",
        arguments: ["other", "100-continue, other", "100-continue;x", "100", "\"100-continue\""]
    )
    func unknownExpectation(expect: String) {
        var headers = host("a")
        headers[.expect] = expect
        let error = #expect(throws: HTTPProtocolError.self) {
            try RequestHead(method: .post, target: "/", headers: headers)
        }
        #expect(error?.status.code == 417)
    }

    @Test(
        "One value is what all fields have, whether they were made or not",
        arguments: [
            "", "X-A: 1\r\n", "x-a:1\r\n", "X-A: \t1 2\t \r\n", "X-A:\r\n", "X-A: 1\r\nX-B: 2\r\nx-A: 3\r\n",
            "X-AB: 1\r\nX-: 2\r\nA: X-A: 3\r\n", "X-A: \u{e9}\r\n", "X-A: a\tb\r\n",
            "B: 0123456\r\nX-A: 1\r\n",
            "X!A: 1\r\nX\u{2d}a: 2\r\n", "Cookie: a=1\r\nCookie: b=2\r\nX-A: 1\r\n",
        ]
    )
    func value(headers: String) throws {
        func head() throws -> RequestHead {
            var (parser, position) = (RequestHeadParser(), 0)
            let bytes = Array("GET /a?b HTTP/1.1\r\nHost: a\r\n\(headers)\r\n".utf8)
            return try #require(try parser.parse(bytes.span, from: &position))
        }
        let (fresh, used) = (try head(), try head())
        let all = used.headers
        let made = try RequestHead(method: .get, target: "/a?b", headers: all)
        for name in ["X-A", "Host", "Cookie", "X-B", "None"] {
            let name = try #require(HTTPField.Name(name))
            for head in [fresh, used, made] { #expect(head.value(of: name) == all[name]) }
            let lent: [UInt8]? = fresh.withValue(of: name) { value in
                guard let value else { return nil }
                return [UInt8](copying: value)
            }
            #expect(lent == all[name].map { Array($0.utf8) })
        }
        for head in [fresh, made] { #expect(head.withTarget { [UInt8](copying: $0) } == Array("/a?b".utf8)) }
    }

    @Test("Heads are equal whose parts are, and not where one of them differs")
    func equality() throws {
        func head(_ line: String, _ headers: String) throws -> RequestHead {
            let input = wire("\(line)\n\(headers)\n\n")
            var parser = RequestHeadParser()
            var position = 0
            return try #require(try parser.parse(input.span, from: &position))
        }
        let one = try head("GET /a HTTP/1.1", "Host: x\nContent-Length: 1")
        let others = [
            try head("PUT /a HTTP/1.1", "Host: x\nContent-Length: 1"),
            try head("GET /b HTTP/1.1", "Host: x\nContent-Length: 1"),
            try head("GET /a HTTP/1.0", "Host: x\nContent-Length: 1"),
            try head("GET /a HTTP/1.1", "Host: y\nContent-Length: 1"),
            try head("GET /a HTTP/1.1", "Host: x\nContent-Length: 2"),
            try head("GET /a HTTP/1.1", "Host: x\nContent-Length: 1\nA: b"),
        ]
        let same = try head("GET /a HTTP/1.1", "Host: x\nContent-Length: 1")
        #expect(one == same && Set([one, same]).count == 1)
        for other in others { #expect(one != other) }
        #expect(Set(others + [one]).count == others.count + 1)
    }
}

@Suite("Request targets")
struct RequestTargetTests {
    @Test(
        "The path and the query are told apart and left as they were sent",
        arguments: [
            ("/", "/", nil), ("/a/b", "/a/b", nil), ("/a?b=c", "/a", "b=c"), ("/?", "/", ""), ("/a?b?c", "/a", "b?c"),
            ("/%2e%2E/x", "/%2e%2E/x", nil), ("//host/x", "//host/x", nil), ("/a:b@c", "/a:b@c", nil),
            ("http://other", "/", nil), ("HTTP://other?q", "/", "q"), ("https://other:1/p?q", "/p", "q"),
            ("ws://other/p", "/p", nil),
        ] as [(String, String, String?)]
    )
    func pathAndQuery(target: String, path: String, query: String?) throws {
        let head = try RequestHead(method: .get, target: target, headers: host("example.com"))
        #expect(head.target == target)
        #expect(head.path == path)
        #expect(head.query == query)
    }

    @Test("The host of a target that has one counts, not that of the Host field")
    func absoluteForm() throws {
        let head = try RequestHead(method: .get, target: "http://Other:81/", headers: host("example.com"))
        #expect(head.host == "other:81")
    }

    @Test("OPTIONS may be for the server as a whole, and CONNECT is for a host and a port")
    func otherForms() throws {
        #expect(try RequestHead(method: .options, target: "*", headers: host("a")).path == "*")
        let connect = try RequestHead(method: .connect, target: "b:443", headers: host("a"))
        #expect(connect.path == "")
        #expect(connect.host == "b:443")
    }

    @Test(
        "A target of no form, or of one that isn't the method's, is refused",
        arguments: [
            (HTTPRequest.Method.get, ""), (.get, "a"), (.get, "*"), (.post, "*"), (.get, "b:443"), (.connect, "/"),
            (.connect, "b"), (.connect, "http://b:443/"), (.get, "/#x"), (.get, "/ x"), (.get, "/\t"), (.get, "/é"),
            (.get, "/\r\nX: y"), (.get, "/\u{0}"), (.get, "http://"), (.get, "http:///x"), (.get, "http://u@h/"),
            (.get, "ftp://h/"), (.get, "http:/h"), (.get, "http://a b/"),
        ]
    )
    func refusing(method: HTTPRequest.Method, target: String) {
        let error = #expect(throws: HTTPProtocolError.self) {
            try RequestHead(method: method, target: target, headers: host("example.com"))
        }
        #expect(error?.code == .badTarget)
        #expect(error?.status == .badRequest)
    }
}

/// Fields with that Host; the field types have no constant for the name.
func host(_ values: String...) -> HTTPFields {
    var headers = HTTPFields()
    for value in values {
        if let name = HTTPField.Name("Host") { headers.append(HTTPField(name: name, value: value)) }
    }
    return headers
}
