// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
import DuplexWire

/// How far an attempt to open a WebSocket has come, and how long each part took.
///
/// One reference in memory, whatever its length.
public struct HandshakeTimeline: Sendable, Hashable, CustomStringConvertible {
    /// The parts of an attempt, in their order.
    public enum Stage: String, Sendable, Hashable, Comparable, CaseIterable, CustomStringConvertible {
        /// The request was made up: the URL, the options, the bearer token.
        case request
        /// The host's name was looked up, or the proxy's.
        case nameLookup = "names"
        /// An address was connected to.
        case connecting
        /// The proxy was asked.
        case proxy
        /// TLS waited for the system's roots to be read, once in the process.
        case roots
        /// TLS was agreed upon.
        case tls
        /// The server was asked for the WebSocket.
        case upgrade

        /// A word for people, which is also the raw value: `names` for ``nameLookup``.
        public var description: String { rawValue }

        /// The earlier one is the smaller one.
        public static func < (one: Stage, other: Stage) -> Bool {
            (allCases.firstIndex(of: one) ?? 0) < (allCases.firstIndex(of: other) ?? 0)
        }
    }

    /// What a TLS handshake has come to.
    package struct Security: Sendable, Hashable, CustomStringConvertible {
        /// The version.
        package let version: TLSVersion
        /// Whether an earlier session was resumed.
        package let isResumed: Bool
        /// The cipher suite, as it is registered, such as `TLS_AES_128_GCM_SHA256`.
        package let cipherSuite: String
        /// The protocol that ALPN has chosen; `nil` for none.
        package let applicationProtocol: String?

        init?(_ connection: TLSInfo?) {
            guard let connection else { return nil }
            version = connection.version
            isResumed = connection.isResumed
            cipherSuite = connection.cipherSuite
            applicationProtocol = connection.applicationProtocol
        }

        init(version: TLSVersion, isResumed: Bool, cipherSuite: String = "", applicationProtocol: String? = nil) {
            self.version = version
            self.isResumed = isResumed
            self.cipherSuite = cipherSuite
            self.applicationProtocol = applicationProtocol
        }

        /// The version, and whether a session was resumed.
        package var description: String { "\(version)\(isResumed ? " resumed" : "")" }
    }

    private struct Content: Sendable, Hashable {
        var stage: Stage
        var began: Instant
        var connecting: ConnectTimeline?
        var security: Security?
        var upgrade: Duration?
        var isOpen: Bool
        var requests: Int
        var total: Duration
    }

    /// In a place of its own, because every error of a connection has room for a timeline.
    private final class Storage: Sendable {
        let content: Content

        init(_ content: Content) {
            self.content = content
        }
    }

    private let storage: Storage

    init(
        _ stage: Stage,
        began: Instant = Instant(nanoseconds: 0),
        connecting: ConnectTimeline?,
        security: Security? = nil,
        upgrade: Duration? = nil,
        isOpen: Bool = false,
        requests: Int,
        total: Duration
    ) {
        storage = Storage(
            Content(
                stage: stage,
                began: began,
                connecting: connecting,
                security: security,
                upgrade: upgrade,
                isOpen: isOpen,
                requests: requests,
                total: total
            )
        )
    }

    /// The last part that was begun.
    public var stage: Stage { storage.content.stage }
    /// When the attempt began, on the monotonic clock.
    package var began: Instant { storage.content.began }
    /// How the last connection was made; `nil` where none was begun.
    public var connecting: ConnectTimeline? { storage.content.connecting }
    /// What TLS with the server came to; `nil` where the connection wasn't secured.
    package var security: Security? { storage.content.security }
    /// How long the server took to answer; `nil` where it wasn't asked.
    public var upgrade: Duration? { storage.content.upgrade }
    /// Whether it came to a WebSocket.
    package var isOpen: Bool { storage.content.isOpen }
    /// How many requests were made, for redirects and challenges; 1 without these.
    package var requests: Int { storage.content.requests }
    /// How long all of it took.
    public var total: Duration { storage.content.total }
    /// The address that was connected to: the server's, or its proxy's; `nil` where none answered.
    public var remoteAddress: SocketAddress? {
        connecting?.attempts.first { $0.outcome == .connected }?.address
    }

    /// Compares their events.
    public static func == (one: HandshakeTimeline, other: HandshakeTimeline) -> Bool {
        one.storage.content == other.storage.content
    }

