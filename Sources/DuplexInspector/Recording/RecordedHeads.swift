// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes

/// The heads of recorded requests and responses as they are written out again, whatever the recording has in them.
enum RecordedHeads {
    /// Fields that don't hold for what is written: lengths and codings are those of what was recorded, and there are no
    /// extensions.
    private static let left: Set<String> = [
        "content-length", "transfer-encoding", "content-encoding", "connection", "upgrade", "host", "trailer", "te",
        "sec-websocket-extensions",
    ]
    /// For a request that was recorded without a key: 16 zero bytes in base64.
    private static let key = "AAAAAAAAAAAAAAAAAAAAAA=="

    // MARK: HTTP

    /// The request with its body.
    static func request(_ exchange: RecordedExchange) -> [UInt8] {
        let body = exchange.requestBody.bytes
        var headers = written(exchange.requestHeaders, host: exchange.url)
        if !body.isEmpty { headers.append(HTTPField(name: .contentLength, value: "\(body.count)")) }
        return head(line(exchange.method, exchange.url), headers) + body
    }

    /// The response with its body.
    static func response(_ exchange: RecordedExchange) -> [UInt8] {
        let hasBody =
            exchange.method != "HEAD" && exchange.status >= 200 && exchange.status != 204
            && exchange.status != 304
        let body = hasBody ? exchange.responseBody.bytes : []
        var headers = written(exchange.responseHeaders, host: nil)
        if hasBody { headers.append(HTTPField(name: .contentLength, value: "\(body.count)")) }
        return head(line(exchange.status, exchange.reason), headers) + body
    }

    /// A request that is made again, with its body, on a connection that ends with it.
    ///
    /// - Parameters:
    ///   - exchange: what was recorded.
    ///   - host: where it goes.
    ///   - others: take the place of recorded fields.
    /// - Returns: the bytes.
    static func replay(_ exchange: RecordedExchange, host: String, _ others: HTTPFields) -> [UInt8] {
        let body = exchange.requestBody.bytes
        var headers = replayed(exchange.requestHeaders, others).filter { $0.name != .expect }
        if let name = HTTPField.Name("Host") { headers.insert(HTTPField(name: name, value: host), at: 0) }
        headers.append(HTTPField(name: .connection, value: "close"))
        if !body.isEmpty || exchange.method == "POST" || exchange.method == "PUT" || exchange.method == "PATCH" {
            headers.append(HTTPField(name: .contentLength, value: "\(body.count)"))
        }
        return head(line(exchange.method, exchange.url), headers) + body
    }

    /// The fields that go with what is made again: not those of a connection, and none that was masked.
    static func replayed(_ headers: HTTPFields, _ others: HTTPFields) -> [HTTPField] {
        written(headers, host: nil).filter { !$0.value.hasSuffix(SecretMask.sign) && !others.contains($0.name) }
            + others.filter { !left.contains($0.name.canonicalName) }
    }

    // MARK: WebSockets

    /// The request that opens a WebSocket.
    static func request(_ connection: RecordedConnection) -> [UInt8] {
        var headers = upgrade + written(connection.requestHeaders, host: connection.url)
        if !headers.contains(where: { $0.name == .secWebSocketKey }) {
            headers.append(HTTPField(name: .secWebSocketKey, value: key))
        }
        if !headers.contains(where: { $0.name == .secWebSocketVersion }) {
            headers.append(HTTPField(name: .secWebSocketVersion, value: "13"))
        }
        return head(line("GET", connection.url), headers)
    }

    /// The response that opens it.
    static func response(_ connection: RecordedConnection) -> [UInt8] {
        head(line(101, "Switching Protocols"), upgrade + written(connection.responseHeaders, host: nil))
    }

    private static let upgrade = [
        HTTPField(name: .upgrade, value: "websocket"), HTTPField(name: .connection, value: "Upgrade"),
    ]

    // MARK: Lines

    private static func line(_ method: String, _ url: String) -> String {
        let plain = HTTPField.Name(method) == nil ? "INVALID" : method
        return "\(plain) \(RecordedURL(url).target) HTTP/1.1"
    }

    private static func line(_ status: Int, _ reason: String) -> String {
        let code = (100...999).contains(status) ? status : 500
        let plain = reason.unicodeScalars.filter { (0x20..<0x7F).contains($0.value) }
        return "HTTP/1.1 \(code) \(String(String.UnicodeScalarView(plain)))"
    }

    private static func written(_ headers: HTTPFields, host url: String?) -> [HTTPField] {
        let kept = headers.filter { !left.contains($0.name.canonicalName) }
        guard let url, let name = HTTPField.Name("Host") else { return Array(kept) }
        return [HTTPField(name: name, value: headers[name] ?? RecordedURL(url).authority)] + kept
    }

    private static func head(_ line: String, _ headers: [HTTPField]) -> [UInt8] {
        // HTTPField lets no line end in.
        let lines = [line] + headers.map { "\($0.name.rawName): \($0.value)" }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }
}

/// The parts of a URL that was recorded, which may be anything: what isn't there is empty.
struct RecordedURL: Sendable, Equatable {
    /// In lower case, such as `wss`.
    var scheme = ""
    /// The host and its port, such as `example.com:8080` or `[::1]`, without a name and a password.
    var authority = ""
    /// Path and query, as requests have them.
    var target: String

    /// Whether it goes over TLS.
    var isSecure: Bool { scheme == "https" || scheme == "wss" }

    /// The port that is named, or that of the scheme.
    var port: Int {
        let name = authority.last { $0 == ":" || $0 == "]" } == ":" ? authority.split(separator: ":").last : nil
        return name.flatMap { Int($0) }.flatMap { (1...65_535).contains($0) ? $0 : nil } ?? (isSecure ? 443 : 80)
    }

    /// Takes a URL, or a target alone, apart.
    init(_ url: String) {
        var rest = url.prefix { $0 != "#" }
        if let range = rest.firstRange(of: "://") {
            scheme = rest[..<range.lowerBound].lowercased()
            rest = rest[range.upperBound...]
            let name = rest.prefix { $0 != "/" && $0 != "?" }
            authority = Self.visible(name[(name.lastIndex(of: "@").map(name.index(after:)) ?? name.startIndex)...])
            rest = rest[name.endIndex...]
        }
        let path = Self.visible(rest)
        target = path.hasPrefix("/") || path == "*" ? path : "/" + path
    }

    /// What a line of a request can't have, written in percent.
    private static func visible(_ text: Substring) -> String {
        text.utf8.map { byte in
            (0x21..<0x7F).contains(byte) ? String(UnicodeScalar(byte)) : "%" + Base16.encode([byte]).uppercased()
        }.joined()
    }
}
