// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire
import HTTPTypes

/// Replays recordings against a server, and reports what was different.
struct Replay: Sendable {
    /// How many differences are reported of each.
    static let differenceBound = 20

    /// How something went that was replayed.
    struct Outcome: Sendable, Equatable {
        /// The status of the response; 101 for a WebSocket that was opened, `nil` where there was none.
        var status: Int?
        var seconds: Double = 0
        /// What differed from the recording, in sentences.
        var differences: [String] = []
        /// Why it ended early.
        var error: String?

        mutating func differs(_ text: String) {
            if differences.count < Replay.differenceBound { differences.append(text) }
            if differences.count == Replay.differenceBound { differences[Replay.differenceBound - 1] = "And more." }
        }
    }

    let target: ReplayTarget
    /// Take the place of recorded fields: what was masked isn't sent.
    var fields = HTTPFields()
    var tls = TLSOptions()
    /// How long each request and each WebSocket may take.
    var timeout = Duration.seconds(20)

    // MARK: HTTP

    func run(_ exchange: RecordedExchange) async -> Outcome {
        var outcome = Outcome()
        if exchange.requestBody.isCut { outcome.differs("The request has less of a body: the rest wasn't recorded.") }
        do {
            let client = ReplayClient(target: target, fields: fields, tls: tls, timeout: timeout)
            let answer = try await client.send(exchange)
            outcome.status = answer.status
            outcome.seconds = answer.seconds
            if answer.status != exchange.status {
                outcome.differs("The status was \(exchange.status), and is \(answer.status) now.")
            }
            if answer.size != exchange.responseBody.size {
                outcome.differs("The body had \(exchange.responseBody.size) bytes, and has \(answer.size) now.")
            }
        } catch {
            outcome.error = Self.sentence(error)
        }
        return outcome
    }

    // MARK: WebSockets

    /// Sends what the client sent, and waits in between for as many messages as the server sent then.
    func run(_ connection: RecordedConnection) async -> Outcome {
        var outcome = Outcome()
        let began = ContinuousClock.now
        do {
            let url = target.webSocketURL(RecordedURL(connection.url).target)
            let socket = try await WebSocket.connect(to: url, options: options(connection))
            outcome.status = 101
            // What the server doesn't send ends the wait for it.
            let timeout = timeout
            let watchdog = Task {
                try await Task.sleep(for: timeout)
                await socket.reset()
            }
            defer { watchdog.cancel() }
            let subprotocol = socket.subprotocol
            if subprotocol != connection.subprotocol {
                outcome.differs(
                    "The subprotocol was \(Self.name(connection.subprotocol)), and is \(Self.name(subprotocol)) now."
                )
            }
            await converse(connection, on: socket, &outcome)
            await socket.close()
        } catch {
            outcome.error = Self.sentence(error)
        }
        outcome.seconds = (ContinuousClock.now - began).inSeconds
        return outcome
    }

    private func options(_ connection: RecordedConnection) -> WebSocketOptions {
        var options = WebSocketOptions()
        options.connectTimeout = timeout
        options.closeTimeout = .seconds(2)
        options.tls = tls
        options.limits = .local
        options.subprotocols = connection.requestFields[values: .secWebSocketProtocol].flatMap { value in
            value.split(separator: ",").map { String($0.filter { !$0.isWhitespace }) }
        }
        for field in RecordedHeads.replayed(connection.requestFields, fields)
        where !field.name.canonicalName.hasPrefix("sec-websocket-") {
            options.headers.append(field)
        }
        return options
    }

    private func converse(_ connection: RecordedConnection, on socket: WebSocket, _ outcome: inout Outcome) async {
        var assembly = MessageAssembly()
        let messages = connection.frames.compactMap { assembly.add($0) }.filter {
            $0.opcode == .text || $0.opcode == .binary
        }
        for (index, message) in messages.enumerated() {
            do {
                if message.isOutgoing == connection.isClient {
                    if message.payload.isCut {
                        outcome.differs("Message \(index + 1) isn't sent whole: the rest wasn't recorded.")
                    }
                    try await socket.send(Self.message(message))
                } else {
                    compare(try await socket.receive(), to: message, index, &outcome)
                }
            } catch {
                outcome.error = "Message \(index + 1) of \(messages.count): \(Self.sentence(error))"
                return
            }
        }
    }

    private func compare(_ message: Message, to recorded: RecordedFrame, _ index: Int, _ outcome: inout Outcome) {
        let (opcode, bytes): (Opcode, [UInt8]) =
            switch message {
            case .text(let text): (.text, Array(text.utf8))
            case .binary(let bytes): (.binary, bytes)
            }
        if opcode != recorded.opcode {
            outcome.differs("Message \(index + 1) was \(recorded.opcode), and is \(opcode) now.")
        } else if UInt64(bytes.count) != recorded.payload.size {
            outcome.differs("Message \(index + 1) had \(recorded.payload.size) bytes, and has \(bytes.count) now.")
        } else if !bytes.starts(with: recorded.payload.bytes) {
            outcome.differs("Message \(index + 1) has other bytes, of the same number.")
        }
    }

    private static func message(_ frame: RecordedFrame) -> Message {
        let bytes = frame.payload.bytes
        return frame.opcode == .text ? .text(String(decoding: bytes, as: UTF8.self)) : .binary(bytes)
    }

    private static func name(_ subprotocol: String?) -> String { subprotocol.map { "“\($0)”" } ?? "none" }

    private static func sentence(_ error: any Error) -> String {
        error is CancellationError ? "It was cancelled." : String(describing: error)
    }
}
