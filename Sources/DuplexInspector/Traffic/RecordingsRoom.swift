// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexWire
import HTTPTypes

/// Recordings: that of the process as it is now, and those that were imported; looked at, exported and replayed.
struct RecordingsRoom: InspectorRoom {
    /// How many entries are replayed at once, one after the other.
    static let replayLimit = 100
    /// The number of the process's own.
    static let own = 0

    let page = "recordings"
    /// Takes secrets out of all that is shown, exported and replayed.
    let mask: SecretMask
    /// What the process has recorded by now; `nil` where there is nothing of its own to show.
    let recorded: (@Sendable () async -> Recording)?
    let store: RecordingStore

    /// - Parameters:
    ///   - mask: takes secrets out.
    ///   - store: keeps what is imported. Default: an empty one.
    ///   - recorded: gives what the process has recorded.
    init(mask: SecretMask, store: RecordingStore = RecordingStore(), recorded: (@Sendable () async -> Recording)? = nil)
    {
        self.mask = mask
        self.store = store
        self.recorded = recorded
    }

    /// Shows recordings of the app's from the beginning.
    func show(_ recordings: [InspectorRecording]) {
        for one in recordings {
            let reading = HARFile.Reading(recording: mask.masked(one.reading.recording), skipped: one.reading.skipped)
            store.add(reading, named: one.name, size: one.size, isImported: false)
        }
    }

    private struct Wish: Decodable {
        var recording: Int
        /// Of which all are replayed unless they are named.
        var entries: [String]?
        var target: String?
        /// Names and values of fields to send beside those that were recorded, or in their place.
        var headers: [[String]]?
    }

    func add(to routes: inout InspectorRoutes) {
        routes.get("/recordings/list") { _ in try await list() }
        let budget = routes.budget
        routes.get("/recordings/entries") { request in
            try InspectorAnswer.json(RecordingJSON.Entries(await recording(request)) { mask.masked(url: $0) })
        }
        routes.get("/recordings/entry") { request in try await entry(request, budget) }
        routes.get("/recordings/frames") { request in try await frames(request, budget) }
        routes.get("/recordings/har") { request in
            try await file(request, budget) {
                InspectorAnswer.attachment(HARFile.type, named: "recording.har", try HARFile.write($0))
            }
        }
        routes.get("/recordings/pcapng") { request in
            try await file(request, budget) { recording in
                InspectorAnswer.attachment(PcapngFile.type, named: "recording.pcapng", PcapngFile.write(recording))
            }
        }
        // Neither is a change of the app: a recording is kept by the inspector alone, for whoever looks.
        routes.mount { group in
            group.post("/recordings/import", .bodySize(HARFile.largest)) { request in
                try await InspectorRoutes.beside { try await take(request) }
            }
            group.post("/recordings/remove", .bodySize(.kibibytes(1))) { request in
                store.remove(try await request.decode(Wish.self, decoder: CompactJSON.decoder).recording)
                return Response(.noContent)
            }
        }
        routes.change(.replaying, "/recordings/replay") { request, note in try await replay(request, note) }
    }

    // MARK: Looking

    private func list() async throws -> Response {
        var list: [RecordingJSON.Summary] = []
        if let recorded { list.append(RecordingJSON.Summary(await recorded(), id: Self.own, name: "This process")) }
        list += store.all.map { entry in
            RecordingJSON.Summary(
                entry.recording,
                id: entry.id,
                name: entry.name,
                size: entry.size,
                skipped: entry.skipped
            )
        }
        return try InspectorAnswer.json(RecordingJSON.List(recordings: list))
    }

    /// How many times as much as a recording holds is held for what is made of it.
    static let spread = 4

    /// A recording, that of the process with its secrets.
    private func recording(_ id: Int) async throws -> Recording {
        if id == Self.own, let recorded { return await recorded() }
        guard let entry = store[id] else { throw Problem(.notFound, "That recording isn't kept any more.") }
        return entry.recording
    }

    private func recording(_ request: Request) async throws -> Recording {
        guard let id = try request.query["recording"].flatMap({ Int($0) }) else {
            throw Problem(.badRequest, "“recording” says which one.")
        }
        return try await recording(id)
    }

    /// A whole recording as a file, without its secrets.
    private func file(
        _ request: Request,
        _ budget: AnswerBudget,
        _ write: (Recording) throws -> Response
    ) async throws -> Response {
        let recording = try await recording(request)
        return try await budget.holding(.bytes(recording.size * Self.spread)) { try write(mask.masked(recording)) }
    }

