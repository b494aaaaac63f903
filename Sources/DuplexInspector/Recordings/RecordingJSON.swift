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

    /// What the list of recordings has of one.
    static func summary(_ recording: Recording, id: Int, name: String, size: Int?, skipped: Int) -> JSONText {
        var members = JSONText.Members()
        members.add("id", id)
        members.add("name", name)
        members.add("requests", recording.exchanges.count)
        members.add("webSockets", recording.connections.count)
        members.add("size", size)
        members.add("skipped", skipped)
        return .object(members.all)
    }

    /// The entries in the order of their times.
    ///
    /// - Parameters:
    ///   - recording: all of it.
    ///   - url: a URL as it is shown.
    /// - Returns: the list.
    static func rows(_ recording: Recording, _ url: (String) -> String) -> JSONText {
        let rows =
            recording.exchanges.map { ($0.began, row($0, url)) }
            + recording.connections.map { ($0.began, row($0, url)) }
        let sorted = rows.enumerated().sorted { ($0.element.0, $0.offset) < ($1.element.0, $1.offset) }
        var members = JSONText.Members()
        members.add("entries", .array(sorted.prefix(rowLimit).map(\.element.1)))
        members.add("total", rows.count)
        return .object(members.all)
    }

    private static func row(_ exchange: RecordedExchange, _ url: (String) -> String) -> JSONText {
        var members = JSONText.Members()
        members.add("id", "e\(exchange.id)")
        members.add("began", exchange.began)
        members.add("method", exchange.method)
        members.add("url", url(exchange.url))
        members.add("status", exchange.status)
        members.add("size", .integer(Int64(clamping: exchange.responseBody.size)))
        members.add("total", exchange.durations.total)
        return .object(members.all)
    }

    private static func row(_ connection: RecordedConnection, _ url: (String) -> String) -> JSONText {
        var members = JSONText.Members()
        members.add("id", "c\(connection.id)")
        members.add("began", connection.began)
        members.add("method", "WebSocket")
        members.add("url", url(connection.url))
        members.add("status", 101)
        let size = connection.frames.reduce(UInt64(0)) { $0 &+ $1.payload.size }
        members.add("size", .integer(Int64(clamping: size)))
        members.add("total", connection.ended.map { max(0, $0 - connection.began) })
        members.add("frames", connection.frames.count)
        return .object(members.all)
    }

    /// What the page shows of a WebSocket beside its messages.
    static func whole(_ connection: RecordedConnection, frames count: Int) -> JSONText {
        var exchange = RecordedExchange(id: connection.id, began: connection.began, method: "GET", url: connection.url)
        exchange.requestFields = connection.requestFields
        exchange.responseFields = connection.responseFields
        exchange.status = 101
        exchange.reason = "Switching Protocols"
        exchange.peer = connection.remote
        exchange.local = connection.local
        var members = JSONText.Members()
        members.add("handshake", ExchangeJSON.whole(exchange))
        members.add("subprotocol", connection.subprotocol)
        members.add("ended", connection.ended)
        members.add("code", connection.closeCode.map { Int($0) })
        members.add("reason", connection.closeReason)
        members.add("errors", .array(connection.errors.prefix(errorLimit).map { error($0) }))
        members.add("frames", count)
        members.add("lost", .integer(Int64(clamping: connection.lostFrames)))
        return .object(members.all)
    }

    private static func error(_ fault: RecordedConnection.Fault) -> JSONText {
        var members = JSONText.Members()
        members.add("time", fault.time)
        members.add("message", fault.message)
        return .object(members.all)
    }

    /// Some frames of so many.
    static func frames(_ frames: [RecordedFrame], of total: Int) -> JSONText {
        var members = JSONText.Members()
        members.add("frames", .array(frames.map { frame($0) }))
        members.add("total", total)
        return .object(members.all)
    }

    /// A frame, with its notation where it is CBOR.
    private static func frame(_ frame: RecordedFrame) -> JSONText {
        let json = FrameTopic.json(frame, upTo: payloadLimit)
        guard frame.opcode == .binary, case .object(var members) = json else { return json }
        let payload = PayloadText(frame.payload)
        if payload.kind == .cbor {
            members.append(JSONText.Member(name: "cbor", value: .string(String(payload.text.prefix(payloadLimit)))))
        }
        return .object(members)
    }

    /// How a replay went.
    static func outcome(_ outcome: Replay.Outcome, id: String, url: String, recorded status: Int) -> JSONText {
        var members = JSONText.Members()
        members.add("id", id)
        members.add("url", url)
        members.add("recorded", status)
        members.add("status", outcome.status)
        members.add("seconds", outcome.seconds)
        members.add("differences", .array(outcome.differences.map { .string($0) }))
        members.add("error", outcome.error)
        return .object(members.all)
    }
}
