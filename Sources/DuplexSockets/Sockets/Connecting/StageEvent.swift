// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

/// One stage of making a connection has begun, or is over; told as it happens.
///
/// ``ConnectOptions/onStage`` gets these. What began is over once, by ``Phase/ended``, ``Phase/failed(_:)``
/// or ``Phase/abandoned``, before the call that connects returns or throws. One stage follows the other; of
/// ``Stage/connecting`` there is one for each address that is tried, side by side, which ``address`` tells apart. What fails
/// before anything is begun, such as options that contradict one another, has no stage.
public struct StageEvent: Sendable, CustomStringConvertible {
    /// The stages; later versions may add some.
    @nonexhaustive
    public enum Stage: String, Sendable, Hashable, CustomStringConvertible {
        /// The name is looked up, of the host or of its proxy.
        case nameLookup = "names"
        /// An address is connected to, by TCP or as a Unix socket; with a proxy it is the proxy's.
        case connecting
        /// The proxy is asked for the connection behind it; again on a new connection where it wants one.
        case proxy
        /// The system's roots are being read, which happens once in a process, and TLS waits for them.
        case roots
        /// TLS is agreed upon: with the proxy before ``proxy``, with the peer otherwise.
        case tls
        /// The server is asked for the protocol over the connection, such as WebSocket; again, on a new connection, where it
        /// redirects or asks who this is.
        case upgrade

        /// A word for people, which is also the raw value: `names` for ``nameLookup``.
        public var description: String { rawValue }
    }

    /// Whether a stage begins or is over.
    public enum Phase: Sendable, CustomStringConvertible {
        /// It begins.
        case began
        /// It has come to what it is for.
        case ended
        /// It has failed with this error.
        case failed(any Error)
        /// It was given up: another address was faster, or the task that connects was cancelled.
        case abandoned

        /// Whether it is the end of a stage.
        package var isEnd: Bool { if case .began = self { false } else { true } }

        /// What it is, for people.
        public var description: String {
            switch self {
            case .began: "began"
            case .ended: "ended"
            // The first line has what happened, the others what led to it.
            case .failed(let error): "failed: \("\(error)".prefix { !$0.isNewline })"
            case .abandoned: "abandoned"
            }
        }
    }

    /// The stage.
    public package(set) var stage: Stage
    /// Whether it begins, or how it is over.
    public package(set) var phase: Phase
    /// The address that is tried or was connected to; `nil` for a name, and where there is none in memory.
    public package(set) var address: SocketAddress?
    /// When, on the clock of the connection's loop.
    public package(set) var instant: Instant
    /// Which attempt of a client that reconnects it is of; 1 otherwise.
    public package(set) var attempt: Int
    /// Which request of the attempt it is for, where redirects and challenges lead to more than one; 1 otherwise.
    public package(set) var request: Int
    /// Where the attempt leads, without credentials and query, if it is for a WebSocket; `nil` otherwise.
    public package(set) var url: String?
    /// The addresses that the name has come to, in the order in which they are tried, at the end of ``Stage/nameLookup``; empty
    /// otherwise.
    public package(set) var addresses: [SocketAddress]
    /// How long the stage took, at its end; `nil` when it begins.
    public package(set) var duration: Duration?

    /// Makes an event.
    ///
    /// - Parameters:
    ///   - stage: the stage.
    ///   - phase: whether it begins, or how it is over.
    ///   - address: the address that it is about. Default: none.
    ///   - instant: when.
    ///   - attempt: which attempt it is of. Default: 1.
    ///   - request: which request of the attempt it is for. Default: 1.
    ///   - url: where the attempt leads. Default: `nil`.
    ///   - addresses: what the name has come to. Default: none.
    ///   - duration: how long the stage took. Default: `nil`.
    package init(
        _ stage: Stage,
        _ phase: Phase,
        address: SocketAddress? = nil,
        instant: Instant,
        attempt: Int = 1,
        request: Int = 1,
        url: String? = nil,
        addresses: [SocketAddress] = [],
        duration: Duration? = nil
    ) {
        self.stage = stage
        self.phase = phase
        self.address = address
        self.instant = instant
        self.attempt = attempt
        self.request = request
        self.url = url
        self.addresses = addresses
        self.duration = duration
    }

    /// The stage, the address if there is one, and the phase: `connecting 192.0.2.1:443 began`.
    public var description: String {
        "\(stage) \(address.map { "\($0) " } ?? "")\(phase)"
    }
}

/// Reports the stages of a connection that come one after the other: one that was begun is over before the next.
///
/// Those of the addresses of a name, which are side by side, are reported by ``ConnectRace``.
package final class StageTeller: Sendable {
    /// Gets the stages.
    package typealias Callback = @Sendable (StageEvent) -> Void

    private let callback: Callback
    private let clock: LoopClock
    /// The stage that was begun and isn't over.
    private let present = Mutex<StageEvent?>(nil)

    /// Makes one; `nil` without a callback.
    ///
    /// - Parameters:
    ///   - callback: gets the stages.
    ///   - clock: where the instants come from.
    package init?(_ callback: Callback?, _ clock: LoopClock) {
        guard let callback else { return nil }
        self.callback = callback
        self.clock = clock
    }

    /// A stage begins.
    package func begin(_ stage: StageEvent.Stage, _ address: SocketAddress? = nil) {
        let event = StageEvent(stage, .began, address: address, instant: clock.now())
        present.withLock { $0 = event }
        callback(event)
    }

    /// The present stage, if there is one, has come to what it is for.
    ///
    /// - Parameter addresses: what a name has come to. Default: none.
    package func end(_ addresses: [SocketAddress] = []) { end(.ended, addresses) }

    /// The present stage, if there is one, ends with an error, or was given up.
    package func end(_ error: any Error) { end(error is CancellationError ? .abandoned : .failed(error)) }

    private func end(_ phase: StageEvent.Phase, _ addresses: [SocketAddress] = []) {
        // Called without the lock, as the callback may do anything.
        guard var event = present.withLock({ $0.take() }) else { return }
        let now = clock.now()
        (event.phase, event.addresses) = (phase, addresses)
        (event.duration, event.instant) = (event.instant.duration(to: now), now)
        callback(event)
    }
}
