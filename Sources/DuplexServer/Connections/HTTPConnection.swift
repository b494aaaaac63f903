// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexDeflate
import DuplexSockets
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Logging

/// One connection while it speaks HTTP: moves bytes between its channel and its session, arms the timer that the session
/// asks for, and has requests answered.
///
/// All rules are the session's. Belongs to its loop's thread. A handler that needs a task runs in the connection's
/// runner; others run here, between two requests.
final class HTTPConnection {
    // In an order that leaves few gaps, small fields behind the one whose size is odd: an idle connection is little more
    // than this object, its channel and its client.

    let channel: Channel
    let client: Request.Connection
    let services: LoopServices
    let accepted: Instant
    /// Not checked for overlapping accesses, which costs each request some four hundred instructions: a call of the session
    /// touches nothing of the connection.
    @safe @exclusivity(unchecked) private var session: HTTPServerSession
    /// The exchange of the present request, where a task may read its body or write its response.
    private var exchange: Exchange?
    /// The request that is being answered; nil before the first and between two.
    ///
    /// Not checked for overlapping accesses either: nothing is called while it is replaced, or one of its references.
    @safe @exclusivity(unchecked) private var present: Present?
    /// The connection's task, from the first request that needs one on.
    private var runner: HandlerRunner?
    /// The route whose code has run last: for when that takes long.
    private(set) var lastRoute: ObjectIdentifier?
    /// A file on its way out.
    private var file: FileTransfer?
    /// What came behind the present request, from ``pendingStart`` on.
    private var pending: [UInt8] = []
    private var pendingStart = Int32(0)
    /// Which one of the loop's it is.
    private let number: UInt32
    /// What is waited for instead of what the session waits for.
    private var wait: Wait?
    private var timer: (id: TimerID, deadline: Instant)?
    /// Not checked for overlapping accesses either, which would cost each request some five hundred instructions: it is one byte
    /// that is read or replaced at once.
    @safe @exclusivity(unchecked) private var ending = HTTPEnding.serving
    /// Whether there is anything pending; beside it, because each look at an array that is appended to costs a check for
    /// overlapping accesses.
    private var hasPending = false
    private(set) var hasInputEnded = false
    /// Whether the app has enough of the body for now.
    private var isBodyHeld = false

    /// A wait for the client to take what was sent.
    ///
    /// Lies elsewhere: few connections have one at a time.
    private indirect enum Wait {
        /// It may take some of it: since when it has taken nothing, and how much waited then.
        case stalled(since: Instant, queued: Int)
        /// It may read the last response until then.
        case lingering(until: Instant)
    }

    /// What of a request is needed until its response has gone.
    struct Present {
        var endpoint: Endpoint?
        var opening: Opening?
        /// What is recorded of it for observers; nil without one.
        var record: ExchangeRecord?

        /// The route as people call it.
        var route: String { endpoint?.name ?? opening?.endpoint.name ?? "" }
        var settings: RouteSettings? { endpoint?.settings ?? opening?.endpoint.settings }
    }

    /// How long a client may go on sending after the response that ends the connection.
    private static let lingerTime = Duration.seconds(2)
    /// Read at once while the protocol is HTTP; what is pipelined behind a request waits here meanwhile.
    private static let receiveLimit = 64 * 1_024

    init(_ channel: Channel, client: Request.Connection, services: LoopServices) {
        self.channel = channel
        self.client = client
        self.services = services
        accepted = services.now
        number = services.nextNumber()
        session = HTTPServerSession(services.session, now: services.now)
    }

    func start() {
        channel.keep(self)
        channel.limitReceive(to: Self.receiveLimit)
        channel.needsReader = true
        settle()
    }

    /// The server ends: a connection without a request is closed, one with a request is after its response.
    func stop() {
        session.shutDown()
        if ending == .serving { settle() }
    }

    /// The server ends and waits no longer.
    func reset() {
        end(.cut)
    }

    private var now: Instant { services.now }

    /// The route of the present request as people call it; `nil` where no request is answered.
    var presentRoute: String? { present?.route }

    /// The same, or that of the last request, for the log.
    private var routeName: String { presentRoute ?? lastRoute.flatMap { services.name(of: $0) } ?? "" }

    /// The span of the WebSocket that is asked for.
    var openingSpan: HandshakeSpan? { present?.opening?.span }

    /// Whether the response has a body on the wire.
    var sendsBody: Bool { session.sendsBody }

    /// Notes whose code is about to run; nobody keeps the route alive by it.
    func noteRoute(_ route: AnyObject) {
        let route = ObjectIdentifier(route)
        if let lastRoute, lastRoute != route { services.core.endStep(of: self) }
        lastRoute = route
    }

