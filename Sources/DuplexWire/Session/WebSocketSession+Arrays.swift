// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// For owners of a transport that reads and writes arrays. Each call copies what it returns; the functions with spans copy nothing.

extension WebSocketSession {
    /// Parses bytes from `position` on, up to the next event, and moves `position` after them.
    ///
    /// Call it until it returns `nil`; all of the bytes are taken then. The same bytes give the same events in any pieces.
    ///
    /// - Parameters:
    ///   - bytes: The bytes that have arrived. Payload is unmasked in place, so don't hand them in twice.
    ///   - position: The offset to begin at; moved.
    ///   - now: The time.
    /// - Returns: The next event; `nil` once all of the bytes are taken.
    public func nextEvent(of bytes: inout [UInt8], at position: inout Int, now: Instant) -> Event? {
        bytes.withRawSpan { nextEvent(in: &$0, at: &position, now: now) }
    }

    /// Returns a whole message as one frame; no bytes once a close frame was sent (RFC 6455 section 5.5.1).
    ///
    /// The frame isn't compressed. It counts as sent: write it to the transport, after all that was returned before.
    ///
    /// - Parameter message: The message; its size has no bound here.
    /// - Returns: The header and the payload, masked by a client.
    public func encoded(_ message: Message) -> [UInt8] {
        switch message {
        case .text(let text): encoded(.text, Array(text.utf8))
        case .binary(let bytes): encoded(.binary, bytes)
        }
    }

    private func encoded(_ kind: Message.Kind, _ payload: [UInt8]) -> [UInt8] {
        [UInt8](room: encodedSize(payload: payload.count)) { encode(kind, payload.span.raw, into: &$0) }
    }

    /// Returns the pongs, pings and the close frame that wait, and forgets them; no bytes if none waits.
    ///
    /// They count as sent: write them to the transport, between two frames.
    ///
    /// - Returns: The frames.
    public func takeControlOutput() -> [UInt8] {
        hasControlOutput ? [UInt8](room: controlOutputSize) { writeControlOutput(into: &$0) } : []
    }
}

extension Message {
    /// Makes a message of the payload of ``WebSocketSession/Event/message(_:_:)``.
    ///
    /// - Parameters:
    ///   - kind: Text or binary.
    ///   - payload: The payload of the event.
    ///   - bytes: The bytes that the event was parsed from, not changed since then.
    public init(_ kind: Kind, _ payload: WebSocketSession.Payload, of bytes: [UInt8]) {
        let content =
            switch payload {
            case .input(let range): Array(bytes[range])
            case .assembled(let bytes): bytes
            }
        self = kind == .text ? .text(String(decoding: content, as: UTF8.self)) : .binary(content)
    }
}
