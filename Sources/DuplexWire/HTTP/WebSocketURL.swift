// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Where a WebSocket server is reached: `ws://host[:port]/path?query`, or `wss:` for a connection with TLS
/// (RFC 6455 section 3); or `ws+unix:/path/of.sock:/path?query` for one on a Unix socket of this machine.
public struct WebSocketURL: Sendable, Hashable {
    /// Whether the connection is secured with TLS.
    public let isSecure: Bool
    /// The host in lower case: a name, an IPv4 address, or an IPv6 address without brackets and zone.
    public let host: String
    /// The zone of an IPv6 address, such as `eth0`, which says on which link a link-local address is meant (RFC 6874).
    public let zone: String?
    /// The port; 80 for `ws` and 443 for `wss` where none is written.
    public let port: Int
    /// The path and the query as they go into the request line; at least `/`.
    public let requestTarget: String
    /// What stands before the `@`, as it was written; nil without one.
    ///
    /// It isn't part of the request target, the Host field or the ``description``, so that a password isn't logged.
    public let userInfo: String?
    /// The path of the Unix socket, or `@` and its name where it isn't a file; nil for TCP.
    ///
    /// With one the ``host`` is `localhost`, which is what goes into the Host field.
    public let unixPath: String?

    private let authorityHost: String

    /// Reads a URL.
    ///
    /// RFC 6455 knows the schemes `ws` and `wss`; `http` and `https` are read as these, as browsers do (WebSockets
    /// Standard, section 3.1), so that the address of a page can be given. In the path and the query, spaces, characters
    /// beyond ASCII, and others that may not stand in a URL are percent-encoded, as browsers do. Controls are an error, except
    /// blanks and line ends around the URL, which are passed over. A host with characters beyond ASCII is an error here, since
    /// making ASCII of it takes tables; a WebSocket that connects has libidn2 do it, if that is installed. A colon in the path of
    /// a Unix socket is written `%3A`.
    ///
    /// - Parameter text: The URL.
    /// - Throws: ``WebSocketURLError`` saying what is wrong with it.
    public init(_ text: String) throws(WebSocketURLError) {
        try self.init(text) { host throws(WebSocketURLError) in throw WebSocketURLError(unconverted: host) }
    }

    /// Reads a URL.
    ///
    /// - Parameters:
    ///   - text: the URL.
    ///   - convert: makes ASCII of a host with other characters (UTS #46).
    /// - Throws: as ``init(_:)``, and what `convert` throws.
    package init(
        _ text: String,
        convertingHost convert: (String) throws(WebSocketURLError) -> String
    ) throws(WebSocketURLError) {
        let text = Self.withoutBlanksAround(text)
        try Self.checkCharacters(text)
        if Grammar.matches(text.prefix(8), "ws+unix:") {
            let (path, target) = try Self.unix(PercentEncoding.target(text.dropFirst(8))[...])
            self.init(unixPath: path, requestTarget: target)
        } else {
            try self.init(ofHost: text, convert)
        }
    }

    private init(
        ofHost text: String,
        _ convert: (String) throws(WebSocketURLError) -> String
    ) throws(WebSocketURLError) {
        let (isSecure, rest) = try Self.scheme(text)
        let authorityEnd = rest.utf8.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        let (userInfo, hostAndPort) = try Self.separateUserInfo(rest[..<authorityEnd])
        let authority = try Self.authority(try Self.inASCII(hostAndPort, convert))
        self.isSecure = isSecure
        self.userInfo = userInfo
        self.authorityHost = authority.host
        self.host = authority.address
        self.zone = authority.zone
        self.port = authority.port ?? (isSecure ? 443 : 80)
        let target = PercentEncoding.target(rest[authorityEnd...])
        self.requestTarget = target.hasPrefix("/") ? target : "/" + target
        self.unixPath = nil
    }

    private init(unixPath: String, requestTarget: String) {
        self.isSecure = false
        self.host = "localhost"
        self.authorityHost = "localhost"
        self.zone = nil
        self.port = 80
        self.userInfo = nil
        self.requestTarget = requestTarget
        self.unixPath = unixPath
    }

