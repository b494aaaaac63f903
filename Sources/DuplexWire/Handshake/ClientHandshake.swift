// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import HTTPTypes

/// The client's part of the handshake that makes a WebSocket of an HTTP/1.1 request (RFC 6455 section 4.1).
///
/// Send ``requestBytes``, then hand in what arrives until there's a result or an error. Randomness and the digest are
/// handed in, too.
public struct ClientHandshake: Sendable {
    /// What was agreed on.
    public struct Result: Sendable, Hashable {
        /// The server's response head, with its other fields, such as cookies.
        public let responseHead: ResponseHead
        /// The subprotocol that the server chose; nil for none.
        public let subprotocol: String?
        /// The extensions that the server accepted, with its parameters: each has been offered, but what the parameters
        /// agree to is for the extension to judge, unless it is permessage-deflate: see ``deflate``.
        package let extensions: [ExtensionOffer]
        /// What was agreed on for permessage-deflate, in an answer that was checked against the offers; nil if the server
        /// declined it or nothing was offered.
        package let deflate: DeflateAgreement?
    }

    private enum State {
        case head
        case refused(RefusedResponse)
        case done
        case failed(HandshakeError)
    }

    /// The request to send.
    public let requestBytes: [UInt8]

    private let sent: HandshakeHint.Sent
    private let expectation: ResponseExpectation
    private var state = State.head
    private var parser: ResponseHeadParser
    private var firstByte: UInt8?
    private var interimResponses = 0

    /// The most responses with a status of 1xx that are passed over before the final one.
    private static let interimBound = 16

    /// Prepares a handshake.
    ///
    /// - Parameters:
    ///   - url: Where the server is.
    ///   - subprotocols: The subprotocols to ask for, the preferred one first.
    ///   - headers: Fields to send besides the handshake's own. Host takes the place of the URL's.
    ///   - extensions: The extensions to offer. Default: none.
    ///   - key: 16 random bytes, new for every handshake (RFC 6455 section 4.1, item 7).
    ///   - limits: Of these, `headSize` and `headFields` bound the response.
    ///   - digest: SHA-1.
    /// - Throws: ``HandshakeError`` with the code `invalidRequest` if the key hasn't 16 bytes, if the subprotocols
    ///   aren't different tokens, if a field is one of the handshake's own: Upgrade, Connection, Sec-WebSocket-Key
    ///   and the like, or if one that comes once is there twice.
    package init(
        url: WebSocketURL,
        subprotocols: [String] = [],
        headers: HTTPFields = [:],
        extensions: [ExtensionOffer] = [],
        key: [UInt8],
        limits: HTTPLimits = .internet,
        digest: AcceptKey.Digest
    ) throws(HandshakeError) {
        guard key.count == AcceptKey.nonceSize else {
            throw HandshakeError(.invalidRequest, "the key has \(key.count) bytes, not 16")
        }
        let key = AcceptKey.key(from: key)
        requestBytes = try ClientRequest.bytes(
            url: url,
            key: key,
            subprotocols: subprotocols,
            extensions: extensions,
            headers: headers
        )
        sent = HandshakeHint.Sent(headers)
        expectation = ResponseExpectation(
            accept: AcceptKey.acceptValue(for: key, digest: digest),
            subprotocols: subprotocols,
            extensions: extensions
        )
        parser = ResponseHeadParser(limits: limits)
    }

    /// Takes input up to the end of the response, and returns what was agreed on, or nil if the end hasn't arrived.
    ///
    /// What follows the head of an agreement stays untouched: it's the first frames. Of a refusal the body is collected
    /// first, up to 64 KiB, and the error thrown then.
    ///
    /// - Parameters:
    ///   - input: The piece at hand.
    ///   - position: Where to begin; left after the last byte taken.
    /// - Returns: What was agreed on, or nil when more input is needed; nil as well after the result has been returned.
    /// - Throws: ``HandshakeError``; the same again at each further call.
    public mutating func receive(
        _ input: Span<UInt8>,
        from position: inout Int
    ) throws(HandshakeError) -> Result? {
        do throws(HandshakeError) {
            return try advance(input, from: &position)
        } catch {
            state = .failed(error)
            throw error
        }
    }

