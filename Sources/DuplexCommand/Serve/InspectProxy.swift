// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWebSockets
import DuplexWire
import HTTPTypes

/// Forwards WebSockets to a server, message by message, both ways.
///
/// A message that comes in more than one piece (64 KiB as a rule) goes on in pieces as it comes, so nothing is held but that and
/// what the two connections hold; who is read is slowed down by who is written to. Fragments are put together within a piece.
struct InspectProxy: Sendable {
    /// Fields that belong to one of the two handshakes.
    private static let own: Set<String> = [
        "host", "connection", "upgrade", "keep-alive", "te", "trailer", "transfer-encoding", "content-length", "expect",
        "proxy-connection", "proxy-authorization",
    ]
    /// Fields of a refusal that are about the connection or the body's form on it.
    private static let hop: Set<String> = [
        "connection", "keep-alive", "transfer-encoding", "content-length", "upgrade",
    ]

    /// The server, such as `wss://example.com`.
    private let origin: String
    /// Path and query of what is asked for at `/`.
    private let start: String
    private let options: WebSocketOptions

    /// Makes a proxy.
    ///
    /// - Parameters:
    ///   - url: where `/` leads; other paths lead to the same server.
    ///   - options: how it connects; the fields and subprotocols in it take the place of the clients'.
    /// - Throws: ``Failure`` for what is no URL of a WebSocket.
    init(to url: String, options: WebSocketOptions) throws {
        guard let parsed = try? WebSocketURL(connectingTo: url), let end = url.firstRange(of: "://")?.upperBound else {
            throw Failure(.failure, "“\(url.visible)” isn't a URL such as ws://host:port/path.")
        }
        let authority = url[end...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        origin = String(url[..<end] + authority)
        start = parsed.requestTarget
        self.options = options
    }

    /// Has the server forward all WebSockets that nothing else takes.
    func add(to server: inout WebServer) {
        server.webSocket(
            "/*",
            admit: { request in try await admit(request) },
            handler: { client, _, server in await Self.relay(client, server) }
        )
    }

    // MARK: Opening

    /// Connects to the server as the client asks: it is refused as the server refuses.
    private func admit(_ request: Request) async throws -> Admission<WebSocket> {
        let target = request.head.target == "/" ? start : request.head.target
        do {
            let server = try await WebSocket.connect(to: origin + target, options: options(for: request))
            var headers = HTTPFields()
            for field in await server.responseHeaders ?? [:] where field.name == .setCookie { headers.append(field) }
            return .accepted(server, headers: headers, subprotocol: server.subprotocol)
        } catch let error as WebSocketError {
            return Self.refusal(error)
        }
    }

    private func options(for request: Request) -> WebSocketOptions {
        var options = options
        if options.subprotocols.isEmpty {
            options.subprotocols = request.headers[values: .secWebSocketProtocol].flatMap { value in
                value.split(separator: ",").map { String($0.filter { !$0.isWhitespace }) }
            }
        }
        for field in request.headers {
            let name = field.name.canonicalName
            if Self.own.contains(name) || name.hasPrefix("sec-websocket-") { continue }
            if self.options.headers.contains(field.name) { continue }
            if name == "origin" && options.origin != nil || name == "user-agent" && options.userAgent != nil {
                continue
            }
            options.headers.append(field)
        }
        // From the first message on.
        options.streamsMessages = true
        return options
    }

    private static func refusal(_ error: WebSocketError) -> Admission<WebSocket> {
        guard let handshake = error.handshake, let status = handshake.status, status.code >= 200 else {
            return .refused(.badGateway, "The server can't be reached: \(error.message)")
        }
        var response = Response(status, body: handshake.body)
        for field in handshake.headers ?? [:] where !hop.contains(field.name.canonicalName) {
            response.headers.append(field)
        }
        return .refused(response)
    }

    // MARK: Relaying

    /// Forwards until one side ends, and ends the other one with the same code.
    private static func relay(_ client: WebSocket, _ server: WebSocket) async {
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                await forward(from: client, to: server)
                await end(server, after: client, lost: .goingAway)
            }
            tasks.addTask {
                await forward(from: server, to: client)
                await end(client, after: server, lost: .badGateway)
            }
        }
    }

    /// Returns once one of the two has ended.
    private static func forward(from source: WebSocket, to target: WebSocket) async {
        do {
            for try await message in source.streamedMessages { try await forward(message, to: target) }
        } catch {
            // Their reports say how they ended.
        }
    }

    /// Sends a message on as it comes: whole where it is one piece.
    private static func forward(_ message: StreamedMessage, to target: WebSocket) async throws {
        var pieces = message.makeAsyncIterator()
        let first = try await pieces.next() ?? []
        guard var next = try await pieces.next() else {
            let whole: Message = message.kind == .text ? .text(String(decoding: first, as: UTF8.self)) : .binary(first)
            return try await target.send(whole)
        }
        try await target.send(message.kind) { writer in
            try await writer.write(first)
            try await writer.write(next)
            while let piece = try await pieces.next() {
                next = piece
                try await writer.write(next)
            }
        }
    }

    /// Closes a connection as the other one was closed.
    ///
    /// - Parameters:
    ///   - target: what is closed; nothing happens where it is closed already.
    ///   - source: what has ended.
    ///   - code: says that the source was lost.
    private static func end(_ target: WebSocket, after source: WebSocket, lost code: CloseCode) async {
        let report = await source.closeReport
        guard let frame = report.received else {
            await target.close(code: code)
            return
        }
        await target.close(code: frame.code ?? .noStatusReceived, reason: frame.reason)
    }
}
