// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

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
                if !connection.conclude(&response, at: endpoint, request) { await send(response, request) }
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
}
