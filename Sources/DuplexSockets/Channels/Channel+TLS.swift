// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// Securing a channel: between what is received and the handler, and between what is written and the socket.

extension Channel {
    /// Whether what is written from now on goes out secured, or not at all.
    package var isSecured: Bool { tls != nil }

    /// What was agreed upon; `nil` while the connection isn't secured.
    package var tlsConnection: TLSConnection? { tls?.connection }

    /// When the handshake that secured the connection began, and how long it took; `nil` while it isn't secured.
    package var tlsHandshake: (began: Instant, took: Duration)? {
        guard let tls, let began = tls.began, let took = tls.handshakeTime else { return nil }
        return (began, took)
    }

    /// Has what is written from here on wait until it can go out secured; what was written before goes as it is.
    ///
    /// - Parameters:
    ///   - context: of a client or a server.
    ///   - serverName: the host that a client connects to.
    ///   - timeout: how long the handshake may take, from ``startTLS(early:)`` on.
    ///   - loop: the channel's.
    ///   - probe: judges a client's first bytes. Default: the handshake does.
    ///   - completion: called once, on the loop, when the connection is secured or has failed and is closed; not when this
    ///     side closes before.
    /// - Throws: ``SocketError`` when a client has no name to check, or there is no memory.
    package func prepareTLS(
        _ context: TLSContext,
        serverName: String?,
        timeout: Duration,
        loop: EventLoop,
        probe: PlainProbe? = nil,
        completion: @escaping (Result<TLSConnection, SocketError>) -> Void
    ) throws(SocketError) {
        if let tls { return try prepareInner(tls, context, serverName, timeout, loop, completion) }
        let engine = try TLSEngine(context: context, serverName: serverName, memory: core.tlsMemory)
        let layer = TLSLayer(engine: engine, timeout: timeout, loop: loop, completion: completion)
        layer.wire = output.take()
        layer.probe = probe
        tls = layer
    }

    /// Whether the handshake will wait for the system's roots first.
    package var awaitsRoots: Bool { tls?.engine.awaitsRoots ?? false }

    /// How long the connection has waited for the system's roots; `nil` if it didn't.
    package var rootsTime: Duration? { tls?.rootsTime }

    /// Starts the handshake, once the system's roots are there if it needs them.
    ///
    /// - Parameters:
    ///   - early: what has arrived already and nobody has read: the peer's first message at best, and never anything that
    ///     counts as secured.
    ///   - whenRooted: called when the roots are there, if ``awaitsRoots``. Default: nothing.
    package func startTLS(early: [UInt8] = [], whenRooted: (() -> Void)? = nil) {
        guard isOpen, let tls, tls.stage == .prepared else { return }
        let now = core.readClock()
        tls.timer = core.schedule(self, at: now.advanced(by: tls.timeout))
        guard tls.engine.awaitsRoots, let system = tls.engine.context.trust?.system else {
            return beginHandshake(tls, early, now)
        }
        tls.stage = .awaitingRoots
        tls.rootsBegan = now
        tls.whenRooted = whenRooted
        let (channel, loop) = (LoopBound(self, on: tls.loop.thread), tls.loop)
        system.read { result in
            loop.execute { _ in channel.value.rootsRead(result, early) }
        }
        updateInterest()
    }

    private func rootsRead(_ result: Result<RootStore, SocketError>, _ early: [UInt8]) {
        guard isOpen, let tls, tls.stage == .awaitingRoots else { return }
        let now = core.readClock()
        tls.rootsTime = tls.rootsBegan?.duration(to: now)
        do throws(SocketError) {
            try tls.engine.use(try result.get())
        } catch {
            return failSecured(error, tls)
        }
        tls.whenRooted.take()?()
        beginHandshake(tls, early, now)
    }

    private func beginHandshake(_ tls: TLSLayer, _ early: [UInt8], _ now: Instant) {
        tls.stage = .shakingHands
        tls.began = now
        if let outer = tls.outer { begin(tls, within: outer) } else { take(early.span.raw, tls) }
        updateInterest()
    }

    // MARK: Input

    /// Receives bytes of the network, no more than about what the handler has asked for: what it doesn't want is kept.
    func receive(_ tls: TLSLayer) -> TransferResult {
        let limit = max(Int(receiveLimit), Self.largestRecord)
        // What the handler didn't want before comes first: the network may end after it.
        if tls.stage == .open, deliverRest(tls), !isReading || self.tls !== tls { return .transferred(limit) }
        let result = receive(limit: limit) { take($0.bytes, tls) }
        lastReceiveFilled = result == .transferred(limit)
        switch result {
        case .transferred(0): endNetwork(tls)
        case .transferred, .wouldBlock: break
        case .failed(let code): fail("The connection was lost while receiving.", errno: code)
        }
        return result
    }

