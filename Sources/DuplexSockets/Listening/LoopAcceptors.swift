// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Logging

/// What a listener does with each connection before it hands it over.
struct ListenerSetup: Sendable {
    var proxyProtocol: ProxyProtocol
    var options: SocketOptions
    var tls: TLSServerOptions?
    /// With ``tls``: judges the first bytes of clients.
    var probe: PlainProbe?
    var logger: Logger
    /// Counts those that didn't come to a connection.
    var ends: EndSummary
    /// Whether the sockets were made here, and are nobody else's: they stop listening for all who have copies.
    var ownsSockets = false

    /// The durations that the caller has set.
    var durations: [DurationSetting] {
        proxyProtocol.durations.within("proxyProtocol") + options.durations.within("options")
            + (tls?.durations.within("tls") ?? [])
    }
}

/// Takes the connections of one loop: accepts them, hears what a proxy says of them, sets their options and secures them.
final class LoopAcceptors {
    /// Gets each connection on its loop, with the client's address and, where it is expected, what the proxy said.
    typealias Accepted = @Sendable (EventLoop, LoopBound<Channel>, SocketAddress?, ProxyOrigin?) -> Void

    private let loop: EventLoop
    private let core: LoopCore
    private let setup: ListenerSetup
    private let mayAccept: @Sendable () -> Bool
    private let lost: @Sendable () -> Void
    private let accepted: Accepted
    private var acceptors: [Acceptor] = []
    /// Where connections wait for the headers of proxies.
    private var gate: ProxyGate?

    init(
        loop: EventLoop,
        core: LoopCore,
        setup: ListenerSetup,
        mayAccept: @escaping @Sendable () -> Bool = { true },
        lost: @escaping @Sendable () -> Void = {},
        accepted: @escaping Accepted
    ) {
        self.loop = loop
        self.core = core
        self.setup = setup
        self.mayAccept = mayAccept
        self.lost = lost
        self.accepted = accepted
    }

    /// Takes over listening sockets; to be closed in the end, in any case.
    func start(_ descriptors: [Int32]) throws(SocketError) {
        if !setup.proxyProtocol.isOff {
            gate = ProxyGate(policy: setup.proxyProtocol, core: core, logger: setup.logger, ends: setup.ends) {
                [self] connection, origin in
                admit(connection, origin.header.source ?? origin.address, origin)
            }
        }
        acceptors = descriptors.map { descriptor in
            Acceptor(
                descriptor: descriptor,
                isOwn: setup.ownsSockets,
                core: core,
                logger: setup.logger,
                mayAccept: mayAccept,
                lost: lost
            ) { [self] connection, address in
                if let gate { gate.admit(connection, address) } else { admit(connection, address, nil) }
            }
        }
        for acceptor in acceptors { try acceptor.start() }
    }

    /// Stops listening; handshakes that were begun come to their ends.
    func close() {
        for acceptor in acceptors { acceptor.close() }
        gate?.close()
        // They hold this object.
        acceptors = []
        gate = nil
    }

    private func admit(_ connection: Int32, _ address: SocketAddress?, _ proxy: ProxyOrigin?) {
        do throws(SocketError) {
            try setup.options.apply(to: connection, family: address?.family ?? .unix)
        } catch {
            // A connection that goes on without an option is worth more than none.
            log(.debug, error, "a connection has not all of its options", address)
        }
        let channel = Channel(descriptor: connection, core: core)
        if let tls = setup.tls {
            secure(channel, tls, address, proxy)
        } else {
            accepted(loop, LoopBound(channel, on: loop.thread), address, proxy)
        }
    }

    private func secure(
        _ channel: Channel,
        _ options: TLSServerOptions,
        _ address: SocketAddress?,
        _ proxy: ProxyOrigin?
    ) {
        let bound = LoopBound(channel, on: loop.thread)
        do throws(SocketError) {
            let context = try options.context()
            let timeout = options.handshakeTimeout
            let probe = setup.probe
            try channel.prepareTLS(context, serverName: nil, timeout: timeout, loop: loop, probe: probe) {
                [self] result in
                switch result {
                case .success: accepted(loop, bound, address, proxy)
                case .failure(let error): fail(error, address)
                }
            }
            channel.startTLS()
        } catch {
            log(.info, error, "no connection can be secured", address)
            channel.close()
        }
    }

    /// A handshake has come to nothing, as any client can have it: a line of the log's sums, and one of its own for who looks.
    private func fail(_ error: SocketError, _ address: SocketAddress?) {
        setup.ends.count(.unsecured, on: core)
        log(.debug, error, "a client was not let in", address)
    }

    private func log(
        _ level: Logger.Level,
        _ error: SocketError,
        _ message: Logger.Message,
        _ address: SocketAddress?
    ) {
        let metadata: Logger.Metadata = ["peer": "\(address?.description ?? "?")", "error": "\(error)"]
        setup.logger.log(level: level, message, metadata: metadata)
    }
}
