// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexSockets
import DuplexTestTimes

/// The other side of a connection, played by a test: writes any bytes and reads what comes, frame by frame or head by
/// head, and never waits for ever.
package actor RawPeer {
    package nonisolated let socket: Socket
    /// Whether this side's frames are masked, as a client's must be.
    package nonisolated let masks: Bool
    private var buffer: [UInt8] = []
    private var start = 0
    private var hasEnded = false

    /// How long a read waits before the test fails.
    private static let patience = Duration.limit(seconds: 20)
    /// Any key will do.
    private static let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]

    /// The peer ended the stream where more was expected.
    package struct EndOfStream: Error {}

    package init(_ socket: Socket, masks: Bool) {
        self.socket = socket
        self.masks = masks
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe socket.loop.asUnownedSerialExecutor()
    }

    /// Connects.
    package static func connect(to address: SocketAddress) async throws -> RawPeer {
        RawPeer(try await Socket.connect(to: .address(address)), masks: true)
    }

    // MARK: Writing

    package func send(_ bytes: [UInt8]) async throws {
        try await socket.write(bytes)
    }

    package func send(_ text: String) async throws {
        try await socket.write(text)
    }

    /// Sends frames in one piece.
    package func send(_ frames: RawFrame...) async throws {
        try await send(frames)
    }

    /// Sends frames in one piece.
    package func send(_ frames: [RawFrame]) async throws {
        try await socket.write(frames.flatMap { encoded($0) })
    }

    /// The bytes of a frame, masked as this side must.
    package nonisolated func encoded(_ frame: RawFrame, length: RawFrame.LengthForm = .shortest) -> [UInt8] {
        frame.bytes(key: masks ? Self.key : nil, length: length)
    }

    /// Sends each byte in a write of its own.
    package func sendByteByByte(_ bytes: [UInt8]) async throws {
        for byte in bytes {
            try await socket.write([byte])
            await Task.yield()
        }
    }

    package func finishWriting() async {
        await socket.finishWriting()
    }

    package func reset() async {
        await socket.reset()
    }

    package func close() async {
        await socket.close()
    }

    // MARK: Reading

    private var available: Int { buffer.count - start }

    private func fill() async throws -> Bool {
        if hasEnded { return false }
        guard let bytes = try await socket.read(timeout: Self.patience) else {
            hasEnded = true
            return false
        }
        if start == buffer.count {
            buffer = bytes
            start = 0
        } else {
            buffer += bytes
        }
        return true
    }

    package func read(exactly count: Int) async throws -> [UInt8] {
        while available < count {
            guard try await fill() else { throw EndOfStream() }
        }
        defer { start += count }
        return Array(buffer[start..<(start + count)])
    }

    /// Everything up to the end of the stream.
    package func readToEnd() async throws -> [UInt8] {
        while try await fill() {}
        defer { start = buffer.count }
        return Array(buffer[start...])
    }

    /// Whether the stream ends here, in order.
    package func isAtEnd() async throws -> Bool {
        if available > 0 { return false }
        return try await !fill()
    }

    /// Whether the connection ends here, in order or by a reset.
    package func isOver() async -> Bool {
        do {
            return try await isAtEnd()
        } catch {
            return (error as? SocketError)?.code == .connectionReset
        }
    }

    /// A head, up to and with its empty line.
    package func readHead() async throws -> String {
        let end = Array("\r\n\r\n".utf8)
        var scanned = start
        while true {
            while scanned + 4 <= buffer.count {
                if Array(buffer[scanned..<(scanned + 4)]) == end {
                    return String(decoding: try await read(exactly: scanned + 4 - start), as: UTF8.self)
                }
                scanned += 1
            }
            let offset = scanned - start
            guard try await fill() else { throw EndOfStream() }
            scanned = start + offset
        }
    }

    /// A response with its body.
    package func readResponse(to method: String = "GET") async throws -> RawResponse {
        var response = RawResponse(head: try await readHead())
        response.body = try await read(exactly: response.bodyLength(answering: method))
        return response
    }

    /// Sends a request and reads the answer.
    package func response(to request: String) async throws -> RawResponse {
        try await send(request)
        return try await readResponse(to: String(request.prefix { $0 != " " }))
    }

    /// The next frame, unmasked.
    package func readFrame() async throws -> RawFrame {
        while true {
            if let frame = takeFrame() { return frame }
            guard try await fill() else { throw EndOfStream() }
        }
    }

    /// The first frame for which `isMeant` is true; those before it are dropped.
    package func readFrame(where isMeant: (RawFrame) -> Bool) async throws -> RawFrame {
        while true {
            while let frame = takeFrame() { if isMeant(frame) { return frame } }
            guard try await fill() else { throw EndOfStream() }
        }
    }

    /// A frame that has arrived whole.
    private func takeFrame() -> RawFrame? {
        guard available >= 2 else { return nil }
        let short = Int(buffer[start + 1] & 0x7F)
        let isMasked = buffer[start + 1] & 0x80 != 0
        let lengthEnd = start + (short == 127 ? 10 : short == 126 ? 4 : 2)
        let headerEnd = lengthEnd + (isMasked ? 4 : 0)
        guard headerEnd <= buffer.count else { return nil }
        let length = short < 126 ? short : buffer[(start + 2)..<lengthEnd].reduce(0) { $0 << 8 | Int($1) }
        guard headerEnd + length <= buffer.count else { return nil }
        var payload = Array(buffer[headerEnd..<(headerEnd + length)])
        if isMasked { for index in payload.indices { payload[index] ^= buffer[lengthEnd + index % 4] } }
        let first = buffer[start]
        var frame = RawFrame(first & 0x0F, payload, isFinal: first & 0x80 != 0, reservedBits: first & 0x70)
        frame.isMasked = isMasked
        start = headerEnd + length
        return frame
    }
}
