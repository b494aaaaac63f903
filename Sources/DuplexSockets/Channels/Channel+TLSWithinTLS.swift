// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// TLS with a server through a proxy that is itself reached by TLS: the records of the inner layer are the plaintext of the
// outer one. The inner layer has a memory of its own, since one is lent while the other is used.

extension Channel {
    /// Puts a layer within the one that there is, whose handshake is done; see ``prepareTLS(_:serverName:timeout:loop:completion:)``.
    func prepareInner(
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
    func unwrap(_ outer: TLSEngine, _ tls: TLSLayer) {
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
    func wrap(_ bytes: RawSpan, _ outer: TLSEngine, _ tls: TLSLayer) {
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
}