    private init(_ other: WebSocketURL, requestTarget: String) {
        self.isSecure = other.isSecure
        self.host = other.host
        self.authorityHost = other.authorityHost
        self.zone = other.zone
        self.port = other.port
        self.userInfo = nil
        self.requestTarget = requestTarget
        self.unixPath = other.unixPath
    }

    /// The same server with another target, and without user information.
    func with(requestTarget: some StringProtocol) throws(WebSocketURLError) -> WebSocketURL {
        let target = String(requestTarget)
        try Self.checkCharacters(target)
        return WebSocketURL(self, requestTarget: PercentEncoding.target(target))
    }

    /// The socket and the request target behind `ws+unix:`.
    private static func unix(_ text: Substring) throws(WebSocketURLError) -> (String, String) {
        var rest = text
        if rest.hasPrefix("//") {
            rest = rest.dropFirst(2)
            guard rest.hasPrefix("/") else { throw WebSocketURLError(.host, "a Unix socket has no host") }
        }
        let path = rest.prefix { $0 != ":" }
        let target = rest.dropFirst(path.count + 1)
        guard let decoded = PercentDecoding.decode(path), decoded.hasPrefix("/") || decoded.hasPrefix("@"),
            decoded.utf8.count > 1, !path.contains("?")
        else {
            throw WebSocketURLError(.host, "\(Quotation.of(path)) is no path of a Unix socket: it begins with / or @")
        }
        guard target.isEmpty || target.hasPrefix("/") else {
            throw WebSocketURLError(.host, "what follows the path of the Unix socket and its colon begins with /")
        }
        return (decoded, target.isEmpty ? "/" : String(target))
    }

    /// The value of the Host field: the host, and the port unless it's the scheme's own (RFC 6455 section 4.1, item 4).
    package var hostField: String {
        port == (isSecure ? 443 : 80) ? authorityHost : "\(authorityHost):\(port)"
    }

    /// The origin of a page that the server would serve from the same host and port, such as `https://example.com`.
    package var origin: String { (isSecure ? "https://" : "http://") + hostField }

    /// Blanks and line ends around a URL, as copying one brings them along (URL Standard, section 4.4).
    private static func withoutBlanksAround(_ text: String) -> String {
        var bytes = text.utf8[...]
        while let first = bytes.first, isAround(first) { bytes.removeFirst() }
        while let last = bytes.last, isAround(last) { bytes.removeLast() }
        return String(Substring(bytes))
    }

    private static func isAround(_ byte: UInt8) -> Bool {
        Grammar.isBlank(byte) || byte == Grammar.lineFeed || byte == Grammar.carriageReturn
    }

    /// The host and the port, with the host in ASCII.
    private static func inASCII(
        _ text: Substring,
        _ convert: (String) throws(WebSocketURLError) -> String
    ) throws(WebSocketURLError) -> Substring {
        if text.utf8.contains(Grammar.space) {
            throw WebSocketURLError(.invalidCharacter, "the host has a space, which no host has")
        }
        let end = text.utf8.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
        if text[..<end].utf8.allSatisfy({ $0 < 0x80 }) { return text }
        let host = try convert(String(text[..<end]))
        // Some characters are mapped to those that end a host: a wide colon to a colon.
        guard host.utf8.allSatisfy(isLabelByte) else {
            throw WebSocketURLError(.host, "\(Quotation.of(host)) is no host")
        }
        return host + text[end...]
    }

    private static func isLabelByte(_ byte: UInt8) -> Bool {
        Grammar.isLetter(byte) || Grammar.isDigit(byte) || "-._".utf8.contains(byte)
    }

    private static func checkCharacters(_ text: String) throws(WebSocketURLError) {
        for byte in text.utf8 where byte < 0x20 || byte == 0x7F {
            throw WebSocketURLError(
                .invalidCharacter,
                "the URL has \(Quotation.of(byte)), which must be percent-encoded"
            )
        }
        // RFC 6455 section 3: fragments mean nothing here, and a `#` in a path is written `%23`.
        if text.utf8.contains(UInt8(ascii: "#")) {
            throw WebSocketURLError(.fragment, "the URL has a fragment (#), which a WebSocket URL can't have")
        }
    }

