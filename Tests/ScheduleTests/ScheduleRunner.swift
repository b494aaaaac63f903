// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Synchronization

/// Performs schedules, one after the other: makes the connection, plays the peer, and compares what the app got with the
/// model.
final class ScheduleRunner: Sendable {
    /// Where connections are made.
    enum Network: Sendable {
        /// In memory, on a loop whose time the test moves.
        case memory(TestClient, TestLoop)
        /// On ports of the system: the server's, and a listener for clients.
        case ports(SocketAddress, Arrivals, TLSOptions?)
    }

    /// The app of the schedule that is being performed.
    private let app = Mutex<ScheduledApp?>(nil)

    var current: ScheduledApp? { app.withLock { $0 } }

    /// Routes for all settings, with either kind of handler.
    func configure(_ server: inout WebServer) {
        // A peer on a busy machine has more time to take what came back, before its connection ends.
        server.closeTimeout = .limit(seconds: 120)
        let handler = ScheduledHandler { [self] in current }
        for (index, settings) in Schedule.settings.enumerated() {
            let compression = settings.isCompressed ? WebSocketCompression.enabled : .disabled
            server.group("/\(index)", .limits(settings.limits), .pings(.disabled), .compression(compression)) {
                $0.webSocket("/handler", handler: handler)
                $0.webSocket("/task") { [self] socket in await current?.handle(socket) }
            }
        }
    }

    /// Performs a schedule.
    ///
    /// - Returns: What was wrong, if anything was.
    func run(_ schedule: Schedule, over network: Network) async throws -> [String] {
        let app = ScheduledApp(schedule)
        self.app.withLock { $0 = app }
        let play: SchedulePlay
        switch schedule.role {
        case .server: play = SchedulePlay(schedule, app, try await connect(over: network))
        case .client: play = SchedulePlay(schedule, app, try await accept(app, over: network))
        }
        let outcome: ScheduledApp.Outcome
        if case .memory(_, let loop) = network {
            outcome = try await play.run(movingTimeOf: loop)
        } else {
            outcome = try await play.run(movingTimeOf: nil)
        }
        return schedule.faults(of: outcome, pongs: play.pongs, echoes: play.echoes)
    }

    // MARK: Connections

    /// Connects to the server under test.
    private func connect(over network: Network) async throws -> Socket {
        switch network {
        case .memory(let client, let loop):
            let options = client.routed(ConnectOptions())
            return try await Socket.connect(to: .host("localhost", port: 80), options: options, on: loop.group)
        case .ports(let address, _, let tls):
            var options = ConnectOptions(timeout: .limit(seconds: 60))
            if let tls { options.tls = tls }
            let url = "\(tls == nil ? "tcp" : "tls")://\(address)"
            return try await Socket.connect(to: try Endpoint(url), options: options)
        }
    }

    /// Has the client under test connect, and returns its server's side.
    private func accept(_ app: ScheduledApp, over network: Network) async throws -> Socket {
        var options = WebSocketOptions()
        options.limits = app.schedule.settings.limits
        options.pings = .disabled
        options.compression = app.schedule.settings.isCompressed ? .enabled : .disabled
        options.streamsMessages = app.schedule.receiver == .pieces && app.schedule.echoes
        options.proxy = .none
        options.closeTimeout = .limit(seconds: 120)
        switch network {
        case .memory(_, let loop):
            let link = MemoryLink()
            options.connectOptions.dial = { eventLoop, core throws(SocketError) in
                link.channel(.near, on: eventLoop, core)
            }
            let peer = await link.socket(.far, on: loop.loop)
            open("ws://localhost/", options, app, on: loop.group)
            return peer
        case .ports(_, let arrivals, let tls):
            options.connectTimeout = .seconds(60)
            if let tls { options.tls = tls }
            arrivals.begin()
            let scheme = tls == nil ? "ws" : "wss"
            open("\(scheme)://\(arrivals.address)/", options, app, on: .shared, arrivals)
            return try await arrivals.next()
        }
    }

    private func open(
        _ url: String,
        _ options: WebSocketOptions,
        _ app: ScheduledApp,
        on group: EventLoopGroup,
        _ arrivals: Arrivals? = nil
    ) {
        let handler = app.schedule.receiver == .handler ? ScheduledHandler { app } : nil
        let loop = group.next()
        Task(executorPreference: loop) {
            do {
                let one = EventLoopGroup(of: [loop])
                let socket = try await WebSocket.connect(to: url, options: options, on: one, handler: handler)
                // Kept until its handler was told of the end.
                if handler == nil { await app.handle(socket) } else { _ = try await app.end() }
            } catch {
                arrivals?.fail(error)
                app.fail(error)
            }
        }
    }
}

/// The connections of a listener.
struct Arrivals: Sendable {
    let address: SocketAddress
    private let outcomes = Bulletin<[Result<Socket, any Error>]>([])

    /// Runs the body with a listener that is closed on the way out.
    static func listening(tls: TLSServerOptions?, _ body: (Arrivals) async throws -> Void) async throws {
        let listener = try SocketListener.bind(.tcp(port: 0), tls: tls)
        let arrivals = Arrivals(address: listener.localAddress)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                for try await socket in listener { arrivals.outcomes.change { $0.append(.success(socket)) } }
            }
            try await body(arrivals)
            await listener.close()
        }
    }

    /// The next one.
    ///
    /// - Throws: the failure of a client that hasn't come so far.
    func next() async throws -> Socket {
        try await outcomes.wait { $0.isEmpty ? nil : $0.removeFirst() }.get()
    }

    /// Forgets the outcome of an earlier client.
    func begin() {
        outcomes.change { $0 = [] }
    }

    /// A client has failed, and may not have come.
    func fail(_ error: any Error) {
        outcomes.change { $0.append(.failure(error)) }
    }
}