    /// Takes note that the stream has ended, or that the caller won't wait any longer, before there was a result.
    ///
    /// - Returns: The error that this makes of the handshake, with what has arrived of the response.
    public mutating func finish() -> HandshakeError {
        let error =
            switch state {
            case .failed(let error): error
            case .refused(let response): response.error
            case .done: HandshakeError(.connectionClosed, "the connection was closed behind the handshake")
            case .head:
                HandshakeError(
                    .connectionClosed,
                    "the connection was closed \(firstByte == nil ? "without an answer" : "within the answer's head")",
                    hint: firstByte.flatMap(HandshakeHint.forFirstByte)
                )
            }
        state = .failed(error)
        return error
    }

    private mutating func advance(
        _ input: Span<UInt8>,
        from position: inout Int
    ) throws(HandshakeError) -> Result? {
        while position < input.count {
            switch state {
            case .head:
                guard let head = try parse(input, from: &position) else { return nil }
                if let result = try take(head) { return result }
            case .refused(var response):
                // The response below is then the only owner of the body, and appends to it in place.
                state = .done
                try response.receive(input, from: &position)
                state = .refused(response)
            case .done: return nil
            case .failed(let error): throw error
            }
        }
        return nil
    }

    private mutating func parse(
        _ input: Span<UInt8>,
        from position: inout Int
    ) throws(HandshakeError) -> ResponseHead? {
        if firstByte == nil { firstByte = input[position] }
        do throws(HTTPProtocolError) {
            return try parser.parse(input, from: &position)
        } catch {
            let hint = firstByte.flatMap(HandshakeHint.forFirstByte)
            throw HandshakeError(.malformedResponse, error.message, hint: hint)
        }
    }

    private mutating func take(_ head: ResponseHead) throws(HandshakeError) -> Result? {
        if head.status == .switchingProtocols {
            let result = try expectation.check(head)
            state = .done
            return result
        }
        // RFC 9110 section 15.2: any number of interim responses may precede the final one, here within reason.
        guard head.status.kind == .informational, interimResponses < Self.interimBound else {
            state = .refused(try RefusedResponse(head, to: sent))
            return nil
        }
        interimResponses += 1
        return nil
    }
}

/// The request of a client's handshake (RFC 6455 section 4.1).
private enum ClientRequest {
    /// The fields that the handshake itself is made of, or that would give its request a body.
    private static let reserved: Set<HTTPField.Name> = [
        .upgrade, .connection, .secWebSocketKey, .secWebSocketVersion, .secWebSocketAccept, .secWebSocketProtocol,
        .secWebSocketExtensions, .contentLength, .transferEncoding, .expect, .te, .trailer,
    ]

    /// The fields that a request has once at most (RFC 9110 section 5.3, RFC 6454 section 7.3).
    private static let single: [HTTPField.Name] = [.authorization, .origin, .proxyAuthorization, .userAgent]

    /// The request's bytes.
    static func bytes(
        url: WebSocketURL,
        key: String,
        subprotocols: [String],
        extensions: [ExtensionOffer],
        headers: HTTPFields
    ) throws(HandshakeError) -> [UInt8] {
        guard SubprotocolHeader.isValid(subprotocols) else {
            throw HandshakeError(.invalidRequest, "the subprotocols \(subprotocols) aren't different tokens")
        }
        let host = try host(url: url, headers: headers)
        try checkReserved(headers)
        var bytes: [UInt8] = []
        HeadWriter.append("GET \(url.requestTarget) HTTP/1.1", to: &bytes)
        HeadWriter.appendLineEnd(to: &bytes)
        HeadWriter.append("Host", host, to: &bytes)
        HeadWriter.append(own(key: key, subprotocols: subprotocols, extensions: extensions), to: &bytes)
        HeadWriter.append(headers.filter { $0.name.canonicalName != "host" }, to: &bytes)
        HeadWriter.appendLineEnd(to: &bytes)
        return bytes
    }

