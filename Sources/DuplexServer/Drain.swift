// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire

/// How a server that ends takes leave of its WebSockets.
///
/// Clients that are told all at once come back all at once. Told in waves, they come back to the servers that are left, or
/// to the next one, at a rate that these can bear. Handlers go on until their connection's turn comes.
public struct Drain: Sendable, Hashable {
    /// What the clients are told: 1001 unless told otherwise; 1012 where another server takes over at once (RFC 6455
    /// section 7.4.1, and IANA's registry).
    public var code: CloseCode
    /// The reason for people; cut at 123 bytes.
    public var reason: String
    /// Over how long they are told; all at once unless told otherwise.
    public var spread: Duration

    /// How many waves there are at most.
    static let waves = 20

    /// Makes a value.
    ///
    /// - Parameters:
    ///   - code: what the clients are told; one that may go on the wire (`CloseCode.isSendable`), else 1000 is sent.
    ///   - reason: the reason for people.
    ///   - spread: over how long, in 20 waves at most. `WebServer.closeTimeout` counts from the last of them.
    public init(code: CloseCode = .goingAway, reason: String = "", over spread: Duration = .zero) {
        self.code = code
        self.reason = reason
        self.spread = spread
    }

    /// How many connections are told in each of the waves.
    ///
    /// - Parameter count: how many there are.
    /// - Returns: as many numbers as there are waves, which differ by one at most; one wave where all are told at once.
    func sizes(of count: Int) -> [Int] {
        let waves = spread > .zero ? min(Self.waves, max(count, 1)) : 1
        return (0..<waves).map { (count * ($0 + 1)) / waves - (count * $0) / waves }
    }
}
