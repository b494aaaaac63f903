// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWebSockets
import DuplexWire
import Synchronization

/// The server that foreign clients talk to, and the close frames that it got from them.
struct EchoServer {
    /// The paths whose messages come back: from a task, and from a synchronous handler.
    enum Path: String, CaseIterable {
        case task = "/echo/task"
        case handler = "/echo/handler"
    }

    private(set) var server = WebServer(port: 0)
    let closes = Closes()

    init(compression: WebSocketCompression = .disabled) {
        Corpus.prepare(&server)
        server.webSockets.compression = compression
        server.webSockets.subprotocols = ["chat.v2", "chat.v1"]
        let closes = closes
        server.webSocket(Path.task.rawValue) { socket in
            defer { closes.add(socket.closeReport) }
            for try await message in socket.messages { try await socket.send(message) }
        }
        server.webSocket(Path.handler.rawValue, handler: Echo(closes: closes))
        server.webSocket("/commands") { socket in
            for try await case .text(let command) in socket.messages { try await Self.obey(command, socket) }
        }
    }

    private static func obey(_ command: String, _ socket: isolated WebSocket) async throws {
        let words = command.split(separator: " ", maxSplits: 2).map(String.init)
        if words.first == "ping" {
            _ = try await socket.ping()
            try await socket.send("pong")
        } else if words.first == "close", words.count > 1, let code = UInt16(words[1]) {
            await socket.close(code: CloseCode(rawValue: code), reason: words.count > 2 ? words[2] : "")
        }
    }

    private struct Echo: WebSocketHandler {
        let closes: Closes

        func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {
            socket.enqueue(bytes, kind)
        }

        func closed(_ socket: isolated WebSocket, _ report: CloseReport) {
            closes.add(report)
        }
    }

    /// The close frames that clients sent; complete once the server has ended.
    final class Closes: Sendable {
        private let frames = Mutex<[CloseFrame]>([])

        var received: [CloseFrame] { frames.withLock(\.self) }

        func add(_ report: CloseReport) {
            guard let frame = report.received else { return }
            frames.withLock { $0.append(frame) }
        }
    }
}