    /// The caller's Host if there is one, for servers that are reached under another name than their own.
    private static func host(url: WebSocketURL, headers: HTTPFields) throws(HandshakeError) -> String {
        let hosts = headers.hosts
        guard let host = hosts.first else { return url.hostField }
        guard hosts.count == 1, Authority(host) != nil else {
            throw HandshakeError(.invalidRequest, "the field Host is not one host with an optional port")
        }
        return host
    }

    private static func checkReserved(_ headers: HTTPFields) throws(HandshakeError) {
        for field in headers where reserved.contains(field.name) {
            throw HandshakeError(.invalidRequest, "the field \(field.name) belongs to the handshake and can't be set")
        }
        for name in single where headers[values: name].count > 1 {
            throw HandshakeError(.invalidRequest, "the field \(name) is there more than once")
        }
    }

    private static func own(key: String, subprotocols: [String], extensions: [ExtensionOffer]) -> HTTPFields {
        var headers: HTTPFields = [
            .upgrade: "websocket", .connection: "Upgrade", .secWebSocketKey: key, .secWebSocketVersion: "13",
        ]
        if !subprotocols.isEmpty { headers[.secWebSocketProtocol] = subprotocols.joined(separator: ", ") }
        if !extensions.isEmpty { headers[.secWebSocketExtensions] = ExtensionHeader.serialize(extensions) }
        return headers
    }
}

/// What a 101 has to say for the handshake to hold: the numbered items of RFC 6455 section 4.1, in their order.
struct ResponseExpectation: Sendable {
    let accept: String
    let subprotocols: [String]
    let extensions: [ExtensionOffer]

    /// What was agreed on, or the first rule that the response breaks.
    func check(_ head: ResponseHead) throws(HandshakeError) -> ClientHandshake.Result {
        guard head.version >= .http11 else {
            throw HandshakeError(.malformedResponse, "the 101 is in \(head.version)", response: head)
        }
        try checkUpgrade(head)
        try checkAccept(head)
        let subprotocol = try subprotocol(head)
        let answered = try extensions(head)
        return ClientHandshake.Result(
            responseHead: head,
            subprotocol: subprotocol,
            extensions: answered,
            deflate: try deflate(answered, head)
        )
    }

    /// Items 2 and 3.
    private func checkUpgrade(_ head: ResponseHead) throws(HandshakeError) {
        guard let upgrade = try single(.upgrade, in: head), Grammar.matches(upgrade, "websocket") else {
            throw HandshakeError(.notUpgraded, "Upgrade isn't websocket in the answer", response: head)
        }
        guard head.headers.hasToken("upgrade", in: .connection) else {
            throw HandshakeError(.notUpgraded, "Connection doesn't name Upgrade in the answer", response: head)
        }
    }

    /// Item 4: without it, nothing shows that the server has read the handshake.
    private func checkAccept(_ head: ResponseHead) throws(HandshakeError) {
        guard let value = try single(.secWebSocketAccept, in: head) else {
            throw HandshakeError(.acceptMismatch, "Sec-WebSocket-Accept is missing in the answer", response: head)
        }
        // White space around the value is gone already, as it is from every field's.
        guard value == accept else {
            let message = "Sec-WebSocket-Accept is \(Quotation.of(value)), not \(Quotation.of(accept))"
            throw HandshakeError(.acceptMismatch, message, response: head)
        }
    }

    /// Item 6; to choose none is the server's right.
    private func subprotocol(_ head: ResponseHead) throws(HandshakeError) -> String? {
        guard let value = try single(.secWebSocketProtocol, in: head) else { return nil }
        guard subprotocols.contains(value) else {
            let message = "the server chose the subprotocol \(Quotation.of(value)), which wasn't asked for"
            throw HandshakeError(.unaskedSubprotocol, message, response: head)
        }
        return value
    }

