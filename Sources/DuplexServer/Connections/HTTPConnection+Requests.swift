// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes
import Logging

// From a request to the one who answers it.

extension HTTPConnection {
    func begin(_ head: RequestHead, _ bytes: Span<UInt8>, _ position: inout Int) {
        services.requests += 1
        guard services.allowsHost(of: head, client.entrance.hosts) else {
            noteFault(.refused, "the host \(head.host) is none of this server's")
            return answer(head, .problem(Self.misdirected), by: services.table.refusing, makeBody(head))
        }
        switch services.table.decide(head) {
        case .own(let answer, let endpoint): self.answer(head, answer, by: endpoint, makeBody(head))
        case .upgrade(let endpoint, let parameters):
            let request = Request(head: head, parameters: parameters, body: .none, client: client)
            upgrade(request, endpoint, bytes, &position)
        case .respond(let endpoint, let parameters): answer(head, endpoint, parameters)
        }
    }

    /// Answers what no route does.
    @inline(never)
    private func answer(_ head: RequestHead, _ answer: OwnAnswer, by refusing: Endpoint, _ body: RequestBody) {
        let request = Request(head: head, body: body, client: client)
        answer.note(with: request)
        run(refusing, request)
    }

    private func answer(_ head: RequestHead, _ endpoint: Endpoint, _ parameters: PathParameters) {
        if head.framing != .none,
            case .violation(let error) = session.limitBody(of: head, to: endpoint.settings.http, now: now)
        {
            noteFault(.violation, "\(error)")
            let answer = OwnAnswer.problem(Problem(error.status, error.message), at: endpoint.pattern)
            return self.answer(head, answer, by: endpoint.refusing, .none)
        }
        if head.hasContentCoding, head.framing != .none, endpoint.settings.inflatesBodies {
            return answerCoded(head, endpoint, parameters)
        }
        run(endpoint, Request(head: head, parameters: parameters, body: makeBody(head), client: client))
    }

    /// Answers a request whose body is in codings (RFC 9110 sections 8.4 and 15.5.16).
    @inline(never)
    private func answerCoded(_ head: RequestHead, _ endpoint: Endpoint, _ parameters: PathParameters) {
        let codings: [ContentCoding]
        do throws(HTTPError) {
            codings = try ContentCoding.applied(in: head.fields)
        } catch {
            let problem = Problem(error.status, error.message, fields: [.acceptEncoding: ContentCoding.accepted])
            let answer = OwnAnswer.problem(problem, at: endpoint.pattern)
            return self.answer(head, answer, by: endpoint.refusing, makeBody(head))
        }
        var body = makeBody(head)
        if !codings.isEmpty {
            let size = endpoint.settings.http.bodySize
            let limit = size == .unlimited ? RequestBody.inflatedLimit : size
            exchange?.onLoop(services.loop, (codings, limit)) { $0.takeOff($1.0, upTo: $1.1) }
            body = RequestBody(exchange: exchange, length: nil)
        }
        run(endpoint, Request(head: head, parameters: parameters, body: body, client: client))
    }

    @inline(__always)
    private func run(_ endpoint: Endpoint, _ request: Request) {
        noteRoute(endpoint)
        if endpoint.isFollowed { follow(request, at: endpoint) }
        switch endpoint.handler {
        case .immediate(let handler): respond(at: endpoint, request) { try handler($0) }
        case .atOnceOrTask(let handler, let other): respond(at: endpoint, request, handler, otherwise: other)
        case .task(let handler):
            if !endpoint.isFollowed { present = Present(endpoint: endpoint) }
            start(.request(endpoint, request, handler))
        case .linked(let handler):
            request[ExchangeLink.self] = exchange ?? makeExchange()
            if !endpoint.isFollowed { present = Present(endpoint: endpoint) }
            start(.request(endpoint, request, handler))
        }
    }

    /// Runs a handler here and now if it needn't wait, and its other half in a task otherwise.
    private func respond(
        at endpoint: Endpoint,
        _ request: Request,
        _ handler: (Request) throws -> Response?,
        otherwise other: @escaping @Sendable (Request) async throws -> Response
    ) {
        do {
            guard let response = try handler(request) else {
                if !endpoint.isFollowed { present = Present(endpoint: endpoint) }
                return start(.request(endpoint, request, other))
            }
            respond(at: endpoint, request) { _ in response }
        } catch {
            respond(at: endpoint, request) { _ in throw error }
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
        var response: Response
        do {
            response = try handler(request)
        } catch {
            response = failure(error, at: endpoint, request)
        }
        finish(&response, at: endpoint, request)
        if !respondAtOnce(response) { stream(response, to: request, at: endpoint) }
    }

    /// What answers a request whose handler has thrown.
    func failure(_ error: any Error, at endpoint: Endpoint, _ request: Request) -> Response {
        endpoint.settings.response(of: problem(error, request), request)
    }

    /// The response to an error, and the log of errors that aren't the client's.
    func problem(_ error: any Error, _ request: Request) -> Problem {
        if let refusal = (error as? any RefusingError)?.refusal { return refusal }
        switch error {
        case let problem as Problem: return problem
        case is CancellationError:
            let reason = services.isStopping ? ": the server ends" : ""
            return Problem(.serviceUnavailable, "The request was cancelled\(reason).")
        case let error as HTTPError where error.status.code < 500: return Problem(error.status, error.message)
        default:
            present?.record?.error = error
            services.logger.error("a request failed", metadata: ["path": "\(request.path)", "error": "\(error)"])
            if let error = error as? SocketError, error.isOutOfSpace { return Self.outOfSpace }
            return Problem(.internalServerError, "The server failed to answer this request.")
        }
    }

    /// RFC 4918 section 11.5.
    private static var outOfSpace: Problem {
        Problem(
            HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage"),
            "The server has no room for this."
        )
    }

    /// RFC 9110 section 15.5.20.
    private static var misdirected: Problem {
        Problem(.misdirectedRequest, "This server doesn't answer for that host; see WebServer.allowedHosts.")
    }
}
