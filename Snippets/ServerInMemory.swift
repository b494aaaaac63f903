// A WebSocket server that is fed from memory, and a client that talks to it in pieces of several sizes.
import DuplexWire

/// One connection of an echo server: bytes and instants in, bytes out.
struct EchoConnection {
    private var head = RequestHeadParser()
    private var session: WebSocketSession?
    /// The bytes to write to the transport; take them after each call.
    private(set) var output: [UInt8] = []
    /// Whether to end the transport after the output.
    private(set) var isOver = false
    /// The instant of the next call of `deadlinePassed`, if there is one.
    var deadline: Instant? { session?.deadline }

    mutating func takeOutput() -> [UInt8] {
        defer { output = [] }
        return output
    }

    mutating func receive(_ bytes: [UInt8], now: Instant) {
        // After a refusal there is no second request.
        if isOver { return }
        var bytes = bytes
        var position = 0
        if session == nil { shakeHands(bytes, &position, now) }
        guard let session else { return }
        while let event = session.nextEvent(of: &bytes, at: &position, now: now) {
            switch event {
            case .message(let kind, let payload): output += session.encoded(Message(kind, payload, of: bytes))
            case .peerClose: session.answerClose(now: now)
            case .violation(let error): session.fail(error, now: now)
            case .piece, .ping, .pong, .unaskedPong: break
            }
        }
        finish(session)
    }

    private mutating func shakeHands(_ bytes: [UInt8], _ position: inout Int, _ now: Instant) {
        do {
            guard let request = try head.parse(bytes.span, from: &position) else { return }
            switch ServerHandshake.evaluate(request) {
            case .accept(let acceptance):
                output += acceptance.responseBytes
                session = WebSocketSession(role: .server, now: now)
            case .refuse(let refusal):
                output += refusal.responseBytes
                isOver = true
            }
        } catch {
            output += "HTTP/1.1 \(error.status)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8
            isOver = true
        }
    }

    mutating func deadlinePassed(now: Instant) {
        guard let session else { return }
        switch session.deadlinePassed(now: now) {
        case .pingTimedOut(let error), .messageTimedOut(let error): session.fail(error, now: now)
        case .closeTimedOut: session.reset()
        case .none, .wrote: break
        }
        finish(session)
    }

    /// The transport has ended.
    mutating func end() -> CloseReport? {
        session?.endOfStream()
        return session?.report
    }

    private mutating func finish(_ session: WebSocketSession) {
        output += session.takeControlOutput()
        isOver = session.state == .closed
    }
}

extension Array {
    /// The elements in pieces of that size.
    func pieces(of size: Int) -> [[Element]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}

for size in [1, 7, 1_000] {
    let now = Instant(nanoseconds: 0)
    var server = EchoConnection()
    var handshake = try ClientHandshake(
        url: WebSocketURL("ws://localhost/"),
        key: (0..<16).map { _ in .random(in: 0...255) }
    )
    for piece in handshake.requestBytes.pieces(of: size) { server.receive(piece, now: now) }
    var position = 0
    let response = server.takeOutput()
    guard try handshake.receive(response.span, from: &position) != nil else { throw handshake.finish() }

    let client = WebSocketSession(role: .client, maskingKeys: MaskingKeys { .random(in: 0...(.max)) }, now: now)
    _ = client.ping(now: now)
    var bytes = client.encoded("hello") + client.takeControlOutput() + client.encoded("once more")
    client.close(.normalClosure, now: now)
    bytes += client.takeControlOutput()
    for piece in bytes.pieces(of: size) { server.receive(piece, now: now) }
    for var piece in server.takeOutput().pieces(of: size) {
        var position = 0
        while let event = client.nextEvent(of: &piece, at: &position, now: now) {
            if case .message(let kind, let payload) = event {
                print(Message(kind, payload, of: piece), terminator: ", ")
            }
        }
    }
    print(client.report, server.isOver)
}

// A client that is silent gets a ping after 20 seconds, and is given up after 20 more.
var silent = EchoConnection()
let request = try ClientHandshake(url: WebSocketURL("ws://localhost/"), key: (0..<16).map { _ in 0 }).requestBytes
silent.receive(request, now: Instant(nanoseconds: 0))
while let deadline = silent.deadline, !silent.isOver { silent.deadlinePassed(now: deadline) }
print(silent.end()?.error?.message ?? "no error")
