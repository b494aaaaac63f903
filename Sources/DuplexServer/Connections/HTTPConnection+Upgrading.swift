// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Logging

// From a request for a WebSocket to the WebSocket, or to the answer that there is none.

extension HTTPConnection {
    /// The response to an upgrade request while the server is shutting down.
    private static var endingSoon: Response {
        .problem(.serviceUnavailable, "The server is about to end and opens no more WebSockets.")
    }

    /// Judges the request by the rules, then has the app decide, where it wants to.
    func upgrade(
        _ request: Request,
        _ endpoint: WebSocketEndpoint,
        _ bytes: Span<UInt8>,
        _ position: inout Int
    ) {
        let span = services.tracer.map { HandshakeSpan($0, for: request.head, from: request.remoteAddress) }
        present = Present(webSocket: endpoint, span: span, asked: services.now)
        noteRoute(endpoint)
        if services.isStopping { return decline(Self.endingSoon) }
        let options = endpoint.handshakeOptions(for: request)
        switch ServerHandshake.evaluate(request.head, options: options, digest: SHA1.digest) {
        case .refuse(let refusal):
            noteFault(.refused, refusal.message)
            decline(.problem(refusal.status, refusal.message, fields: refusal.fields))
        case .accept(let acceptance) where endpoint.settings.compression.isRequired && acceptance.deflate == nil:
            decline(.problem(.badRequest, "This server opens WebSockets with permessage-deflate only."))
        case .accept(let acceptance):
            if let admit = endpoint.admit { return start(.admission(endpoint, request, acceptance, admit)) }
            let leftover = [UInt8](copying: bytes.raw.extracting(position..<bytes.count))
            position = bytes.count
            open(request, endpoint, endpoint.route, acceptance, leftover)
        }
    }

    func admissionFailure(_ error: any Error, _ request: Request) -> Response {
        if error is CancellationError {
            return .problem(.serviceUnavailable, "The request was cancelled: the server ends.")
        }
        services.logger.error("a WebSocket failed", metadata: ["path": "\(request.path)", "error": "\(error)"])
        return .problem(.internalServerError, "The server failed to decide on this request.")
    }

    func conclude(
        _ verdict: AdmissionVerdict,
        _ request: Request,
        _ endpoint: WebSocketEndpoint,
        _ acceptance: Acceptance
    ) {
        guard stage == .serving else { return }
        switch verdict {
        case .refused(let response): decline(response)
        case .accepted where services.isStopping: decline(Self.endingSoon)
        case .accepted(let route, let handshake):
            var acceptance = acceptance
            guard acceptance.take(handshake, askedForIn: request.head) else {
                return refuseUnasked(handshake, request)
            }
            open(request, endpoint, route, acceptance, takeLeftover())
        }
    }

    private func refuseUnasked(_ handshake: AcceptedHandshake, _ request: Request) {
        services.logger.error(
            "a subprotocol was chosen that the client doesn't ask for",
            metadata: ["path": "\(request.path)", "subprotocol": "\(handshake.subprotocol ?? "")"]
        )
        decline(.problem(.internalServerError, "The server failed to decide on this request."))
    }

    private func decline(_ response: Response) {
        present?.span?.refused(response.status)
        present?.span = nil
        respond(response)
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
        let upgrade = Upgrade(
            channel: channel,
            request: request,
            endpoint: endpoint,
            route: route,
            acceptance: acceptance,
            leftover: leftover,
            accepted: accepted,
            asked: present?.asked,
            span: present?.span
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
