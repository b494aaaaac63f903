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
        exchange.requestHeaders = connection.requestHeaders
        exchange.responseHeaders = connection.responseHeaders
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
            cookies: cookies(exchange.requestHeaders[values: .cookie].flatMap { $0.split(separator: ";") }),
            headers: pairs(exchange.requestHeaders),
            queryString: query(exchange.url),
            bodySize: Int(clamping: body.size)
        )
        if body.size > 0 {
            let type = exchange.requestHeaders[.contentType] ?? "application/octet-stream"
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
            cookies: cookies(exchange.responseHeaders[values: .setCookie].map { $0.prefix { $0 != ";" } }),
            headers: pairs(exchange.responseHeaders),
            content: content(exchange.responseBody, exchange.responseHeaders[.contentType]),
            redirectURL: exchange.responseHeaders[.location] ?? "",
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

    private static func pairs(_ headers: HTTPFields) -> [HARArchive.Pair] {
        headers.map { HARArchive.Pair(name: $0.name.rawName, value: $0.value) }
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

    // MARK: Reading

    /// The most bytes that are read.
    static let largest = ByteCount.mebibytes(32)

    /// Why an archive can't be read, for people.
    struct Refusal: Error, Equatable, CustomStringConvertible {
        let description: String
    }

    /// What was read of an archive.
    struct Reading: Sendable, Equatable {
        var recording = Recording()
        /// How many entries couldn't be read.
        var skipped = 0
    }

    /// Reads an archive as browsers and proxies write them: what is missing is taken as unknown.
    ///
    /// - Parameter bytes: in UTF-8, perhaps with a byte order mark; at most ``largest``, and nested no deeper than Foundation
    ///   reads, which is 512 levels.
    /// - Returns: what is in it; all as a client has seen it.
    /// - Throws: ``Refusal``.
    static func read(_ bytes: [UInt8]) throws(Refusal) -> Reading {
        guard bytes.count <= largest.bytes else {
            throw Refusal(description: "The file has more than \(largest.bytes >> 20) MiB.")
        }
        let document: HARDocument
        do {
            document = try JSONDecoder().decode(
                HARDocument.self,
                from: Data(ByteOrderMark.removed(from: bytes))
            )
        } catch DecodingError.keyNotFound, DecodingError.typeMismatch, DecodingError.valueNotFound {
            throw Refusal(description: "The file is JSON, but not an HTTP Archive: it has no log with entries.")
        } catch {
            throw Refusal(description: "The file isn't JSON, or it is nested too deeply.")
        }
        return reading(document)
    }

    private static func reading(_ document: HARDocument) -> Reading {
        var reading = Reading()
        for (index, entry) in document.log.entries.enumerated() {
            guard let entry = entry.value else {
                reading.skipped += 1
                continue
            }
            let scheme = RecordedURL(entry.request.url).scheme
            let isWebSocket = entry.messages != nil || entry.resourceType == "websocket" || scheme.hasPrefix("ws")
            let exchange = exchange(entry, UInt64(index))
            if isWebSocket {
                reading.recording.connections.append(connection(entry, exchange))
            } else {
                reading.recording.exchanges.append(exchange)
            }
        }
        return reading
    }

    // MARK: What entries say

    private static func exchange(_ entry: HARDocument.Entry, _ id: UInt64) -> RecordedExchange {
        let began = entry.startedDateTime.flatMap(HARTime.seconds) ?? 0
        var exchange = RecordedExchange(id: id, began: began, method: entry.request.method, url: entry.request.url)
        exchange.isClient = true
        exchange.version = entry.request.httpVersion ?? exchange.version
        exchange.requestHeaders = headers(of: entry.request.headers)
        exchange.requestBody = body(entry.request.postData)
        exchange.status = Int(clamping: whole(entry.response?.status) ?? 0)
        exchange.reason = entry.response?.statusText ?? ""
        exchange.responseHeaders = headers(of: entry.response?.headers)
        exchange.responseBody = body(entry.response?.content)
        exchange.durations = RecordedExchange.Durations(
            head: duration(entry.timings?.send),
            handler: duration(entry.timings?.wait),
            sending: duration(entry.timings?.receive)
        )
        if entry.timings == nil { exchange.durations.handler = duration(entry.time) }
        exchange.peer = address(entry.serverIPAddress, RecordedURL(entry.request.url).port)
        exchange.route = entry.route
        exchange.error = entry.error.map { words($0) }
        return exchange
    }

    private static func connection(_ entry: HARDocument.Entry, _ exchange: RecordedExchange) -> RecordedConnection {
        let isSecure = RecordedURL(exchange.url).isSecure
        var connection = RecordedConnection(
            id: exchange.id,
            isClient: true,
            url: exchange.url,
            isSecure: isSecure,
            began: exchange.began
        )
        connection.remote = exchange.peer
        connection.requestHeaders = exchange.requestHeaders
        connection.responseHeaders = exchange.responseHeaders
        connection.subprotocol = exchange.responseHeaders[.secWebSocketProtocol]
        let messages = (entry.messages ?? []).compactMap(\.value)
        connection.errors = messages.filter(\.isError).map { message in
            RecordedConnection.Fault(time: seconds(message.time?.value) ?? exchange.began, message: words(message.data))
        }
        if let error = exchange.error {
            connection.errors.append(RecordedConnection.Fault(time: exchange.began, message: error))
        }
        for message in messages where !message.isError {
            guard let opcode = opcode(message) else { continue }
            let number = UInt64(connection.frames.count)
            connection.frames.append(frame(message, opcode, number, exchange.began))
        }
        connection.closeCode = whole(entry.closeCode).map { UInt16(clamping: $0) }
        connection.closeReason = entry.closeReason
        if entry.isOpen != true {
            let last = connection.frames.map(\.time).max() ?? exchange.began
            connection.ended = max(last, exchange.began + (duration(entry.time) ?? 0))
        }
        return connection
    }

    /// The opcode, which has four bits (RFC 6455 section 5.2); text where none is named.
    private static func opcode(_ message: HARDocument.Message) -> Opcode? {
        guard let number = message.opcode?.value else { return .text }
        guard (0...15).contains(number), number == number.rounded() else { return nil }
        return Opcode(rawValue: UInt8(number))
    }

    private static func frame(
        _ message: HARDocument.Message,
        _ opcode: Opcode,
        _ number: UInt64,
        _ began: Double
    ) -> RecordedFrame {
        let isText = opcode == .text && message.encoding != "base64"
        let bytes = isText ? Array(message.data.utf8) : Self.bytes(message.data, isCoded: true)
        let isOutgoing = message.type == "send" || message.type == "sent"
        let payload = RecordedBytes(bytes, of: UInt64(clamping: whole(message.size) ?? 0))
        let header = FrameHeader.size(payload: Int(clamping: payload.size), isMasked: isOutgoing)
        return RecordedFrame(
            number: number,
            time: seconds(message.time?.value) ?? began,
            isOutgoing: isOutgoing,
            opcode: opcode,
            isCompressed: message.isCompressed ?? false,
            wireLength: payload.size + UInt64(header),
            payload: payload
        )
    }

    // MARK: Values

    /// The words of an error, as many as a person reads.
    private static func words(_ text: String) -> String { String(text.prefix(2_000)) }

    /// A time since 1970 in seconds; some write milliseconds or microseconds.
    private static func seconds(_ time: Double?) -> Double? {
        guard let time, time.isFinite, time > 0 else { return nil }
        return time > 1e14 ? time / 1e6 : time > 1e11 ? time / 1e3 : time
    }

    /// Milliseconds as seconds; negative ones say that there is no such time.
    private static func duration(_ number: HARDocument.Number?) -> Double? {
        guard let value = number?.value, value.isFinite, value >= 0 else { return nil }
        return value / 1_000
    }

    /// A whole number; what isn't one, or is beyond all sizes, is unknown.
    private static func whole(_ number: HARDocument.Number?) -> Int64? {
        number.flatMap { abs($0.value) < 1e15 ? Int64($0.value) : nil }
    }

    /// What can be a field; HTTP/2's `:path` and others can't.
    private static func headers(of pairs: [HARDocument.Lossy<HARDocument.Pair>]?) -> HTTPFields {
        var headers = HTTPFields()
        for pair in (pairs ?? []).compactMap(\.value) {
            guard let name = HTTPField.Name(pair.name) else { continue }
            headers.append(HTTPField(name: name, value: pair.value))
        }
        return headers
    }

    private static func body(_ body: HARDocument.Body?) -> RecordedBytes {
        guard let body else { return RecordedBytes() }
        let isCoded = body.encoding == "base64" || body.ownEncoding == "base64"
        var bytes = bytes(body.text ?? "", isCoded: isCoded)
        if body.text == nil, let params = body.params, !params.isEmpty {
            let items = params.compactMap(\.value).map { item in
                PercentEncoding.segment(item.name) + "=" + PercentEncoding.segment(item.value ?? "")
            }
            bytes = Array(items.joined(separator: "&").utf8)
        }
        return RecordedBytes(bytes, of: UInt64(clamping: whole(body.size) ?? 0))
    }

    /// The bytes of a text; of one that should be base64 and isn't, its own.
    private static func bytes(_ text: String, isCoded: Bool) -> [UInt8] {
        let decoded = isCoded ? Base64.decode(String(text.unicodeScalars.filter { !$0.properties.isWhitespace })) : nil
        return decoded ?? Array(text.utf8)
    }

    private static func address(_ text: String?, _ port: Int) -> SocketAddress? {
        guard let text else { return nil }
        let literal = text.hasPrefix("[") ? String(text.dropFirst().prefix { $0 != "]" }) : text
        return try? SocketAddress(literal, port: port)
    }
}
