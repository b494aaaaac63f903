// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What the first bytes of a client are, before its handshake.
package enum PlainStart: Sendable {
    /// More of them are needed.
    case undecided
    /// For the handshake to judge.
    case other
    /// Of a client that doesn't speak TLS, and what it is answered with, in the clear; then the connection ends.
    case answered([UInt8])
}

/// Judges all bytes that have come of a client that is expected to speak TLS; 64 bytes at most are handed in undecided.
package typealias PlainProbe = @Sendable (RawSpan) -> PlainStart

/// What a channel has beyond a plain one once it is secured, or is about to be.
///
/// What is written stays plaintext in the channel's own buffer until it is sent, so that a turn's writes share records.
final class TLSLayer {
    enum Stage {
        /// What is written waits; what arrives is still in the clear.
        case prepared
        /// The system's roots are being read, without which no handshake can end well.
        case awaitingRoots
        case shakingHands
        /// The caller is asked whether to go on with the peer.
        case deciding
        case open
    }

    let engine: TLSEngine
    /// What secures the connection to the proxy, where this layer lies within that one.
    var outer: TLSEngine?
    let timeout: Duration
    let loop: EventLoop
    var stage = Stage.prepared
    /// What goes over the network next: what was written before in the clear, and records.
    var wire: OutputBuffer?
    /// Told once of the handshake's end, unless this side gives up first.
    var completion: ((Result<TLSInfo, SocketError>) -> Void)?
    /// The deadline of the handshake.
    var timer: TimerID?
    /// When the wait for the system's roots began, and how long it took.
    var rootsBegan: Instant?
    var rootsTime: Duration?
    /// Called when the system's roots are there, if there was a wait for them.
    var whenRooted: (() -> Void)?
    /// When the handshake was started.
    var began: Instant?
    /// How long the handshake took, once it has ended.
    var handshakeTime: Duration?
    /// What was agreed upon, once it was.
    var connection: TLSInfo?
    /// Judges a client's first bytes before the engine gets them; `nil` once they are judged.
    var probe: PlainProbe?
    /// The first bytes, while they aren't judged.
    var held: [UInt8] = []
    /// What has failed while something was written; reported at the end of the turn.
    var failure: SocketError?
    private var decision: Task<Void, Never>?

    init(
        engine: TLSEngine,
        timeout: Duration,
        loop: EventLoop,
        completion: @escaping (Result<TLSInfo, SocketError>) -> Void
    ) {
        self.engine = engine
        self.timeout = timeout
        self.loop = loop
        self.completion = completion
    }

    /// Whether what arrives is for the engine.
    var takesInput: Bool { stage != .prepared }

    var wireCount: Int { wire?.count ?? 0 }

    /// Asks the caller about the peer, off the loop, and gives the answer to `decided` on the loop.
    func decide(on peer: TLSPeer, _ decided: @escaping @Sendable (Bool) -> Void) {
        guard let decide = engine.context.trust?.decision else { return decided(false) }
        stage = .deciding
        let loop = loop
        decision = Task.detached {
            let isTrusted = await decide(peer)
            loop.execute { _ in decided(isTrusted) }
        }
    }

    /// An error of the connection, with a hint if the server may have ended it because it got no certificate.
    func explained(_ error: SocketError) -> SocketError {
        guard engine.lacksCertificate, !engine.hasDecrypted, error.hint == nil else { return error }
        var error = error
        error.hint = TLSFailure.noCertificate
        return error
    }

    /// Ends what still runs.
    func stop(_ core: LoopCore) {
        if let timer { core.cancel(timer) }
        timer = nil
        completion = nil
        whenRooted = nil
        decision?.cancel()
        decision = nil
    }
}
