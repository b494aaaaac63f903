// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexSockets
import DuplexWebSockets
import DuplexWire
import Foundation

/// The connections of the process, the frames of those that are opened, and what may be done with them.
struct ConnectionsRoom: InspectorRoom {
    let page = "connections"
    let recorder: FrameRecorder
    /// Takes secrets out of what is exported.
    let mask: SecretMask
    /// The route of the page's own connection, whose frames would report themselves.
    let own: String

    private struct Wish: Decodable {
        var id: String
        var text: String?
        /// In base64.
        var data: String?
        var code: UInt16?
        var reason: String?
    }

    func add(to routes: inout InspectorRoutes) {
        let (recorder, own, mask) = (recorder, own, mask)
        routes.watch("connections") { _ in LiveState { await Self.all() } }
        routes.watch("frames") { parameters in
            guard let id = parameters["id"] else { throw LiveRefusal("“id” says of which connection.") }
            guard let entry = await ConnectionCensus.find(id), case .webSocket(let socket) = entry.subject else {
                throw LiveRefusal("There is no such WebSocket any more.")
            }
            if entry.facts.place == own || LiveViewer.isViewer(socket.id) {
                throw LiveRefusal("This connection feeds a page of an inspector: it would show itself.")
            }
            return FrameTopic.of(await recorder.watch(socket, entry.facts), mask)
        }
        routes.get("/connections/one") { request in try await Self.one(try request.query["id"] ?? "") }
        routes.get("/connections/frame") { request in try frame(request) }
        let budget = routes.budget
        routes.get("/connections/har") { request in
            try await file(request, budget) { recording in
                InspectorAnswer.attachment(HARFile.type, named: "connection.har", try HARFile.write(recording))
            }
        }
        routes.get("/connections/pcapng") { request in
            try await file(request, budget) { recording in
                InspectorAnswer.attachment(PcapngFile.type, named: "connection.pcapng", PcapngFile.write(recording))
            }
        }
        addChanges(to: &routes)
    }

    private func addChanges(to routes: inout InspectorRoutes) {
        routes.change(.sending, "/connections/send") { request, note in
            let (wish, socket) = try await Self.wish(request, note, "sends to")
            try await socket.send(try Self.message(of: wish))
            return Response(.noContent)
        }
        routes.change(.sending, "/connections/ping") { request, note in
            let (_, socket) = try await Self.wish(request, note, "pings")
            let roundTrip = try await socket.ping(timeout: .seconds(10))
            return try InspectorAnswer.json(Ping(seconds: roundTrip.inSeconds))
        }
        routes.change(.killing, "/connections/close") { request, note in
            let wish = try await request.decode(Wish.self, decoder: CompactJSON.decoder)
            note.says("closes \(wish.id) with \(wish.code ?? 1_000)")
            switch try await Self.subject(wish.id) {
            case .webSocket(let socket): try await Self.close(socket, wish)
            case .server(let connection): connection.close()
            case .none: throw Problem(.badRequest, "A connection of this kind can only be reset by its owner.")
            }
            return Response(.noContent)
        }
        routes.change(.killing, "/connections/reset") { request, note in
            let wish = try await request.decode(Wish.self, decoder: CompactJSON.decoder)
            note.says("resets \(wish.id)")
            switch try await Self.subject(wish.id) {
            case .webSocket(let socket): await socket.reset()
            case .server(let connection): connection.reset()
            case .none: throw Problem(.badRequest, "A connection of this kind can only be reset by its owner.")
            }
            return Response(.noContent)
        }
    }

    // MARK: Looking

    /// The connections of the process.
    struct List: Codable, Hashable, Sendable {
        var connections: [ConnectionFacts.Shown]
        /// Whether there are more.
        var isCut: Bool
    }

    /// One connection, with what happened until it was open.
    struct One: Codable {
        var facts: ConnectionFacts.Shown
        var timeline: TimelineJSON?
    }

    /// How long a ping took.
    struct Ping: Codable {
        var seconds: Double
    }

    private static func all() async -> List {
        let (entries, isCut) = await ConnectionCensus.take()
        return List(connections: entries.map(\.facts.shown), isCut: isCut)
    }

    private static func one(_ id: String) async throws -> Response {
        guard let entry = await ConnectionCensus.find(id) else {
            throw Problem(.notFound, "There is no such connection any more.")
        }
        let timeline = entry.facts.timeline.map { TimelineJSON($0) }
        return try InspectorAnswer.json(One(facts: entry.facts.shown, timeline: timeline))
    }

    /// How many times as much as a recording holds is held for the file that is made of it.
    private static let spread = 4

