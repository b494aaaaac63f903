// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import HTTPTypes

/// What a request is for, in one of the four forms of RFC 9112 section 3.2.
package struct RequestTarget {
    /// The path as it was sent; `*` for the server as a whole, empty for the authority form.
    package let path: String
    /// What follows the first question mark, as it was sent.
    let query: String?
    /// The authority, where the target has one of its own.
    package let authority: Authority?

    /// Reads the target of a request with that method.
    package init(_ target: String, method: HTTPRequest.Method) throws(HTTPError) {
        for byte in target.utf8 where !Grammar.isVisible(byte) || byte == UInt8(ascii: "#") {
            throw HTTPError(.badTarget, "the request target has \(Quotation.of(byte)), which must be percent-encoded")
        }
        if method == .connect {
            try self.init(authorityForm: target)
        } else if target.utf8.first == UInt8(ascii: "/") {
            self.init(pathAndQuery: target[...], authority: nil)
        } else if target == "*" {
            try self.init(asteriskForm: method)
        } else {
            try self.init(absoluteForm: target)
        }
    }

    private init(pathAndQuery: Substring, authority: Authority?) {
        let mark = pathAndQuery.utf8.firstIndex(of: UInt8(ascii: "?"))
        let path = pathAndQuery[..<(mark ?? pathAndQuery.endIndex)]
        // RFC 9110 section 4.2.3: with an authority, an empty path is the same as `/`.
        self.path = path.isEmpty ? "/" : String(path)
        self.query = mark.map { String(pathAndQuery.utf8[$0...].dropFirst()) ?? "" }
        self.authority = authority
    }

    /// `host:port`, of CONNECT alone (RFC 9112 section 3.2.3).
    private init(authorityForm target: String) throws(HTTPError) {
        guard let authority = Authority(target), authority.port != nil else {
            throw HTTPError(.badTarget, "the target of CONNECT is \(Quotation.of(target)), not host:port")
        }
        self.path = ""
        self.query = nil
        self.authority = authority
    }

    /// `*`, of OPTIONS alone (RFC 9112 section 3.2.4).
    private init(asteriskForm method: HTTPRequest.Method) throws(HTTPError) {
        guard method == .options else {
            throw HTTPError(.badTarget, "the target * is for OPTIONS, not for \(Quotation.of(method.rawValue))")
        }
        self.path = "*"
        self.query = nil
        self.authority = nil
    }

    /// `scheme://authority/path`, which every server has to accept (RFC 9112 section 3.2.2).
    private init(absoluteForm target: String) throws(HTTPError) {
        let schemes = ["http://", "https://", "ws://", "wss://"]
        guard let scheme = schemes.first(where: { Grammar.matches(target.prefix($0.count), $0) }) else {
            throw HTTPError(.badTarget, "the request target \(Quotation.of(target)) is neither a path nor a URL")
        }
        let rest = target.dropFirst(scheme.count)
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        // RFC 9110 section 4.2.4: user information in a target is an error, since it disguises the host.
        guard let authority = Authority(rest[..<end]) else {
            throw HTTPError(.badTarget, "the request target has \(Quotation.of(rest[..<end])) for a host")
        }
        self.init(pathAndQuery: rest[end...], authority: authority)
    }
}
