// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Logging

// From a request for a WebSocket to the WebSocket, or to the answer that there is none.

extension HTTPConnection {
    /// What of a request for a WebSocket is needed besides; few connections have one at a time.
    final class Opening {
        let endpoint: WebSocketEndpoint
        var span: HandshakeSpan?
        /// When the request had come.
        let asked: Instant

        init(_ endpoint: WebSocketEndpoint, _ span: HandshakeSpan?, asked: Instant) {
            self.endpoint = endpoint
            self.span = span
            self.asked = asked
        }
    }

    /// The response to an upgrade request while the server is shutting down.
    private static var endingSoon: Problem {
        Problem(.serviceUnavailable, "The server is about to end and opens no more WebSockets.")
    }

    /// Judges the request by the rules, then has the app decide, where it wants to.
    func upgrade(
        _ request: Request,
        _ endpoint: WebSocketEndpoint,
        _ bytes: Span<UInt8>,
        _ position: inout Int
    ) {
        let span = services.tracer.map { HandshakeSpan($0, for: request.head, from: request.remoteAddress) }
        let record = record(of: request, at: endpoint)
        present = Present(opening: Opening(endpoint, span, asked: services.now), record: record)
        noteRoute(endpoint)
        if services.isStopping { return decline(request, endpoint, Self.endingSoon) }
        let options = endpoint.handshakeOptions(for: request)
        switch ServerHandshake.evaluate(request.head, options: options, digest: SHA1.digest) {
        case .refuse(let refusal):
            noteFault(.refused, refusal.message)
            decline(request, endpoint, Problem(refusal.status, refusal.message, fields: refusal.fields))
        case .accept(let acceptance) where endpoint.settings.compression.isRequired && acceptance.deflate == nil:
            let sentence = "This server opens WebSockets with permessage-deflate only."
            decline(request, endpoint, Problem(.badRequest, sentence))
        case .accept(let acceptance):
            if let admit = endpoint.admit { return start(.admission(endpoint, request, acceptance, admit)) }
            let leftover = [UInt8](copying: bytes.raw.extracting(position..<bytes.count))
            position = bytes.count
            open(request, endpoint, endpoint.route, acceptance, leftover)
        }
    }

    func conclude(
        _ verdict: AdmissionVerdict,
        _ request: Request,
        _ endpoint: WebSocketEndpoint,
        _ acceptance: Acceptance
    ) {
        guard stage == .serving else { return }
        switch verdict {
        case .refused(let response): decline(request, endpoint, response)
        case .accepted where services.isStopping: decline(request, endpoint, Self.endingSoon)
        case .accepted(let route, let handshake):
            var acceptance = acceptance
            guard acceptance.take(handshake, askedForIn: request.head) else {
                return refuseUnasked(handshake, request, endpoint)
            }
            open(request, endpoint, route, acceptance, takeLeftover())
        }
    }

    private func refuseUnasked(_ handshake: AcceptedHandshake, _ request: Request, _ endpoint: WebSocketEndpoint) {
        services.logger.error(
            "a subprotocol was chosen that the client doesn't ask for",
            metadata: ["path": "\(request.path)", "subprotocol": "\(handshake.subprotocol ?? "")"]
        )
        decline(request, endpoint, Problem(.internalServerError, "The server failed to answer this request."))
    }

    private func decline(_ request: Request, _ endpoint: WebSocketEndpoint, _ problem: Problem) {
        decline(request, endpoint, endpoint.settings.response(of: problem, request))
    }

    private func decline(_ request: Request, _ endpoint: WebSocketEndpoint, _ response: Response) {
        var response = response
        endpoint.settings.finishing?.run(request, &response)
        present?.opening?.span?.refused(response.status)
        present?.opening?.span = nil
        present?.record?.answered(response)
        respond(response, to: request)
    }

    private func open(
        _ request: Request,
        _ endpoint: WebSocketEndpoint,
        _ route: WebSocketRoute,
        _ acceptance: Acceptance,
        _ leftover: [UInt8]
    ) {
        if hasInputEnded { return leave() }
        var bytes = services.takeScratch()
        do throws(HTTPError) {
            try session.switchProtocols(acceptance.responseHead, date: services.dateValue(), into: &bytes)
        } catch {
            return give(up: error)
        }
        write(&bytes)
        present?.record?.answered(Response(status: .switchingProtocols))
        let upgrade = Upgrade(
            channel: channel,
            request: request,
            endpoint: endpoint,
            route: route,
            acceptance: acceptance,
            leftover: leftover,
            accepted: accepted,
            asked: present?.opening?.asked,
            span: present?.opening?.span
        )
        handOver()
        services.owner.open(upgrade, from: self)
    }
}

extension Acceptance {
    /// Adds what the app says with the 101.
    ///
    /// - Returns: false when it has chosen a subprotocol that the client doesn't ask for.
    fileprivate mutating func take(_ handshake: AcceptedHandshake, askedForIn head: RequestHead) -> Bool {
        if !handshake.compression { declineDeflate() }
        if let subprotocol = handshake.subprotocol, !choose(subprotocol: subprotocol, askedForIn: head) { return false }
        for field in handshake.fields where responseHead.fields[field.name] == nil || field.name == .setCookie {
            responseHead.fields.append(field)
        }
        return true
    }
}
