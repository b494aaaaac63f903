// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
import DuplexWire

extension ReconnectChange {
    /// What the client does and why, in two words.
    var words: String {
        switch (state, reason) {
        case (.idle, _): "idle"
        case (.connecting(let attempt), .networkChanged): "connecting \(attempt.url) network"
        case (.connecting(let attempt), _): "connecting \(attempt.url)"
        case (.open, _): "open"
        case (.waiting, .failed(let failure)): "waiting \(Self.word(failure))"
        case (.waiting, _): "waiting"
        case (.paused, _): "paused"
        case (.ended(.closed), _): "closed"
        case (.ended(.stopped(let failure)), _): "stopped \(Self.word(failure))"
        case (.ended(.exhausted(let limit, _)), _): "no \(limit)"
        }
    }

    private static func word(_ failure: ReconnectFailure) -> String {
        switch failure.kind {
        case .closed(let code): "\(code.rawValue)"
        case .refused(let status): "\(status)"
        default: "\(failure.kind)"
        }
    }
}

extension ReconnectingWebSocket {
    /// Waits for a change that says this, and returns all up to it.
    @discardableResult
    static func changes(_ states: AsyncStream<ReconnectChange>, until words: String) async -> [String] {
        var seen: [String] = []
        for await change in states {
            seen.append(change.words)
            if change.words == words { break }
        }
        return seen
    }

    /// Waits for so many changes; for fewer if the client ends before.
    static func changes(_ states: AsyncStream<ReconnectChange>, count: Int) async -> [String] {
        var seen: [String] = []
        if count <= 0 { return seen }
        for await change in states {
            seen.append(change.words)
            if seen.count == count { break }
        }
        return seen
    }
}
