// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexDeflate
import DuplexSockets
import DuplexWire
import HTTPTypes
import Logging

// From a response to the channel, and what a connection, its runner and its exchange ask of each other.

extension HTTPConnection {
    /// Bodies from this size on are sent from where they lie.
    private static let directSize = 16 * 1_024

    /// Sends a response whose body is at hand, or has the runner make the body.
    func respond(_ response: Response, to request: Request) {
        if !respondAtOnce(response) { start(.response(response, request)) }
    }

    /// Sends a response whose body is at hand.
    ///
    /// - Returns: whether it is; if not, nothing was done.
    func respondAtOnce(_ response: Response) -> Bool {
        guard stage == .serving else { return true }
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
    static var noMemory: HTTPError { HTTPError(.wrongLength, "there is no memory to compress it") }

    /// Sends a response with that body.
    func respond(_ response: Response, _ body: RawSpan) {
        if body.byteCount >= Self.directSize { return respondInPlace(response, body) }
        var bytes = services.takeScratch()
        do throws(HTTPError) {
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
        do throws(HTTPError) {
            try writeHead(response, .bytes(body.byteCount), into: &bytes)
            let isSent = try session.beginPiece(body.byteCount, into: &bytes)
            if isSent { writeInPlace(body, behind: &bytes) }
        } catch {
            return give(up: error)
        }
        endResponse(trailers: response.trailers, &bytes)
    }

    func writeHead(
        _ response: Response,
        _ length: ResponseLength,
        into bytes: inout [UInt8]
    ) throws(HTTPError) {
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
    func endResponse(trailers: HTTPFields, _ bytes: inout [UInt8]) {
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
            if present?.record != nil { endRecord(isCut: outcome == .cut) }
            present = nil
        }
        switch outcome {
        case .next: holdBackIfBehind()
        case .close: linger()
        case .cut: cut()
        }
    }

    /// Ends the connection so that nobody takes what came of a response for the whole.
    func cut() {
        session.abandonResponse()
        channel.reset()
        end()
    }

    /// A response that breaks the rules of the protocol: nothing of it has gone, or too little.
    func give(up error: HTTPError) {
        services.logger.error(
            "a response can't be sent",
            metadata: ["route": "\(present?.route ?? "")", "error": "\(error)"]
        )
        present?.record?.unanswered()
        cut()
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
    var isHandling: Bool {
        runner?.onLoop(services.loop) { runner, _ in runner.isBusy } ?? false
    }

    /// Whether its handlers run in that task.
    func isRun(by task: TaskIdentity) -> Bool {
        runner?.onLoop(services.loop, task) { $0.identity == $1 } ?? false
    }

    func cancelHandler() {
        runner?.onLoop(services.loop) { runner, _ in runner.cancel() }
    }

    func stopRunner() {
        runner?.onLoop(services.loop) { runner, _ in runner.stop() }
    }

    /// Has a response go through its steps, sends it, unless its body is still to be made, and goes on.
    ///
    /// One that comes too late, for a client that has gone or was answered otherwise, is dropped.
    ///
    /// - Returns: whether it is sent, or dropped.
    func finishAndSend(_ response: inout Response, at endpoint: Endpoint, _ request: Request) -> Bool {
        guard stage == .serving else { return true }
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
    func stream(_ response: Response, to request: Request, at endpoint: Endpoint) {
        if present == nil { present = Present(endpoint: endpoint) }
        if case .file(let file) = response.body.content { return send(file, of: response, to: request) }
        start(.response(response, request))
    }

    func beginBody(_ response: Response, _ length: Int?) -> Exchange? {
        guard stage == .serving else { return nil }
        var bytes = services.takeScratch()
        do throws(HTTPError) {
            try writeHead(response, length.map { .bytes($0) } ?? .unknown, into: &bytes)
        } catch {
            give(up: error)
            return nil
        }
        write(&bytes)
        return exchange ?? makeExchange()
    }

    func finishBody(of exchange: Exchange, trailers: HTTPFields) {
        guard stage == .serving, self.exchange === exchange else { return }
        var bytes = services.takeScratch()
        endResponse(trailers: trailers, &bytes)
    }

    /// A body that doesn't become whole: the client is to see that.
    func failBody(of exchange: Exchange, _ error: any Error) {
        guard stage == .serving, self.exchange === exchange else { return }
        failBody(error)
    }

    /// The same for one that no task makes.
    func failBody(_ error: any Error) {
        if !(error is CancellationError) {
            present?.record?.error = error
            services.logger.error(
                "the body of a response failed",
                metadata: ["route": "\(present?.route ?? "")", "error": "\(error)"]
            )
        }
        cut()
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
    func findOutClient() {
        exchange?.onLoop(services.loop) { exchange, _ in exchange.clientEndedInput() }
        if client.entrance.probesClients { channel.probePeer(after: services.session.values.idleTime) }
    }

    /// Makes a problem of a response whose file can't be sent, before steps see it.
    func checkFile(of response: inout Response, at endpoint: Endpoint, _ request: Request) {
        guard case .file(let file) = response.body.content else { return }
        do throws(SocketError) {
            _ = try file.range()
        } catch {
            response = failure(of: error, endpoint.settings, request)
        }
    }

    /// The file of a response can't be sent, and nothing of the response has gone; steps have seen what they see.
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
    func writeInterim(_ status: HTTPResponse.Status, _ fields: HTTPFields) throws(HTTPError) {
        guard stage == .serving else { return }
        var bytes = services.takeScratch()
        defer { write(&bytes) }
        try session.writeInterim(status, fields, into: &bytes)
    }

    /// Sends a piece that the app has written.
    ///
    /// - Returns: whether it goes out.
    func writePiece(_ piece: [UInt8]) throws(HTTPError) -> Bool {
        guard stage == .serving else { return false }
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
}

// MARK: What an exchange asks

extension HTTPConnection: ExchangeCarrier {
    func wantBody() {
        var bytes = services.takeScratch()
        session.wantBody(into: &bytes)
        write(&bytes)
    }

    func setReadingBody(_ isReading: Bool) {
        guard stage == .serving, isBodyHeld == isReading else { return }
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
        channel.reset()
        end()
    }

    var isBehind: Bool {
        guard stage == .serving else { return false }
        // The reason is reported at the end of the turn, which a writer that doesn't wait would never let come.
        if !channel.canWrite { return true }
        holdBackIfBehind()
        if isStalled { armTimer() }
        return isStalled
    }
}
