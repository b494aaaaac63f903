// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Logging

/// What a connection's proxy has said, and where the proxy is.
final class ProxyOrigin: Sendable {
    let header: ProxyHeader
    let address: SocketAddress?

    init(header: ProxyHeader, address: SocketAddress?) {
        self.header = header
        self.address = address
    }
}

/// Holds the connections of a loop that have not sent their header yet; each waits by itself.
final class ProxyGate {
    private let policy: ProxyProtocol
    private let core: LoopCore
    private let logger: Logger
    private let ends: EndSummary?
    private let capacity: Int
    private let admitted: (Int32, ProxyOrigin) -> Void
    private var waiting: [ObjectIdentifier: ProxyHandshake] = [:]
    private var isOpen = true

    /// Makes a gate.
    ///
    /// - Parameters:
    ///   - policy: who is let through.
    ///   - core: the loop of the connections.
    ///   - logger: logs each refused connection at `debug`.
    ///   - ends: counts those.
    ///   - capacity: the most connections that wait for their headers; further ones are refused.
    ///   - admitted: called on the loop with each connection whose header is complete; the descriptor is the callee's then.
    init(
        policy: ProxyProtocol,
        core: LoopCore,
        logger: Logger,
        ends: EndSummary? = nil,
        capacity: Int = 1_024,
        admitted: @escaping (Int32, ProxyOrigin) -> Void
    ) {
        self.capacity = capacity
        self.policy = policy
        self.core = core
        self.logger = logger
        self.ends = ends
        self.admitted = admitted
    }

    /// The number of connections that wait.
    var count: Int { waiting.count }

    /// Takes over a connection.
    func admit(_ descriptor: Int32, _ address: SocketAddress?) {
        let isUnix = (address ?? SocketAddress.local(of: descriptor))?.path != nil
        if !isOpen {
            SystemCalls.close(descriptor)
        } else if !policy.trusts(address, isUnix: isUnix) {
            refuse(descriptor, address, "it comes from an address that no proxy has")
        } else if waiting.count == capacity {
            refuse(descriptor, address, "\(capacity) others wait for their headers")
        } else {
            let handshake = ProxyHandshake(descriptor, address, policy, core) { [weak self] handshake, outcome in
                self?.ended(handshake, outcome)
            }
            waiting[ObjectIdentifier(handshake)] = handshake
            handshake.start()
        }
    }

    /// Closes what waits; nothing is let through any more.
    func close() {
        isOpen = false
        for handshake in Array(waiting.values) { handshake.abandon() }
    }

    private func ended(_ handshake: ProxyHandshake, _ outcome: ProxyHandshake.Outcome) {
        waiting[ObjectIdentifier(handshake)] = nil
        switch outcome {
        case .header(let header):
            admitted(handshake.descriptor, ProxyOrigin(header: header, address: handshake.address))
        case .refused(let reason): refuse(handshake.descriptor, handshake.address, reason)
        case .gone: SystemCalls.close(handshake.descriptor)
        }
    }

    private func refuse(_ descriptor: Int32, _ address: SocketAddress?, _ reason: String) {
        SystemCalls.setResetOnClose(descriptor)
        SystemCalls.close(descriptor)
        ends?.count(.refused, on: core)
        logger.debug(
            "a connection was refused, as its PROXY header can't be believed",
            metadata: ["peer": "\(address?.description ?? "?")", "reason": "\(reason)"]
        )
    }
}

/// One connection that has not sent its header yet.
private final class ProxyHandshake: DescriptorHandler, TimerTarget {
    enum Outcome {
        case header(ProxyHeader)
        case refused(String)
        /// The peer closed it before it said anything, or this side stops.
        case gone
    }

    let descriptor: Int32
    let address: SocketAddress?
    private let core: LoopCore
    private let timeout: Duration
    private let ended: (ProxyHandshake, Outcome) -> Void
    private var parser: ProxyHeaderParser
    private var timer: TimerID?
    private var isWatched = false
    private var isOver = false
    private var hasBegun = false

    init(
        _ descriptor: Int32,
        _ address: SocketAddress?,
        _ policy: ProxyProtocol,
        _ core: LoopCore,
        ended: @escaping (ProxyHandshake, Outcome) -> Void
    ) {
        self.descriptor = descriptor
        self.address = address
        self.core = core
        timeout = policy.timeout
        self.ended = ended
        parser = ProxyHeaderParser(maximumLength: policy.maximumLength)
    }

    func start() {
        proceed()
        guard !isOver else { return }
        do {
            try core.watch(descriptor, for: .readable, handler: self)
            isWatched = true
            timer = core.schedule(self, at: core.now.advanced(by: timeout))
        } catch {
            end(.gone)
        }
    }

    func abandon() {
        end(.gone)
    }

    func ready(_ readiness: Readiness) {
        proceed()
    }

    func loopStopped() {
        end(.gone)
    }

    func timerFired(_ timer: TimerID, now: Instant) {
        guard timer == self.timer else { return }
        end(.refused("it hasn't come within \(timeout.rounded)"))
    }

    /// Looks at what has arrived before it takes it, so that what follows the header stays for whoever reads then.
    private func proceed() {
        while !isOver {
            let arrived: [UInt8]
            switch SystemCalls.peek(descriptor, upTo: parser.wanted) {
            case .bytes(let bytes): arrived = bytes
            case .none: return
            case .ended: return end(hasBegun ? .refused("it ended in the middle") : .gone)
            case .failed(let code): return end(hasBegun ? .refused(SocketError.text(of: code)) : .gone)
            }
            do throws(ProxyHeaderParser.Fault) {
                hasBegun = true
                let (count, header) = try parser.take(arrived)
                guard SystemCalls.discard(descriptor, count) else { return end(.refused("it can't be received")) }
                if let header { return end(.header(header)) }
            } catch {
                end(.refused(error.reason))
            }
        }
    }

    private func end(_ outcome: Outcome) {
        guard !isOver else { return }
        isOver = true
        if isWatched { core.unwatch(descriptor) }
        if let timer { core.cancel(timer) }
        ended(self, outcome)
    }
}
