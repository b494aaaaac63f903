// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The conversation with a proxy over a channel to it, and then TLS with the target through it.
actor ProxyDriver: EndsOnce {
    /// How the connection behind the proxy is secured.
    struct Security: Sendable {
        let context: TLSContext
        let serverName: String?
        let timeout: Duration
    }

    /// How a conversation ended.
    enum Outcome: Sendable {
        case established
        /// On a new connection, with what was learnt on this one.
        case again(any ProxyConversation)
    }

    nonisolated let loop: EventLoop
    private nonisolated let channel: LoopBound<Channel>
    private let proxy: String
    private let timeline: ConnectTimeline
    private nonisolated let stages: StageTeller?
    private var conversation: any ProxyConversation
    private var began: Instant
    var ending = AwaitedEnd<Outcome>()
    /// Whether the channel is somebody else's, or closed.
    private var hasLetGo = false

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe loop.asUnownedSerialExecutor()
    }

    init(
        _ conversation: any ProxyConversation,
        proxy: String,
        loop: EventLoop,
        channel: LoopBound<Channel>,
        timeline: ConnectTimeline,
        onStage: StageTeller.Callback?
    ) {
        stages = StageTeller(onStage, loop.clock)
        self.conversation = conversation
        self.proxy = proxy
        self.loop = loop
        began = loop.clock.now()
        self.channel = channel
        self.timeline = timeline
    }

    deinit {
        if hasLetGo { return }
        let channel = channel
        loop.execute { _ in channel.value.reset() }
    }

    /// Speaks with the proxy until the connection behind it is made, or another one to it is needed.
    func converse(until deadline: Instant, began: Instant) async throws -> Outcome {
        self.began = began
        let channel = channel.value
        ending.mustCome(by: deadline, on: channel.core, or: self)
        channel.handler = self
        stages?.begin(.proxy, address)
        let request = conversation.start()
        channel.limitReceive(to: conversation.wanted)
        channel.isReading = true
        channel.write(request.span.raw)
        return try await awaitEnd()
    }

    /// Secures the connection behind the proxy if asked to, and gives it away.
    ///
    /// - Throws: ``SocketError``, `CancellationError`; the connection is closed then.
    func handOver<Value: Sendable>(
        _ security: Security?,
        began: Instant,
        _ make: @Sendable (LoopBound<Channel>, ConnectTimeline) -> Value
    ) async throws -> Value {
        let tunnelled = loop.clock.now()
        if let security { try await secure(security) }
        try Task.checkCancellation()
        guard channel.value.isOpen else {
            throw described(SocketError(.connectionReset, message: "The proxy ended the connection."))
        }
        channel.value.handler = nil
        hasLetGo = true
        // The proxy's own TLS may have waited for the roots before.
        let roots = security == nil ? nil : channel.value.rootsTime
        let secured = security.map { _ in tunnelled.duration(to: loop.clock.now()) - (roots ?? .zero) }
        return make(channel, timeline(until: tunnelled, roots: roots ?? timeline.roots, tls: secured))
    }

    /// The proxy's.
    private var address: SocketAddress? { timeline.attempts.first { $0.outcome == .connected }?.address }

    private func secure(_ security: Security) async throws {
        let box = channel.value
        let (stages, address) = (stages, address)
        let result = try await waitOnLoop { (waiter: Waiter<Result<TLSInfo, SocketError>>) in
            guard box.isOpen else { return waiter.resume(returning: .failure(Self.cancelled)) }
            do throws(SocketError) {
                try box.prepareTLS(
                    security.context,
                    serverName: security.serverName,
                    timeout: security.timeout,
                    loop: loop
                ) { result in
                    if case .success = result { stages?.end() }
                    waiter.resume(returning: result)
                }
                stages?.begin(box.awaitsRoots ? .roots : .tls, address)
                box.startTLS {
                    stages?.end()
                    stages?.begin(.tls, address)
                }
            } catch {
                stages?.begin(.tls, address)
                waiter.resume(returning: .failure(error))
            }
        } onCancel: {
            // The channel notifies the waiter for the handshake.
            let channel = channel
            loop.execute { _ in
                stages?.end(CancellationError())
                channel.value.fail(Self.cancelled)
            }
        }
        if Task.isCancelled { throw CancellationError() }
        if case .failure(let error) = result {
            let error = described(error)
            stages?.end(error)
            throw error
        }
    }

    private static let cancelled = SocketError(.closed, message: "The connection has ended.")

    private func timeline(until end: Instant, roots: Duration?, tls: Duration?) -> ConnectTimeline {
        ConnectTimeline(
            nameLookup: timeline.nameLookup,
            addresses: timeline.addresses,
            attempts: timeline.attempts,
            proxy: max(.zero, began.duration(to: end) - timeline.total + (timeline.tls ?? .zero)),
            roots: roots,
            tls: tls,
            total: began.duration(to: loop.clock.now())
        )
    }

    private func described(_ error: SocketError) -> SocketError {
        var error = error
        error.message = "By the proxy \(proxy): \(error.message)"
        error.timeline = timeline(until: loop.clock.now(), roots: nil, tls: nil)
        return error
    }

    // MARK: The conversation

    private func take(_ bytes: Span<UInt8>) {
        var position = 0
        do throws(SocketError) {
            while position < bytes.count && !ending.hasCome {
                go(on: try conversation.receive(bytes, from: &position))
            }
        } catch {
            fail(described(error))
        }
    }

    private func go(on move: ProxyMove) {
        let channel = channel.value
        switch move {
        case .wait: break
        case .send(let bytes): channel.write(bytes.span.raw)
        case .reconnect:
            channel.reset()
            end(.success(.again(conversation)))
            return
        case .established:
            // No byte of the target's has been received: `wanted` sees to that.
            channel.isReading = false
            channel.limitReceive(to: ReceiveBuffer.size)
            end(.success(.established))
            return
        }
        channel.limitReceive(to: conversation.wanted)
    }

    private func streamEnded() {
        guard !ending.hasCome else { return }
        do throws(SocketError) {
            go(on: try conversation.finish())
        } catch {
            fail(described(error))
        }
    }

    func fail(_ error: any Error) {
        guard !ending.hasCome else { return }
        channel.value.reset()
        end(.failure(error))
    }

    private func end(_ result: Result<Outcome, any Error>) {
        if case .failure(let error) = result { stages?.end(error) } else { stages?.end() }
        ending.come(result, on: channel.value.core)
    }
}

extension ProxyDriver: ChannelHandler {
    nonisolated func received(_ bytes: inout MutableRawSpan) {
        onLoop(loop, &bytes) { driver, bytes in bytes.bytes.withOctets { driver.take($0) } }
    }

    nonisolated func inputEnded() {
        onLoop(loop) { driver, _ in driver.streamEnded() }
    }

    nonisolated func outputDrained() {}

    nonisolated func failed(_ error: SocketError) {
        onLoop(loop, error) { driver, error in driver.fail(driver.described(error)) }
    }
}

extension ProxyDriver: TimerTarget {
    nonisolated func timerFired(_ timer: TimerID, now: Instant) {
        onLoop(loop, timer) { driver, timer in
            guard driver.ending.isDeadline(timer) else { return }
            let message = "The connection behind it was not made within the time given."
            driver.fail(driver.described(SocketError(.timedOut, message: message)))
        }
    }
}