    private static func scheme(_ text: String) throws(WebSocketURLError) -> (isSecure: Bool, rest: Substring) {
        // WebSockets Standard, section 3.1, "new WebSocket(url, protocols)", steps 3 and 4.
        let schemes = [("ws://", false), ("wss://", true), ("http://", false), ("https://", true)]
        for (scheme, isSecure) in schemes where Grammar.matches(text.prefix(scheme.count), scheme) {
            return (isSecure, text.dropFirst(scheme.count))
        }
        // Nothing is quoted that may hold a password.
        throw WebSocketURLError(.scheme, "the URL begins with none of ws://, wss://, http://, https:// and ws+unix:")
    }

    private static func separateUserInfo(_ authority: Substring) throws(WebSocketURLError) -> (String?, Substring) {
        guard let at = authority.lastIndex(of: "@") else { return (nil, authority) }
        let userInfo = authority[..<at]
        // Readers disagree on where `a@b@c` or `a\\@b` has its host, so both are refused (RFC 3986 section 3.2.1).
        guard userInfo.utf8.allSatisfy(Authority.isUserInfoByte) else {
            throw WebSocketURLError(
                .userInfo,
                "the part before the last @ has a character that must be percent-encoded"
            )
        }
        return (String(userInfo), authority[authority.index(after: at)...])
    }

    private static func authority(_ text: Substring) throws(WebSocketURLError) -> Authority {
        if text.isEmpty || text.first == ":" { throw WebSocketURLError(.host, "the URL has no host") }
        guard let authority = Authority(text), authority.port != 0 else {
            throw WebSocketURLError(.host, "\(Quotation.of(text)) is no host with an optional port from 1 to 65535")
        }
        return authority
    }
}

extension WebSocketURL: CustomStringConvertible {
    /// The URL without user information, with the zone if there is one, and with the port unless it's the scheme's own.
    public var description: String {
        if let unixPath { return "ws+unix:\(Self.encoded(unixPath)):\(requestTarget)" }
        let scheme = isSecure ? "wss://" : "ws://"
        guard let zone else { return scheme + hostField + requestTarget }
        // The zone stands within the brackets, as the address's last part (RFC 6874 section 2).
        return scheme + "[\(host)%25\(zone)]" + hostField.dropFirst(authorityHost.count) + requestTarget
    }

    /// The path of a Unix socket with what would end it, or may not stand in a URL, percent-encoded.
    private static func encoded(_ path: String) -> String {
        // Two slashes at the beginning would be taken for those before a host.
        (path.hasPrefix("//") ? "//" : "")
            + path.utf8.map { byte in
                let isPlain = Grammar.isVisible(byte) && !"%:?#".utf8.contains(byte)
                if isPlain { return String(Unicode.Scalar(byte)) }
                return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }.joined()
    }
}

extension Authority {
    /// The host without the brackets of an IPv6 address, as it is connected to.
    var address: String { host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host }
}

/// What is wrong with a URL.
public struct WebSocketURLError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of faults; later versions may add some.
    @nonexhaustive
    public enum Code: String, Sendable {
        /// The scheme is none of ws, wss, http and https.
        case scheme
        /// The host is missing, or the host or the port is malformed.
        case host
        /// What stands before the `@` has a character that it can't have (RFC 3986 section 3.2.1).
        case userInfo
        /// The URL has a fragment (RFC 6455 section 3).
        case fragment
        /// The URL has a character that no URL has (RFC 3986 section 2).
        case invalidCharacter
    }

    /// The kind of fault.
    public let code: Code
    /// What was seen, in plain words.
    public let message: String

    /// The error of a host that has to be in ASCII; with the form that it has there, if no tables are needed to know it.
    ///
    /// - Parameters:
    ///   - host: The host.
    ///   - remedy: What else helps, after "or". Default: nothing.
    package init(unconverted host: String, or remedy: String? = nil) {
        let name = Punycode.host(host).map { "Punycode, which is probably \($0)" } ?? "Punycode (xn--…)"
        let other = remedy.map { ", or \($0)" } ?? ""
        self.init(.invalidCharacter, "the host has characters beyond ASCII: write it in \(name)\(other)")
    }

    /// Makes an error.
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the message in one line.
    public var description: String { "WebSocketURLError.\(code.rawValue): \(message)" }
}

