// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Logging

// What a connection's task does: has the app answer, and makes the body of the response where it is still to be made.

extension HandlerRunner {
    /// Has the app decide; what the client sends meanwhile waits, as it does behind every request.
    func ask(
        _ admit: AdmissionDecision,
        _ endpoint: WebSocketEndpoint,
        _ request: Request,
        _ acceptance: Acceptance
    ) async {
        let verdict: AdmissionVerdict
        do {
            if let span = connection.present?.span {
                verdict = try await span.around { try await admit(request) }
            } else {
                verdict = try await admit(request)
            }
        } catch {
            verdict = .refused(endpoint.settings.response(of: connection.problem(error, request), request))
        }
        connection.conclude(verdict, request, endpoint, acceptance)
        connection.goOn()
    }

    /// Sends a response whose body is still to be made, and makes it.
    func send(_ response: Response, _ request: Request) async {
        switch response.body.content {
        case .bytes, .text, .pushed: break
        case .file(let file): await send(file, of: response, request)
        case .writer(let length, let write): await send(write, length, of: response)
        }
        connection.goOn()
    }

    private func send(
        _ write: @Sendable (ResponseWriter) async throws -> Void,
        _ length: Int?,
        of response: Response
    ) async {
        guard let exchange = connection.beginBody(response, length) else { return }
        do {
            await exchange.setTrailers(response.trailers)
            // In answer to HEAD nothing is written: what has no end would never come to it.
            if connection.session.sendsBody { try await write(ResponseWriter(exchange: exchange)) }
            connection.finishBody(of: exchange, trailers: await exchange.trailers)
        } catch {
            connection.failBody(of: exchange, error)
        }
    }

    private func send(_ file: ResponseFile, of response: Response, _ request: Request) async {
        let range: FileRange
        do {
            range = try file.range()
        } catch {
            return connection.fileFailed(error, request)
        }
        guard let exchange = connection.beginBody(response, file.count) else { return }
        do {
            try await transmit(range)
            connection.finishBody(of: exchange, trailers: response.trailers)
        } catch {
            connection.failBody(of: exchange, error)
        }
    }

    /// Sends a part of a file; returns when the system has taken it.
    private func transmit(_ range: sending FileRange) async throws {
        let range = LoopBound(range, on: loop.thread)
        try await waitOnLoop { (waiter: Waiter<Void>) in
            connection.begin(range.value, waiter)
        } onCancel: {
            // The client has gone, which ends the wait as well.
        }
    }
}
