// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension Socket {
    /// Connects, with `TCP_NODELAY` set.
    ///
    /// A host that has several addresses is tried at all of them (RFC 8305): the families take turns, a new attempt
    /// begins every 250 ms or as soon as one has failed, the first to answer wins, and the others are closed.
    /// ``timeline`` has what was tried. Cancelling ends it at once and leaves nothing behind.
    ///
    /// A resolver gives the addresses of both families in one answer, so there is no "Resolution Delay" (RFC 8305
    /// section 3): connecting begins when the slower of the two is known.
    ///
    /// - Parameters:
    ///   - endpoint: where to.
    ///   - options: deadlines, addresses that may be used and in which order, local end, resolver.
    ///   - group: the loops of which one becomes the socket's.
    /// - Throws: ``SocketError``, with one cause for each address that was tried and the ``SocketError/timeline`` of it, or
    ///   `CancellationError`.
    /// - Returns: the connected socket.
    public static func connect(
        to endpoint: Endpoint,
        options: ConnectOptions,
        on group: EventLoopGroup = .shared
    ) async throws -> Socket {
        let loop = group.next()
        return try await Connector.connect(to: endpoint, on: loop, options: options) { channel, timeline in
            Socket(loop: loop, channel: channel, host: endpoint.host, timeline: timeline)
        }
    }

    /// Connects with the default options and a deadline for the whole; see ``connect(to:options:on:)``.
    ///
    /// - Parameters:
    ///   - endpoint: where to.
    ///   - timeout: how long looking the name up and connecting may take together. Default: 10 s.
    ///   - group: the loops of which one becomes the socket's.
    /// - Throws: ``SocketError``, with one cause for each address that was tried, or `CancellationError`.
    /// - Returns: the connected socket.
    public static func connect(
        to endpoint: Endpoint,
        timeout: Duration = .seconds(10),
        on group: EventLoopGroup = .shared
    ) async throws -> Socket {
        try await connect(to: endpoint, options: ConnectOptions(timeout: timeout), on: group)
    }
}
