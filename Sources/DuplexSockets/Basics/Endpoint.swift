// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The target of a connection; later versions may add kinds.
@nonexhaustive
public enum Endpoint: Sendable, Hashable, CustomStringConvertible {
    /// A host by name or by literal address, and a port, 1 to 65,535.
    ///
    /// An IPv6 address stands with or without brackets, and with a zone where it needs one, as in `fe80::1%eth0`.
    case host(String, port: Int)
    /// A host as in ``host(_:port:)``, and a port, with TLS.
    ///
    /// The name is what the host's certificate has to be for.
    case tls(String, port: Int)
    /// A known address.
    case address(SocketAddress)
    /// A Unix socket on this machine: the path of a file; or, on Linux, `@` and a name that isn't a file's.
    case unix(String)

    enum Target: Sendable, Hashable {
        case host(String, port: Int)
        case address(SocketAddress)
        case unix(String)
    }

    /// Where it is, whether or not it is secured.
    var target: Target {
        switch self {
        case .host(let name, let port), .tls(let name, let port): .host(Self.withoutBrackets(name), port: port)
        case .address(let address): .address(address)
        case .unix(let path): .unix(path)
        }
    }

    /// Whether the connection is to be secured with TLS.
    package var isSecured: Bool { if case .tls = self { true } else { false } }

    /// Whether both are the same place, with brackets or without.
    public static func == (one: Endpoint, other: Endpoint) -> Bool {
        one.target == other.target && one.isSecured == other.isSecured
    }

    /// Hashes the place.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(target)
        hasher.combine(isSecured)
    }

    private init(_ target: Target, isSecured: Bool = false) {
        switch target {
        case .host(let name, let port): self = isSecured ? .tls(name, port: port) : .host(name, port: port)
        case .address(let address): self = .address(address)
        case .unix(let path): self = .unix(path)
        }
    }

    /// The name, or the literal address without its zone, that the certificate of a secured endpoint has to be for.
    package var serverName: String? { isSecured ? host : nil }

    private static func withoutBrackets(_ name: String) -> String {
        name.hasPrefix("[") && name.hasSuffix("]") ? String(name.dropFirst().dropLast()) : name
    }

    /// The name or literal address of the host, without a zone; `nil` for a Unix socket.
    var host: String? {
        switch target {
        case .host(let name, _): Self.withoutZone(name)
        case .address(let address): address.path == nil ? Self.withoutZone(address.host) : nil
        case .unix: nil
        }
    }

    private static func withoutZone(_ host: String) -> String {
        host.contains(":") ? String(host.prefix { $0 != "%" }) : host
    }

    /// What it is, for people.
    public var description: String {
        let prefix = isSecured ? "tls://" : ""
        return switch target {
        case .host(let name, let port): prefix + (name.contains(":") ? "[\(name)]:\(port)" : "\(name):\(port)")
        case .address(let address): prefix + address.description
        case .unix(let path): "unix:\(path)"
        }
    }

    // MARK: Reading

    /// Reads a URL: `tcp://host:port`, `tls://host:port`, `unix:/path`.
    ///
    /// - A host is a name, an IPv4 address, or an IPv6 address in brackets, there with a zone where it needs one:
    ///   `tcp://[fe80::1%25eth0]:7` (RFC 6874). The port has to be given. Nothing may follow it.
    /// - `unix:/path`, `unix:///path` and `unix:path` name a file, `unix:@name` a socket of Linux that isn't one.
    /// - Any character may be written as `%` and two hexadecimal digits (RFC 3986 section 2.1); a `?`, a `#` and a `%`
    ///   have to be. The scheme's case doesn't matter.
    ///
    /// A user name or a password is refused: nobody here would use it. No error repeats one.
    ///
    /// - Parameter url: the URL.
    /// - Throws: ``SocketError`` with ``SocketError/Code/invalidAddress``, saying what is wrong with it.
    public init(_ url: String) throws(SocketError) {
        let (scheme, rest) = try Self.separateScheme(url)
        switch scheme {
        case "tcp", "tls":
            guard rest.hasPrefix("//") else { throw Self.invalid("\(scheme): must be followed by //, host and port.") }
            self.init(try Self.hostAndPort(rest.dropFirst(2)), isSecured: scheme == "tls")
        default:
            self.init(.unix(try Self.unixPath(rest)))
        }
    }

    private static let knownSchemes = ["tcp", "tls", "unix"]

    private static func separateScheme(_ url: String) throws(SocketError) -> (scheme: String, rest: Substring) {
        guard let colon = url.firstIndex(of: ":") else {
            throw invalid("The URL has no scheme; it must begin with tcp://, tls:// or unix:.")
        }
        let scheme = url[..<colon].lowercased()
        guard knownSchemes.contains(scheme) else {
            // What isn't a scheme's name (RFC 3986 section 3.1) isn't repeated: it may hold a password.
            let isName = !scheme.isEmpty && scheme.utf8.allSatisfy(isSchemeByte)
            let name = isName ? "“\(scheme)” is not a scheme that is known here" : "The URL has no scheme"
            throw invalid("\(name); it must begin with tcp://, tls:// or unix:.")
        }
        return (scheme, url[url.index(after: colon)...])
    }

    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
        }
    }

    // MARK: Host and port

    private static func hostAndPort(_ text: Substring) throws(SocketError) -> Target {
        // Before all else, so that no other error repeats a password.
        if text.contains("@") { throw invalid("The URL has a user name or a password, which nothing here would use.") }
        if let end = text.firstIndex(where: { "/?#\\".contains($0) }) {
            throw invalid("“\(text[end...])” can't follow the port: there are no paths, queries and fragments here.")
        }
        if text.hasPrefix("[") { return try bracketed(text) }
        let pieces = text.split(separator: ":", omittingEmptySubsequences: false)
        if pieces.count > 2 { throw invalid("“\(text)”: an IPv6 address must stand in brackets, as in [::1]:80.") }
        let host = try decoded(pieces[0], isHost: true)
        if host.isEmpty { throw invalid("The URL has no host.") }
        return .host(host, port: try port(pieces.count == 2 ? pieces[1] : nil))
    }

    private static func bracketed(_ text: Substring) throws(SocketError) -> Target {
        guard let end = text.firstIndex(of: "]") else { throw invalid("“\(text)”: the closing bracket is missing.") }
        let inside = text[text.index(after: text.startIndex)..<end]
        let after = text[text.index(after: end)...]
        let address = inside.prefix { $0 != "%" }
        guard address.contains(":"), (try? SocketAddress(String(address), port: 0)) != nil else {
            throw invalid("“\(address)” is not an IPv6 address.")
        }
        if !after.isEmpty && !after.hasPrefix(":") { throw invalid("“\(after)” can't follow the address.") }
        let number = try port(after.isEmpty ? nil : after.dropFirst())
        let zone = inside[address.endIndex...]
        if zone.isEmpty { return .host(String(address), port: number) }
        // RFC 6874 section 2: the sign before the zone is percent-encoded, too.
        guard zone.hasPrefix("%25"), zone.count > 3 else {
            throw invalid("“\(inside)”: a zone is written as %25 and its name, as in fe80::1%25eth0.")
        }
        return .host("\(address)%\(try decoded(zone.dropFirst(3), isHost: true))", port: number)
    }

    private static func port(_ text: Substring?) throws(SocketError) -> Int {
        guard let text, !text.isEmpty else { throw invalid("The URL has no port, as in tcp://example.com:7000.") }
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let port = Int(text),
            (1...65_535).contains(port)
        else { throw invalid("“\(text)” is not a port: ports go from 1 to 65535.") }
        return port
    }

    // MARK: Path

    private static func unixPath(_ text: Substring) throws(SocketError) -> String {
        var path = text
        if path.hasPrefix("//") {
            path = path.dropFirst(2)
            guard path.hasPrefix("/") else {
                throw invalid("A Unix socket has no host: write unix:/path, unix:///path or unix:@name.")
            }
        }
        if let end = path.first(where: { "?#".contains($0) }) {
            throw invalid("The path has a “\(end)”; one that belongs to it is written \(end == "?" ? "%3F" : "%23").")
        }
        let decoded = try decoded(path, isHost: false)
        // Too long, empty, or a name that isn't a file's where there is none of these.
        _ = try SocketAddress.unix(decoded)
        return decoded
    }

    // MARK: Percent-encoding

    private static func decoded(_ text: Substring, isHost: Bool) throws(SocketError) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                throw invalid("“\(text)” has a % that isn't followed by two hexadecimal digits.")
            }
            bytes.append(high << 4 | low)
        }
        guard let string = String(validating: bytes, as: UTF8.self) else { throw invalid("“\(text)” isn't UTF-8.") }
        // In a host these would mean something to whoever reads the name next; in a path only a zero ends it early.
        if isHost && bytes.contains(where: { $0 <= 0x20 || $0 == 0x7F || "/?#@[]:\\%".utf8.contains($0) }) {
            throw invalid("“\(text)” has a character that no host name has.")
        }
        return string
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(UnicodeScalar(byte)).hexDigitValue.map(UInt8.init)
    }

    private static func invalid(_ message: String) -> SocketError {
        SocketError(.invalidAddress, message: message)
    }
}

