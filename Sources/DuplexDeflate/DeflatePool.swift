// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase
package import DuplexWire

/// What the connections of one event loop share: one engine that inflates, and one for each level that deflates.
///
/// So ten thousand connections need the memory of these, and each its windows. Not safe to use from several threads.
package final class DeflatePool {
    private var inflateEngine: InflateEngine?
    private var deflateEngines: [DeflateEngine?] = [nil, nil, nil, nil]
    /// What a message is deflated into.
    private var scratch: [UInt8] = []
    /// What a message is inflated into that is given back.
    private let buffer = InflationBuffer()

    /// The most memory that is kept from one message to the next.
    private static let scratchBound = 128 * 1_024

    /// Makes a pool without anything in it.
    package init() {}

    /// Puts together what a connection needs of what was agreed on.
    ///
    /// - Parameters:
    ///   - agreement: what was agreed on.
    ///   - role: which side this is.
    ///   - settings: how to deflate; a smaller window than is allowed stays, a larger one becomes that.
    ///   - takesOver: whether this side's messages may refer to those before them, if the agreement allows it. Default: true.
    ///   - threshold: messages shorter than that many bytes are sent as they are. Default: 0.
    ///   - givesBack: whether messages that were inflated are given back to `MessageCompression/buffer`, so that they share
    ///     their memory. Default: false.
    /// - Returns: what a session is made with.
    package func compression(
        _ agreement: DeflateAgreement,
        role: WebSocketSession.Role,
        settings: Deflater.Settings,
        takesOver: Bool = true,
        threshold: Int = 0,
        givesBack: Bool = false
    ) -> MessageCompression {
        let peer: WebSocketSession.Role = role == .client ? .server : .client
        let inflater = Inflater(
            windowBits: agreement.windowBits(peer),
            keepsContext: agreement.takesOver(peer),
            pool: self
        )
        let settings = Deflater.Settings(
            windowBits: min(agreement.windowBits(role), settings.windowBits),
            level: settings.level
        )
        let deflater = Deflater(settings, keepsContext: takesOver && agreement.takesOver(role), pool: self)
        return MessageCompression(
            agreement: agreement,
            threshold: threshold,
            inflater: inflater,
            deflater: ConnectionDeflater(self, deflater),
            buffer: givesBack ? buffer : nil
        )
    }

    // MARK: Engines

    /// The engine that deflates at one of ISA-L's levels; nil without memory for it.
    func deflating(_ level: Int) -> DeflateEngine? {
        if let engine = deflateEngines[level] { return engine }
        let engine = DeflateEngine(level: level)
        deflateEngines[level] = engine
        return engine
    }

    /// The engine that inflates, with this stream in it; nil without memory for it.
    func inflating(_ stream: InflateStream) -> InflateEngine? {
        if inflateEngine == nil { inflateEngine = InflateEngine() }
        inflateEngine?.use(stream)
        return inflateEngine
    }

    /// Whether that stream is in the engine.
    func holds(_ stream: InflateStream) -> Bool { inflateEngine?.stream === stream }

    /// Takes that stream out of the engine, if it is there.
    func leave(_ stream: InflateStream) {
        if holds(stream) { inflateEngine?.leave() }
    }

    /// A message of that stream has ended; the next one begins with a whole byte.
    func endMessage(_ stream: InflateStream) {
        if holds(stream) { inflateEngine?.beginAgain() }
    }

    /// Forgets that stream, if it is in the engine.
    func drop(_ stream: InflateStream) {
        inflateEngine?.drop(stream)
    }

    /// Deflates with a deflater, and lends the result.
    ///
    /// - Parameters:
    ///   - payload: the message.
    ///   - deflater: the connection's.
    ///   - body: gets the result.
    /// - Returns: whether `body` was called: not when memory is short, nor where nothing may refer to the message and it
    ///   doesn't get shorter.
    func deflate(_ payload: RawSpan, with deflater: Deflater, _ body: (RawSpan) -> Void) -> Bool {
        var output = scratch
        scratch = []
        defer {
            if output.capacity <= Self.scratchBound {
                output.removeAll(keepingCapacity: true)
                scratch = output
            }
        }
        guard deflater.deflate(payload, into: &output) else { return false }
        if !deflater.keepsContext && output.count >= payload.byteCount { return false }
        body(output.span.raw)
        return true
    }
}

/// Deflates the messages of one connection.
private final class ConnectionDeflater: MessageDeflater {
    private let pool: DeflatePool
    private let deflater: Deflater

    init(_ pool: DeflatePool, _ deflater: Deflater) {
        self.pool = pool
        self.deflater = deflater
    }

    func deflate(_ payload: RawSpan, _ body: (RawSpan) -> Void) -> Bool {
        pool.deflate(payload, with: deflater, body)
    }

    func deflate(piece: RawSpan, isLast: Bool, into output: inout [UInt8]) -> Bool {
        deflater.deflate(piece, isLast: isLast, into: &output)
    }

    var form: DeflatedForm {
        DeflatedForm(windowBits: deflater.settings.windowBits, level: deflater.settings.engineLevel)
    }

    func deflateAlone(_ payload: RawSpan, _ form: DeflatedForm) -> [UInt8]? {
        let alone = Deflater(
            Deflater.Settings(windowBits: form.windowBits, level: deflater.settings.level),
            keepsContext: false,
            pool: pool
        )
        var output: [UInt8] = []
        output.reserveCapacity(payload.byteCount / 2 + 64)
        return alone.deflate(payload, into: &output) ? output : nil
    }

    func follow(_ payload: RawSpan) { deflater.follow(payload) }

    // The peer's window stays what it is; the next message merely refers to nothing in it.
    func rest() { deflater.rest() }
    func stop() { deflater.rest() }
}
