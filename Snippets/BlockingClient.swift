// A WebSocket client over a blocking socket of the system: `swift run BlockingClient ws://localhost:8080/echo`.
#if os(Linux)
import DuplexWire
import Glibc

let url = try WebSocketURL(CommandLine.arguments.dropFirst().first ?? "ws://localhost:8080/echo")

// The transport: a blocking TCP socket. Yours may be anything that carries bytes in order.
func connected(to host: String, _ port: Int) -> Int32? {
    var first: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, "\(port)", nil, &first) == 0, let list = first else { return nil }
    defer { freeaddrinfo(list) }
    for address in sequence(first: list.pointee, next: { $0.ai_next?.pointee }) {
        let descriptor = socket(address.ai_family, Int32(SOCK_STREAM.rawValue), 0)
        if connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 { return descriptor }
        close(descriptor)
    }
    return nil
}
guard let descriptor = connected(to: url.host, url.port) else { fatalError("Nobody answers at \(url).") }

func write(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) } == bytes.count
}

/// What has arrived, no bytes at the end, and nil if nothing arrives in time.
func read(within time: Duration?) -> [UInt8]? {
    var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&wait, 1, Int32(time.map { max(0, min($0 / .milliseconds(1) + 1, 6e4)) } ?? -1)) > 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: 16_384)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    return Array(bytes.prefix(max(0, count)))
}

/// The time as the session wants it: on a clock that never goes back.
let start = ContinuousClock.now
func now() -> Instant { Instant(nanoseconds: 0).advanced(by: start.duration(to: .now)) }

// The handshake. Bytes after the response are the first frames: they stay in the input.
var handshake = try ClientHandshake(url: url, key: (0..<16).map { _ in .random(in: 0...255) })
var (input, position, isOpen) = ([UInt8](), 0, write(handshake.requestBytes))
while try handshake.receive(input.span, from: &position) == nil {
    guard isOpen, let bytes = read(within: .seconds(10)), !bytes.isEmpty else { throw handshake.finish() }
    (input, position) = (bytes, 0)
}

// The session: events out of what arrives, bytes to write, and a deadline.
let session = WebSocketSession(role: .client, maskingKeys: MaskingKeys { .random(in: 0...(.max)) }, now: now())
isOpen = write(session.encoded("hello"))
while session.state != .closed {
    while let event = session.nextEvent(of: &input, at: &position, now: now()) {
        switch event {
        case .message(let kind, let payload):
            print(Message(kind, payload, of: input))
            session.close(.normalClosure, now: now())
        case .peerClose: session.answerClose(now: now())
        case .violation(let error): session.fail(error, now: now())
        case .piece, .ping, .pong, .unaskedPong: break
        }
    }
    // Asked each time: a peer that sends without a pause must not put it off.
    switch session.deadlinePassed(now: now()) {
    case .pingTimedOut(let error), .messageTimedOut(let error): session.fail(error, now: now())
    case .closeTimedOut: session.reset()
    case .none, .wrote: break
    }
    if !isOpen || !write(session.takeControlOutput()) { session.endOfStream() }
    if session.state != .closed, let bytes = read(within: session.deadline.map { now().duration(to: $0) }) {
        (input, position) = (bytes, 0)
        if bytes.isEmpty { session.endOfStream() }
    }
}
print(session.report)
#endif
