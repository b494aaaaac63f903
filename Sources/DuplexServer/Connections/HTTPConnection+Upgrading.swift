// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Logging

// From a request for a WebSocket to the WebSocket, or to the answer that there is none.

extension HTTPConnection {
    /// The answer to who asks for a WebSocket when the server is about to end.
    static var endingSoon: Response {
        .problem(.serviceUnavailable, "The server is about to end and opens no more WebSockets.")
    }

    /// Judges the request by the rules, then has the app decide, where it wants to.
    func upgrade(
        _ request: Request,
        _ endpoint: Routes.WebSocketEndpoint,
        _ bytes: Span<UInt8>,
        _ position: inout Int
    ) {
        stage = .answering
        asked = channel.core.now
        span = server.server.tracer.map { HandshakeSpan($0, for: request.head, from: remoteAddress) }
        let options = server.handshakeOptions(for: request)
        switch ServerHandshake.evaluate(request.head, options: options, digest: SHA1.digest) {
        case .refuse(let refusal):
            decline(.problem(refusal.status, refusal.message, fields: refusal.fields))
        case .accept(let acceptance) where server.server.compression.isRequired && acceptance.deflate == nil:
            decline(.problem(.badRequest, "This server opens WebSockets with permessage-deflate only."))
        case .accept(let acceptance):
            if let admit = endpoint.admit {
                ask(admit, request, endpoint.route, acceptance)
                return
            }
            let leftover = [UInt8](copying: bytes.raw.extracting(position..<bytes.count))
            position = bytes.count
            open(request, endpoint.route, acceptance, leftover)
        }
    }

    /// Has the app decide; what the client sends meanwhile waits, as it does behind every request.
    private func ask(
        _ admit: @escaping Admission.Decision,
        _ request: Request,
        _ route: Routes.WebSocketRoute,
        _ acceptance: ServerHandshake.Acceptance
    ) {
        let connection = LoopBound(self, on: server.loop.thread)
        let logger = server.server.logger
        let span = span
        server.spawn {
            let admission: Admission
            do {
                if let span {
                    admission = try await span.around { try await admit(request) }
                } else {
                    admission = try await admit(request)
                }
            } catch is CancellationError {
                admission = .refused(.serviceUnavailable, "The request was cancelled: the server ends.")
            } catch {
                logger.error("a WebSocket failed", metadata: ["path": "\(request.path)", "error": "\(error)"])
                admission = .refused(.internalServerError, "The server failed to decide on this request.")
            }
            connection.value.conclude(admission, request, route, acceptance)
        }
    }

    private func conclude(
        _ admission: Admission,
        _ request: Request,
        _ route: Routes.WebSocketRoute,
        _ acceptance: ServerHandshake.Acceptance
    ) {
        guard stage == .answering else { return }
        switch admission.outcome {
        case .refused(let response): decline(response)
        case .accepted where server.isStopping:
            decline(Self.endingSoon)
        case .accepted(let fields, let subprotocol, let compression):
            var acceptance = acceptance
            if !compression { acceptance.declineDeflate() }
            if let subprotocol, !acceptance.choose(subprotocol: subprotocol, askedForIn: request.head) {
                server.server.logger.error(
                    "a subprotocol was chosen that the client doesn't ask for",
                    metadata: ["path": "\(request.path)", "subprotocol": "\(subprotocol)"]
                )
                decline(.problem(.internalServerError, "The server failed to decide on this request."))
                return
            }
            for field in fields where acceptance.responseHead.fields[field.name] == nil || field.name == .setCookie {
                acceptance.responseHead.fields.append(field)
            }
            let leftover = pending
            pending = []
            open(request, route, acceptance, leftover)
        }
    }

    private func decline(_ response: Response) {
        span?.refused(response.status)
        span = nil
        respond(response)
    }

    private func open(
        _ request: Request,
        _ route: Routes.WebSocketRoute,
        _ acceptance: ServerHandshake.Acceptance,
        _ leftover: [UInt8]
    ) {
        if hasInputEnded { return finish() }
        var output: [UInt8] = []
        acceptance.responseHead.write(to: &output, date: HTTPDate.now())
        channel.write(output.span.raw)
        stage = .over
        server.upgrade(self, request, route, acceptance, leftover: leftover)
    }
}