    /// RFC 8446 section 5.2, with the header of a record.
    private static let largestRecord = 16_384 + 256 + 5

    private func take(_ bytes: RawSpan, _ tls: TLSLayer) {
        // Of a connection that this side has closed only the handshake matters, for what still waits to be sent.
        if state.course == .leaving && tls.stage == .open { return }
        if let outer = tls.outer { return outer.withInput(bytes) { unwrap(outer, tls) } }
        if let probe = tls.probe { return takeFirst(bytes, tls, probe) }
        tls.engine.withInput(bytes) { process(tls) }
    }

    /// Goes on with what the engine has got.
    func process(_ tls: TLSLayer) {
        if tls.stage == .shakingHands { shakeHands(tls) }
        if tls.stage == .open { deliver(tls) }
    }

    /// Gives the handler what it wants of what has arrived.
    private func deliver(_ tls: TLSLayer) {
        while isOpen, isReading, self.tls === tls {
            let result = tls.engine.decrypt(limit: Int(receiveLimit))
            sendRecords(tls)
            switch result {
            case .bytes(let count): tls.engine.memory.withPlaintext(count) { handler?.received(&$0) }
            case .wantsInput: return
            case .ended:
                endInput()
                return
            case .failed(let error):
                failSecured(error, tls)
                return
            }
        }
    }

    /// Gives the handler what it didn't want before.
    ///
    /// - Returns: whether there was something.
    func deliverRest(_ tls: TLSLayer) -> Bool {
        guard tls.engine.hasInput else { return false }
        tls.engine.withRest { deliver(tls) }
        return true
    }

    /// Has the handler get what it didn't want before, once it isn't in the middle of something.
    func planDelivery() {
        guard !isFlushPlanned else { return }
        isFlushPlanned = true
        core.flushAtEndOfTurn(self)
    }

    /// The network has ended, which somebody on the way may have brought about.
    private func endNetwork(_ tls: TLSLayer) {
        if state.course == .leaving {
            endInput()
        } else if tls.stage != .open {
            failSecured(SocketError(.tls, message: "The peer closed the connection during the TLS handshake."), tls)
        } else if state.input != .ended {
            let message = "The connection ended without the peer having said so: what came may have been cut short."
            failSecured(SocketError(.truncated, message: message), tls)
        }
    }

    // MARK: Handshake

    private func shakeHands(_ tls: TLSLayer) {
        while isOpen {
            let progress = tls.engine.handshake()
            sendRecords(tls)
            switch progress {
            case .wantsInput: return
            case .wantsOutput: continue
            case .wantsDecision(let peer): return decide(on: peer, tls)
            case .complete: return secured(tls)
            case .failed(let error): return failSecured(error, tls)
            }
        }
    }

    private func decide(on peer: TLSPeer, _ tls: TLSLayer) {
        let channel = LoopBound(self, on: tls.loop.thread)
        tls.decide(on: peer) { isTrusted in channel.value.decided(isTrusted) }
    }

    private func decided(_ isTrusted: Bool) {
        guard isOpen, let tls, tls.stage == .deciding else { return }
        tls.engine.decide(isTrusted)
        tls.stage = .shakingHands
        tls.engine.withRest { process(tls) }
        updateInterest()
    }

    private func secured(_ tls: TLSLayer) {
        if let timer = tls.timer { core.cancel(timer) }
        tls.timer = nil
        tls.stage = .open
        tls.handshakeTime = tls.began?.duration(to: core.readClock())
        let connection = tls.engine.connection
        tls.connection = connection
        tls.completion.take()?(.success(connection))
        // What was written meanwhile, and what ends the stream.
        if isOpen { planDelivery() }
    }

    func handshakeTimedOut(_ tls: TLSLayer) {
        tls.timer = nil
        let what = tls.stage == .awaitingRoots ? "Reading the system's roots" : "The TLS handshake"
        failSecured(SocketError(.timedOut, message: "\(what) took longer than \(tls.timeout.rounded)."), tls)
    }