/// One schedule on its connection: sends what it says, and takes what comes back.
final class SchedulePlay: Sendable {
    private struct Received {
        var reader = FrameReader()
        var pongs: [[UInt8]] = []
        var echoes: [RawFrame] = []
        var hasClose = false
        var hasAnswered = false
        /// Whether this side has sent all that the schedule says.
        var isSent = false
    }

    private let schedule: Schedule
    private let app: ScheduledApp
    private let peer: Socket
    private let received = Bulletin(Received())

    var pongs: [[UInt8]] { received.value.pongs }
    /// The messages that came back.
    var echoes: [RawFrame] { received.value.echoes }

    init(_ schedule: Schedule, _ app: ScheduledApp, _ peer: Socket) {
        self.schedule = schedule
        self.app = app
        self.peer = peer
    }

    /// Plays the peer to the end of the connection.
    ///
    /// - Returns: What the app got.
    func run(movingTimeOf loop: TestLoop?) async throws -> ScheduledApp.Outcome {
        let reading = try await shakeHands()
        var position = schedule.withHandshake
        for step in schedule.steps {
            switch step {
            case .turn: await loop?.settle()
            case .send(let count):
                // A connection that has failed takes no more.
                try? await peer.write(Array(schedule.bytes[position..<(position + count)]))
                position += count
            }
        }
        app.goOn()
        received.change { $0.isSent = true }
        await answerIfDue()
        switch schedule.ending {
        case .endOfStream: await peer.finishWriting()
        case .reset:
            if schedule.steps.count > 3 { await loop?.settle() }
            await peer.reset()
        case .close, .violation, .answer: break
        }
        let outcome = try await end(movingTimeOf: loop)
        reading.cancel()
        _ = await reading.value
        await peer.close()
        await loop?.settle()
        return outcome
    }

    private func end(movingTimeOf loop: TestLoop?) async throws -> ScheduledApp.Outcome {
        // A task elsewhere is as quick as the machine is.
        guard let loop, schedule.receiver != .elsewhere else { return try await app.end() }
        await loop.settle()
        for _ in 0..<2_000 where !app.isOver { await loop.advance(by: .milliseconds(500)) }
        if !app.isOver { throw Stuck() }
        return app.outcome
    }

    /// The app's connection doesn't end.
    struct Stuck: Error {}

    // MARK: The handshake

    /// Opens the WebSocket, with the first bytes behind the end of the head.
    private func shakeHands() async throws -> Task<Void, Never> {
        let first = Array(schedule.bytes[..<schedule.withHandshake])
        if schedule.role == .server {
            let kind = schedule.receiver == .handler ? "handler" : "task"
            let path = "/\(schedule.settingsIndex)/\(kind)"
            let request = RawPeer.upgradeRequest(path, extensions)
            try await send(head: request, first)
            let (_, rest) = try await readHead()
            return read(after: rest)
        }
        let (request, rest) = try await readHead()
        try await send(head: RawPeer.upgradeResponse(to: request, [extensions]), first)
        return read(after: rest)
    }

    private var extensions: String {
        schedule.settings.isCompressed
            ? "Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; client_no_context_takeover"
            : "X-Extensions: none"
    }

    private func send(head: String, _ first: [UInt8]) async throws {
        let head = Array(head.utf8)
        let cut = min(schedule.headCut ?? 0, head.count - 1)
        if cut > 0 { try await peer.write(Array(head[..<cut])) }
        try await peer.write(Array(head[cut...]) + first)
    }

    private func readHead() async throws -> (String, [UInt8]) {
        let end = Array("\r\n\r\n".utf8)
        var bytes: [UInt8] = []
        while true {
            if let index = bytes.indices.first(where: { bytes[$0...].starts(with: end) }) {
                return (String(decoding: bytes[..<(index + 4)], as: UTF8.self), Array(bytes[(index + 4)...]))
            }
            guard let more = try await peer.read() else { throw Stuck() }
            bytes += more
        }
    }

    // MARK: What comes back

    private func read(after rest: [UInt8]) -> Task<Void, Never> {
        take(rest)
        return Task(executorPreference: peer.loop) {
            // A reset ends what comes back as well.
            while let bytes = try? await self.peer.read() {
                self.take(bytes)
                await self.answerIfDue()
            }
        }
    }

    private func take(_ bytes: [UInt8]) {
        received.change { received in
            received.reader.append(bytes)
            while let frame = received.reader.next() {
                switch frame.opcode {
                case 0x8: received.hasClose = true
                case 0xA: received.pongs.append(frame.payload)
                default: received.echoes.append(frame)
                }
            }
        }
    }

    /// Answers a close frame after all that was to be sent, if this side hasn't sent one, and ends the stream.
    private func answerIfDue() async {
        let isDue = received.change { received in
            let isDue = received.hasClose && received.isSent && !received.hasAnswered
            received.hasAnswered = received.hasAnswered || isDue
            return isDue
        }
        guard isDue else { return }
        if schedule.ending == .answer {
            let close = RawFrame.close(1_000).bytes(key: schedule.role == .server ? [1, 2, 3, 4] : nil)
            try? await peer.write(close)
        }
        if schedule.ending != .reset { await peer.finishWriting() }
    }
}