    /// What was recorded of a connection as a file, without its secrets.
    private func file(
        _ request: Request,
        _ budget: AnswerBudget,
        _ write: (Recording) throws -> Response
    ) async throws -> Response {
        guard let recording = await recorder.recording(of: try request.query["id"] ?? "") else {
            throw Problem(.notFound, "Nothing is recorded of that connection: nobody has opened it.")
        }
        return try await budget.holding(.bytes(recording.size * Self.spread)) { try write(mask.masked(recording)) }
    }

    /// A frame with all of its payload that is kept.
    private func frame(_ request: Request) throws -> Response {
        let items = try request.query
        guard let id = items["id"], let number = items["number"].flatMap(UInt64.init),
            let frame = masked(recorder.ring(of: id)?.all ?? [], at: number)
        else { throw Problem(.notFound, "That frame isn't kept any more.") }
        var answer = FrameJSON(frame, upTo: FrameRecorder.payloadLimit)
        let decoded = PayloadText(frame)
        if decoded.kind == .cbor { answer.cbor = decoded.text }
        return try InspectorAnswer.json(answer)
    }

    /// The frame of a number without its secrets, which may have begun in a fragment before it.
    private func masked(_ frames: [RecordedFrame], at number: UInt64) -> RecordedFrame? {
        guard let index = frames.firstIndex(where: { $0.number == number }) else { return nil }
        return mask.masked(frames, index..<(index + 1)).first
    }

    // MARK: Changing

    private static func subject(_ id: String) async throws -> ConnectionCensus.Subject {
        guard let entry = await ConnectionCensus.find(id) else {
            throw Problem(.notFound, "There is no such connection any more.")
        }
        return entry.subject
    }

    private static func wish(
        _ request: Request,
        _ note: ChangeNote,
        _ what: String
    ) async throws -> (Wish, WebSocket) {
        let wish = try await request.decode(Wish.self, decoder: CompactJSON.decoder)
        note.says("\(what) \(wish.id)")
        guard case .webSocket(let socket) = try await subject(wish.id) else {
            throw Problem(.badRequest, "That is no WebSocket.")
        }
        return (wish, socket)
    }

    private static func message(of wish: Wish) throws -> Message {
        if let text = wish.text { return .text(text) }
        guard let bytes = wish.data.flatMap({ Data(base64Encoded: $0) }) else {
            throw Problem(.badRequest, "“text” or “data”, in base64, is what is sent.")
        }
        return .binary([UInt8](bytes))
    }

    private static func close(_ socket: isolated WebSocket, _ wish: Wish) throws {
        let code = CloseCode(rawValue: wish.code ?? 1_000)
        guard code.isSendable else { throw Problem(.badRequest, "No side may close with \(code.rawValue).") }
        socket.beginClose(code, reason: wish.reason ?? "")
    }
}

/// What happened until a WebSocket was open, as the page draws it; times are in seconds since it began.
struct TimelineJSON: Codable, Sendable {
    struct Step: Codable, Sendable {
        var name: String
        var start: Double
        var end: Double
    }

    /// An address that was tried.
    struct Attempt: Codable, Sendable {
        var address: String
        var start: Double
        var end: Double
        var outcome: String
    }

    var attempt: Int
    var total: Double
    /// Of a client its stages; of a server TLS and the upgrade, where they took time.
    var steps: [Step]
    var attempts: [Attempt]
    var firstMessage: Double?

    init(_ timeline: WebSocketTimeline) {
        attempt = timeline.attempt
        total = timeline.began.duration(to: timeline.opened).inSeconds
        steps = Self.steps(of: timeline)
        attempts = (timeline.handshake?.connecting?.attempts ?? []).map { attempt in
            Attempt(
                address: "\(attempt.address)",
                start: attempt.start.inSeconds,
                end: attempt.end.inSeconds,
                outcome: "\(attempt.outcome)"
            )
        }
        firstMessage = timeline.firstMessage.map { timeline.began.duration(to: $0).inSeconds }
    }

    private static func steps(of timeline: WebSocketTimeline) -> [Step] {
        func step(_ name: String, _ began: Instant, _ ended: Instant) -> Step {
            let begin = timeline.began
            return Step(
                name: name,
                start: begin.duration(to: began).inSeconds,
                end: begin.duration(to: ended).inSeconds
            )
        }
        if let handshake = timeline.handshake {
            return handshake.steps.map { step($0.stage.rawValue, $0.began, $0.ended) }
        }
        var steps: [Step] = []
        if let tls = timeline.tls { steps.append(step("tls", timeline.began, timeline.began.advanced(by: tls))) }
        if let upgrade = timeline.upgrade {
            steps.append(step("upgrade", timeline.opened.advanced(by: .zero - upgrade), timeline.opened))
        }
        return steps
    }
}
