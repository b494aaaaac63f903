// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Foundation
import HTTPTypes

/// An HTTP Archive, version 1.2, with WebSockets as Chromium has them.
///
/// A WebSocket is an entry whose `_resourceType` is `websocket`; its messages are in `_webSocketMessages`: `type` is `send` for
/// what the client sent, `time` is in seconds since 1970, `data` is text for opcode 1 and base64 for others. An `error` has
/// the opcode -1, and words as its data. Messages are whole there: fragments are put together. What starts with an underscore
/// is nobody's standard (HAR section 3).
enum HARFile {
    static let type: MediaType = "application/json"

    /// The archive of a recording, in UTF-8.
    static func write(_ recording: Recording) -> [UInt8] {
        let entries =
            recording.exchanges.map { ($0.began, entry($0)) } + recording.connections.map { ($0.began, entry($0)) }
        let sorted = entries.enumerated().sorted { ($0.element.0, $0.offset) < ($1.element.0, $1.offset) }
        let log = object { log in
            log.add("version", "1.2")
            log.add("creator", named("Duplex"))
            log.add("pages", .array([]))
            log.add("entries", .array(sorted.map(\.element.1)))
        }
        return Array(object { $0.add("log", log) }.text.utf8)
    }

    static func object(_ build: (inout JSONText.Members) -> Void) -> JSONText {
        var members = JSONText.Members()
        build(&members)
        return .object(members.all)
    }

    private static func named(_ name: String) -> JSONText {
        object { creator in
            creator.add("name", name)
            creator.add("version", "1")
        }
    }

    // MARK: Entries

    private static func entry(_ exchange: RecordedExchange) -> JSONText {
        object { entry in
            entry.add("startedDateTime", HARTime.text(exchange.began))
            entry.add("time", exchange.durations.total * 1_000)
            entry.add("request", request(exchange))
            entry.add("response", response(exchange))
            entry.add("cache", .object([]))
            entry.add("timings", timings(exchange.durations))
            add(server: exchange.server, client: exchange.client, to: &entry)
            entry.add("_resourceType", "fetch")
            entry.add("_route", exchange.route)
            entry.add("_error", exchange.error)
        }
    }

    private static func entry(_ connection: RecordedConnection) -> JSONText {
        var exchange = RecordedExchange(id: 0, began: connection.began, method: "GET", url: connection.url)
        exchange.requestFields = connection.requestFields
        exchange.responseFields = connection.responseFields
        exchange.status = 101
        exchange.reason = "Switching Protocols"
        let duration = max(0, (connection.ended ?? connection.frames.last?.time ?? connection.began) - connection.began)
        return object { entry in
            entry.add("startedDateTime", HARTime.text(connection.began))
            entry.add("time", duration * 1_000)
            entry.add("request", request(exchange))
            entry.add("response", response(exchange))
            entry.add("cache", .object([]))
            entry.add("timings", timings(RecordedExchange.Durations(sending: duration)))
            add(server: connection.server, client: connection.client, to: &entry)
            entry.add("_resourceType", "websocket")
            entry.add("_webSocketMessages", .array(messages(connection) + connection.errors.map { error($0) }))
            entry.add("_closeCode", connection.closeCode.map { Int($0) })
            entry.add("_closeReason", connection.closeReason)
            if connection.ended == nil { entry.add("_isOpen", true) }
        }
    }

    private static func add(server: SocketAddress?, client: SocketAddress?, to entry: inout JSONText.Members) {
        if let server, server.path == nil { entry.add("serverIPAddress", server.host) }
        if let client, client.path == nil { entry.add("connection", String(client.port)) }
    }

    private static func timings(_ durations: RecordedExchange.Durations) -> JSONText {
        object { timings in
            timings.add("send", (durations.head ?? 0) * 1_000)
            timings.add("wait", (durations.handler ?? 0) * 1_000)
            timings.add("receive", (durations.sending ?? 0) * 1_000)
        }
    }

    // MARK: Requests and responses

