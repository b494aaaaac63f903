// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
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
    ///   - encoder: makes the encoder of each message, with the settings that it is to have. Default:
    ///     ``JSONDefaults/makeEncoder()``, with dates in ISO 8601.
    ///   - decoder: makes the decoder of each message. Default: ``JSONDefaults/makeDecoder()``.
    public init(
        sending kind: Message.Kind = .text,
        encoder: @escaping @Sendable () -> JSONEncoder = { JSONDefaults.makeEncoder() },
        decoder: @escaping @Sendable () -> JSONDecoder = { JSONDefaults.makeDecoder() }
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

/// JSON as Duplex itself answers with: in one line for whoever reads or prints it, and the members of each object in the order of
/// their names.
package enum CompactJSON {
    /// Encodes a value.
    ///
    /// - Parameter value: the value. Hazard: a number in it that isn't finite can't be encoded.
    /// - Returns: the JSON.
    /// - Throws: `EncodingError`.
    package static func text(of value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return printable(String(decoding: try encoder.encode(value), as: UTF8.self))
    }

    /// Escapes what a terminal would act on, or what ends a line for some readers: the encoder escapes no more than it must.
    ///
    /// All of that can only stand within strings.
    private static func printable(_ json: String) -> String {
        guard json.unicodeScalars.contains(where: JSONText.isEscaped) else { return json }
        var text = ""
        for scalar in json.unicodeScalars {
            if JSONText.isEscaped(scalar) {
                JSONText.escape(scalar, to: &text)
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// Decodes a value.
    ///
    /// - Parameters:
    ///   - type: the type of the value.
    ///   - text: the JSON.
    /// - Returns: the value.
    /// - Throws: `DecodingError`.
    package static func value<Value: Decodable>(_ type: Value.Type = Value.self, of text: String) throws -> Value {
        try decoder.decode(type, from: Data(text.utf8))
    }

    /// A decoder as Foundation has it, whatever the server of the app decodes with.
    package static var decoder: JSONDecoder { JSONDecoder() }
}

/// A member that is null in JSON if it has no value.
///
/// Other optional members are left out then.
@propertyWrapper
package struct OrNull<Value> {
    package var wrappedValue: Value?

    package init(wrappedValue: Value?) {
        self.wrappedValue = wrappedValue
    }
}

extension OrNull: Sendable where Value: Sendable {}
extension OrNull: Equatable where Value: Equatable {}
extension OrNull: Hashable where Value: Hashable {}

extension OrNull: Encodable where Value: Encodable {
    package func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
}

extension OrNull: Decodable where Value: Decodable {
    package init(from decoder: any Decoder) throws { wrappedValue = try Value?(from: decoder) }
}

/// What is wrong with received JSON, without its contents.
enum JSONFault {
    static func description(of error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, let context): "the JSON has no \(place(context.codingPath + [key]))"
        case .valueNotFound(_, let context): "the JSON has null at \(place(context.codingPath))"
        case .typeMismatch(_, let context): "the JSON has another type at \(place(context.codingPath))"
        case .dataCorrupted(let context) where context.codingPath.isEmpty: "the body isn't JSON"
        case .dataCorrupted(let context): "the JSON has no such value at \(place(context.codingPath))"
        @unknown default: "the JSON isn't what was expected"
        }
    }

    /// Such as `items.2.name`; keys of dictionaries are the client's, and cut.
    private static func place(_ path: [any CodingKey]) -> String {
        if path.isEmpty { return "its top" }
        let names = path.prefix(16).map { $0.intValue.map(String.init) ?? NamedValue.plain($0.stringValue) }
        return names.joined(separator: ".")
    }
}
