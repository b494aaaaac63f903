// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Whether connections begin with a header in which a proxy sends its client's address (PROXY protocol, versions 1 and
/// 2, by haproxy).
///
/// A header can claim any address. So it is taken from the proxies alone, and where it is required, all others are
/// refused: a listener takes connections either from clients or from proxies, never from both.
public struct ProxyProtocol: Sendable, Hashable {
    /// Who is trusted; `nil` where no header is expected.
    private let trusted: [IPNetwork]?
    /// How long a connection may take to send its header.
    let timeout: Duration
    /// The most bytes that may follow the fixed part of a header of version 2.
    let maximumLength: Int

    /// No header is expected: what a connection begins with is data.
    public static let off = ProxyProtocol(trusted: nil, timeout: .zero, maximumLength: 0)

    /// Each connection begins with a header, and comes from a proxy.
    ///
    /// A connection from anywhere else is reset and logged, and so is one that begins with something else, or doesn't send
    /// its header in time. A Unix socket's connections are trusted, since its file says who may connect.
    ///
    /// - Parameters:
    ///   - trusted: where the proxies are.
    ///   - timeout: how long a connection may take to send its header. Default: 5 s.
    ///   - maximumLength: the most bytes that may follow the 16 fixed ones of version 2, 65,535 at most. Default: 4
    ///     KiB. A line of version 1 has 107 bytes at most.
    /// - Returns: the value for ``SocketListener/bind(_:on:backlog:tls:options:proxyProtocol:logger:)``.
    public static func required(
        from trusted: [IPNetwork],
        timeout: Duration = .seconds(5),
        maximumLength: Int = 4_096
    ) -> ProxyProtocol {
        ProxyProtocol(trusted: trusted, timeout: timeout, maximumLength: min(max(0, maximumLength), 65_535))
    }

    var isOff: Bool { trusted == nil }

    /// The durations that are set here.
    var durations: [DurationSetting] { isOff ? [] : [DurationSetting("timeout", timeout)] }

    /// Whether a header is believed.
    ///
    /// - Parameters:
    ///   - peer: where the connection comes from; `nil` when it has no address.
    ///   - isUnix: whether it came over a Unix socket.
    /// - Returns: whether the peer is one of the proxies.
    func trusts(_ peer: SocketAddress?, isUnix: Bool) -> Bool {
        if isUnix { return true }
        guard let peer else { return false }
        return trusted?.contains { $0.contains(peer) } ?? false
    }
}
