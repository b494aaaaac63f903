// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire

/// Bounds on what clients may make a server hold or wait for.
///
/// Start from a preset and change what differs: `server.limits.http.bodySize = .mebibytes(8)`.
public struct ServerLimits: Sendable, Hashable {
    /// Of the messages of WebSockets; a route may have its own (``RouteOption/limits(_:)``).
    public var messages: MessageLimits
    /// Of requests; a route may have its own bound of bodies (``RouteOption/bodySize(_:)``).
    public var http: HTTPLimits
    /// The most connections that a server keeps at once from one IPv4 address, or from the 64 bits of an IPv6 address that a
    /// provider gives out; one more is closed at once.
    ///
    /// Those from this machine aren't counted: a proxy has the connections of many clients. If it names the clients,
    /// with the PROXY protocol, those are counted.
    public var connectionsPerAddress: Int

    /// For untrusted clients; the default: 1,024 connections from an address, and the presets of that name.
    public static let internet = ServerLimits(messages: .internet, http: .internet, connectionsPerAddress: 1_024)

    /// For clients on your own network: any number of connections from an address, and the presets of that name.
    public static let local = ServerLimits(messages: .local, http: .local, connectionsPerAddress: .max)

    /// For clients that are trusted with this process's memory: the presets of that name, and any number of connections.
    public static let unlimited = ServerLimits(messages: .unlimited, http: .unlimited, connectionsPerAddress: .max)
}
