// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes
import Logging

// From a request to the one who answers it.

extension HTTPConnection {
    func begin(_ head: RequestHead, _ bytes: Span<UInt8>, _ position: inout Int) {
        guard services.allowsHost(of: head) else {
            noteFault(.refused, "the host \(head.host) is none of this server's")
            return respond(Self.misdirected)
        }
        switch services.table.decide(head) {
        case .refuse(let response): respond(response)
        case .upgrade(let endpoint, let parameters):
            let request = Request(head: head, parameters: parameters, body: .none, client: client)
            upgrade(request, endpoint, bytes, &position)
        case .respond(let endpoint, let parameters): answer(head, endpoint, parameters)
        }
    }

    private func answer(_ head: RequestHead, _ endpoint: Endpoint, _ parameters: [String: String]) {
        if head.framing != .none,
            case .violation(let error) = session.limitBody(of: head, to: endpoint.settings.http, now: now)
        {
            return violated(error)
        }
        let body = makeBody(head)
        let request = Request(head: head, parameters: parameters, body: body, client: client)
        noteRoute(endpoint)
        switch endpoint.handler {
        case .immediate(let handler): respond(at: endpoint, request) { try handler($0) }
        case .task(let handler):
            present = Present(endpoint: endpoint)
            start(.request(endpoint, request, handler))
        }
    }

    private func makeBody(_ head: RequestHead) -> RequestBody {
        switch head.framing {
        case .none: return .none
        case .length(let length): return RequestBody(exchange: makeExchange(), length: length)
        case .chunked, .untilClose: return RequestBody(exchange: makeExchange(), length: nil)
        }
    }

    func makeExchange() -> Exchange {
        let exchange = Exchange(loop: services.loop, carrier: LoopBound(self, on: services.loop.thread))
        self.exchange = exchange
        return exchange
    }

    /// Runs a handler that doesn't wait, here and now.
    private func respond(
        at endpoint: Endpoint,
        _ request: Request,
        _ handler: (Request) throws -> Response
    ) {
        do {
            respond(try handler(request))
        } catch {
            respond(failure(error, at: endpoint, request))
        }
    }

    /// What answers a request whose handler has thrown.
    func failure(_ error: any Error, at endpoint: Endpoint, _ request: Request) -> Response {
        switch error {
        case is CancellationError:
            return .problem(.serviceUnavailable, "The request was cancelled: the server ends.")
        case let error as HTTPError where error.status.code < 500:
            return .problem(error.status, error.message)
        default:
            services.logger.error("a request failed", metadata: ["path": "\(request.path)", "error": "\(error)"])
            return .problem(.internalServerError, "The server failed to answer this request.")
        }
    }

    /// RFC 9110 section 15.5.20.
    private static var misdirected: Response {
        .problem(.misdirectedRequest, "This server doesn't answer for that host; see WebServer.allowedHosts.")
    }
}
