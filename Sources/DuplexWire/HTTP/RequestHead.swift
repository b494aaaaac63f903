// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import HTTPTypes

/// The head of a request: its first line and its fields (RFC 9112 section 3).
///
/// A head that was received keeps its bytes, and makes strings and fields of them when they are asked for.
public struct RequestHead: Sendable {
    // One reference and nothing else: a head is handed on several times before its request is answered.
    let content: RequestHeadContent
}

/// What a server has to know of each request, beside its target, its host and its fields.
struct RequestSummary: Sendable {
    var method = HTTPRequest.Method.get
    var version = HTTPVersion.http11
    var framing = BodyFraming.none
    var keepsAlive = true
    var expectsContinue = false
    var hasUpgrade = false
    var hasContentCoding = false
    var hasConditions = false
    var hasRange = false
    var hasAcceptedCodings = false
}

extension RequestHead {
    /// The method; any token is accepted, so a server that doesn't know it answers 501.
    public var method: HTTPRequest.Method { content.text.summary.method }

    /// The version that the client speaks; its major number is 1.
    package var version: HTTPVersion { content.text.summary.version }

    /// How the end of the body is found.
    public var framing: BodyFraming { content.text.summary.framing }

    /// Whether the connection may serve another request after this one (RFC 9112 section 9.3).
    public var keepsAlive: Bool { content.text.summary.keepsAlive }

    /// Whether the client waits for `100 Continue` before it sends the body (RFC 9110 section 10.1.1).
    public var expectsContinue: Bool { content.text.summary.expectsContinue }

    /// Whether there is an Upgrade field, whatever it names.
    package var hasUpgrade: Bool { content.text.summary.hasUpgrade }

    /// Whether there is a Content-Encoding field, whatever it names.
    package var hasContentCoding: Bool { content.text.summary.hasContentCoding }

    /// Whether there are fields that make the request hang on what the content is (RFC 9110 section 13.1).
    package var hasConditions: Bool { content.text.summary.hasConditions }

    /// Whether there is a Range field, whatever it says.
    package var hasRange: Bool { content.text.summary.hasRange }

    /// Whether there is an Accept-Encoding field, whatever it says.
    package var hasAcceptedCodings: Bool { content.text.summary.hasAcceptedCodings }

    /// The request target as it was sent.
    public var target: String { content.text.target }

    /// The target's path as it was sent, up to the question mark and not percent-decoded.
    ///
    /// `*` for the server as a whole, and empty for CONNECT.
    public var path: String { content.text.path }

    /// What follows the target's first question mark, not percent-decoded; nil without one.
    public var query: String? { content.text.query }

    /// The fields in the order in which they were sent.
    public var headers: HTTPFields { content.headers }

    /// The value of one field, as ``headers`` has it, without making all of them for it.
    package func value(of name: HTTPField.Name) -> String? {
        content.withValue(of: name) { value in
            guard let value else { return nil }
            return String(decoding: [UInt8](copying: value), as: UTF8.self)
        }
    }

    /// Lends the bytes of the value of one field in UTF-8; nil where there is none.
    package func withValue<Result>(of name: HTTPField.Name, _ body: (RawSpan?) -> Result) -> Result {
        content.withValue(of: name, body)
    }

    /// Lends the bytes of ``target``.
    package func withTarget<Result>(_ body: (RawSpan) -> Result) -> Result { content.text.withTarget(body) }

    /// The host and port that the request is for, in lower case, such as `example.com:8080`.
    ///
    /// Taken from the target if that names one, and from Host otherwise (RFC 9112 section 3.3). Empty if an HTTP/1.0
    /// client names none.
    public var host: String { content.text.host }

    /// A value that whoever handles the request has noted with it: all copies of the head have it.
    package subscript(attachment id: ObjectIdentifier) -> (any Sendable)? {
        get { content[attachment: id] }
        nonmutating set { content[attachment: id] = newValue }
    }

    /// Stands for the head of a request that couldn't be read: a GET of nothing, without fields.
    ///
    /// A new one each time, as values are noted with a head.
    package static var unread: RequestHead {
        let parts = RequestHeadText.Parts(target: "", path: "", query: nil, host: "", headers: HTTPFields())
        return RequestHead(content: RequestHeadContent(RequestHeadText(RequestSummary(), made: parts)))
    }

    /// The head as it was sent, without the values that were noted with it, so that it may be kept for longer than the request.
    package var text: RequestHeadText { content.text }

    /// Makes a head from its parts and checks it as one that was received.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - target: The request target: a path with its query, a URL, `*`, or `host:port` for CONNECT.
    ///   - headers: The fields, with the one Host that HTTP/1.1 asks for.
    /// - Throws: ``HTTPProtocolError`` saying which rule of RFC 9112 the parts break.
    public init(method: HTTPRequest.Method, target: String, headers: HTTPFields) throws(HTTPProtocolError) {
        try self.init(method: method, target: target, version: .http11, headers: headers)
    }