    // MARK: Input

    /// Takes what has come, as far as requests can be answered at once.
    ///
    /// - Returns: how much of it was taken.
    private func take(_ bytes: Span<UInt8>) -> Int {
        var position = 0
        while ending == .serving, !isStalled {
            let last = services.heads[number]
            switch session.next(bytes, from: &position, now: now, last: last) {
            case .request(let head):
                if head.text !== last { services.heads.note(head.text, of: number) }
                begin(head, bytes, &position)
                // Nothing can follow.
                if position == bytes.count && head.framing == .none { return position }
            case .body(let range): appendToBody(bytes.extracting(range))
            case .end(let trailers):
                // All that waits for the app is there: what is read from now on isn't the body's.
                releaseBody()
                exchange?.onLoop(services.loop, trailers) { $0.finishBody($1) }
            case .violation(let error): violated(error)
            case nil: return position
            }
        }
        return position
    }

    private func appendToBody(_ bytes: Span<UInt8>) {
        guard let exchange else { return }
        present?.record?.received(bytes.raw)
        exchange.onLoop(services.loop, [UInt8](copying: bytes.raw)) { $0.append($1) }
    }

    /// Nothing more of the body is kept for the app, so that it holds back the client no longer.
    private func releaseBody() {
        guard isBodyHeld else { return }
        isBodyHeld = false
        if !isStalled { session.resumeBody(now: now) }
    }

    /// The client has broken a rule: the handler learns it where it reads, and where nobody answers, this does.
    private func violated(_ error: HTTPProtocolError) {
        noteFault(error.code == .timeout ? .silent : .violation, "\(error)")
        if let exchange, isHandling || file != nil {
            exchange.onLoop(services.loop, error) { $0.failBody($1) }
        } else if isPushing {
            end(.cut)
        } else {
            refuseUnread(error)
        }
    }

    /// Counts a client's fault, and logs it only at `debug`: any client can cause faults all the time.
    private func noteFault(_ reason: EndSummary.Reason, _ description: @autoclosure () -> String) {
        services.ends.count(reason, on: services.core)
        services.logger.debug(
            "a request was refused",
            metadata: ["peer": "\(client.remoteAddress?.description ?? "?")", "reason": "\(description())"]
        )
    }

    private func keep(_ bytes: Span<UInt8>, from position: Int) {
        guard ending == .serving, position < bytes.count else { return }
        if pendingStart > 0 {
            pending.removeFirst(Int(pendingStart))
            pendingStart = 0
        }
        pending.append(bytes.raw.extracting(droppingFirst: position))
        hasPending = true
    }

    private func setPending(_ bytes: [UInt8], from start: Int = 0) {
        hasPending = start < bytes.count
        pending = hasPending ? bytes : []
        pendingStart = hasPending ? Int32(start) : 0
    }

    /// Goes on with what was pipelined.
    ///
    /// The bytes stay where they are, however many requests they are.
    private func takePending() {
        guard ending == .serving, hasPending else { return }
        let bytes = pending
        let start = Int(pendingStart)
        setPending([])
        let taken = take(bytes.span.extracting(droppingFirst: start))
        if ending == .serving { setPending(bytes, from: start + taken) }
    }

    /// What came behind the request, for the protocol that takes over.
    private func takeLeftover() -> [UInt8] {
        defer { setPending([]) }
        return pendingStart == 0 ? pending : Array(pending[Int(pendingStart)...])
    }

    /// Behind everything that was done: reads on or not, waits as long as the session says, or ends.
    private func settle() {
        guard ending == .serving else { return }
        if hasInputEnded && !hasPending { noteEnd() }
        guard ending == .serving else { return }
        let standing = session.standing
        if standing.hasEnded { return end(standing.leavesBody ? .answered : .concluded) }
        channel.isReading = !hasPending && !isBodyHeld && !isStalled
        armTimer(standing.deadline)
    }

    /// The client has ended its side, and everything that it had sent before was dealt with.
    ///
    /// It still waits for its responses (RFC 9112 section 9.6): a handler goes on, unless its request was cut.
    private func noteEnd() {
        if let event = session.inputEnded(), case .violation(let error) = event { violated(error) }
    }

    // MARK: Time

    private var deadline: Instant? { deadline(of: session.standing.deadline) }

    private func deadline(of session: Instant?) -> Instant? {
        switch wait {
        case .lingering(let end): end
        case .stalled(let since, _): since.advanced(by: services.session.values.idleTime)
        case nil: deadline(ofFileOr: session)
        }
    }

    private func armTimer() { armTimer(session.standing.deadline) }

