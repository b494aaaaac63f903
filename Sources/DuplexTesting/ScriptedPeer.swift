// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
public import DuplexWebSockets
public import DuplexWire

/// The other side of a WebSocket under test, which sends and expects what the test says, right or wrong.
///
/// ```swift
/// let peer = await ScriptedPeer(of: .client)
/// try await peer.socket.send("hi")
/// try await peer.expect(.text("hi"))
/// try await peer.send(raw: [0x81, 0x7E])
/// try await peer.expectClose(1_002)
/// ```
///
/// It does nothing by itself: a ping isn't answered, nor is a close frame.
public actor ScriptedPeer {
    /// What the WebSocket under test has sent.
    public enum Event: Sendable, Hashable {
        /// A whole text message.
        case text(String)
        /// A whole binary message.
        case binary([UInt8])
        /// A ping.
        case ping([UInt8])
        /// A pong.
        case pong([UInt8])
        /// A close frame, with its code, if it has one, and its reason.
        case close(UInt16?, String)
        /// The end of the stream.
        case end
        /// The connection was reset.
        case reset
    }

    /// The WebSocket under test.
    public nonisolated let socket: WebSocket
    /// The connection between the two.
    public nonisolated let connection: MemoryConnection
    private let stream: Socket
    private let masks: Bool
    private var parser = FrameHeaderParser()
    private var input: [UInt8] = []

    /// How long an expectation waits, of the loop's time.
    private static let patience = Duration.seconds(20)
    /// Any key will do.
    private static let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]

    /// Connects a peer with a WebSocket, as after an opening handshake.
    ///
    /// - Parameters:
    ///   - role: what the WebSocket under test is; the peer is the other.
    ///   - options: limits and times of the WebSocket.
    ///   - group: the loops that the two live on; ``TestLoop/group`` for a manual clock.
    ///   - faults: what goes wrong on the way.
    ///   - handler: a synchronous handler of the WebSocket.
    public init(
        of role: WebSocketSession.Role,
        options: WebSocketOptions = WebSocketOptions(),
        on group: EventLoopGroup = .shared,
        faults: Faults = .none,
        handler: (any WebSocketHandler)? = nil
    ) async {
        connection = MemoryConnection(faults: faults, capacity: .kibibytes(256))
        masks = role == .server
        let (peerSide, side): (MemoryLink.Side, MemoryLink.Side) = role == .server ? (.near, .far) : (.far, .near)
        stream = await connection.link.socket(peerSide, on: group.next())
        let setup = WebSocketSetup(role: role, options, nil, handler)
        socket = await connection.webSocket(side, setup, on: group.next())
    }

    // MARK: Sending

    /// Sends a message in one frame.
    public func send(_ message: Message) async throws {
        switch message {
        case .text(let text): try await send(.text, Array(text.utf8))
        case .binary(let bytes): try await send(.binary, bytes)
        }
    }

    /// Sends a frame, masked if the peer is a client.
    ///
    /// - Parameters:
    ///   - opcode: what it carries.
    ///   - payload: its payload, before it is masked.
    ///   - isFinal: whether it is the last fragment of its message.
    ///   - reservedBits: RSV1 to RSV3, as they lie in the first byte.
    /// - Throws: `SocketError` when the connection has ended.
    public func send(
        _ opcode: Opcode,
        _ payload: [UInt8] = [],
        isFinal: Bool = true,
        reservedBits: UInt8 = 0
    ) async throws {
        var bytes = [(isFinal ? 0x80 : 0) | reservedBits | opcode.rawValue]
        bytes += Self.length(payload.count, isMasked: masks)
        bytes += masks ? Self.key + Self.masked(payload) : payload
        try await stream.write(bytes)
    }

    /// The length of a payload in its shortest form (RFC 6455 section 5.2).
    private static func length(_ count: Int, isMasked: Bool) -> [UInt8] {
        let mask: UInt8 = isMasked ? 0x80 : 0
        if count < 126 { return [mask | UInt8(count)] }
        let size = count <= 0xFFFF ? 2 : 8
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: count >> (8 * (size - 1 - $0))) }
        return [mask | (size == 2 ? 126 : 127)] + bytes
    }

    /// Sends a close frame.
    public func sendClose(_ code: UInt16? = 1_000, reason: String = "") async throws {
        let payload = code.map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] + Array(reason.utf8) } ?? []
        try await send(.close, payload)
    }

    /// Sends bytes as they are.
    public func send(raw bytes: [UInt8]) async throws {
        try await stream.write(bytes)
    }

    /// Ends the outgoing stream; the peer still receives.
    public func finishWriting() async {
        await stream.finishWriting()
    }

    /// Resets the connection.
    public func reset() async {
        await stream.reset()
    }

    /// Closes the connection in order.
    public func close() async {
        await stream.close()
    }

    // MARK: Expecting

    /// Waits for what comes next, which must be this.
    ///
    /// - Parameter event: what is expected.
    /// - Throws: ``TestingError`` with `unexpected` when it is something else, or nothing comes for 20 seconds of the loop's time.
    public func expect(_ event: Event) async throws {
        let got = try await next()
        if got != event { throw TestingError.unexpected("\(event)", got: "\(got)") }
    }

    /// Waits for a close frame with that code, whatever its reason.
    ///
    /// - Parameter code: the code; `nil` for a close frame without one.
    /// - Throws: as ``expect(_:)``.
    public func expectClose(_ code: UInt16?) async throws {
        let got = try await next()
        guard case .close(code, _) = got else {
            throw TestingError.unexpected("a close frame with \(code.map { "\($0)" } ?? "no code")", got: "\(got)")
        }
    }

    /// Waits for what comes next.
    ///
    /// - Returns: what the WebSocket has sent.
    /// - Throws: ``TestingError`` with `unexpected` when it isn't a frame that such a side may send, or nothing comes for 20 seconds of the
    ///   loop's time.
    public func next() async throws -> Event {
        do {
            guard let (first, start) = try await frame() else { return .end }
            if first.opcode.isControl { return try control(first, start) }
            guard first.opcode == .text || first.opcode == .binary else { throw Self.wrong(first) }
            var (last, payload) = (first, start)
            while !last.isFinal {
                guard let (header, more) = try await frame() else { return .end }
                guard header.opcode == .continuation else { throw Self.wrong(header) }
                (last, payload) = (header, payload + more)
            }
            return first.opcode == .binary ? .binary(payload) : .text(String(decoding: payload, as: UTF8.self))
        } catch let error as SocketError where error.code == .connectionReset {
            return .reset
        } catch let error as SocketError where error.code == .timedOut {
            throw TestingError.unexpected("something", got: "nothing for \(Self.patience.rounded)")
        }
    }

    private func control(_ header: FrameHeader, _ payload: [UInt8]) throws -> Event {
        switch header.opcode {
        case .ping: return .ping(payload)
        case .pong: return .pong(payload)
        case .close:
            guard payload.count >= 2 else { return .close(nil, "") }
            let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
            return .close(code, String(decoding: payload.dropFirst(2), as: UTF8.self))
        default: throw Self.wrong(header)
        }
    }

    private static func wrong(_ header: FrameHeader) -> TestingError {
        .unexpected("a frame", got: "\(header)")
    }

    /// The next frame, unmasked; `nil` at the end of the stream.
    private func frame() async throws -> (FrameHeader, [UInt8])? {
        while true {
            var position = 0
            if let header = try parser.parse(input.span.raw, from: &position) {
                input.removeFirst(position)
                guard (header.maskingKey == nil) == masks, header.reservedBits == 0 else { throw Self.wrong(header) }
                guard let payload = try await payload(Int(clamping: header.payloadLength)) else { return nil }
                return (header, header.maskingKey.map { Self.masked(payload, $0) } ?? payload)
            }
            input.removeFirst(position)
            guard let bytes = try await stream.read(timeout: Self.patience) else { return nil }
            input += bytes
        }
    }

    private func payload(_ count: Int) async throws -> [UInt8]? {
        while input.count < count {
            guard let bytes = try await stream.read(timeout: Self.patience) else { return nil }
            input += bytes
        }
        defer { input.removeFirst(count) }
        return Array(input.prefix(count))
    }

    private static func masked(_ payload: [UInt8], _ key: UInt32? = nil) -> [UInt8] {
        payload.enumerated().map { index, byte in
            byte ^ (key.map { UInt8(truncatingIfNeeded: $0 >> UInt32(8 * (index % 4))) } ?? Self.key[index % 4])
        }
    }
}