extension Endpoint: Codable {
    /// Reads an endpoint that was kept, as its URL.
    ///
    /// - Parameter decoder: has a text as ``init(_:)`` reads it: `tcp://host:port`, `tls://host:port`, `unix:/path`.
    /// - Throws: `DecodingError`, saying what is wrong with the text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do {
            try self.init(container.decode(String.self))
        } catch let error as SocketError {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: error.message)
        }
    }

    /// Writes the URL.
    ///
    /// A known address is written as a host, and read as one: the connection is the same, the endpoint isn't equal.
    ///
    /// - Throws: `EncodingError` for a host, a port or a path that no endpoint could be connected to by, such as port 0.
    public func encode(to encoder: any Encoder) throws {
        let url = url
        do {
            _ = try Endpoint(url)
        } catch {
            let context = EncodingError.Context(codingPath: encoder.codingPath, debugDescription: error.message)
            throw EncodingError.invalidValue(self, context)
        }
        var container = encoder.singleValueContainer()
        try container.encode(url)
    }

    /// What ``init(_:)`` reads as this endpoint, if it is one that can be connected to.
    private var url: String {
        let (host, port) =
            switch target {
            case .unix(let path): (path, nil as Int?)
            case .address(let address): (address.host, address.path == nil ? address.port : nil)
            case .host(let name, let port): (name, port)
            }
        guard let port else {
            let path = host.replacing("%", with: "%25").replacing("?", with: "%3F").replacing("#", with: "%23")
            // Two slashes at the beginning would be read as those before an empty host.
            return path.hasPrefix("//") ? "unix://\(path)" : "unix:\(path)"
        }
        let scheme = isSecured ? "tls" : "tcp"
        // RFC 6874 section 2: the sign before a zone is percent-encoded.
        return host.contains(":")
            ? "\(scheme)://[\(host.replacing("%", with: "%25"))]:\(port)" : "\(scheme)://\(host):\(port)"
    }
}
