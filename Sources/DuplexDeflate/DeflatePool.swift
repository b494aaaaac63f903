// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire

/// What the connections of one event loop share: whoever doesn't take context over borrows, for the length of a message.
///
/// So ten thousand connections without context need the memory of one deflater for each kind of settings. Not safe to use
/// from several threads.
public final class DeflatePool {
    private var deflaters: [Deflater.Settings: Deflater] = [:]
    /// Inflaters that nobody uses, by their windows: from 8 bits to 15.
    private var inflaters = [[Inflater]](repeating: [], count: 8)
    /// What a message is deflated into.
    private var scratch: [UInt8] = []

    /// The most inflaters that wait for each window.
    static let spares = 4
    /// The most memory that is kept from one message to the next.
    private static let scratchBound = 128 * 1_024

    /// Makes a pool without anything in it.
    public init() {}

    /// Puts together what a connection needs of what was agreed on.
    ///
    /// - Parameters:
    ///   - agreement: what was agreed on.
    ///   - role: which side this is.
    ///   - settings: how to deflate; a smaller window than is allowed stays, a larger one becomes that. Where the peer
    ///     allows only one of 8, with which zlib can't deflate, everything is sent as it is.
    ///   - takesOver: whether this side's messages may refer to those before them, if the agreement allows it.
    ///   - threshold: messages shorter than that many bytes are sent as they are.
    /// - Returns: what a session is made with.
    public func compression(
        _ agreement: DeflateAgreement,
        role: Session.Role,
        settings: Deflater.Settings,
        takesOver: Bool = true,
        threshold: Int = 0
    ) -> MessageCompression {
        let peer: Session.Role = role == .client ? .server : .client
        let inflater: any MessageInflater =
            agreement.takesOver(peer)
            ? Inflater(windowBits: agreement.windowBits(peer))
            : PooledInflater(self, windowBits: agreement.windowBits(peer))
        return MessageCompression(
            agreement: agreement,
            threshold: threshold,
            inflater: inflater,
            deflater: deflater(agreement.windowBits(role), settings, takesOver && agreement.takesOver(role))
        )
    }

    private func deflater(_ allowed: Int, _ settings: Deflater.Settings, _ takesOver: Bool) -> (any MessageDeflater)? {
        guard allowed >= DeflateNegotiation.smallestDeflatingWindow else { return nil }
        let settings = Deflater.Settings(
            windowBits: min(allowed, settings.windowBits),
            level: settings.level,
            memoryLevel: settings.memoryLevel
        )
        return takesOver ? ConnectionDeflater(self, settings) : PooledDeflater(self, settings)
    }

    /// The deflater that all share who use these settings.
    func shared(_ settings: Deflater.Settings) -> Deflater {
        if let deflater = deflaters[settings] { return deflater }
        let deflater = Deflater(settings)
        deflaters[settings] = deflater
        return deflater
    }

    func takeInflater(windowBits: Int) -> Inflater {
        inflaters[windowBits - 8].popLast() ?? Inflater(windowBits: windowBits, keepsContext: false)
    }

    func give(_ inflater: Inflater) {
        let place = inflater.windowBits - 8
        if inflaters[place].count < Self.spares { inflaters[place].append(inflater) }
    }

    /// The number of inflaters that nobody uses.
    var spareInflaters: Int { inflaters.reduce(0) { $0 + $1.count } }

    /// Deflates with a deflater, and lends what comes of it.
    ///
    /// - Parameters:
    ///   - payload: the message.
    ///   - deflater: the connection's own, or a shared one.
    ///   - mustShrink: whether a message that doesn't get shorter is left as it is.
    ///   - body: gets what came of it.
    /// - Returns: whether `body` was called.
    func deflate(
        _ payload: RawSpan,
        with deflater: Deflater,
        mustShrink: Bool,
        _ body: (RawSpan) -> Void
    ) -> Bool {
        var output = scratch
        scratch = []
        defer {
            if output.capacity <= Self.scratchBound {
                output.removeAll(keepingCapacity: true)
                scratch = output
            }
        }
        guard deflater.deflate(payload, into: &output) else { return false }
        if mustShrink && output.count >= payload.byteCount { return false }
        body(output.span.raw)
        return true
    }
}

/// Deflates messages that refer to those before them.
private final class ConnectionDeflater: MessageDeflater {
    private let pool: DeflatePool
    private let deflater: Deflater

    init(_ pool: DeflatePool, _ settings: Deflater.Settings) {
        self.pool = pool
        deflater = Deflater(settings)
    }

    func deflate(_ payload: RawSpan, _ body: (RawSpan) -> Void) -> Bool {
        pool.deflate(payload, with: deflater, mustShrink: false, body)
    }

    func deflate(piece: RawSpan, isLast: Bool, into output: inout [UInt8]) -> Bool {
        deflater.deflate(piece, isLast: isLast, into: &output)
    }

    // The peer's window stays what it is; the next message merely refers to nothing in it.
    func rest() { deflater.rest() }
    func stop() { deflater.rest() }
}

/// Deflates messages each by itself, with what all share.
private final class PooledDeflater: MessageDeflater {
    private let pool: DeflatePool
    private let settings: Deflater.Settings
    /// For a message that comes in pieces: others are sent by other connections meanwhile.
    private var deflater: Deflater?

    init(_ pool: DeflatePool, _ settings: Deflater.Settings) {
        self.pool = pool
        self.settings = settings
    }

    func deflate(piece: RawSpan, isLast: Bool, into output: inout [UInt8]) -> Bool {
        let deflater = deflater ?? Deflater(settings)
        self.deflater = isLast ? nil : deflater
        return deflater.deflate(piece, isLast: isLast, into: &output)
    }

    func deflate(_ payload: RawSpan, _ body: (RawSpan) -> Void) -> Bool {
        let deflater = pool.shared(settings)
        deflater.reset()
        return pool.deflate(payload, with: deflater, mustShrink: true, body)
    }

    func rest() {}
    func stop() { deflater = nil }
}

/// Inflates messages each by itself, with an inflater that is borrowed for the length of a message.
private final class PooledInflater: MessageInflater {
    private let pool: DeflatePool
    private let windowBits: Int
    private var inflater: Inflater?

    init(_ pool: DeflatePool, windowBits: Int) {
        self.pool = pool
        self.windowBits = windowBits
    }

    private func borrowed() -> Inflater {
        if let inflater { return inflater }
        let borrowed = pool.takeInflater(windowBits: windowBits)
        inflater = borrowed
        return borrowed
    }

    func inflate(
        _ input: RawSpan,
        from position: inout Int,
        into output: inout [UInt8],
        upTo room: Int
    ) -> InflateProgress {
        borrowed().inflate(input, from: &position, into: &output, upTo: room)
    }

    func inflateEnd(into output: inout [UInt8], upTo room: Int) -> InflateProgress {
        borrowed().inflateEnd(into: &output, upTo: room)
    }

    func endMessage() {
        inflater?.endMessage()
        if let inflater { pool.give(inflater) }
        inflater = nil
    }

    func rest() {}

    /// What is in the middle of a message is of no use to anybody else.
    func stop() { inflater = nil }
}
