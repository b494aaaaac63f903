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
    var headers = HTTPFields()
    var tls = TLSOptions()
    /// How long each request and each WebSocket may take.
    var timeout = Duration.seconds(20)

    // MARK: HTTP

    func run(_ exchange: RecordedExchange) async -> Outcome {
        var outcome = Outcome()
        if exchange.requestBody.isCut { outcome.differs("The request has less of a body: the rest wasn't recorded.") }
        do {
            let client = ReplayClient(target: target, headers: headers, tls: tls, timeout: timeout)
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
        options.subprotocols = connection.requestHeaders[values: .secWebSocketProtocol].flatMap { value in
            value.split(separator: ",").map { String($0.filter { !$0.isWhitespace }) }
        }
        for field in RecordedHeads.replayed(connection.requestHeaders, headers)
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

/// A server that recordings are replayed against: a scheme, a host and a port.
struct ReplayTarget: Sendable, Equatable {
    let isSecure: Bool
    /// Host and port, as in a URL.
    let authority: String
    private let host: String
    private let port: Int

    /// Takes a URL without a path; `nil` for what isn't one of HTTP or WebSockets.
    init?(_ url: String) {
        let parts = RecordedURL(url.trimmingPrefix { $0 == " " }.description)
        guard ["http", "https", "ws", "wss"].contains(parts.scheme), parts.target == "/", !parts.authority.isEmpty
        else {
            return nil
        }
        (isSecure, authority, port) = (parts.isSecure, parts.authority, parts.port)
        if parts.authority.hasPrefix("[") {
            host = String(parts.authority.dropFirst().prefix { $0 != "]" })
        } else {
            host = String(parts.authority.prefix { $0 != ":" })
        }
        if host.isEmpty || host.contains("%") { return nil }
    }

    var endpoint: Endpoint { isSecure ? .tls(host, port: port) : .host(host, port: port) }

    /// The URL of a WebSocket there.
    func webSocketURL(_ target: String) -> String { "\(isSecure ? "wss" : "ws")://\(authority)\(target)" }
}

/// Makes a recorded request again, and reads what is answered.
struct ReplayClient: Sendable {
    /// The most bytes of a body that are read.
    static let bodyBound = ByteCount.mebibytes(64)

    /// What was answered; of its body the length only.
    struct Answer: Sendable, Equatable {
        var status: Int
        var size: UInt64
        /// From the first byte out to the last byte in.
        var seconds: Double
    }

    let target: ReplayTarget
    /// Take the place of recorded fields.
    var headers = HTTPFields()
    var tls = TLSOptions()
    /// How long a request may take, connecting and all.
    var timeout = Duration.seconds(20)

    /// Makes the request, on a connection of its own.
    ///
    /// - Parameter exchange: its fields go with it, but for those of the connection and those that were masked.
    /// - Returns: what was answered.
    /// - Throws: `SocketError`, `HTTPProtocolError`, `CancellationError`.
    func send(_ exchange: RecordedExchange) async throws -> Answer {
        let deadline = ContinuousClock.now + timeout
        var options = ConnectOptions(timeout: timeout)
        options.tls = tls
        let socket = try await Socket.connect(to: target.endpoint, options: options)
        do {
            let began = ContinuousClock.now
            let request = RecordedHeads.replay(exchange, host: target.authority, headers)
            try await socket.write(request, timeout: Self.rest(until: deadline))
            var reading = ResponseReading(answering: HTTPRequest.Method(exchange.method) ?? .get)
            while !reading.isDone {
                let bytes = try await socket.read(timeout: Self.rest(until: deadline))
                guard let bytes else {
                    try reading.finish()
                    break
                }
                try reading.take(bytes)
            }
            await socket.close()
            return Answer(status: reading.status, size: reading.size, seconds: (ContinuousClock.now - began).inSeconds)
        } catch {
            await socket.reset()
            throw error
        }
    }

    /// Never nothing, which would be no limit.
    private static func rest(until deadline: ContinuousClock.Instant) -> Duration {
        max(.milliseconds(1), deadline - ContinuousClock.now)
    }
}

/// A response as it comes, of whose body only the length is kept.
struct ResponseReading {
    private(set) var status = 0
    private(set) var size: UInt64 = 0
    private(set) var isDone = false
    private let method: HTTPRequest.Method
    private var parser = ResponseHeadParser()
    private var decoder: BodyDecoder?
    private var input: [UInt8] = []

    init(answering method: HTTPRequest.Method) {
        self.method = method
    }

    /// Takes the next bytes in.
    mutating func take(_ bytes: [UInt8]) throws(HTTPProtocolError) {
        input += bytes
        var position = 0
        let bytes = input
        while !isDone {
            let moved = try step(bytes, &position)
            if !moved { break }
        }
        input.removeFirst(position)
    }

    /// One head, or one piece of the body.
    ///
    /// - Returns: whether there was one.
    private mutating func step(_ bytes: [UInt8], _ position: inout Int) throws(HTTPProtocolError) -> Bool {
        guard var body = decoder else {
            guard let head = try parser.parse(bytes.span, from: &position) else { return false }
            status = head.status.code
            if head.status.kind == .informational && head.status.code != 101 { return true }
            var limits = HTTPLimits.internet
            limits.bodySize = ReplayClient.bodyBound
            decoder = try BodyDecoder(head.framing(answering: method), limits: limits, isResponse: true)
            isDone = head.status.code == 101
            return true
        }
        let piece = try body.next(bytes.span, from: &position)
        decoder = body
        switch piece {
        case nil: return false
        case .data(let range): size += UInt64(range.count)
        case .end: isDone = true
        }
        return true
    }

    /// Takes note that nothing more comes.
    mutating func finish() throws(HTTPProtocolError) {
        guard var body = decoder else {
            throw HTTPProtocolError(.truncated, "the server ended the connection without an answer")
        }
        try body.finish()
        isDone = true
    }
}
