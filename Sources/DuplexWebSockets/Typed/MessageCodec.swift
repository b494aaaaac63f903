// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire

/// Makes messages of values, and values of messages; `DuplexFoundation` has one for JSON.
public protocol MessageCodec<Incoming, Outgoing>: Sendable {
    /// What arrives.
    associatedtype Incoming: Sendable
    /// What is sent.
    associatedtype Outgoing: Sendable

    /// Makes a message.
    ///
    /// - Parameter value: what to send.
    /// - Returns: the message.
    /// - Throws: what is wrong with the value; nothing is sent then. It becomes the cause of a ``WebSocketError``.
    func encode(_ value: Outgoing) throws -> Message

    /// Makes a value.
    ///
    /// - Parameter message: what arrived.
    /// - Returns: the value.
    /// - Throws: what is wrong with the message; see ``WebSocketError/undecodable``.
    func decode(_ message: Message) throws -> Incoming
}

/// A message that its codec can't make a value of.
struct UndecodableMessage: Error, Sendable, CustomStringConvertible {
    /// The message, whole.
    let message: Message
    /// What the codec said.
    let cause: any Error

    init(_ message: Message, cause: any Error) {
        self.message = message
        self.cause = cause
    }

    /// The kind and length of the message and what is wrong, but not what it says, which may be anything.
    var description: String {
        "A \(message.kind) message of \(message.byteCount) bytes can't be decoded: \(cause)"
    }
}

extension WebSocketError {
    /// The message that can't be decoded, and what its codec said, where the code is ``Code/decodingFailed``.
    public var undecodable: (message: Message, cause: any Error)? {
        (cause as? UndecodableMessage).map { ($0.message, $0.cause) }
    }
}

/// What happens to a message that can't be decoded.
public enum UndecodablePolicy: Sendable {
    /// The receiver gets a ``WebSocketError`` with ``WebSocketError/undecodable``; the connection stays open, and the next call
    /// gets the next message.
    case report
    /// As ``report``, and the connection is closed with that code: 1007 for data that isn't what it should be, 1003 for a
    /// kind that isn't wanted.
    case close(CloseCode)
    /// The closure is called with the message and the codec's error, and the next message is taken instead.
    case skip(@Sendable (Message, any Error) -> Void)
}

/// Messages of values and values of messages, by a codec, and what happens to a message that can't be decoded.
struct ValueCoding<Incoming: Sendable, Outgoing: Sendable>: Sendable {
    let codec: any MessageCodec<Incoming, Outgoing>
    let undecodable: UndecodablePolicy

    /// The message of a value.
    func encode(_ value: Outgoing) throws(WebSocketError) -> Message {
        do {
            return try codec.encode(value)
        } catch {
            throw WebSocketError(.encodingFailed, message: "The value can't be sent: \(error).", cause: error)
        }
    }

    /// The value of a message.
    ///
    /// - Parameters:
    ///   - message: the message.
    ///   - close: begins to close the connection, with a code and a reason, where the policy says so.
    /// - Returns: the value; `nil` if the message is to be skipped.
    /// - Throws: ``WebSocketError`` with ``WebSocketError/Code/decodingFailed``.
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
                tell(message, error)
                return nil
            }
            throw WebSocketError(.decodingFailed, message: "A message isn't what it should be.", cause: undecodable)
        }
    }

    /// The reason in the close frame for a peer whose message can't be decoded.
    static var reason: String { "A message can't be decoded." }
}
