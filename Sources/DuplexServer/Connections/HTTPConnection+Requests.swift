// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Logging

// From a request to the one who answers it, be it a handler or a WebSocket.

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
        switch error {
        case let problem as Problem: return problem
        case is CancellationError:
            let reason = services.isStopping ? ": the server ends" : ""
            return Problem(.serviceUnavailable, "The request was cancelled\(reason).")
        case let error as HTTPError where error.status.code < 500: return Problem(error.status, error.message)
        default:
            if let refusal = (error as? any RefusingError)?.refusal { return refusal }
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

    // MARK: Following

    /// A request has come whose route is looked at, or has a limit of time.
    @inline(never)
    func follow(_ request: Request, at endpoint: Endpoint) {
        let route = endpoint.pattern ?? OwnAnswer.pattern(of: request)
        let limit = endpoint.handler.mayWait ? endpoint.settings.timeLimit : nil
        let record = makeRecord(request, at: route, endpoint.observers, isTimed: limit != nil)
        if let limit { record?.limit(to: limit, self) }
        present = Present(endpoint: endpoint, record: record)
    }

    /// The same for one that asks for a WebSocket; `nil` where nobody looks.
    func record(of request: Request, at endpoint: WebSocketEndpoint) -> ExchangeRecord? {
        let settings = endpoint.settings
        guard settings.followsRequests else { return nil }
        let limit = settings.timeLimit
        let record = makeRecord(request, at: endpoint.pattern, settings.observers, isTimed: limit != nil)
        if let limit { record?.limit(to: limit, self) }
        return record
    }

    /// A record where somebody looks now, or the time is watched.
    private func makeRecord(
        _ request: Request,
        at route: String?,
        _ observers: [any RequestObserver],
        isTimed: Bool
    ) -> ExchangeRecord? {
        if !isTimed && !observers.contains(where: \.isLooking) { return nil }
        var observers = observers
        if !observers.allSatisfy(\.isLooking) { observers.removeAll { !$0.isLooking } }
        return ExchangeRecord(request, at: route, observers, now: services.core.readClock())
    }

    /// What a response goes through before it is sent.
    @inline(__always)
    func finish(_ response: inout Response, at endpoint: Endpoint, _ request: Request) {
        if endpoint.isAnswerFollowed { return follow(&response, at: endpoint, request) }
        meetConditions(&response, at: endpoint, request)
    }

    @inline(__always)
    private func meetConditions(_ response: inout Response, at endpoint: Endpoint, _ request: Request) {
        // Only a response that has a field of its own can name a validator.
        if !response.otherFields.isEmpty {
            response = response.meetingConditions(of: request, endpoint.settings.response)
        }
    }

    @inline(never)
    private func follow(_ response: inout Response, at endpoint: Endpoint, _ request: Request) {
        checkFile(of: &response, at: endpoint, request)
        let original = response
        meetConditions(&response, at: endpoint, request)
        endpoint.settings.finishing?.run(request, &response, inPlaceOf: original)
        present?.record?.answered(response)
    }

    /// The response is sent, or never will be: observers are notified.
    ///
    /// The route stays noted for as long as its handler runs.
    func endRecord(isCut: Bool) {
        guard let record = present?.record else { return }
        present?.record = nil
        record.end(isCut: isCut, now: services.core.readClock())
    }

    /// How far the present request has come; `nil` without an observer.
    func progress(now: Instant) -> RequestProgress? {
        present?.record?.progress(ofFile: file?.transfer.taken ?? 0, now: now)
    }

    // MARK: What is answered in a handler's place

    /// Answers what couldn't be read: nobody is asked, and those who see each response see this one.
    func refuseUnread(_ error: HTTPError) {
        let settings = services.table.settings
        let request = Request(head: .unread, client: client)
        let response = settings.finalResponse(of: Problem(error.status, error.message), request)
        if present == nil && !settings.observers.isEmpty {
            let record = makeRecord(request, at: nil, settings.observers, isTimed: false)
            record?.answered(response)
            present = Present(record: record)
        }
        respond(response, to: request)
    }

    /// The handler has taken as long as it may: its client is answered, and the connection ends as if that had gone.
    func handlerIsLate() {
        guard stage == .serving, let present, let record = present.record, let settings = present.settings else {
            return
        }
        services.logger.debug("a handler has taken too long", metadata: ["route": "\(present.route)"])
        let problem = Problem(.serviceUnavailable, "This took longer than the server waits for it.")
        let response = settings.finalResponse(of: problem, record.request)
        record.answered(response)
        present.opening?.span?.refused(response.status)
        present.opening?.span = nil
        session.shutDown()
        respond(response, to: record.request)
        // The handler may run on.
        self.present = Present(endpoint: present.endpoint, opening: present.opening)
        cancelHandler()
    }

    // MARK: WebSockets

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

    /// Does what an admission has come to.
    func act(
        on verdict: AdmissionVerdict,
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
