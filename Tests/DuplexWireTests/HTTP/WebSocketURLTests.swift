// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("WebSocket URLs")
struct WebSocketURLTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var text: String
        var isSecure: Bool
        var host: String
        var port: Int
        var target: String
        var hostField: String

        init(_ text: String, _ isSecure: Bool, _ host: String, _ port: Int, _ target: String, _ hostField: String) {
            self.text = text
            self.isSecure = isSecure
            self.host = host
            self.port = port
            self.target = target
            self.hostField = hostField
        }

        var testDescription: String { text }
    }

    @Test(
        "A URL says where to connect and what to ask for",
        arguments: [
            Row("ws://example.com", false, "example.com", 80, "/", "example.com"),
            Row("wss://example.com", true, "example.com", 443, "/", "example.com"),
            Row("WSS://EXAMPLE.com/Path", true, "example.com", 443, "/Path", "example.com"),
            Row("http://a:8080/x?y=z", false, "a", 8_080, "/x?y=z", "a:8080"),
            Row("https://a:443/", true, "a", 443, "/", "a"),
            Row("ws://a:443?q", false, "a", 443, "/?q", "a:443"),
            Row("ws://a:/", false, "a", 80, "/", "a"),
            Row("ws://[::1]:9000/a", false, "::1", 9_000, "/a", "[::1]:9000"),
            Row("wss://[2001:DB8::1]", true, "2001:db8::1", 443, "/", "[2001:db8::1]"),
            Row("ws://127.0.0.1/%20%23?a=/?", false, "127.0.0.1", 80, "/%20%23?a=/?", "127.0.0.1"),
            Row("ws://a//b", false, "a", 80, "//b", "a"),
            Row("ws://a/x@b:c", false, "a", 80, "/x@b:c", "a"),
        ]
    )
    func reading(row: Row) throws {
        let url = try WebSocketURL(row.text)
        #expect(url.isSecure == row.isSecure)
        #expect(url.host == row.host)
        #expect(url.port == row.port)
        #expect(url.requestTarget == row.target)
        #expect(url.hostField == row.hostField)
        #expect(url.userInfo == nil)
        #expect(url.description == (row.isSecure ? "wss://" : "ws://") + row.hostField + row.target)
        #expect(try WebSocketURL(url.description) == url)
    }

    @Test(
        "Paths and queries are percent-encoded as browsers do it, and blanks around a URL are passed over",
        arguments: [
            ("ws://a/é b?ü=ß 1", "/%C3%A9%20b?%C3%BC=%C3%9F%201"), ("ws://a?日本", "/?%E6%97%A5%E6%9C%AC"),
            ("ws://a/%C3%A9%zz%", "/%C3%A9%zz%"),
            ("ws://a/\"<>^`{}|?\"<>^`{}|'", "/%22%3C%3E%5E%60%7B%7D|?%22%3C%3E^`{}|'"),
            ("ws://a/?\u{308}/", "/?%CC%88/"), ("ws://a/\u{308}", "/%CC%88"), (" \tws://a/x \r\n", "/x"),
            ("ws://a/😀", "/%F0%9F%98%80"),
        ]
    )
    func encoding(text: String, target: String) throws {
        let url = try WebSocketURL(text)
        #expect(url.requestTarget == target && url.host == "a")
        #expect(try WebSocketURL(url.description) == url)
    }

    @Test(
        "A host beyond ASCII is given to whoever converts it, without port and user",
        arguments: ["bücher.example", "日本", "a\u{308}"]
    )
    func convertedHost(host: String) throws {
        let url = try WebSocketURL("wss://u:p@\(host):81/ü") { given throws(WebSocketURLError) in
            #expect(given == host)
            return "xn--X.Example"
        }
        #expect(
            url.host == "xn--x.example" && url.port == 81 && url.requestTarget == "/%C3%BC" && url.userInfo == "u:p"
        )
        #expect(url.description == "wss://xn--x.example:81/%C3%BC")
        _ = try WebSocketURL("ws://ascii/ü") { host throws(WebSocketURLError) in throw WebSocketURLError(.host, host) }
    }

    @Test(
        "A conversion may not make something else of a host",
        arguments: ["a:81", "a@b", "a/b", "a?", "", "[::1]", "a%41", "a b"]
    )
    func hostileConversion(host: String) {
        #expect(throws: WebSocketURLError.self) {
            try WebSocketURL("ws://ü/") { _ throws(WebSocketURLError) in host }
        }
    }

    @Test("The error of a host beyond ASCII says how it is written, if that is known")
    func hostHint() {
        let known = #expect(throws: WebSocketURLError.self) { try WebSocketURL("ws://Bücher.example/") }
        #expect(
            known?.message
                == "the host has characters beyond ASCII: write it in Punycode, which is probably xn--bcher-kva.example"
        )
        let unknown = #expect(throws: WebSocketURLError.self) { try WebSocketURL("ws://faß.example/") }
        #expect(unknown?.message == "the host has characters beyond ASCII: write it in Punycode (xn--…)")
    }

    @Test(
        "A Unix socket is named by its path, and what is asked for there behind a colon",
        arguments: [
            ("ws+unix:/run/app.sock:/x?y=z:1", "/run/app.sock", "/x?y=z:1"),
            ("ws+unix:/run/app.sock", "/run/app.sock", "/"),
            ("WS+UNIX:///run/app.sock:", "/run/app.sock", "/"), ("ws+unix:/a%3Ab:/", "/a:b", "/"),
            ("ws+unix:@name:/x", "@name", "/x"), ("ws+unix:/a%1Bb%20c%23%3F:/", "/a\u{1b}b c#?", "/"),
            ("ws+unix:/a%253Ab:/", "/a%3Ab", "/"), ("ws+unix:/%C3%A9:/", "/é", "/"), ("ws+unix:/%2Fa:/", "//a", "/"),
            ("ws+unix:/é b:/ü ?<", "/é b", "/%C3%BC%20?%3C"),
        ]
    )
    func unix(text: String, path: String, target: String) throws {
        let url = try WebSocketURL(text)
        #expect(url.unixPath == path)
        #expect(url.requestTarget == target)
        #expect(url.hostField == "localhost")
        #expect(!url.isSecure)
        #expect(try WebSocketURL(url.description) == url)
        #expect(url.description.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
    }

    @Test(
        "What names no Unix socket is refused",
        arguments: [
            "ws+unix:", "ws+unix:/", "ws+unix:x", "ws+unix://host/x", "ws+unix:/x:y", "ws+unix:/x?y", "ws+unix:/%00",
        ]
    )
    func badUnix(text: String) {
        #expect(throws: WebSocketURLError.self) { try WebSocketURL(text) }
    }

    @Test("A zone is for connecting, not for the server", arguments: ["%25eth0", "%eth0"])
    func zone(zone: String) throws {
        let url = try WebSocketURL("ws://[fe80::1\(zone)]:8080/x")
        #expect(url.host == "fe80::1")
        #expect(url.zone == "eth0")
        #expect(url.hostField == "[fe80::1]:8080")
        #expect(url.description == "ws://[fe80::1%25eth0]:8080/x")
        #expect(try WebSocketURL(url.description) == url)
    }

    @Test("User information is kept apart, and out of what is logged")
    func userInfo() throws {
        let url = try WebSocketURL("wss://user:p%40ss@example.com/x")
        #expect(url.userInfo == "user:p%40ss")
        #expect(url.host == "example.com")
        #expect(url.description == "wss://example.com/x")
        #expect(url.hostField == "example.com")
        #expect(url.requestTarget == "/x")
    }

    @Test("The origin is that of a page from the same host")
    func origin() throws {
        #expect(try WebSocketURL("wss://a:443/x").origin == "https://a")
        #expect(try WebSocketURL("ws://a:81/x").origin == "http://a:81")
    }

    @Test(
        "What can't be connected to is refused",
        arguments: [
            ("", WebSocketURLError.Code.scheme), ("example.com", .scheme), ("ftp://a", .scheme), ("ws:/a", .scheme),
            ("ws:a", .scheme), ("//a", .scheme), ("wsss://a", .scheme), ("ws://", .host), ("ws:///x", .host),
            ("ws://:80/", .host), ("ws://?x", .host), ("ws://a:0/", .host), ("ws://a:65536/", .host),
            ("ws://a:x/", .host),
            ("ws://a:-1/", .host), ("ws://[::1", .host), ("ws://::1/", .host), ("ws://[::1]x/", .host),
            ("ws://u@/", .host),
            ("ws://a\\b/", .host), ("ws://a%2/", .host), ("ws://a#b", .fragment), ("ws://a/#", .fragment),
            ("ws://a/?x#y", .fragment), ("ws://a b/", .invalidCharacter),
            ("ws://a/\r\nX: y", .invalidCharacter), ("ws://a/\u{0}", .invalidCharacter), ("ws://é/", .invalidCharacter),
            ("ws://a/ü\nb", .invalidCharacter), ("\u{0}ws://a", .invalidCharacter),
            ("ws://a/\u{7F}", .invalidCharacter),
            ("ws://a@b@c/", .userInfo), ("ws://a\\@b/", .userInfo), ("ws://[::1]@b/", .userInfo),
        ]
    )
    func refusing(text: String, code: WebSocketURLError.Code) {
        let error = #expect(throws: WebSocketURLError.self) { try WebSocketURL(text) }
        #expect(error?.code == code)
        #expect(error?.description.hasPrefix("WebSocketURLError.\(code.rawValue): ") == true)
    }

    @Test(
        "An error doesn't quote a password",
        arguments: ["ftp://u:secret@a", "ws://u:secret@a/#", "ws://u:secret@a:x/"]
    )
    func noPassword(text: String) {
        let error = #expect(throws: WebSocketURLError.self) { try WebSocketURL(text) }
        #expect(error?.message.contains("secret") == false)
    }
}