/// The form in ASCII of host names with other characters (RFC 3492), for names that need no tables to be prepared for it.
///
/// The mapping of all others (UTS #46) takes tables, which libraries have. So this is only good for hints.
package enum Punycode {
    /// What the encoded labels begin with (RFC 5890 section 2.3.2.1).
    private static let prefix = "xn--"
    private static let base = 36
    private static let (least, most) = (1, 26)
    /// The longest label of a name (RFC 1035 section 2.3.4).
    private static let labelBound = 63

    /// A host name in ASCII.
    ///
    /// - Parameter host: the name, of any case.
    /// - Returns: the name; `nil` if one of its characters would be mapped to others, or is none of a name.
    package static func host(_ host: String) -> String? {
        var labels: [String] = []
        for label in host.lowercased().split(separator: ".", omittingEmptySubsequences: false) {
            guard label.unicodeScalars.allSatisfy(staysItself), let encoded = encoded(label) else { return nil }
            labels.append(encoded)
        }
        return labels.joined(separator: ".")
    }

    private static func staysItself(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII {
            return Grammar.isLetter(UInt8(scalar.value)) || "0123456789-".unicodeScalars.contains(scalar)
        }
        let properties = scalar.properties
        let isOfNames = [.lowercaseLetter, .otherLetter, .modifierLetter, .decimalNumber].contains(
            properties.generalCategory
        )
        return isOfNames && properties.canonicalCombiningClass == .notReordered && !properties.changesWhenNFKCCaseFolded
    }

    /// A label, encoded if it isn't ASCII (RFC 3492 section 6.3).
    private static func encoded(_ label: Substring) -> String? {
        let points = label.unicodeScalars.map { Int($0.value) }
        let basic = points.filter { $0 < 0x80 }
        if basic.count == points.count { return String(label) }
        var output = basic.map { UInt8($0) }
        if !basic.isEmpty { output.append(UInt8(ascii: "-")) }
        var (handled, next, delta, bias) = (basic.count, 0x80, 0, 72)
        while handled < points.count {
            guard output.count <= labelBound, let smallest = points.filter({ $0 >= next }).min() else { return nil }
            delta += (smallest - next) * (handled + 1)
            next = smallest
            for point in points {
                if point < next { delta += 1 }
                guard point == next else { continue }
                append(delta, bias, to: &output)
                bias = adapted(delta, handled + 1, isFirst: handled == basic.count)
                delta = 0
                handled += 1
            }
            delta += 1
            next += 1
        }
        let text = prefix + String(decoding: output, as: UTF8.self)
        return text.utf8.count <= labelBound ? text : nil
    }

    /// A number of variable length (RFC 3492 section 3.3).
    private static func append(_ delta: Int, _ bias: Int, to output: inout [UInt8]) {
        var (rest, position) = (delta, base)
        while true {
            let threshold = min(max(position - bias, least), most)
            if rest < threshold { break }
            output.append(digit(threshold + (rest - threshold) % (base - threshold)))
            rest = (rest - threshold) / (base - threshold)
            position += base
        }
        output.append(digit(rest))
    }

    /// RFC 3492 section 6.1.
    private static func adapted(_ delta: Int, _ count: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var steps = 0
        while delta > (base - least) * most / 2 {
            delta /= base - least
            steps += base
        }
        return steps + (base - least + 1) * delta / (delta + 38)
    }

    private static func digit(_ value: Int) -> UInt8 {
        UInt8(value < 26 ? Int(UInt8(ascii: "a")) + value : Int(UInt8(ascii: "0")) + value - 26)
    }
}
