// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
import DuplexWire
import Logging
import Synchronization

/// One listener of a running server: bound, accepting, and bound again when the system has taken its socket away.
final class ServerListener: Sendable {
    /// How long after a failure it is tried again.
    private static let pause = Duration.seconds(1)

    private let settings: Listener
    private let group: EventLoopGroup
    private let logger: Logger
    private let ends: EndSummary
    private let hosts: AllowedHosts
    private let state: Mutex<State>

    private struct State {
        var socket: SocketListener
        /// Whom connections are for, once they are accepted.
        var serving: ServingLoops?
        /// What has it back once it was lost.
        var regaining: Task<Void, Never>?
        /// What binds it again now.
        var restart: Task<Void, any Error>?
        /// Whether the system has taken the socket away, or it accepts nothing.
        var isLost = false
        var isClosed = false
    }

    /// Binds the address; connections wait in the backlog.
    init(
        _ settings: Listener,
        on group: EventLoopGroup,
        hosts: AllowedHosts,
        logger: Logger,
        ends: EndSummary
    ) throws(SocketError) {
        self.settings = settings.withProtocol
        self.group = group
        self.hosts = hosts
        self.logger = logger
        self.ends = ends
        state = Mutex(State(socket: try Self.bind(self.settings, settings.address, group, logger, ends)))
    }

    private static func bind(
        _ settings: Listener,
        _ address: ListenAddress,
        _ group: EventLoopGroup,
        _ logger: Logger,
        _ ends: EndSummary
    ) throws(SocketError) -> SocketListener {
        do throws(SocketError) {
            return try SocketListener.bind(
                address,
                on: group,
                backlog: settings.backlog,
                tls: settings.tls,
                probe: Self.probe,
                options: settings.options,
                proxyProtocol: settings.proxyProtocol,
                logger: logger,
                ends: ends
            )
        } catch {
            // Of several listeners it is this one.
            var error = error
            if !error.message.contains("\(address)") { error.message = "\(address): \(error.message)" }
            throw error
        }
    }

    /// Answers requests in the clear at a port that has TLS.
    private static let probe: PlainProbe = { bytes in
        switch PlainRequest.start(bytes) {
        case .undecided: .undecided
        case .other: .other
        case .request(let isHead): .answered(PlainRequest.answer(isHead: isHead, now: .now))
        }
    }

    /// What is listened on, with the actual port.
    var address: SocketAddress { state.withLock { $0.socket.localAddress } }

    var isSecured: Bool { settings.tls != nil }

    /// Accepts connections from now on.
    func start(_ serving: ServingLoops) async throws {
        let socket = state.withLock { state in
            state.serving = serving
            return state.socket
        }
        try await start(socket, serving)
    }

    private func start(_ socket: SocketListener, _ serving: ServingLoops) async throws {
        let entrance = Entrance(
            socket.localAddress,
            hosts: hosts,
            makeLogger: serving.logging.logger,
            probesClients: settings.options.keepalive == nil,
            givesUpClients: settings.options.userTimeout == nil
        )
        try await socket.start { [weak self, id = ObjectIdentifier(socket)] in
            self?.noteLoss(of: id)
        } _: { loop, channel, address in
            serving.accept(channel, from: address, by: entrance, on: loop)
        }
    }

    /// Takes no further connection; those that there are go on.
    func close() async {
        let (regaining, restart) = state.withLock { state in
            state.isClosed = true
            return (state.regaining, state.restart)
        }
        regaining?.cancel()
        await regaining?.value
        // Another one may be bound meanwhile.
        _ = await restart?.result
        await state.withLock { $0.socket }.close()
    }

    /// Binds nothing again any more: the server's last reference is gone.
    func abandon() {
        state.withLock { state in
            state.isClosed = true
            state.regaining?.cancel()
        }
    }

    // MARK: Again

    /// Binds the address once more: the port is the same one, also where the system had chosen it.
    ///
    /// Whoever asks for it while that is being done waits for its end.
    ///
    /// - Throws: `SocketError` when the port can't be had now, or the socket was somebody else's.
    func restart() async throws {
        let restart = state.withLock { state in
            if let present = state.restart { return present }
            let restart = Task {
                defer { self.state.withLock { $0.restart = nil } }
                try await bindAgain()
            }
            state.restart = restart
            return restart
        }
        try await restart.value
    }