    /// Hashes its events.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(storage.content)
    }

    /// The parts and their times in one line.
    public var description: String {
        (parts + ["in all \(Self.text(total))"]).joined(separator: " · ")
    }

    /// What there was, and how long each took.
    var parts: [String] {
        var parts: [String] = []
        if let lookup = connecting?.nameLookup { parts.append("names \(Self.text(lookup))") }
        if let attempts = connecting?.attempts, !attempts.isEmpty { parts.append(Self.text(attempts)) }
        if let proxy = connecting?.proxy { parts.append("proxy \(Self.text(proxy))") }
        if let roots = connecting?.roots { parts.append("roots \(Self.text(roots))") }
        if let tls = connecting?.tls { parts.append("\(security?.description ?? "TLS") \(Self.text(tls))") }
        if let upgrade { parts.append("upgrade \(Self.text(upgrade))") }
        if requests > 1 { parts.append("\(requests) requests") }
        return parts
    }

    private static func text(_ attempts: [ConnectTimeline.Attempt]) -> String {
        let kind = attempts.allSatisfy { $0.address.path == nil } ? "TCP" : "socket"
        guard let chosen = attempts.first(where: { $0.outcome == .connected }) else {
            return "\(kind) failed (\(attempts.map { lost($0, by: nil) }.joined(separator: ", ")))"
        }
        let others = attempts.filter { $0 != chosen }.map { ", " + lost($0, by: chosen) }
        return "\(kind) \(text(chosen.end - chosen.start)) (\(chosen.address)\(others.joined()))"
    }

    /// Why an address isn't the one; of another family than the winner's, the family says enough.
    private static func lost(_ attempt: ConnectTimeline.Attempt, by chosen: ConnectTimeline.Attempt?) -> String {
        let isOtherFamily = chosen.map { $0.address.isIPv6 != attempt.address.isIPv6 } ?? false
        let name = isOtherFamily ? (attempt.address.isIPv6 ? "IPv6" : "IPv4") : attempt.address.description
        let outcome = attempt.outcome == .abandoned ? "lost" : attempt.outcome.description
        return "\(name) \(outcome) after \(text(attempt.end - attempt.start))"
    }

    static func text(_ duration: Duration) -> String {
        let milliseconds = duration / .milliseconds(1)
        let tenths = Int((milliseconds * 10).rounded())
        return milliseconds < 10 ? "\(tenths / 10).\(tenths % 10) ms" : "\(Int(milliseconds.rounded())) ms"
    }

    // MARK: Steps

    /// A part of an attempt, and when it was.
    package struct Step: Sendable, Hashable {
        /// Which part.
        package let stage: Stage
        /// When it began, on the monotonic clock.
        package let began: Instant
        /// When it was over.
        package let ended: Instant
        /// Whether the attempt was over with it, without a WebSocket.
        package let hasFailed: Bool
    }

    /// The parts of the last request with their instants, in their order: those that were begun, and how they came out.
    ///
    /// ``Stage/connecting`` is all addresses together, whose own times and outcomes are `ConnectTimeline.attempts`. Before
    /// the first part are tokens that were asked for, and the requests that led to this one. ``Stage/request`` is a part only
    /// where it was the last.
    package var steps: [Step] {
        guard let connecting else { return [step(stage, .zero, total)] }
        let start = connectingBegan
        var steps = connecting.intervals.map { step($0.stage, start + $0.start, start + $0.end) }
        if let upgrade { steps.append(step(.upgrade, asked, asked + upgrade)) }
        return steps
    }

    private func step(_ stage: Stage, _ start: Duration, _ end: Duration) -> Step {
        Step(
            stage: stage,
            began: began.advanced(by: start),
            ended: began.advanced(by: end),
            hasFailed: !isOpen && stage == self.stage
        )
    }

    /// When the server was asked, or the attempt was over, since its beginning.
    var asked: Duration { max(.zero, total - (upgrade ?? .zero)) }

    /// When the connection for the last request was begun, since the beginning of the attempt.
    var connectingBegan: Duration { max(.zero, asked - (connecting?.total ?? .zero)) }
}

extension HandshakeTimeline.Stage {
    /// Where making a connection failed.
    init(_ error: SocketError) {
        switch error.code {
        case .invalidOptions, .invalidAddress, .invalidCertificate: self = .request
        case .unknownHost, .nameServiceFailed: self = .nameLookup
        case .proxyRefused: self = .proxy
        case .tls where error.timeline?.roots != nil && error.timeline?.tls == nil: self = .roots
        case .tls, .untrustedPeer, .truncated: self = .tls
        default:
            guard let timeline = error.timeline else {
                self = .nameLookup
                return
            }
            let isConnected = timeline.attempts.contains { $0.outcome == .connected }
            if timeline.tls != nil {
                self = .tls
            } else if timeline.roots != nil {
                self = .roots
            } else if isConnected {
                self = timeline.proxy == nil ? .tls : .proxy
            } else {
                self = timeline.attempts.isEmpty ? .nameLookup : .connecting
            }
        }
    }
}

extension ConnectTimeline {
    /// Its parts one after the other, and when each was.
    var intervals: [(stage: HandshakeTimeline.Stage, start: Duration, end: Duration)] {
        var intervals: [(stage: HandshakeTimeline.Stage, start: Duration, end: Duration)] = []
        if let nameLookup { intervals.append((.nameLookup, .zero, nameLookup)) }
        var position = attempts.map(\.end).max() ?? .zero
        if let chosen = attempts.first(where: { $0.outcome == .connected }) { position = chosen.end }
        if let first = attempts.first { intervals.append((.connecting, first.start, position)) }
        for (stage, took) in [(HandshakeTimeline.Stage.proxy, proxy), (.roots, roots), (.tls, tls)] {
            guard let took else { continue }
            intervals.append((stage, position, position + took))
            position += took
        }
        return intervals
    }
}