    /// Has the timer fire no later than what is waited for must come; one that fires early looks again.
    private func armTimer(_ session: Instant?) {
        guard ending == .serving || ending == .lingering, let deadline = deadline(of: session) else { return }
        if let timer {
            if timer.deadline <= deadline { return }
            services.core.cancel(timer.id)
        }
        timer = (services.core.schedule(self, at: deadline, keepsTarget: true), deadline)
    }

    private func disarmTimer() {
        if let timer { services.core.cancel(timer.id) }
        timer = nil
    }

    // MARK: Output that waits

    /// Whether so much waits for the client that nothing more is made for it.
    private var isStalled: Bool {
        if case .stalled = wait { true } else { false }
    }

    /// Makes nothing more for a client for which much waits.
    private func holdBackIfBehind() {
        guard !isStalled, channel.isAboveHighWaterMark else { return }
        wait = .stalled(since: now, queued: channel.queuedBytes)
        session.pauseBody(now: now)
    }

    private func stallEnded() {
        wait = nil
        if !isBodyHeld { session.resumeBody(now: now) }
    }

    /// Ends a client that has taken nothing for as long as a connection may be idle.
    private func judgeStall(_ queued: Int) {
        if channel.queuedBytes < queued {
            wait = .stalled(since: now, queued: channel.queuedBytes)
            armTimer()
        } else {
            end(.cut)
        }
    }

    // MARK: The end

    /// Does what the end asks for after an event.
    private func end(_ event: HTTPEnding.Event) {
        guard let action = ending.take(event) else { return }
        switch action {
        case .linger: return linger()
        case .handOver: return handOver()
        case .closeWhenSent: channel.closeWhenSent(within: services.closeTimeout)
        case .reset:
            session.abandonResponse()
            channel.reset()
        case .release: break
        }
        release()
    }

    /// Ends the outgoing stream after the last response, and gives the client a moment to read it.
    private func linger() {
        setPending([])
        channel.finishWriting()
        guard !hasInputEnded else { return end(.inputEnded) }
        channel.isReading = true
        wait = .lingering(until: now.advanced(by: Self.lingerTime))
        armTimer()
    }

    /// Tells all who wait for the connection that it is closed.
    ///
    /// A client that resets its connection is one that has gone, and nobody's failure: whatever was thrown for it here would
    /// be in the log as often as anybody likes.
    private func release() {
        disarmTimer()
        setPending([])
        endFile(CancellationError())
        endRecord(isIncomplete: true)
        exchange?.onLoop(services.loop) { exchange, _ in exchange.end(CancellationError()) }
        exchange = nil
        cancelHandler()
        stopRunner()
        services.core.endStep(of: self)
        services.heads.forget(number)
        services.owner.remove(self)
    }

    /// Gives the channel to a WebSocket.
    private func handOver() {
        channel.needsReader = false
        endRecord(isIncomplete: false)
        disarmTimer()
        stopRunner()
        services.heads.forget(number)
    }

    // MARK: From a request to the one who answers it

    func begin(_ head: RequestHead, _ bytes: Span<UInt8>, _ position: inout Int) {
        services.requests += 1
        guard services.allowsHost(of: head, client.entrance.hosts) else {
            noteFault(.refused, "the host \(head.host) is none of this server's")
            return answer(head, .problem(Self.misdirected), by: services.table.refusing, makeBody(head))
        }
        switch services.table.decide(head) {
        case .own(let answer, let endpoint): self.answer(head, answer, by: endpoint, makeBody(head))
        case .upgrade(let endpoint, let parameters):
            let request = Request(head: head, parameters: parameters, body: .none, connection: client)
            upgrade(request, endpoint, bytes, &position)
        case .respond(let endpoint, let parameters): answer(head, endpoint, parameters)
        }
    }

    /// Answers what no route does.
    @inline(never)
    private func answer(_ head: RequestHead, _ answer: OwnAnswer, by refusing: Endpoint, _ body: RequestBody) {
        let request = Request(head: head, body: body, connection: client)
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
        run(endpoint, Request(head: head, parameters: parameters, body: makeBody(head), connection: client))
    }

