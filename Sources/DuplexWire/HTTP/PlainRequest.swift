// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A request without TLS at a port that has it, as of a client that was given `http:` in place of `https:`.
package enum PlainRequest {
    /// What the first bytes of a connection are.
    package enum Start: Sendable, Hashable {
        /// More bytes are needed.
        case undecided
        /// The beginning of an HTTP/1 request.
        case request(isHead: Bool)
        /// Something else, such as a record of TLS, whose first byte is 22.
        case other
    }

    /// The longest method that is taken for one; `VERSION-CONTROL` has 15 characters.
    private static let longestMethod = 24

    /// Judges the first bytes of a connection: the method in capitals, a space, and what a target begins with.
    ///
    /// It is decided after ``bound`` bytes at most. Other protocols of lines begin with words in capitals, too, such as
    /// `EHLO example.com`, but not with a slash or a URL behind them.
    package static func start(_ bytes: RawSpan) -> Start {
        var count = 0
        while count < bytes.byteCount, isMethodByte(bytes.byte(at: count)) { count += 1 }
        if count > longestMethod { return .other }
        if count == bytes.byteCount { return .undecided }
        guard count > 0, bytes.byte(at: count) == Grammar.space else { return .other }
        let method = bytes.extracting(0..<count)
        // HTTP/2 begins like a request (RFC 9113 section 3.4).
        if method.isEqual(to: "PRI") { return .other }
        return start(target: bytes.extracting((count + 1)...), method)
    }

    /// How many bytes decide at most.
    package static let bound = longestMethod + 1 + "https://".utf8.count

    private static func start(target: RawSpan, _ method: RawSpan) -> Start {
        if target.isEmpty { return .undecided }
        let request = Start.request(isHead: method.isEqual(to: "HEAD"))
        if method.isEqual(to: "CONNECT") { return request }
        let first = target.byte(at: 0)
        if first == UInt8(ascii: "/") || (first == UInt8(ascii: "*") && method.isEqual(to: "OPTIONS")) {
            return request
        }
        // RFC 9112 section 3.2.2: the absolute form.
        let isPlain = target.isBegun(of: "http://")
        guard isPlain || target.isBegun(of: "https://") else { return .other }
        return target.byteCount < (isPlain ? 7 : 8) ? .undecided : request
    }

    private static func isMethodByte(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || byte == UInt8(ascii: "-")
    }

    /// The answer, behind which the connection ends.
    ///
    /// - Parameters:
    ///   - isHead: Whether the request is HEAD: the answer has no content then.
    ///   - now: The time, for `Date`.
    /// - Returns: The response.
    package static func answer(isHead: Bool, now: UnixTime) -> [UInt8] {
        let text = "This is an HTTPS port, and the request came without TLS: use https:, or wss: for a WebSocket.\n"
        let head = """
            HTTP/1.1 400 Bad Request\r
            Date: \(HTTPDate.string(now))\r
            Content-Type: text/plain; charset=utf-8\r
            Content-Length: \(text.utf8.count)\r
            Connection: close\r
            \r

            """
        return Array((isHead ? head : head + text).utf8)
    }
}

extension RawSpan {
    /// Whether the text begins so, in any case of letters, or may go on so.
    fileprivate func isBegun(of text: String) -> Bool {
        for (index, byte) in text.utf8.prefix(byteCount).enumerated()
        where Grammar.lowercase(self.byte(at: index)) != byte {
            return false
        }
        return true
    }

    fileprivate func isEqual(to text: String) -> Bool {
        guard byteCount == text.utf8.count else { return false }
        for (index, byte) in text.utf8.enumerated() where self.byte(at: index) != byte { return false }
        return true
    }
}
