// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@Suite("Redirects")
struct RedirectTests {
    private func redirect(_ location: String, from url: String, status: Int = 302) throws -> Redirect {
        Redirect(from: try WebSocketURL(url), status: .init(code: status), headers: [.location: location])
    }

    @Test(
        "A location is resolved against where the request went (RFC 3986 section 5.4)",
        arguments: [
            ("wss://b.example/x", "wss://b.example/x"), ("https://b.example/x", "wss://b.example/x"),
            ("//c:9/y?z", "wss://c:9/y?z"), ("/g?y/./x", "wss://a/g?y/./x"), ("g", "wss://a/b/c/g"),
            ("./g/", "wss://a/b/c/g/"), ("../g", "wss://a/b/g"), ("../../../g", "wss://a/g"), ("..", "wss://a/b/"),
            (".", "wss://a/b/c/"), ("?y", "wss://a/b/c/d;p?y"), ("#s", "wss://a/b/c/d;p?q"),
            ("g;x=1/../y#s", "wss://a/b/c/y"),
        ]
    )
    func resolving(location: String, target: String) throws {
        #expect(try redirect(location, from: "wss://a/b/c/d;p?q") == .follow(try WebSocketURL(target)))
    }

    @Test("An answer that means no other GET is none", arguments: [101, 200, 300, 304, 305, 401])
    func others(status: Int) throws {
        #expect(try redirect("/x", from: "ws://a/", status: status) == .none)
    }

    @Test("Every status that means another GET is followed", arguments: [301, 302, 303, 307, 308])
    func followed(status: Int) throws {
        #expect(try redirect("/x", from: "ws://a/", status: status) == .follow(try WebSocketURL("ws://a/x")))
    }

    @Test(
        "What may not be followed is refused",
        arguments: [
            ("wss://a/", "ws://a/"), ("wss://a/", "http://a/"), ("ws://a/", "ftp://a/"), ("ws://a/", "ws+unix:/x:/"),
            ("ws://a/", "javascript:alert(1)"), ("ws://a/", "ws://"), ("ws://a/", ""),
            ("ws+unix:/x:/", "ws://a/"), ("ws+unix:/x:/", "//a/"), ("ws://a/", "mailto:a@b"),
        ]
    )
    func refused(url: String, location: String) throws {
        guard case .refused = try redirect(location, from: url) else {
            Issue.record("it wasn't refused")
            return
        }
    }

    @Test("A redirect without a location, or with two, is refused")
    func locations() throws {
        let url = try WebSocketURL("ws://a/")
        guard case .refused = Redirect(from: url, status: .found, headers: [:]) else {
            Issue.record("it wasn't refused")
            return
        }
        var headers: HTTPFields = [.location: "/a"]
        headers.append(HTTPField(name: .location, value: "/b"))
        guard case .refused = Redirect(from: url, status: .found, headers: headers) else {
            Issue.record("it wasn't refused")
            return
        }
    }

    @Test("On a Unix socket another path is followed")
    func unix() throws {
        #expect(try redirect("/y", from: "ws+unix:/s:/x") == .follow(try WebSocketURL("ws+unix:/s:/y")))
    }

    @Test(
        "Origins are the same when scheme, host and port are",
        arguments: [
            ("ws://a/", "ws://A:80/x", true), ("ws://a/", "wss://a:80/", false), ("ws://a/", "ws://b/", false),
            ("ws://a/", "ws://a:81/", false), ("ws+unix:/s:/", "ws+unix:/s:/x", true),
            ("ws+unix:/s:/", "ws+unix:/t:/", false), ("ws+unix:/s:/", "ws://localhost/", false),
        ]
    )
    func origins(one: String, other: String, isSame: Bool) throws {
        #expect(try WebSocketURL(one).hasSameOrigin(as: try WebSocketURL(other)) == isSame)
    }
}
