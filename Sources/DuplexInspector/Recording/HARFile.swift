// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
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
    static func write(_ recording: Recording) throws -> [UInt8] {
        let entries =
            recording.exchanges.map { ($0.began, entry($0)) } + recording.connections.map { ($0.began, entry($0)) }
        let sorted = entries.enumerated().sorted { ($0.element.0, $0.offset) < ($1.element.0, $1.offset) }
        return Array(try CompactJSON.text(of: HARArchive(log: HARArchive.Log(entries: sorted.map(\.element.1)))).utf8)
    }

    // MARK: Entries

    private static func entry(_ exchange: RecordedExchange) -> HARArchive.Entry {
        var entry = entry(exchange, exchange.durations)
        add(server: exchange.server, client: exchange.client, to: &entry)
        entry.route = exchange.route
        entry.error = exchange.error
        return entry
    }

    private static func entry(_ connection: RecordedConnection) -> HARArchive.Entry {
        var exchange = RecordedExchange(id: 0, began: connection.began, method: "GET", url: connection.url)
        exchange.requestFields = connection.requestFields
        exchange.responseFields = connection.responseFields
        exchange.status = 101
        exchange.reason = "Switching Protocols"
        let end = connection.ended ?? connection.frames.last?.time ?? connection.began
        var entry = entry(exchange, RecordedExchange.Durations(sending: max(0, end - connection.began)))
        add(server: connection.server, client: connection.client, to: &entry)
        entry.resourceType = "websocket"
        entry.messages = messages(connection) + connection.errors.map { error($0) }
        entry.closeCode = connection.closeCode.map { Int($0) }
        entry.closeReason = connection.closeReason
        if connection.ended == nil { entry.isOpen = true }
        return entry
    }

    private static func entry(_ exchange: RecordedExchange, _ durations: RecordedExchange.Durations) -> HARArchive.Entry
    {
        HARArchive.Entry(
            startedDateTime: HARTime.text(exchange.began),
            time: milliseconds(durations.total),
            request: request(exchange),
            response: response(exchange),
            timings: HARArchive.Timings(
                send: milliseconds(durations.head),
                wait: milliseconds(durations.handler),
                receive: milliseconds(durations.sending)
            ),
            resourceType: "fetch"
        )
    }

    /// JSON has no infinite numbers, which a sum of imported durations may be.
    private static func milliseconds(_ seconds: Double?) -> Double {
        min((seconds ?? 0) * 1_000, .greatestFiniteMagnitude)
    }

    private static func add(server: SocketAddress?, client: SocketAddress?, to entry: inout HARArchive.Entry) {
        if let server, server.path == nil { entry.serverIPAddress = server.host }
        if let client, client.path == nil { entry.connection = String(client.port) }
    }

    // MARK: Requests and responses

    private static func request(_ exchange: RecordedExchange) -> HARArchive.Request {
        let body = exchange.requestBody
        var request = HARArchive.Request(
            method: exchange.method,
            url: exchange.url,
            httpVersion: exchange.version,
            cookies: cookies(exchange.requestFields[values: .cookie].flatMap { $0.split(separator: ";") }),
            headers: pairs(exchange.requestFields),
            queryString: query(exchange.url),
            bodySize: Int(clamping: body.size)
        )
        if body.size > 0 {
            let type = exchange.requestFields[.contentType] ?? "application/octet-stream"
            let (text, encoding) = text(body.bytes)
            request.postData = HARArchive.Posted(mimeType: type, text: text, encoding: encoding)
        }
        return request
    }

    private static func response(_ exchange: RecordedExchange) -> HARArchive.Response {
        HARArchive.Response(
            status: exchange.status,
            statusText: exchange.reason,
            httpVersion: exchange.version,
            cookies: cookies(exchange.responseFields[values: .setCookie].map { $0.prefix { $0 != ";" } }),
            headers: pairs(exchange.responseFields),
            content: content(exchange.responseBody, exchange.responseFields[.contentType]),
            redirectURL: exchange.responseFields[.location] ?? "",
            bodySize: Int(clamping: exchange.responseBody.size)
        )
    }

    private static func content(_ body: RecordedBytes, _ type: String?) -> HARArchive.Content {
        var content = HARArchive.Content(
            size: Int(clamping: body.size),
            mimeType: type ?? "application/octet-stream"
        )
        if body.bytes.isEmpty { return content }
        let (text, encoding) = text(body.bytes)
        content.text = text
        content.encoding = encoding
        if body.isCut { content.comment = "The first \(body.bytes.count) of \(body.size) bytes." }
        return content
    }

    /// Bytes as text, and how it is encoded if that isn't UTF-8.
    private static func text(_ bytes: [UInt8]) -> (String, encoding: String?) {
        if let text = String(validating: bytes, as: UTF8.self) { return (text, nil) }
        return (Data(bytes).base64EncodedString(), "base64")
    }

    private static func pairs(_ fields: HTTPFields) -> [HARArchive.Pair] {
        fields.map { HARArchive.Pair(name: $0.name.rawName, value: $0.value) }
    }

    private static func cookies(_ pairs: [Substring]) -> [HARArchive.Pair] {
        pairs.compactMap { item in
            let name = item.prefix { $0 != "=" }
            guard name.count < item.count else { return nil }
            let value = String(item.dropFirst(name.count + 1))
            return HARArchive.Pair(name: name.trimmingCharacters(in: .whitespaces), value: value)
        }
    }

    private static func query(_ url: String) -> [HARArchive.Pair] {
        let parts = url.prefix { $0 != "#" }.split(separator: "?", maxSplits: 1)
        guard parts.count == 2 else { return [] }
        return parts[1].split(separator: "&").map { item in
            let name = item.prefix { $0 != "=" }
            let value = item.dropFirst(name.count + 1)
            let plain = [name, value].map { PercentDecoding.decode($0, plusIsSpace: true) ?? String($0) }
            return HARArchive.Pair(name: plain[0], value: plain[1])
        }
    }

    // MARK: Messages

    private static func error(_ fault: RecordedConnection.Fault) -> HARArchive.Message {
        HARArchive.Message(type: "error", time: fault.time, opcode: -1, data: fault.message)
    }

    /// The messages and the control frames, in the order in which they were whole.
    private static func messages(_ connection: RecordedConnection) -> [HARArchive.Message] {
        var assembly = MessageAssembly()
        return connection.frames.compactMap { assembly.add($0) }.map { message in
            let isText = message.opcode == .text
            let text = isText ? String(validating: message.payload.bytes, as: UTF8.self) : nil
            return HARArchive.Message(
                type: message.isOutgoing == connection.isClient ? "send" : "receive",
                time: message.time,
                opcode: Int(message.opcode.rawValue),
                data: text ?? Data(message.payload.bytes).base64EncodedString(),
                encoding: isText && text == nil ? "base64" : nil,
                size: message.payload.isCut ? Int(clamping: message.payload.size) : nil,
                isCompressed: message.isCompressed ? true : nil
            )
        }
    }
}
