// A WebSocket client over a blocking socket of the system: `swift run BlockingClient ws://localhost:8080/echo`.
#if os(Linux)
import DuplexWire
import Glibc

/// A TCP connection as the system has it; yours may be anything that carries bytes in order.
struct Connection {
    struct Failure: Error {}
    private var descriptor: Int32 = -1

    init(host: String, port: Int) throws {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, "\(port)", &hints, &first) == 0 else { throw Failure() }
        defer { freeaddrinfo(first) }
        var next = first
        while let address = next?.pointee {
            descriptor = socket(address.ai_family, address.ai_socktype, address.ai_protocol)
            if connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 { return }
            close()
            next = address.ai_next
        }
        throw Failure()
    }

    func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw Failure() }
            rest = rest.dropFirst(count)
        }
    }

    /// Returns what has arrived, no bytes at the end, and nil if nothing arrives in time.
    func read(within time: Duration) -> [UInt8]? {
        let end = ContinuousClock.now.advanced(by: time)
        var bytes = [UInt8](repeating: 0, count: 16_384)
        while true {
            var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let milliseconds = ContinuousClock.now.duration(to: end) / .milliseconds(1) + 1
            let ready = poll(&request, 1, Int32(max(0, min(milliseconds, 3_600_000))))
            if ready == 0 { return nil }
            let count = ready > 0 ? recv(descriptor, &bytes, bytes.count, 0) : -1
            // The handler of a signal has interrupted the wait.
            if count < 0 && errno == EINTR { continue }
            return Array(bytes.prefix(max(0, count)))
        }
    }

    func close() { _ = Glibc.close(descriptor) }
}

/// The time as the session wants it: on a clock that never goes back.
struct Time {
    let start = ContinuousClock.now
    var now: Instant { Instant(nanoseconds: 0).advanced(by: start.duration(to: .now)) }
}

let url = try WebSocketURL(CommandLine.arguments.dropFirst().first ?? "ws://localhost:8080/echo")
precondition(!url.isSecure && url.unixPath == nil, "TLS and Unix sockets are left out here.")
let connection = try Connection(host: url.host, port: url.port)
let time = Time()

// The handshake. Bytes after the response are the first frames: they stay in the input.
var handshake = try ClientHandshake(url: url, key: (0..<16).map { _ in .random(in: 0...255) })
try connection.write(handshake.requestBytes)
var input: [UInt8] = []
var position = 0
let end = time.now.advanced(by: .seconds(10))
while try handshake.receive(input.span, from: &position) == nil {
    guard let bytes = connection.read(within: time.now.duration(to: end)), !bytes.isEmpty else {
        throw handshake.finish()
    }
    (input, position) = (bytes, 0)
}

// The session: events out of what arrives, bytes to write, and a deadline.
let session = WebSocketSession(role: .client, maskingKeys: MaskingKeys { .random(in: 0...(.max)) }, now: time.now)
try connection.write(session.encoded("hello"))
while true {
    while let event = session.nextEvent(of: &input, at: &position, now: time.now) {
        switch event {
        case .message(let kind, let payload):
            print(Message(kind, payload, of: input))
            session.close(.normalClosure, now: time.now)
        case .peerClose: session.answerClose(now: time.now)
        case .violation(let error): session.fail(error, now: time.now)
        case .piece, .ping, .pong, .unaskedPong: break
        }
    }
    // Asked each time: a peer that sends without a pause must not put it off.
    switch session.deadlinePassed(now: time.now) {
    case .pingTimedOut(let error), .messageTimedOut(let error): session.fail(error, now: time.now)
    case .closeTimedOut: session.reset()
    case .none, .wrote: break
    }
    do { try connection.write(session.takeControlOutput()) } catch { session.endOfStream() }
    if session.state == .closed { break }
    let wait = session.deadline.map { time.now.duration(to: $0) } ?? .seconds(60)
    if let bytes = connection.read(within: wait) {
        (input, position) = (bytes, 0)
        if bytes.isEmpty { session.endOfStream() }
    }
}
connection.close()
print(session.report)
#endif
