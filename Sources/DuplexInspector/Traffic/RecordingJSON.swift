// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// Recordings as the page gets them.
enum RecordingJSON {
    /// How many entries a list has at most.
    static let rowLimit = 5_000
    /// How many messages are handed out at once.
    static let messageLimit = 200
    /// How many errors of a WebSocket are handed out.
    static let errorLimit = 100
    /// How much of the payload of each goes with it.
    static let payloadLimit = 64 << 10

    /// The recordings that there are.
    struct List: Codable {
        var recordings: [Summary]
    }

    /// What the list of recordings has of one.
    struct Summary: Codable {
        var id: Int
        var name: String
        var requests: Int
        var webSockets: Int
        /// The size of the file that it came from.
        var size: Int?
        /// How many entries of the file couldn't be read.
        var skipped: Int

        init(_ recording: Recording, id: Int, name: String, size: Int? = nil, skipped: Int = 0) {
            self.id = id
            self.name = name
            requests = recording.exchanges.count
            webSockets = recording.connections.count
            self.size = size
            self.skipped = skipped
        }
    }

    // MARK: Entries

    /// The entries in the order of their times.
    struct Entries: Codable {
        var entries: [Row]
        /// How many there are; the list has ``rowLimit`` at most.
        var total: Int

        /// - Parameters:
        ///   - recording: all of it.
        ///   - url: a URL as it is shown.
        init(_ recording: Recording, _ url: (String) -> String) {
            let rows =
                recording.exchanges.map { Row($0, url($0.url)) } + recording.connections.map { Row($0, url($0.url)) }
            let sorted = rows.enumerated().sorted { ($0.element.began, $0.offset) < ($1.element.began, $1.offset) }
            entries = sorted.prefix(rowLimit).map(\.element)
            total = rows.count
        }
    }

    /// A request, or a WebSocket.
    struct Row: Codable {
        /// A letter for what it is, and its number in the recording.
        var id: String
        /// In seconds since 1970.
        var began: Double
        var method: String
        var url: String
        var status: Int
        /// Bytes of the response, or of all frames.
        var size: Int
        /// In seconds.
        var total: Double?
        /// How many frames a WebSocket has.
        var frames: Int?

        init(_ exchange: RecordedExchange, _ url: String) {
            id = "e\(exchange.id)"
            began = exchange.began
            method = exchange.method
            self.url = url
            status = exchange.status
            size = Int(clamping: exchange.responseBody.size)
            total = exchange.durations.total
        }

        init(_ connection: RecordedConnection, _ url: String) {
            id = "c\(connection.id)"
            began = connection.began
            method = "WebSocket"
            self.url = url
            status = 101
            size = Int(clamping: connection.frames.reduce(UInt64(0)) { $0 &+ $1.payload.size })
            total = connection.ended.map { max(0, $0 - connection.began) }
            frames = connection.frames.count
        }
    }

    /// A request, and a command line that makes it again.
    struct Exchange: Codable {
        var request: ExchangeJSON
        var curl: String?
    }

    /// What the page shows of a WebSocket beside its messages.
    struct Connection: Codable {
        struct Fault: Codable, Equatable {
            /// In seconds since 1970.
            var time: Double
            var message: String
        }

        var handshake: ExchangeJSON
        var subprotocol: String?
        var ended: Double?
        var code: Int?
        var reason: String?
        /// The first ``errorLimit``.
        var errors: [Fault]
        /// How many frames there are, and how many more were dropped.
        var frames: Int
        var lost: Int

        init(_ connection: RecordedConnection, frames count: Int) {
            var exchange = RecordedExchange(
                id: connection.id,
                began: connection.began,
                method: "GET",
                url: connection.url
            )
            exchange.requestHeaders = connection.requestHeaders
            exchange.responseHeaders = connection.responseHeaders
            exchange.status = 101
            exchange.reason = "Switching Protocols"
            exchange.peer = connection.remote
            exchange.local = connection.local
            handshake = ExchangeJSON(whole: exchange)
            subprotocol = connection.subprotocol
            ended = connection.ended
            code = connection.closeCode.map { Int($0) }
            reason = connection.closeReason
            errors = connection.errors.prefix(errorLimit).map { Fault(time: $0.time, message: $0.message) }
            frames = count
            lost = Int(clamping: connection.lostFrames)
        }
    }

    /// Some frames of a WebSocket, those with CBOR with its notation.
    struct Frames: Codable {
        var frames: [FrameJSON]
        /// How many there are.
        var total: Int

        init(_ frames: [RecordedFrame], of total: Int) {
            self.total = total
            self.frames = frames.map { frame in
                var shown = FrameJSON(frame, upTo: payloadLimit)
                guard frame.opcode == .binary else { return shown }
                let payload = PayloadText(frame.payload)
                if payload.kind == .cbor { shown.cbor = String(payload.text.prefix(payloadLimit)) }
                return shown
            }
        }
    }

    // MARK: Changes

    /// The number of a recording that was imported.
    struct Imported: Codable {
        var id: Int
    }

    /// How replays went.
    struct Outcomes: Codable {
        var outcomes: [Outcome]
        /// How many entries weren't replayed.
        var left: Int
    }

    /// How the replay of an entry went.
    struct Outcome: Codable, Equatable {
        var id: String
        var url: String
        /// The status that was recorded, and that of the replay.
        var recorded: Int
        var status: Int?
        var seconds: Double
        var differences: [String]
        var error: String?

        init(_ outcome: Replay.Outcome, id: String, url: String, recorded: Int) {
            self.id = id
            self.url = url
            self.recorded = recorded
            status = outcome.status
            seconds = outcome.seconds
            differences = outcome.differences
            error = outcome.error
        }
    }
}