    private func entry(_ request: Request, _ budget: AnswerBudget) async throws -> Response {
        let recording = try await recording(request)
        let id = try request.query["entry"] ?? ""
        guard let found = recording.exchanges.first(where: { "e\($0.id)" == id }) else {
            var connection = try connection(id, in: recording)
            let count = connection.frames.count
            connection.frames = []
            return try InspectorAnswer.json(RecordingJSON.Connection(mask.masked(connection), frames: count))
        }
        return try await budget.holding(.bytes(found.size * Self.spread)) {
            let exchange = mask.masked(found)
            let curl = CurlCommand(exchange)?.text
            return try InspectorAnswer.json(RecordingJSON.Exchange(request: ExchangeJSON(whole: exchange), curl: curl))
        }
    }

    private func connection(_ id: String, in recording: Recording) throws(Problem) -> RecordedConnection {
        guard let connection = recording.connections.first(where: { "c\($0.id)" == id }) else {
            throw Problem(.notFound, "That WebSocket isn't in the recording any more.")
        }
        return connection
    }

    /// Some frames of a connection, of which no others are read.
    private func frames(_ request: Request, _ budget: AnswerBudget) async throws -> Response {
        let items = try request.query
        let all = try connection(items["entry"] ?? "", in: try await recording(request)).frames
        let first = min(max(0, items["from"].flatMap { Int($0) } ?? 0), all.count)
        let range = first..<min(first + RecordingJSON.messageLimit, all.count)
        return try await budget.holding(.bytes(all[range].size * Self.spread)) {
            try InspectorAnswer.json(RecordingJSON.Frames(mask.masked(all, range), of: all.count))
        }
    }

    // MARK: Importing

    private func take(_ request: Request) async throws -> Response {
        let bytes = try await request.body.collect(limit: HARFile.largest)
        let reading: HARFile.Reading
        do {
            reading = try HARFile.read(bytes)
        } catch {
            throw Problem(.badRequest, error.description)
        }
        let masked = HARFile.Reading(recording: mask.masked(reading.recording), skipped: reading.skipped)
        let name = try request.query["name"] ?? ""
        let id = store.add(masked, named: name.isEmpty ? "Recording" : name, size: bytes.count)
        return try InspectorAnswer.json(RecordingJSON.Imported(id: id))
    }

    // MARK: Replaying

    private func replay(_ request: Request, _ note: ChangeNote) async throws -> Response {
        let wish = try await request.decode(Wish.self, decoder: CompactJSON.decoder)
        guard let target = wish.target.flatMap({ ReplayTarget($0) }) else {
            throw Problem(.badRequest, "A server is named by a URL without a path: http://host:port, or wss://host.")
        }
        note.says("replays recording \(wish.recording) against \(wish.target ?? "")")
        var replay = Replay(target: target)
        for pair in wish.headers ?? [] {
            guard pair.count == 2, let name = HTTPField.Name(pair[0]), HTTPField.isValidValue(pair[1]) else {
                throw Problem(.badRequest, "“\(pair.first ?? "")” is no field of a request.")
            }
            replay.headers.append(HTTPField(name: name, value: pair[1]))
        }
        let recording = mask.masked(try await recording(wish.recording))
        return try InspectorAnswer.json(await outcomes(of: replay, recording, wish.entries.map { Set($0) }))
    }

    /// In the order of their times; those beyond the bound are left.
    private func outcomes(
        of replay: Replay,
        _ recording: Recording,
        _ wanted: Set<String>?
    ) async -> RecordingJSON.Outcomes {
        enum Item {
            case exchange(RecordedExchange)
            case connection(RecordedConnection)
        }
        var items = recording.exchanges.map { ("e\($0.id)", $0.began, Item.exchange($0)) }
        items += recording.connections.map { ("c\($0.id)", $0.began, Item.connection($0)) }
        items = items.filter { wanted?.contains($0.0) ?? true }.sorted { $0.1 < $1.1 }
        var list: [RecordingJSON.Outcome] = []
        for (id, _, item) in items.prefix(Self.replayLimit) where !Task.isCancelled {
            switch item {
            case .exchange(let exchange):
                let outcome = await replay.run(exchange)
                list.append(RecordingJSON.Outcome(outcome, id: id, url: exchange.url, recorded: exchange.status))
            case .connection(let connection):
                let outcome = await replay.run(connection)
                list.append(RecordingJSON.Outcome(outcome, id: id, url: connection.url, recorded: 101))
            }
        }
        return RecordingJSON.Outcomes(outcomes: list, left: items.count - list.count)
    }
}