    private func bindAgain() async throws {
        let (socket, serving, isClosed) = state.withLock { ($0.socket, $0.serving, $0.isClosed) }
        guard let serving, !isClosed else { return }
        guard let address = settings.address.again(at: socket.localAddress.port) else {
            let message = "\(settings.address) was made by somebody else, and can't be had again."
            throw SocketError(.cannotBind, message: message)
        }
        await socket.close()
        let next = try Self.bind(settings, address, group, logger, ends)
        let isWanted = state.withLock { state -> Bool in
            if !state.isClosed { (state.socket, state.isLost) = (next, false) }
            return !state.isClosed
        }
        guard isWanted else { return await next.close() }
        try await start(next, serving)
    }

    /// The system has taken a socket away, as one does to apps that it suspends; each loop reports it.
    private func noteLoss(of socket: ObjectIdentifier) {
        let isNews = state.withLock { state -> Bool in
            guard !state.isClosed, !state.isLost, ObjectIdentifier(state.socket) == socket else { return false }
            state.isLost = true
            return true
        }
        guard isNews else { return }
        logger.warning("a listener was lost", metadata: ["address": "\(address)"])
        state.withLock { state in
            // One that has just brought back another goes on with this.
            guard !state.isClosed, state.isLost, state.regaining == nil else { return }
            state.regaining = Task { [weak self] in await self?.regain() }
        }
    }

    private func regain() async {
        while goesOn {
            do {
                try await restart()
                logger.notice("a listener is back", metadata: ["address": "\(address)"])
            } catch {
                // One that is bound, and accepts nothing, is as good as lost.
                let mayComeBack = state.withLock { state in
                    state.isLost = true
                    return settings.address.again(at: 0) != nil
                }
                logger.error("a listener isn't back", metadata: ["address": "\(address)", "error": "\(error)"])
                if !mayComeBack { return }
                try? await Task.sleep(for: Self.pause)
            }
        }
    }

    /// Whether there is a socket to be had again; the next loss starts anew otherwise.
    private var goesOn: Bool {
        state.withLock { state in
            let goesOn = state.isLost && !state.isClosed && !Task.isCancelled
            if !goesOn { state.regaining = nil }
            return goesOn
        }
    }
}

/// Where a server accepts connections, and how; see ``WebServer/listen(on:)``.
public struct Listener: Sendable {
    /// A TCP port, a Unix socket, or a descriptor of somebody else's.
    public var address: ListenAddress
    /// What secures the connections.
    ///
    /// Default: nil, they are in the clear. What clients offer by ALPN is answered with `http/1.1`, unless the options have
    /// protocols of their own. A request in the clear is answered with 400 and a sentence, and the connection ends.
    public var tls: TLSServerOptions?
    /// Whether connections come through a proxy that names the client.
    ///
    /// Default: they don't.
    public var proxyProtocol = ProxyProtocol.off
    /// How many connections may wait to be accepted.
    ///
    /// Default: 4,096. The system may cut it.
    public var backlog = 4_096
    /// The socket options of each connection.
    ///
    /// Without `SocketOptions.keepalive`, a client that has ended its side and waits for a response is probed by the
    /// system once it has been silent for ``WebServer/idleTimeout``, and is given up after as long again without an answer.
    public var options = SocketOptions()

    /// Makes a listener with the defaults.
    ///
    /// - Parameters:
    ///   - address: where.
    ///   - tls: what secures the connections. Default: they are in the clear.
    public init(_ address: ListenAddress, tls: TLSServerOptions? = nil) {
        self.address = address
        self.tls = tls
    }

    /// The same with what HTTP needs of TLS.
    var withProtocol: Listener {
        var listener = self
        // RFC 7301 section 6.
        if tls?.applicationProtocols.isEmpty == true { listener.tls?.applicationProtocols = ["http/1.1"] }
        return listener
    }
}
