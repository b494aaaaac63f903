// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

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
        let head = try RequestHead(method: .get, target: target, fields: host("example.com"))
        #expect(head.target == target)
        #expect(head.path == path)
        #expect(head.query == query)
    }

    @Test("The host of a target that has one counts, not that of the Host field")
    func absoluteForm() throws {
        let head = try RequestHead(method: .get, target: "http://Other:81/", fields: host("example.com"))
        #expect(head.host == "other:81")
    }

    @Test("OPTIONS may be for the server as a whole, and CONNECT is for a host and a port")
    func otherForms() throws {
        #expect(try RequestHead(method: .options, target: "*", fields: host("a")).path == "*")
        let connect = try RequestHead(method: .connect, target: "b:443", fields: host("a"))
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
        let error = #expect(throws: HTTPError.self) {
            try RequestHead(method: method, target: target, fields: host("example.com"))
        }
        #expect(error?.code == .badTarget)
        #expect(error?.status == .badRequest)
    }
}

/// Fields with that Host; the field types have no constant for the name.
func host(_ values: String...) -> HTTPFields {
    var fields = HTTPFields()
    for value in values {
        if let name = HTTPField.Name("Host") { fields.append(HTTPField(name: name, value: value)) }
    }
    return fields
}
