// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexServer

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension RouteOption {
    /// Sets how values become JSON and JSON becomes values, for a server, a group or a route.
    ///
    /// ```swift
    /// server.use(
    ///     .json(encoder: {
    ///         let encoder = JSONDefaults.makeEncoder()
    ///         encoder.outputFormatting = .sortedKeys
    ///         return encoder
    ///     })
    /// )
    /// ```
    ///
    /// It holds in handlers and in middleware after this one: for values that routes return, for `Response(json:)`,
    /// `Request.decode(_:)`, `ServerSentEvent(json:)` and what sends or publishes such events. The option of a route takes the
    /// place of its group's, that of a group of the server's. An encoder or a decoder that is given to a call is used instead.
    /// It doesn't hold in tasks that are detached, nor for messages of WebSockets: give `messages(of:)`,
    /// `send(json:)` or a ``JSONCodec`` those closures.
    ///
    /// - Parameters:
    ///   - encoder: makes the encoder of each value. It is called on the connection's loop and must not block. Default:
    ///     ``JSONDefaults/makeEncoder()``, with dates in ISO 8601.
    ///   - decoder: makes the decoder of each value, in the same way. Default: ``JSONDefaults/makeDecoder()``.
    /// - Returns: the option.
    public static func json(
        encoder: @escaping @Sendable () -> JSONEncoder = { JSONDefaults.makeEncoder() },
        decoder: @escaping @Sendable () -> JSONDecoder = { JSONDefaults.makeDecoder() }
    ) -> RouteOption {
        .within(JSONSettings(encoder: encoder, decoder: decoder))
    }
}

/// How values become JSON and JSON becomes values.
struct JSONSettings: HandlerContext {
    /// Those of the handler that runs; nil for the defaults.
    @TaskLocal private static var current: JSONSettings?

    let encoder: @Sendable () -> JSONEncoder
    let decoder: @Sendable () -> JSONDecoder

    /// Makes an encoder as the handler that runs is to have it.
    static func makeEncoder() -> JSONEncoder { current?.encoder() ?? JSONDefaults.makeEncoder() }

    /// Makes a decoder as the handler that runs is to have it.
    static func makeDecoder() -> JSONDecoder { current?.decoder() ?? JSONDefaults.makeDecoder() }

    func run<Value>(_ body: () throws -> Value) throws -> Value {
        try Self.$current.withValue(self) { try body() }
    }

    func run<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        try await Self.$current.withValue(self) { try await body() }
    }
}