    /// Answers a request whose body is in codings (RFC 9110 sections 8.4 and 15.5.16).
    @inline(never)
    private func answerCoded(_ head: RequestHead, _ endpoint: Endpoint, _ parameters: PathParameters) {
        let codings: [ContentCoding]
        do throws(HTTPProtocolError) {
            codings = try ContentCoding.applied(in: head.headers)
        } catch {
            let problem = Problem(error.status, error.message, headers: [.acceptEncoding: ContentCoding.accepted])
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
        run(endpoint, Request(head: head, parameters: parameters, body: body, connection: client))
    }

    @inline(__always)
    private func run(_ endpoint: Endpoint, _ request: Request) {
        noteRoute(endpoint)
        if endpoint.isFollowed { follow(request, at: endpoint) }
        switch endpoint.handler {
        case .immediate(let handler): respond(at: endpoint, request) { try handler($0) }
        case .atOnceOrTask(let handler, let other): respond(at: endpoint, request, handler, otherwise: other)
        case .task(let handler):
            if present == nil { present = Present(endpoint: endpoint) }
            start(.request(endpoint, request, handler))
        case .linked(let handler):
            request[ExchangeLink.self] = exchange ?? makeExchange()
            if present == nil { present = Present(endpoint: endpoint) }
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
                if present == nil { present = Present(endpoint: endpoint) }
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

    private func makeExchange() -> Exchange {
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
        case let error as HTTPProtocolError where error.status.code < 500: return Problem(error.status, error.message)
        default:
            if let refusal = (error as? any RefusingError)?.refusal { return refusal }
            let own = (error as? any ProblemConvertible)?.problem
            if let own, own.status.code < 500 { return own }
            present?.record?.error = error
            services.logger.error("a request failed", metadata: ["path": "\(request.path)", "error": "\(error)"])
            if let own { return own }
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

    /// A request has come whose route somebody looks at, or has a limit of time.
    @inline(never)
    func follow(_ request: Request, at endpoint: Endpoint) {
        let route = endpoint.pattern ?? OwnAnswer.pattern(of: request)
        let limit = endpoint.timeLimit
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
        if endpoint.hasFinishing || present?.record != nil { return follow(&response, at: endpoint, request) }
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
        let original = response
        meetConditions(&response, at: endpoint, request)
        checkFile(of: &response, at: endpoint, request)
        endpoint.settings.finishing?.run(request, &response, inPlaceOf: original)
        present?.record?.answered(response)
    }

    /// The response is sent, or never will be: observers are notified.
    ///
    /// The route stays noted for as long as its handler runs.
    private func endRecord(isIncomplete: Bool) {
        guard let record = present?.record else { return }
        present?.record = nil
        record.end(isIncomplete: isIncomplete, now: services.core.readClock())
    }

    /// How far the present request has come; `nil` without an observer.
    func progress(now: Instant) -> RequestProgress? {
        present?.record?.progress(ofFile: file?.transfer.taken ?? 0, now: now)
    }

    // MARK: What is answered in a handler's place

    /// Answers what couldn't be read: nobody is asked, and those who see each response see this one.
    private func refuseUnread(_ error: HTTPProtocolError) {
        let settings = services.table.settings
        let request = Request(head: .unread, connection: client)
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
        guard ending == .serving, let present, let record = present.record, let settings = present.settings else {
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
    private func upgrade(
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
            decline(request, endpoint, Problem(refusal.status, refusal.message, headers: refusal.headers))
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
        guard ending == .serving else { return }
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
        if hasInputEnded { return end(.concluded) }
        var bytes = services.takeScratch()
        do throws(HTTPProtocolError) {
            try session.switchProtocols(acceptance.responseHead, date: services.dateValue(), into: &bytes)
        } catch {
            return give(up: error)
        }
        write(&bytes)
        present?.record?.answered(Response(.switchingProtocols))
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
        end(.upgraded)
        services.owner.open(upgrade, from: self)
    }

    // MARK: From a response to the channel

    /// Bodies from this size on are sent from where they lie.
    private static let directSize = 16 * 1_024

    /// Sends a response whose body is at hand, or has the runner make the body.
    private func respond(_ response: Response, to request: Request) {
        if !respondAtOnce(response) { start(.response(response, request)) }
    }

    /// Sends a response whose body is at hand.
    ///
    /// - Returns: whether it is; if not, nothing was done.
    private func respondAtOnce(_ response: Response) -> Bool {
        guard ending == .serving else { return true }
        switch response.body.content {
        case .bytes(let bytes): respond(response, bytes.span.raw)
        case .text(let text): respond(response, text.utf8.span.raw)
        case .pushed(let begin): push(response, begin)
        case .coded(let coded): return respondAtOnce(response, coded)
        case .file, .writer: return false
        }
        return true
    }

    /// Sends a response whose body is coded at once.
    @inline(never)
    private func respondAtOnce(_ response: Response, _ coded: CodedBody) -> Bool {
        guard coded.isAtHand else { return false }
        let bytes: [UInt8]?
        switch coded.body.content {
        case .bytes(let plain): bytes = self.coded(plain.span.raw, coded)
        case .text(let plain): bytes = self.coded(plain.utf8.span.raw, coded)
        case .file, .writer, .pushed, .coded: return false
        }
        guard let bytes else {
            give(up: Self.noMemory)
            return true
        }
        if let record = present?.record, session.sendsBody { record.sent(bytes.count) }
        respond(response, bytes.span.raw)
        return true
    }

    private func coded(_ plain: RawSpan, _ body: CodedBody) -> [UInt8]? {
        services.core.shared(ContentPool.init).deflate(plain, body.coding, level: body.level)
    }

    /// Nothing of the response has gone, and nothing can.
    private static var noMemory: HTTPProtocolError {
        HTTPProtocolError(.wrongLength, "there is no memory to compress it")
    }

    /// Sends a response with that body.
    private func respond(_ response: Response, _ body: RawSpan) {
        if body.byteCount >= Self.directSize { return respondInPlace(response, body) }
        var bytes = services.takeScratch()
        do throws(HTTPProtocolError) {
            // The body goes into the same piece as the head.
            let outcome = try session.writeResponse(
                services.start(of: response),
                response.prepared,
                response.prepared == nil ? response.otherFields : HTTPFields(),
                body: body,
                trailers: response.trailers,
                now: now,
                into: &bytes
            )
            responseEnded(outcome, &bytes)
        } catch {
            give(up: error)
        }
    }

    /// Begins a response that is made without a task.
    private func push(_ response: Response, _ begin: (Exchange) -> Void) {
        guard let exchange = beginBody(response, nil) else { return }
        // In answer to HEAD nothing is written: what has no end would never come to it.
        guard session.sendsBody else { return finishBody(of: exchange, trailers: response.trailers) }
        begin(exchange)
        if services.isStopping { endPushing() }
    }

    private func respondInPlace(_ response: Response, _ body: RawSpan) {
        var bytes = services.takeScratch()
        do throws(HTTPProtocolError) {
            try writeHead(response, .bytes(body.byteCount), into: &bytes)
            let isSent = try session.beginPiece(body.byteCount, into: &bytes)
            if isSent { writeInPlace(body, behind: &bytes) }
        } catch {
            return give(up: error)
        }
        endResponse(trailers: response.trailers, &bytes)
    }

    private func writeHead(
        _ response: Response,
        _ length: ResponseLength,
        into bytes: inout [UInt8]
    ) throws(HTTPProtocolError) {
        try session.writeHead(
            services.start(of: response),
            response.prepared,
            response.prepared == nil ? response.otherFields : HTTPFields(),
            length: length,
            into: &bytes
        )
    }

    /// Has a body sent from where it lies, behind what was written of the response.
    private func writeInPlace(_ body: RawSpan, behind bytes: inout [UInt8]) {
        channel.write(bytes.span.raw)
        bytes.removeAll(keepingCapacity: true)
        channel.writeNow(body)
    }

    /// Hands what was written to the channel.
    func write(_ bytes: inout [UInt8]) {
        if !bytes.isEmpty { channel.write(bytes.span.raw) }
        services.giveScratch(&bytes)
    }

    /// Sends the rest of the response behind what was written of it, and goes on as the session says.
    private func endResponse(trailers: HTTPFields, _ bytes: inout [UInt8]) {
        responseEnded(session.endResponse(trailers: trailers, now: now, into: &bytes), &bytes)
    }

    /// The response is written: another request may follow, or the connection ends.
    private func responseEnded(_ outcome: HTTPServerSession.Outcome, _ bytes: inout [UInt8]) {
        write(&bytes)
        if let exchange {
            exchange.onLoop(services.loop) { exchange, _ in exchange.end(CancellationError()) }
            self.exchange = nil
            releaseBody()
        }
        if present != nil {
            if present?.record != nil { endRecord(isIncomplete: outcome == .cut) }
            present = nil
        }
        switch outcome {
        case .next: holdBackIfBehind()
        case .close: end(.answered)
        case .cut: end(.cut)
        }
    }

    /// A response that breaks the rules of the protocol: nothing of it has gone, or too little.
    private func give(up error: HTTPProtocolError) {
        services.logger.error(
            "a response can't be sent",
            metadata: ["route": "\(routeName)", "error": "\(error)"]
        )
        present?.record?.unanswered()
        end(.cut)
    }

    // MARK: The runner

    /// Has the connection's task do this next; there is none before the first request that needs one.
    func start(_ work: HandlerRunner.Work) {
        if let runner { return runner.onLoop(services.loop, work) { $0.start($1) } }
        let runner = HandlerRunner(LoopBound(self, on: services.loop.thread), on: services.loop)
        self.runner = runner
        runner.onLoop(services.loop, work) { $0.start($1) }
        services.noteRunner(self)
        // Files that its handlers wait for are read in turns with those of other clients.
        let share = client.remoteAddress.map { BlockingThreads.Share($0.network) }
        services.owner.spawn { await BlockingThreads.$share.withValue(share) { await runner.run() } }
    }

    /// The runner has seen that it is to stop, and its task ends.
    func runnerEnded() {
        runner = nil
        services.core.endStep(of: self)
        services.forgetRunner(self)
    }

    /// Whether a handler is at work.
    private var isHandling: Bool {
        runner?.onLoop(services.loop) { runner, _ in runner.isBusy } ?? false
    }

    /// Whether its handlers run in that task.
    func isRun(by task: TaskIdentity) -> Bool {
        runner?.onLoop(services.loop, task) { $0.identity == $1 } ?? false
    }

    private func cancelHandler() {
        runner?.onLoop(services.loop) { runner, _ in runner.cancel() }
    }

    private func stopRunner() {
        runner?.onLoop(services.loop) { runner, _ in runner.stop() }
    }

    /// Has a response go through its middleware, sends it, unless its body is still to be made, and goes on.
    ///
    /// One that comes too late, for a client that has gone or was answered otherwise, is dropped.
    ///
    /// - Returns: whether it is sent, or dropped.
    func finishAndSend(_ response: inout Response, at endpoint: Endpoint, _ request: Request) -> Bool {
        guard ending == .serving else { return true }
        finish(&response, at: endpoint, request)
        guard respondAtOnce(response) else { return false }
        goOn()
        return true
    }

    /// Goes on behind a response that the runner has sent.
    func goOn() {
        takePending()
        settle()
    }

    /// Sends the file of a response, or has the runner make its body.
    @inline(never)
    private func stream(_ response: Response, to request: Request, at endpoint: Endpoint) {
        if present == nil { present = Present(endpoint: endpoint) }
        if case .file(let file) = response.body.content { return send(file, of: response, to: request) }
        start(.response(response, request))
    }

    func beginBody(_ response: Response, _ length: Int?) -> Exchange? {
        guard ending == .serving else { return nil }
        var bytes = services.takeScratch()
        do throws(HTTPProtocolError) {
            try writeHead(response, length.map { .bytes($0) } ?? .unknown, into: &bytes)
        } catch {
            give(up: error)
            return nil
        }
        write(&bytes)
        return exchange ?? makeExchange()
    }

    func finishBody(of exchange: Exchange, trailers: HTTPFields) {
        guard ending == .serving, self.exchange === exchange else { return }
        var bytes = services.takeScratch()
        endResponse(trailers: trailers, &bytes)
    }

    /// A body that doesn't become whole: the client is to see that.
    func failBody(of exchange: Exchange, _ error: any Error) {
        guard ending == .serving, self.exchange === exchange else { return }
        failBody(error)
    }

    /// The same for one that no task makes.
    func failBody(_ error: any Error) {
        if !(error is CancellationError) {
            present?.record?.error = error
            services.logger.error(
                "the body of a response failed",
                metadata: ["route": "\(routeName)", "error": "\(error)"]
            )
        }
        end(.cut)
    }

    /// Whether the response has no end of its own.
    var isPushing: Bool {
        exchange?.onLoop(services.loop) { exchange, _ in exchange.isFollowed } ?? false
    }

    /// How many pieces of such a response were dropped because the client was behind.
    var droppedPieces: Int? {
        exchange?.onLoop(services.loop) { exchange, _ in exchange.droppedPieces }
    }

    /// Asks for the end of a response that has none of its own, from its handler or from whoever pushes it.
    func endPushing() {
        guard isPushing else { return }
        cancelHandler()
        exchange?.onLoop(services.loop) { exchange, _ in exchange.askToEnd() }
    }

    /// Finds out whether a client that says nothing more has gone, though its handler may write nothing.
    private func findOutClient() {
        exchange?.onLoop(services.loop) { exchange, _ in exchange.clientEndedInput() }
        if client.entrance.probesClients { channel.probePeer(after: services.session.values.idleTime) }
    }

    /// Makes a problem of a response whose file can't be sent, before middleware sees it.
    func checkFile(of response: inout Response, at endpoint: Endpoint, _ request: Request) {
        guard case .file(let file) = response.body.content else { return }
        do throws(SocketError) {
            _ = try file.range()
        } catch {
            response = failure(of: error, endpoint.settings, request)
        }
    }

    /// The file of a response can't be sent, and nothing of the response has gone; middleware has seen what it sees.
    func fileFailed(_ error: any Error, _ request: Request) {
        let response = failure(of: error, present?.settings ?? services.table.settings, request)
        present?.record?.answered(response)
        respond(response, to: request)
    }

    /// What is answered in place of a file; no task has to make it.
    private func failure(of error: any Error, _ settings: RouteSettings, _ request: Request) -> Response {
        services.logger.error("a file can't be sent", metadata: ["error": "\(error)"])
        present?.record?.error = error
        let problem = Problem(.internalServerError, "The server failed to answer this request.")
        let response = settings.response(of: problem, request)
        return response.body.isAtHand ? response : problem.response(for: request)
    }

    /// Sends an interim response.
    func writeInterim(_ status: HTTPResponse.Status, _ headers: HTTPFields) throws(HTTPProtocolError) {
        guard ending == .serving else { return }
        var bytes = services.takeScratch()
        defer { write(&bytes) }
        try session.writeInterim(status, headers, into: &bytes)
    }

    /// Sends a piece that the app has written.
    ///
    /// - Returns: whether it goes out.
    func writePiece(_ piece: [UInt8]) throws(HTTPProtocolError) -> Bool {
        guard ending == .serving else { return false }
        var bytes = services.takeScratch()
        guard try session.beginPiece(piece.count, into: &bytes) else {
            write(&bytes)
            return false
        }
        if piece.count < 4_096 {
            bytes.append(piece.span.raw)
        } else {
            writeInPlace(piece.span.raw, behind: &bytes)
        }
        session.endPiece(into: &bytes)
        write(&bytes)
        present?.record?.sent(piece.span.raw)
        return true
    }

    // MARK: Files

    /// Up to this size a file goes with its head in one segment.
    ///
    /// The head shifts all of the file against the pages that the kernel sends from: a file of 100 KiB costs a tenth less with it,
    /// one of 1 MiB twice as much.
    private static let joinedSize = 128 * 1_024

    /// Up to this size a file is copied behind its head: that costs less than having the system move it.
    private static let shortSize = 16 * 1_024

    /// Sends a response whose body is a file: the file as the socket takes it, which needs no task.
    func send(_ file: ResponseFile, of response: Response, to request: Request) {
        guard ending == .serving else { return }
        if file.count <= Self.shortSize && request.method != .head && sendShort(file, of: response) { return }
        let range: FileRange
        do throws(SocketError) {
            range = try file.range()
        } catch {
            return fileFailed(error, request)
        }
        var bytes = services.takeScratch()
        do throws(HTTPProtocolError) {
            try writeHead(response, .bytes(file.count), into: &bytes)
            // The length is known: nothing goes before the file.
            guard try session.beginPiece(file.count, into: &bytes) else {
                return endResponse(trailers: response.trailers, &bytes)
            }
        } catch {
            return give(up: error)
        }
        write(&bytes)
        let transfer = FileTransfer(range, trailers: response.trailers, began: services.now)
        // Before the head goes: what it wakes the client for is to come right behind it. A head whose file comes from the disk
        // doesn't wait for that.
        let isCached = transfer.transfer.isNextCached(now: services.now)
        self.file = transfer
        channel.handlerSends = true
        channel.isMoreComing = isCached && file.count <= Self.joinedSize
        armTimer()
    }

    /// Sends a short file with its head, if that needs no wait for the disk.
    ///
    /// - Returns: whether it is sent; if not, nothing was done.
    private func sendShort(_ file: ResponseFile, of response: Response) -> Bool {
        var content = services.takeContent()
        defer { services.giveContent(&content) }
        guard file.part.readCached(into: &content) == .whole else { return false }
        present?.record?.sent(content.count)
        respond(response, content.span.raw)
        return true
    }

    /// Sends as much of the file as goes now; the channel is empty.
    private func sendFile() -> TransferResult {
        guard let file else { return .wouldBlock }
        // What was queued before is out by now; until then the channel has to ask for more, or nobody would send it.
        if file.transfer.isTaken {
            endFile(nil)
            return .wouldBlock
        }
        do throws(SocketError) {
            switch try file.transfer.move(to: channel, mayBeDirect: !channel.isSecured) {
            case .disconnected(let code): return .failed(code)
            case .sent where file.transfer.isTaken: endFile(nil)
            case .sent, .queued, .wouldBlock: break
            case .notCached: readAhead(of: file)
            }
        } catch {
            endFile(error)
        }
        return .wouldBlock
    }

    /// Goes on once the system has in its cache what comes next; meanwhile nobody waits but this client.
    private func readAhead(of file: FileTransfer) {
        channel.handlerSends = false
        let bound = LoopBound((connection: self, file: file), on: services.loop.thread)
        file.transfer.readAhead(on: services.loop) {
            let (connection, file) = bound.value
            if connection.file === file { connection.channel.handlerSends = true }
        }
    }

    /// The file has gone, or the rest of it never will.
    private func endFile(_ error: (any Error)?) {
        guard let file else { return }
        self.file = nil
        channel.handlerSends = false
        present?.record?.sent(Int(clamping: file.transfer.taken))
        guard ending == .serving else { return }
        if let error { return failBody(error) }
        var bytes = services.takeScratch()
        endResponse(trailers: file.trailers, &bytes)
        goOn()
    }

    // MARK: A client that takes nothing

    /// When a client to which a file is sent is looked at, or that other instant where it is earlier.
    func deadline(ofFileOr other: Instant?) -> Instant? {
        guard let file else { return other }
        let deadline = file.seen.at.advanced(by: services.session.values.idleTime)
        return other.map { min($0, deadline) } ?? deadline
    }

    private func isFileDue(_ now: Instant) -> Bool {
        guard file != nil, let deadline = deadline(ofFileOr: nil) else { return false }
        return deadline <= now
    }

    /// Ends a client that has taken nothing of a file for as long as a connection may be idle.
    private func judgeFile() {
        guard let file else { return }
        let sent = file.transfer.taken - min(file.transfer.taken, UInt64(channel.queuedBytes))
        // The channel asks for nothing while the file is read from the disk: then it isn't the client who is slow.
        let goesOn = sent > file.seen.sent || !channel.handlerSends
        file.seen = (sent, now)
        if goesOn { armTimer() } else { end(.cut) }
    }
}

extension HTTPConnection: ChannelHandler {
    func received(_ bytes: inout MutableRawSpan) {
        guard ending == .serving else { return }
        bytes.bytes.withOctets { bytes in
            if hasPending { return keep(bytes, from: 0) }
            keep(bytes, from: take(bytes))
        }
        settle()
    }

    func inputEnded() {
        hasInputEnded = true
        end(.inputEnded)
        settle()
        // It says nothing more, and the handler may write nothing: the system finds out whether it is still there.
        if ending == .serving { findOutClient() }
    }

    func outputDrained() {
        guard ending == .serving else { return }
        let wasStalled = isStalled
        if wasStalled { stallEnded() }
        // The callback may write at once.
        exchange?.onLoop(services.loop) { exchange, _ in exchange.drained() }
        guard wasStalled else { return }
        takePending()
        settle()
    }

    func sendMore() -> TransferResult { sendFile() }

    func failed(_ error: SocketError) {
        end(.failed)
    }
}

extension HTTPConnection: TimerTarget {
    func timerFired(_ timer: TimerID, now: Instant) {
        guard timer == self.timer?.id else { return }
        self.timer = nil
        guard let deadline, deadline <= now else { return armTimer() }
        switch wait {
        case .lingering: return end(.timedOut)
        case .stalled(_, let queued): return judgeStall(queued)
        case nil: break
        }
        if isFileDue(now) { return judgeFile() }
        if let event = session.timeOut(now: now), case .violation(let error) = event { violated(error) }
        settle()
    }
}

// MARK: What an exchange asks

extension HTTPConnection: ExchangeCarrier {
    func wantBody() {
        var bytes = services.takeScratch()
        session.wantBody(into: &bytes)
        write(&bytes)
    }

    func setReadingBody(_ isReading: Bool) {
        guard ending == .serving, isBodyHeld == isReading else { return }
        isBodyHeld = !isReading
        if isReading {
            if !isStalled { session.resumeBody(now: now) }
            takePending()
        } else {
            session.pauseBody(now: now)
        }
        settle()
    }

    func followResponse() {
        if client.entrance.givesUpClients { channel.giveUpPeer(after: services.session.values.idleTime) }
    }

    func finishResponse() {
        guard let exchange else { return }
        finishBody(of: exchange, trailers: HTTPFields())
        goOn()
    }

    func abandonResponse(_ error: any Error) {
        noteFault(.silent, "\(error)")
        end(.cut)
    }

    var isBehind: Bool {
        guard ending == .serving else { return false }
        // The reason is reported at the end of the turn, which a writer that doesn't wait would never let come.
        if !channel.canWrite { return true }
        holdBackIfBehind()
        if isStalled { armTimer() }
        return isStalled
    }
}

extension Acceptance {
    /// Adds what the app says with the 101.
    ///
    /// - Returns: false when it has chosen a subprotocol that the client doesn't ask for.
    fileprivate mutating func take(_ handshake: AcceptedHandshake, askedForIn head: RequestHead) -> Bool {
        if !handshake.compression { declineDeflate() }
        if let subprotocol = handshake.subprotocol, !choose(subprotocol: subprotocol, askedForIn: head) { return false }
        for field in handshake.headers where responseHead.headers[field.name] == nil || field.name == .setCookie {
            responseHead.headers.append(field)
        }
        return true
    }
}
