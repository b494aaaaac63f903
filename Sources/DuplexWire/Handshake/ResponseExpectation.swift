// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes

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
        guard head.fields.hasToken("upgrade", in: .connection) else {
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
        guard let answered = ExtensionHeader.parse(head.fields) else {
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
        let values = head.fields[values: name]
        if values.count > 1 {
            throw HandshakeError(.repeatedField, "\(name) is given \(values.count) times in the answer", response: head)
        }
        return values.first
    }
}
