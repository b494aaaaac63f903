// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes

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
        do throws(HTTPError) {
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
        do throws(HTTPError) {
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
