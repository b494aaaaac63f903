// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Logging

/// The task of a connection: runs the handlers that wait for something, one request after the other.
///
/// There is one from the first such request on, for as long as the connection lasts: starting a task for each request
/// would cost more than all the rest of a short one. Handlers run isolated to this actor, whose executor is the loop, so
/// that calls between them, the connection and its exchanges go on without a step of the executor.
actor HandlerRunner {
    /// What is to be done next.
    indirect enum Work {
        case request(Endpoint, Request, @Sendable (Request) async throws -> Response)
        case response(Response, Request)
        case admission(WebSocketEndpoint, Request, Acceptance, AdmissionDecision)
    }

    private enum Stage {
        /// It has something to do, or is about to look.
        case busy
        /// It waits for the next request.
        case waiting(ParkedTask)
        /// The connection has ended; so does the task when it gets to look.
        case stopping
    }

    nonisolated let loop: EventLoop
    private let bound: LoopBound<HTTPConnection>
    private var stage = Stage.busy
    private var next: Work?
    private var task: RunningTask?
    /// Identifies its task, in case it takes long.
    private(set) var identity = TaskIdentity.none

    init(_ connection: LoopBound<HTTPConnection>, on loop: EventLoop) {
        self.loop = loop
        bound = connection
    }

    /// The loop, which runs what is isolated to this actor.
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe loop.asUnownedSerialExecutor()
    }

    var connection: HTTPConnection { bound.value }

    // MARK: As the connection sees it

    /// Whether a handler is at work, or about to be.
    var isBusy: Bool {
        if case .busy = stage { true } else { false }
    }

    func start(_ work: Work) {
        next = work
        guard case .waiting(let parked) = stage else { return }
        stage = .busy
        parked.resume()
    }

    /// Cancels the handler that is at work.
    func cancel() {
        if isBusy { task?.cancel() }
    }

    /// Has the task end as soon as it gets to look.
    func stop() {
        if case .waiting(let parked) = stage { parked.resume() }
        stage = .stopping
    }

    // MARK: The task

    func run() async {
        task = .current
        identity = .current
        while isBusy {
            guard let work = next else {
                // What ends the wait is the next request or the end of the connection.
                await ParkedTask.park { park($0) }
                continue
            }
            next = nil
            switch work {
            case .request(let endpoint, let request, let handler):
                var response: Response
                // Not in a function of its own: each that waits costs as much as a short handler.
                do {
                    response = try await handler(request)
                } catch {
                    response = connection.failure(error, at: endpoint, request)
                }
                if !connection.finishAndSend(&response, at: endpoint, request) { await send(response, request) }
            case .response(let response, let request): await send(response, request)
            case .admission(let endpoint, let request, let acceptance, let admit):
                await ask(admit, endpoint, request, acceptance)
            }
        }
        task = nil
        connection.runnerEnded()
    }

    /// Waits, unless something has come on the way here.
    private func park(_ parked: ParkedTask) {
        if isBusy && next == nil { stage = .waiting(parked) } else { parked.resume() }
    }

    // MARK: What the task does

    /// Has the app decide; what the client sends meanwhile waits, as it does behind every request.
    func ask(
        _ admit: AdmissionDecision,
        _ endpoint: WebSocketEndpoint,
        _ request: Request,
        _ acceptance: Acceptance
    ) async {
        let verdict: AdmissionVerdict
        do {
            if let span = connection.openingSpan {
                verdict = try await span.around { try await admit(request) }
            } else {
                verdict = try await admit(request)
            }
        } catch {
            verdict = .refused(endpoint.settings.response(of: connection.problem(error, request), request))
        }
        connection.act(on: verdict, request, endpoint, acceptance)
        connection.goOn()
    }

    /// Sends a response whose body is still to be made, and makes it.
    func send(_ response: Response, _ request: Request) async {
        switch response.body.content {
        case .bytes, .text, .pushed: break
        case .file(let file): connection.send(file, of: response, to: request)
        case .writer(let length, let write): await send(write, length, of: response)
        case .coded(let coded): await send(coded, of: response, request)
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
            if connection.sendsBody { try await write(ResponseWriter(exchange: exchange)) }
            connection.finishBody(of: exchange, trailers: await exchange.trailers)
        } catch {
            connection.failBody(of: exchange, error)
        }
    }

    /// Sends a body that is put into a coding on its way.
    private func send(_ coded: CodedBody, of response: Response, _ request: Request) async {
        let file: LoopBound<FileRange>?
        do {
            file = if case .file(let file) = coded.body.content { try bound(file) } else { nil }
        } catch {
            return connection.fileFailed(error, request)
        }
        guard let exchange = connection.beginBody(response, nil) else { return }
        do {
            await exchange.setTrailers(response.trailers)
            if connection.sendsBody {
                try await exchange.beginCoding(coded)
                switch coded.body.content {
                case .bytes(let bytes): try await send(bytes, to: exchange)
                case .text(let text): try await send(Array(text.utf8), to: exchange)
                case .writer(_, let write): try await write(ResponseWriter(exchange: exchange))
                case .file, .pushed, .coded: break
                }
                if let file { try await send(file, to: exchange) }
                try await exchange.endCoding()
            }
            connection.finishBody(of: exchange, trailers: await exchange.trailers)
        } catch {
            connection.failBody(of: exchange, error)
        }
    }

    private func bound(_ file: ResponseFile) throws(SocketError) -> LoopBound<FileRange> {
        LoopBound(try file.range(), on: loop.thread)
    }

    private func send(_ bytes: [UInt8], to exchange: Exchange) async throws {
        for start in stride(from: 0, to: bytes.count, by: Self.codedPiece) {
            let piece = bytes[start..<min(start + Self.codedPiece, bytes.count)]
            try await exchange.write(Array(piece), flushes: false)
        }
    }

    /// The system can't move what is coded on the way: it is read here.
    private func send(_ file: LoopBound<FileRange>, to exchange: Exchange) async throws {
        while file.value.remaining > 0 {
            let part = file.value.part.prefix(UInt64(Self.codedPiece))
            if !part.isCached { try await BlockingThreads.files.runToEnd { part.readAhead() } }
            try await exchange.write(try file.value.read(limit: Self.codedPiece), flushes: false)
        }
    }

    /// How much of a body is coded at once.
    private static var codedPiece: Int { 64 * 1_024 }
}
