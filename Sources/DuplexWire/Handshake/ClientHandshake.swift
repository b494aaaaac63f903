// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import HTTPTypes

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
        public let extensions: [ExtensionOffer]
        /// What was agreed on for permessage-deflate, in an answer that was checked against the offers; nil if the server
        /// declined it or nothing was offered.
        public let deflate: DeflateAgreement?
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
    ///   - fields: Fields to send besides the handshake's own. Host takes the place of the URL's.
    ///   - extensions: The extensions to offer. Default: none.
    ///   - key: 16 random bytes, new for every handshake (RFC 6455 section 4.1, item 7).
    ///   - limits: Of these, `headSize` and `headFields` bound the response.
    ///   - digest: SHA-1.
    /// - Throws: ``HandshakeError`` with the code `invalidRequest` if the key hasn't 16 bytes, if the subprotocols
    ///   aren't different tokens, if a field is one of the handshake's own: Upgrade, Connection, Sec-WebSocket-Key
    ///   and the like, or if one that comes once is there twice.
    public init(
        url: WebSocketURL,
        subprotocols: [String] = [],
        fields: HTTPFields = [:],
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
            fields: fields
        )
        sent = HandshakeHint.Sent(fields)
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
        do throws(HTTPError) {
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
