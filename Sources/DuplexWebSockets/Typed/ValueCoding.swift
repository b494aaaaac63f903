// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// Messages of values and values of messages, by a codec, and what happens to a message that can't be decoded.
struct ValueCoding<Incoming: Sendable, Outgoing: Sendable>: Sendable {
    let codec: any MessageCodec<Incoming, Outgoing>
    let undecodable: UndecodablePolicy

    /// The message of a value.
    func encode(_ value: Outgoing) throws(WebSocketError) -> Message {
        do {
            return try codec.encode(value)
        } catch {
            throw WebSocketError(.unencodable, message: "The value can't be sent: \(error).", cause: error)
        }
    }

    /// The value of a message.
    ///
    /// - Parameters:
    ///   - message: the message.
    ///   - close: begins to close the connection, with a code and a reason, where the policy says so.
    /// - Returns: the value; `nil` if the message is to be skipped.
    /// - Throws: ``WebSocketError`` with ``WebSocketError/Code/undecodable``.
    func decode(
        _ message: Message,
        close: (CloseCode, String) async -> Void
    ) async throws(WebSocketError) -> Incoming? {
        do {
            return try codec.decode(message)
        } catch {
            let undecodable = UndecodableMessage(message, cause: error)
            switch self.undecodable {
            case .report: break
            case .close(let code): await close(code, Self.reason)
            case .skip(let tell):
                tell(undecodable)
                return nil
            }
            throw WebSocketError(.undecodable, message: "A message isn't what it should be.", cause: undecodable)
        }
    }

    /// The reason in the close frame for a peer whose message can't be decoded.
    static var reason: String { "A message can't be decoded." }
}