@Suite("Punycode")
struct PunycodeTests {
    /// The names are those that libidn2 makes, the second group that of RFC 3492 section 7.1.
    @Test(
        "Names that need no tables are encoded",
        arguments: [
            ("bücher.example", "xn--bcher-kva.example"), ("BÜCHER.Example", "xn--bcher-kva.example"),
            ("münchen", "xn--mnchen-3ya"),
            ("пример.испытание", "xn--e1afmkfd.xn--80akhbyknj4f"), ("日本語.jp", "xn--wgv71a119e.jp"),
            ("한국", "xn--3e0b707e"),
            ("他们为什么不说中文", "xn--ihqwcrb4cv8a8dqg056pqjye"),
            ("почемужеонинеговорятпорусски", "xn--b1abfaaepdrnnbgefbadotcwatmq2g4l"),
            ("a.b-c.", "a.b-c."), ("localhost", "localhost"), ("é", "xn--9ca"),
        ]
    )
    func encoding(host: String, ascii: String) {
        #expect(Punycode.host(host) == ascii)
    }

    @Test(
        "Names whose characters are mapped to others, or are none of a name, and labels that are too long, have none",
        arguments: ["faß.de", "ａ", "a\u{308}", "😀", "a b", "ü/a", "ü_", String(repeating: "ü", count: 64), "ﬁ", "²"]
    )
    func others(host: String) {
        #expect(Punycode.host(host) == nil)
    }
}