    /// Item 5, and no extension twice.
    private func extensions(_ head: ResponseHead) throws(HandshakeError) -> [ExtensionOffer] {
        guard let answered = ExtensionHeader.parse(head.headers) else {
            throw HandshakeError(.malformedResponse, "Sec-WebSocket-Extensions is malformed", response: head)
        }
        for answer in answered where !extensions.contains(where: { $0.name == answer.name }) {
            let message = "the server uses the extension \(Quotation.of(answer.name)), which wasn't offered"
            throw HandshakeError(.unofferedExtension, message, response: head)
        }
        guard Set(answered.map(\.name)).count == answered.count else {
            throw HandshakeError(.repeatedField, "the server accepts an extension twice", response: head)
        }
        return answered
    }

    /// RFC 7692 section 7.1: what the parameters say must answer one of the offers.
    private func deflate(
        _ answered: [ExtensionOffer],
        _ head: ResponseHead
    ) throws(HandshakeError) -> DeflateAgreement? {
        guard let answer = answered.first(where: { $0.name == DeflateFields.name }) else { return nil }
        let offers = extensions.compactMap { DeflateOffer($0) }
        guard let agreement = DeflateNegotiation.agreement(answer, to: offers) else {
            let message = "the server accepts \(Quotation.of(answer.description)), which wasn't offered like that"
            throw HandshakeError(.unofferedExtension, message, response: head)
        }
        return agreement
    }

    /// The value of a field that comes once or not at all.
    private func single(_ name: HTTPField.Name, in head: ResponseHead) throws(HandshakeError) -> String? {
        let values = head.headers[values: name]
        if values.count > 1 {
            throw HandshakeError(.repeatedField, "\(name) is given \(values.count) times in the answer", response: head)
        }
        return values.first
    }
}

/// A response that isn't a 101, while its body is collected for the error.
struct RefusedResponse: Sendable {
    /// The most of the body that is kept; what a server has to say fits in.
    static let bodyBound = 65_536

    private let head: ResponseHead
    private let sent: HandshakeHint.Sent
    private var body: [UInt8] = []
    private var decoder: BodyDecoder

    /// Takes note of the head; throws at once if no body follows, or none whose end could be found.
    init(_ head: ResponseHead, to sent: HandshakeHint.Sent = .init()) throws(HandshakeError) {
        (self.head, self.sent) = (head, sent)
        do throws(HTTPProtocolError) {
            decoder = try BodyDecoder(try head.framing(answering: .get), limits: .unlimited, isResponse: true)
        } catch {
            throw Self.error(head, body: [], sent)
        }
        if decoder.isComplete { throw error }
    }

    /// The refusal, with what has arrived of the body.
    var error: HandshakeError { Self.error(head, body: body, sent) }

    /// Takes input of the body; throws the refusal when the body is complete, too long to be kept, or malformed.
    mutating func receive(_ input: Span<UInt8>, from position: inout Int) throws(HandshakeError) {
        while position < input.count {
            // No more is handed on than there's room for, so the bound holds for every cut of the input.
            let end = min(input.count, position + Self.bodyBound - body.count)
            let isComplete = try decode(input.extracting(..<end), from: &position)
            if isComplete || body.count >= Self.bodyBound { throw error }
        }
    }

    private mutating func decode(_ input: Span<UInt8>, from position: inout Int) throws(HandshakeError) -> Bool {
        do throws(HTTPProtocolError) {
            return try decoder.decode(input, from: &position, into: &body)
        } catch {
            throw self.error
        }
    }

    private static func error(_ head: ResponseHead, body: [UInt8], _ sent: HandshakeHint.Sent) -> HandshakeError {
        HandshakeError(
            .refused,
            "the server answered \(head.status.code) instead of 101",
            response: head,
            body: body,
            hint: HandshakeHint.forResponse(head, body: body, to: sent)
        )
    }
}