    private static func request(_ exchange: RecordedExchange) -> JSONText {
        object { request in
            request.add("method", exchange.method)
            request.add("url", exchange.url)
            request.add("httpVersion", exchange.version)
            request.add(
                "cookies",
                .array(cookies(exchange.requestFields[values: .cookie].flatMap { $0.split(separator: ";") }))
            )
            request.add("headers", headers(exchange.requestFields))
            request.add("queryString", .array(query(exchange.url)))
            request.add("headersSize", -1)
            request.add("bodySize", Int(clamping: exchange.requestBody.size))
            let body = exchange.requestBody
            if body.size == 0 { return }
            request.add(
                "postData",
                object { data in
                    data.add("mimeType", exchange.requestFields[.contentType] ?? "application/octet-stream")
                    let (text, isCoded) = text(body.bytes)
                    data.add("text", text)
                    if isCoded { data.add("_encoding", "base64") }
                }
            )
        }
    }

    private static func response(_ exchange: RecordedExchange) -> JSONText {
        object { response in
            response.add("status", exchange.status)
            response.add("statusText", exchange.reason)
            response.add("httpVersion", exchange.version)
            let cookies = exchange.responseFields[values: .setCookie].map { $0.prefix { $0 != ";" } }
            response.add("cookies", .array(Self.cookies(cookies)))
            response.add("headers", headers(exchange.responseFields))
            response.add("content", content(exchange.responseBody, exchange.responseFields[.contentType]))
            response.add("redirectURL", exchange.responseFields[.location] ?? "")
            response.add("headersSize", -1)
            response.add("bodySize", Int(clamping: exchange.responseBody.size))
        }
    }

    private static func content(_ body: RecordedBytes, _ type: String?) -> JSONText {
        object { content in
            content.add("size", Int(clamping: body.size))
            content.add("mimeType", type ?? "application/octet-stream")
            if body.bytes.isEmpty { return }
            let (text, isCoded) = text(body.bytes)
            content.add("text", text)
            if isCoded { content.add("encoding", "base64") }
            if body.isCut { content.add("comment", "The first \(body.bytes.count) of \(body.size) bytes.") }
        }
    }

    /// Bytes as text, and whether that is base64.
    private static func text(_ bytes: [UInt8]) -> (String, isCoded: Bool) {
        if let text = String(validating: bytes, as: UTF8.self) { return (text, false) }
        return (Data(bytes).base64EncodedString(), true)
    }

    private static func headers(_ fields: HTTPFields) -> JSONText {
        .array(fields.map { pair($0.name.rawName, $0.value) })
    }

    private static func pair(_ name: String, _ value: String) -> JSONText {
        object { pair in
            pair.add("name", name)
            pair.add("value", value)
        }
    }

    private static func cookies(_ pairs: [Substring]) -> [JSONText] {
        pairs.compactMap { item in
            let name = item.prefix { $0 != "=" }
            guard name.count < item.count else { return nil }
            return pair(name.trimmingCharacters(in: .whitespaces), String(item.dropFirst(name.count + 1)))
        }
    }

    private static func query(_ url: String) -> [JSONText] {
        let parts = url.prefix { $0 != "#" }.split(separator: "?", maxSplits: 1)
        guard parts.count == 2 else { return [] }
        return parts[1].split(separator: "&").map { item in
            let name = item.prefix { $0 != "=" }
            let value = item.dropFirst(name.count + 1)
            let plain = [name, value].map { PercentDecoding.decode($0, plusIsSpace: true) ?? String($0) }
            return pair(plain[0], plain[1])
        }
    }

    // MARK: Messages

    private static func error(_ fault: RecordedConnection.Fault) -> JSONText {
        object { json in
            json.add("type", "error")
            json.add("time", fault.time)
            json.add("opcode", -1)
            json.add("data", fault.message)
        }
    }

    /// The messages and the control frames, in the order in which they were whole.
    private static func messages(_ connection: RecordedConnection) -> [JSONText] {
        var assembly = MessageAssembly()
        return connection.frames.compactMap { assembly.add($0) }.map { message in
            object { json in
                json.add("type", message.isOutgoing == connection.isClient ? "send" : "receive")
                json.add("time", message.time)
                json.add("opcode", Int(message.opcode.rawValue))
                let text = message.opcode == .text ? String(validating: message.payload.bytes, as: UTF8.self) : nil
                json.add("data", text ?? Data(message.payload.bytes).base64EncodedString())
                if message.opcode == .text, text == nil { json.add("_encoding", "base64") }
                if message.payload.isCut { json.add("_size", Int(clamping: message.payload.size)) }
                if message.isCompressed { json.add("_isCompressed", true) }
            }
        }
    }
}
