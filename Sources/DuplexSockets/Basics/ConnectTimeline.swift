// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What happened while a connection was made, and when: the look-up of the name, each address that was tried, and
/// the TLS handshake.
///
/// All times are durations since ``Socket/connect(to:timeout:options:on:)`` was called, on the monotonic clock. One reference
/// in memory, whatever its length.
public struct ConnectTimeline: Sendable, Hashable, CustomStringConvertible {
    /// The result of trying one address.
    package enum Outcome: Sendable, Hashable, CustomStringConvertible {
        /// The connection was made; at most one attempt has this outcome.
        case connected
        /// It was refused by the peer, the network or this system; with the system's error number.
        case failed(errno: Int32?)
        /// It took longer than ``ConnectOptions/attemptTimeout``, or ``ConnectOptions/timeout`` passed while it was under way.
        case timedOut
        /// Another address was faster, so it was closed before it had a result.
        case abandoned

        /// What it is, for people.
        public var description: String {
            switch self {
            case .connected: "connected"
            case .failed(let errno): "failed" + (errno.map { " (\(SocketError.text(of: $0)))" } ?? "")
            case .timedOut: "timed out"
            case .abandoned: "abandoned"
            }
        }
    }

    /// One address that was tried.
    package struct Attempt: Sendable, Hashable, CustomStringConvertible {
        /// The address.
        package let address: SocketAddress
        /// When the attempt began.
        package let start: Duration
        /// When it had its result.
        package let end: Duration
        /// Its result.
        package let outcome: Outcome

        /// The address, its times, and its result.
        public var description: String {
            "\(address) \(ConnectTimeline.text(of: start)) to \(ConnectTimeline.text(of: end)): \(outcome)"
        }
    }

    private struct Content: Sendable, Hashable {
        var nameLookup: Duration?
        var addresses: [SocketAddress]
        var attempts: [Attempt]
        var proxy: Duration?
        var roots: Duration?
        var tls: Duration?
        var total: Duration
    }

    /// In a place of its own, because every socket has room for a timeline and those of servers have none.
    private final class Storage: Sendable {
        let content: Content

        init(_ content: Content) {
            self.content = content
        }
    }

    private let storage: Storage

    package init(
        nameLookup: Duration?,
        addresses: [SocketAddress] = [],
        attempts: [Attempt],
        proxy: Duration? = nil,
        roots: Duration? = nil,
        tls: Duration? = nil,
        total: Duration
    ) {
        storage = Storage(
            Content(
                nameLookup: nameLookup,
                addresses: addresses,
                attempts: attempts,
                proxy: proxy,
                roots: roots,
                tls: tls,
                total: total
            )
        )
    }

    /// How long looking the name up took; `nil` where there was none to look up.
    public var nameLookup: Duration? { storage.content.nameLookup }
    /// The addresses of the name: all of the families that may be used, in the order in which they would be tried.
    ///
    /// Empty where there was no name to look up, and where nothing was found, which the error says.
    public var addresses: [SocketAddress] { storage.content.addresses }
    /// The addresses that were tried, in the order in which that began.
    package var attempts: [Attempt] { storage.content.attempts }
    /// How long the proxy took to make the connection behind it, and securing that to the proxy itself; `nil` without one.
    ///
    /// ``nameLookup`` and ``addresses`` are about the proxy then.
    public var proxy: Duration? { storage.content.proxy }
    /// How long the TLS handshake waited for the system's roots to be read; `nil` if it didn't.
    ///
    /// They are read once in a process.
    public var roots: Duration? { storage.content.roots }
    /// How long the TLS handshake took, whether it succeeded or not; `nil` where it wasn't begun.
    public var tls: Duration? { storage.content.tls }
    /// How long it took until the connection was made or given up.
    public var total: Duration { storage.content.total }

    /// Compares their events.
    public static func == (one: ConnectTimeline, other: ConnectTimeline) -> Bool {
        one.storage.content == other.storage.content
    }

    /// Hashes its events.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(storage.content)
    }

    /// A line for the names, one for each attempt, one for the roots and for TLS, and one for the whole.
    public var description: String {
        let lines = (nameLookup.map { ["names 0 ms to \(Self.text(of: $0))"] } ?? []) + attempts.map(\.description)
        let secured = tls.map { ["TLS took \(Self.text(of: $0))"] } ?? []
        let proxied = proxy.map { ["the proxy took \(Self.text(of: $0))"] } ?? []
        let rooted = roots.map { ["the system's roots took \(Self.text(of: $0))"] } ?? []
        return (lines + proxied + rooted + secured + ["in all \(Self.text(of: total))"]).joined(separator: "\n")
    }

    /// Milliseconds with one digit behind the point.
    private static func text(of duration: Duration) -> String {
        let tenths = (duration / .microseconds(100)).rounded()
        return "\(Int(tenths) / 10).\(Int(tenths) % 10) ms"
    }
}
