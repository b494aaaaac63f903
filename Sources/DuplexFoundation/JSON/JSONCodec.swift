// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWebSockets
public import DuplexWire

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Messages in JSON, by `Codable`.
///
/// Sends texts by default, and accepts texts and bytes. Values are encoded and decoded whole, so
/// `MessageLimits.messageSize` bounds what it has to read.
public struct JSONCodec<Incoming: Decodable & Sendable, Outgoing: Encodable & Sendable>: MessageCodec {
    private let kind: Message.Kind
    private let encoder: @Sendable () -> JSONEncoder
    private let decoder: @Sendable () -> JSONDecoder

    /// Makes a codec.
    ///
    /// - Parameters:
    ///   - kind: whether values are sent as texts or as bytes. Default: as texts.
    ///   - encoder: makes the encoder of each message, with the settings that it is to have. Default: Foundation's
    ///     settings.
    ///   - decoder: makes the decoder of each message.
    public init(
        sending kind: Message.Kind = .text,
        encoder: @escaping @Sendable () -> JSONEncoder = { JSONEncoder() },
        decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
    ) {
        self.kind = kind
        self.encoder = encoder
        self.decoder = decoder
    }

    /// The value in JSON.
    ///
    /// - Parameter value: the value.
    /// - Returns: the message.
    /// - Throws: `EncodingError`.
    public func encode(_ value: Outgoing) throws -> Message {
        let data = try encoder().encode(value)
        return kind == .text ? .text(String(decoding: data, as: UTF8.self)) : .binary([UInt8](data))
    }

    /// The value that a message has in JSON.
    ///
    /// - Parameter message: the message.
    /// - Returns: the value.
    /// - Throws: `DecodingError`.
    public func decode(_ message: Message) throws -> Incoming {
        switch message {
        case .text(let text): try decoder().decode(Incoming.self, from: Data(text.utf8))
        case .binary(let bytes): try decoder().decode(Incoming.self, from: Data(bytes))
        }
    }
}

extension MessageCodec {
    /// Messages in JSON; see ``JSONCodec``.
    ///
    /// - Parameter kind: whether values are sent as texts or as bytes. Default: as texts.
    /// - Returns: the codec.
    public static func json<In, Out>(sending kind: Message.Kind = .text) -> Self where Self == JSONCodec<In, Out> {
        JSONCodec(sending: kind)
    }
}