    /// Closes after the alert with the reason, and notifies the waiter.
    private func failSecured(_ error: SocketError, _ tls: TLSLayer) {
        guard isOpen, self.tls === tls else { return }
        let error = tls.explained(error)
        let handler = handler
        let completion = tls.completion.take()
        tls.stop(core)
        self.tls = nil
        output?.removeAll()
        returnOutput()
        output = tls.wire.take()
        state.leave(isForced: true)
        if state.input == .ended || error.code == .truncated { close() } else { closeInOrder(within: Self.lingerTime) }
        if let completion { completion(.failure(error)) } else { handler?.failed(error) }
    }

    // MARK: Output

    /// Sends what the engine has made by itself.
    private func sendRecords(_ tls: TLSLayer) {
        let onlyOwn = state.output == .open && tls.wireCount == 0
        tls.engine.memory.drain { bytes in put(bytes, tls) }
        if onlyOwn && state.sendFailure != nil {
            state.mute()
            tls.wire = nil
        }
        if tls.wireCount > 0 { updateInterest() }
    }

    func put(_ bytes: RawSpan, _ tls: TLSLayer) {
        if let outer = tls.outer { wrap(bytes, outer, tls) } else { transmit(bytes, tls) }
    }

    /// Sends what is on the wire and these bytes behind it, as far as the socket takes them.
    private func transmit(_ bytes: RawSpan, _ tls: TLSLayer) {
        guard state.sendFailure == nil else { return }
        let wire = tls.wire.take() ?? core.takeOutput()
        let result = isFull ? TransferResult.wouldBlock : wire.send(to: carrier, then: bytes)
        if isFull { wire.append(bytes) }
        if case .failed(let code) = result {
            state.sendFailed(code)
            planDelivery()
        }
        keep(wire, tls)
    }

    private func keep(_ wire: consuming OutputBuffer, _ tls: TLSLayer) {
        if wire.count > 0 { tls.wire = consume wire } else { core.giveOutput(wire) }
    }

    /// Goes on reading after a send has failed, as long as nothing was lost that somebody wrote, and nobody waits to write.
    ///
    /// - Returns: whether the failure can wait.
    func outlivesSendFailure() -> Bool {
        guard let tls, tls.stage == .open, case .muted = state.output, queuedBytes == 0, !waitsForDrain else {
            return false
        }
        if isReading { _ = deliverRest(tls) }
        return true
    }

    /// Sends what waits; secures as much as the socket takes.
    func flush(_ tls: TLSLayer) {
        if isReading && tls.stage == .open && state.course != .leaving { _ = deliverRest(tls) }
        guard isOpen, self.tls === tls else { return }
        if let failure = tls.failure { return failSecured(failure, tls) }
        if tls.wireCount > 0, let wire = tls.wire.take() {
            let result = wire.send(to: carrier)
            keep(wire, tls)
            if case .failed = result { return after(result) }
        }
        secureOutput(tls)
        if tls.stage == .open, state.endsOutput, queuedBytes == tls.wireCount {
            tls.engine.sendEnd()
            sendRecords(tls)
            if let outer = tls.outer { end(outer, tls) }
        }
        if let failure = tls.failure { return failSecured(failure, tls) }
        after(state.sendFailure.map { .failed($0) } ?? .transferred(0))
    }

    /// Secures what was written, and sends it, until the socket takes no more.
    private func secureOutput(_ tls: TLSLayer) {
        guard tls.stage == .open, let buffer = output.take() else { return }
        while buffer.count > 0, mayEncrypt(tls) {
            buffer.consume { secure($0, tls) }
        }
        output = consume buffer
    }

    private func mayEncrypt(_ tls: TLSLayer) -> Bool {
        tls.wireCount == 0 && state.sendFailure == nil && tls.failure == nil
    }

    /// Secures bytes and sends them.
    ///
    /// - Returns: how many were taken; the rest is for another call.
    private func secure(_ bytes: RawSpan, _ tls: TLSLayer) -> Int {
        do throws(SocketError) {
            let count = try tls.engine.encrypt(bytes)
            tls.engine.memory.drain { put($0, tls) }
            return count
        } catch {
            tls.failure = error
            return 0
        }
    }

    /// Secures and sends at once what waits and the bytes behind it, as far as the socket takes them.
    func writeNow(_ bytes: RawSpan, _ tls: TLSLayer) {
        secureOutput(tls)
        var rest = bytes
        if tls.stage == .open, (output?.count ?? 0) == 0 {
            while !rest.isEmpty, mayEncrypt(tls) {
                rest = rest.extracting(droppingFirst: secure(rest, tls))
            }
        }
        if !rest.isEmpty {
            let buffer = takeOutput()
            buffer.append(rest)
            output = consume buffer
        } else if (output?.count ?? 0) == 0 {
            returnOutput()
        }
        if tls.failure != nil || state.sendFailure != nil {
            planDelivery()
        } else if tls.wireCount > 0 {
            updateInterest()
        } else if waitsForDrain || queuedBytes > 0 {
            planFlush()
        }
    }

