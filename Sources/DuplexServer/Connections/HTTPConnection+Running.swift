// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes
import Logging

// The task of a connection: runs the handlers that wait for something, one request after the other.
//
// There is one from the first such request on, for as long as the connection lasts: starting a task for each request
// would cost more than all the rest of a short one.

extension HTTPConnection {
    /// What the runner does next.
    indirect enum Work {
        case request(Endpoint, Request, @Sendable (Request) async throws -> Response)
        case response(Response)
        case admission(WebSocketEndpoint, Request, Acceptance, AdmissionDecision)
    }

    /// Where the runner stands.
    enum Runner {
        /// There is no task.
        case none
        /// It has something to do, or is about to look.
        case busy(next: Work?, task: RunningTask?)
        /// It waits for the next request.
        case waiting(ParkedTask, RunningTask?)
        /// The connection has ended; so does the task when it gets to look.
        case stopping
    }

    func start(_ work: Work) {
        switch runner {
        case .none:
            runner = .busy(next: work, task: nil)
            services.noteRunner(self)
            let connection = LoopBound(self, on: services.loop.thread)
            services.owner.spawn { await Self.run(connection) }
        case .busy(_, let task):
            runner = .busy(next: work, task: task)
        case .waiting(let parked, let task):
            runner = .busy(next: work, task: task)
            parked.resume()
        case .stopping: break
        }
    }

    private static func run(_ connection: LoopBound<HTTPConnection>) async {
        connection.value.noteTask()
        while let work = await nextWork(connection) {
            switch work {
            case .request(let endpoint, let request, let handler):
                await perform(connection, endpoint, request, handler)
            case .response(let response): await send(response, connection)
            case .admission(let endpoint, let request, let acceptance, let admit):
                await ask(admit, connection, endpoint, request, acceptance)
            }
        }
        connection.value.forgetTask()
    }

    private static func nextWork(_ connection: LoopBound<HTTPConnection>) async -> Work? {
        while true {
            switch connection.value.runner {
            case .none, .stopping: return nil
            case .busy(let work?, let task):
                connection.value.runner = .busy(next: nil, task: task)
                return work
            case .busy(nil, _):
                // What ends the wait is the next request or the end of the connection.
                await ParkedTask.park { task in connection.value.park(task) }
            case .waiting: return nil
            }
        }
    }

    /// Has the runner wait, unless something has come on its way here, which may have taken a turn of the loop.
    private func park(_ parked: ParkedTask) {
        if case .busy(nil, let task) = runner {
            runner = .waiting(parked, task)
        } else {
            parked.resume()
        }
    }

    private static func perform(
        _ connection: LoopBound<HTTPConnection>,
        _ endpoint: Endpoint,
        _ request: Request,
        _ handler: @Sendable (Request) async throws -> Response
    ) async {
        let response: Response
        do {
            response = try await handler(request)
        } catch {
            response = connection.value.failure(error, at: endpoint, request)
        }
        await send(response, connection)
    }

    /// Sends a response, and where its body is still to be made, makes it.
    private static func send(_ response: Response, _ connection: LoopBound<HTTPConnection>) async {
        switch response.body.content {
        case .bytes, .text: connection.value.respond(response)
        case .file(let file): await send(file, of: response, connection)
        case .writer(let length, let write): await send(write, length, of: response, connection)
        }
        connection.value.goOn()
    }

    private static func send(
        _ write: @Sendable (ResponseWriter) async throws -> Void,
        _ length: Int?,
        of response: Response,
        _ connection: LoopBound<HTTPConnection>
    ) async {
        guard let exchange = connection.value.beginBody(response, length) else { return }
        do {
            await exchange.setTrailers(response.trailers)
            // In answer to HEAD nothing is written: what has no end would never come to it.
            if connection.value.session.sendsBody { try await write(ResponseWriter(exchange: exchange)) }
            connection.value.finishBody(of: exchange, trailers: await exchange.trailers)
        } catch {
            connection.value.failBody(of: exchange, error)
        }
    }

    private static func send(
        _ file: ResponseFile,
        of response: Response,
        _ connection: LoopBound<HTTPConnection>
    ) async {
        let range: FileRange
        do {
            range = try file.range()
        } catch {
            connection.value.services.logger.error("a file can't be sent", metadata: ["error": "\(error)"])
            connection.value.respond(.problem(.internalServerError, "The server failed to answer this request."))
            return
        }
        guard let exchange = connection.value.beginBody(response, file.count) else { return }
        do {
            try await transmit(range, connection)
            connection.value.finishBody(of: exchange, trailers: response.trailers)
        } catch {
            connection.value.failBody(of: exchange, error)
        }
    }

    // MARK: On the loop

    /// Goes on behind a response that the runner has sent.
    func goOn() {
        takePending()
        settle()
    }

    /// Has the runner make the body of a response.
    func stream(_ response: Response) {
        start(.response(response))
    }

    private func beginBody(_ response: Response, _ length: Int?) -> Exchange? {
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

    private func finishBody(of exchange: Exchange, trailers: HTTPFields) {
        guard stage == .serving, self.exchange === exchange else { return }
        var bytes = services.takeScratch()
        finish(trailers: trailers, &bytes)
    }

    /// A body that doesn't become whole: the client is to see that.
    private func failBody(of exchange: Exchange, _ error: any Error) {
        guard stage == .serving, self.exchange === exchange else { return }
        if !(error is CancellationError) {
            services.logger.error(
                "the body of a response failed",
                metadata: ["route": "\(present?.route ?? "")", "error": "\(error)"]
            )
        }
        cut()
    }

    // MARK: Cancelling

    private func noteTask() {
        if case .busy(let work, _) = runner { runner = .busy(next: work, task: .current) }
    }

    private func forgetTask() {
        if case .stopping = runner { runner = .none }
        services.forgetRunner(self)
    }

    /// Cancels the handler that is at work.
    func cancelHandler() {
        if case .busy(_, let task) = runner { task?.cancel() }
    }

    func stopRunner() {
        if case .waiting(let parked, _) = runner { parked.resume() }
        runner = .stopping
    }

    /// Sends a piece that the app has written.
    func writePiece(_ piece: [UInt8]) throws(HTTPError) {
        guard stage == .serving else { return }
        var bytes = services.takeScratch()
        guard try session.beginPiece(piece.count, into: &bytes) else { return write(&bytes) }
        if piece.count < 4_096 {
            bytes.append(piece.span.raw)
        } else {
            channel.write(bytes.span.raw)
            bytes.removeAll(keepingCapacity: true)
            channel.writeNow(piece.span.raw)
        }
        session.endPiece(into: &bytes)
        write(&bytes)
    }
}
