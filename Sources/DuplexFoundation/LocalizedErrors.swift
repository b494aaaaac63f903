// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexServer
public import DuplexSockets
public import DuplexTopics
public import DuplexWebSockets
public import DuplexWire
public import Foundation

// `localizedDescription` of an error is its sentence for people; without this it would be “The operation could not be completed.”
// and a number. `description` says more, over several lines: the code, the causes, the times.

extension SocketError: LocalizedError {
    /// What happened, in a sentence.
    public var errorDescription: String? { message }

    /// What to try next; `nil` if nothing is known.
    public var recoverySuggestion: String? { hint }
}

extension WebSocketError: LocalizedError {
    /// What happened, in a sentence.
    public var errorDescription: String? { message }

    /// What to try next; `nil` if nothing is known.
    public var recoverySuggestion: String? { hint }
}

extension ProxyError: LocalizedError {
    /// What happened, in a sentence.
    public var errorDescription: String? { message }
}

extension EventStreamError: LocalizedError {
    /// What happened, in a sentence.
    public var errorDescription: String? { message }
}

extension SetCookieError: LocalizedError {
    /// What happened, in a sentence.
    public var errorDescription: String? { message }
}

extension HTTPProtocolError: LocalizedError {
    /// What happened, in a sentence.
    public var errorDescription: String? { message }
}

extension WebSocketURLError: LocalizedError {
    /// What happened, in a sentence.
    public var errorDescription: String? { message }
}

extension HandshakeError: LocalizedError {
    /// What happened, in a sentence.
    public var errorDescription: String? { message }

    /// What to try next; `nil` if nothing is known.
    public var recoverySuggestion: String? { hint }
}

extension ServerHandshake.Refusal: LocalizedError {
    /// What is wrong with the request, in a sentence.
    public var errorDescription: String? { message }
}

extension WebSocketProtocolError: LocalizedError {
    /// What happened, in a sentence.
    public var errorDescription: String? { message }
}

extension ReconnectFailure: LocalizedError {
    /// What happened, in a sentence.
    public var errorDescription: String? { description }
}

extension RouteError: LocalizedError {
    /// What happened, in a sentence.
    public var errorDescription: String? { description }
}

extension Problem: LocalizedError {
    /// What happened, in a sentence.
    public var errorDescription: String? { detail }
}

extension TopicError: LocalizedError {
    /// What happened, in a sentence.
    public var errorDescription: String? { message }
}