    /// Makes a head of another version of HTTP.
    package init(
        method: HTTPRequest.Method,
        target: String,
        version: HTTPVersion,
        headers: HTTPFields
    ) throws(HTTPProtocolError) {
        let parsed = try RequestTarget(target, method: method)
        let host = try Self.host(headers, target: parsed, version: version)
        let summary = RequestSummary(
            method: method,
            version: version,
            framing: try BodyFraming(requestHeaders: headers, version: version),
            keepsAlive: headers.keepsAlive(version: version),
            expectsContinue: try Self.expectsContinue(headers, version),
            hasUpgrade: headers.contains(.upgrade),
            hasContentCoding: headers.contains(.contentEncoding),
            hasConditions: Self.conditions.contains(where: headers.contains),
            hasRange: headers.contains(.range),
            hasAcceptedCodings: headers.contains(.acceptEncoding)
        )
        let parts = RequestHeadText.Parts(
            target: target,
            path: parsed.path,
            query: parsed.query,
            host: host,
            headers: headers
        )
        content = RequestHeadContent(RequestHeadText(summary, made: parts))
    }

    private static let conditions: [HTTPField.Name] = [
        .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .ifRange,
    ]

    /// Whether `100 Continue` is waited for.
    ///
    /// Nothing else can be expected, and whoever waits for it waits for ever: so that is refused.
    private static func expectsContinue(_ headers: HTTPFields, _ version: HTTPVersion) throws(HTTPProtocolError) -> Bool
    {
        // RFC 9110 section 10.1.1: an HTTP/1.0 client can't understand the answer, so its expectation is ignored.
        guard version >= .http11, headers.contains(.expect) else { return false }
        let members = headers[values: .expect].flatMap(Grammar.list)
        for member in members where !Grammar.matches(member, "100-continue") {
            throw HTTPProtocolError(.unknownExpectation, "Expect is \(Quotation.of(member)), not 100-continue")
        }
        return !members.isEmpty
    }

    private static func host(
        _ headers: HTTPFields,
        target: RequestTarget,
        version: HTTPVersion
    ) throws(HTTPProtocolError) -> String {
        let values = headers.hosts
        // RFC 9112 section 3.2: 400 for a request without Host, with more than one, or with an invalid one.
        if values.count > 1 { throw HTTPProtocolError(.badHost, "Host is given \(values.count) times") }
        guard let value = values.first else {
            if version >= .http11 { throw HTTPProtocolError(.badHost, "Host is missing") }
            return target.authority?.text ?? ""
        }
        guard let host = Authority(value) else {
            throw HTTPProtocolError(.badHost, "Host is \(Quotation.of(value)), not host or host:port")
        }
        return target.authority?.text ?? host.text
    }
}

extension RequestHead: Hashable {
    /// Whether the two have the same parts; what follows from these isn't compared.
    public static func == (left: RequestHead, right: RequestHead) -> Bool {
        left.method == right.method && left.version == right.version && left.target == right.target
            && left.host == right.host && left.framing == right.framing && left.headers == right.headers
    }

    /// Feeds the parts to the hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(method)
        hasher.combine(target)
        hasher.combine(version)
        hasher.combine(headers)
    }
}

extension Authority {
    /// The authority as a Host field has it: without the zone, which means nothing to another machine.
    var text: String { port.map { "\(host):\($0)" } ?? host }
}

/// What a request is for, in one of the four forms of RFC 9112 section 3.2.
package struct RequestTarget {
    /// The path as it was sent; `*` for the server as a whole, empty for the authority form.
    package let path: String
    /// What follows the first question mark, as it was sent.
    let query: String?
    /// The authority, where the target has one of its own.
    package let authority: Authority?

    /// Reads the target of a request with that method.
    package init(_ target: String, method: HTTPRequest.Method) throws(HTTPProtocolError) {
        for byte in target.utf8 where !Grammar.isVisible(byte) || byte == UInt8(ascii: "#") {
            throw HTTPProtocolError(
                .badTarget,
                "the request target has \(Quotation.of(byte)), which must be percent-encoded"
            )
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
    private init(authorityForm target: String) throws(HTTPProtocolError) {
        guard let authority = Authority(target), authority.port != nil else {
            throw HTTPProtocolError(.badTarget, "the target of CONNECT is \(Quotation.of(target)), not host:port")
        }
        self.path = ""
        self.query = nil
        self.authority = authority
    }

    /// `*`, of OPTIONS alone (RFC 9112 section 3.2.4).
    private init(asteriskForm method: HTTPRequest.Method) throws(HTTPProtocolError) {
        guard method == .options else {
            throw HTTPProtocolError(.badTarget, "the target * is for OPTIONS, not for \(Quotation.of(method.rawValue))")
        }
        self.path = "*"
        self.query = nil
        self.authority = nil
    }

    /// `scheme://authority/path`, which every server has to accept (RFC 9112 section 3.2.2).
    private init(absoluteForm target: String) throws(HTTPProtocolError) {
        let schemes = ["http://", "https://", "ws://", "wss://"]
        guard let scheme = schemes.first(where: { Grammar.matches(target.prefix($0.count), $0) }) else {
            throw HTTPProtocolError(
                .badTarget,
                "the request target \(Quotation.of(target)) is neither a path nor a URL"
            )
        }
        let rest = target.dropFirst(scheme.count)
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        // RFC 9110 section 4.2.4: user information in a target is an error, since it disguises the host.
        guard let authority = Authority(rest[..<end]) else {
            throw HTTPProtocolError(.badTarget, "the request target has \(Quotation.of(rest[..<end])) for a host")
        }
        self.init(pathAndQuery: rest[end...], authority: authority)
    }
}