    // MARK: TLS within TLS

    // With a server through a proxy that is itself reached by TLS: the records of the inner layer are the plaintext of
    // the outer one. The inner layer has a memory of its own, since one is lent while the other is used.

    /// Puts a layer within the one that there is, whose handshake is done; see ``prepareTLS(_:serverName:timeout:loop:completion:)``.
    private func prepareInner(
        _ outer: TLSLayer,
        _ context: TLSContext,
        _ serverName: String?,
        _ timeout: Duration,
        _ loop: EventLoop,
        _ completion: @escaping (Result<TLSConnection, SocketError>) -> Void
    ) throws(SocketError) {
        precondition(outer.stage == .open && outer.outer == nil, "A connection is secured twice at most.")
        let memory = core.shared(TLSMemory.init)
        let engine = try TLSEngine(context: context, serverName: serverName, memory: memory)
        let layer = TLSLayer(engine: engine, timeout: timeout, loop: loop, completion: completion)
        // What was written before is for the proxy.
        secureOutput(outer)
        layer.wire = outer.wire.take()
        layer.outer = outer.engine
        tls = layer
    }

    /// Begins the inner handshake, with what of the proxy's connection was received and not read yet.
    func begin(_ tls: TLSLayer, within outer: TLSEngine) {
        let nothing: [UInt8] = []
        tls.engine.withInput(nothing.span.raw) { process(tls) }
        if self.tls === tls, outer.hasInput { outer.withRest { unwrap(outer, tls) } }
    }

    /// Takes what has arrived out of the outer's records, and gives it to the inner layer, which keeps what isn't wanted.
    private func unwrap(_ outer: TLSEngine, _ tls: TLSLayer) {
        while isOpen, self.tls === tls {
            let result = outer.decrypt(limit: TLSMemory.plaintextSize)
            outer.memory.drain { transmit($0, tls) }
            switch result {
            case .bytes(let count):
                outer.memory.withPlaintext(count) { plaintext in
                    tls.engine.withInput(plaintext.bytes) { process(tls) }
                }
            case .wantsInput: return
            case .ended: return endNetwork(tls)
            case .failed(let error): return failSecured(error, tls)
            }
        }
    }

    /// Sends the inner layer's records within the outer's.
    private func wrap(_ bytes: RawSpan, _ outer: TLSEngine, _ tls: TLSLayer) {
        var rest = bytes
        do throws(SocketError) {
            while !rest.isEmpty {
                let count = try outer.encrypt(rest)
                outer.memory.drain { transmit($0, tls) }
                rest = rest.extracting(droppingFirst: count)
            }
        } catch {
            tls.failure = error
            planDelivery()
        }
    }

    /// Ends the outgoing stream of the outer behind that of the inner layer.
    func end(_ outer: TLSEngine, _ tls: TLSLayer) {
        outer.sendEnd()
        outer.memory.drain { transmit($0, tls) }
    }

    // MARK: Clients without TLS

    /// The most bytes that are held undecided.
    private static let longestStart = 64

    /// Has the first bytes judged, and gives them to the engine or answers them.
    ///
    /// The first byte of a client that speaks TLS decides: nothing of it is held.
    func takeFirst(_ bytes: RawSpan, _ tls: TLSLayer, _ probe: PlainProbe) {
        if bytes.isEmpty { return }
        let isFirst = tls.held.isEmpty
        if !isFirst { tls.held.append(bytes) }
        let verdict = isFirst ? probe(bytes) : probe(tls.held.span.raw)
        switch verdict {
        case .undecided where (isFirst ? bytes.byteCount : tls.held.count) <= Self.longestStart:
            if isFirst { tls.held.append(bytes) }
        case .answered(let answer):
            (tls.probe, tls.held) = (nil, [])
            put(answer.span.raw, tls)
            failSecured(TLSFailure.plainRequest, tls)
        case .undecided, .other:
            tls.probe = nil
            let held = tls.held
            tls.held = []
            if isFirst {
                tls.engine.withInput(bytes) { process(tls) }
            } else {
                tls.engine.withInput(held.span.raw) { process(tls) }
            }
        }
    }
}
