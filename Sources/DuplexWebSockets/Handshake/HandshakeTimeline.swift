// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets

/// How far an attempt to open a WebSocket has come, and how long each part took.
public struct HandshakeTimeline: Sendable, Hashable, CustomStringConvertible {
    /// The parts of an attempt, in their order.
    public enum Stage: String, Sendable, Hashable, Comparable, CaseIterable {
        /// The request was made up: the URL, the options, the bearer token.
        case request
        /// The host's name was looked up, or the proxy's.
        case names
        /// An address was connected to.
        case connecting
        /// The proxy was asked.
        case proxy
        /// TLS was agreed upon.
        case tls
        /// The server was asked for the WebSocket.
        case upgrade

        /// The earlier one is the smaller one.
        public static func < (one: Stage, other: Stage) -> Bool {
            (allCases.firstIndex(of: one) ?? 0) < (allCases.firstIndex(of: other) ?? 0)
        }
    }

    /// The last part that was begun.
    public let stage: Stage
    /// How the last connection was made; `nil` where none was begun.
    public let connecting: ConnectTimeline?
    /// How long the server took to answer; `nil` where it wasn't asked.
    public let upgrade: Duration?
    /// How many requests were made, for redirects and challenges; 1 without these.
    public let requests: Int
    /// How long all of it took.
    public let total: Duration

    init(_ stage: Stage, connecting: ConnectTimeline?, upgrade: Duration? = nil, requests: Int, total: Duration) {
        self.stage = stage
        self.connecting = connecting
        self.upgrade = upgrade
        self.requests = requests
        self.total = total
    }

    /// The parts and their times in one line.
    public var description: String {
        var parts: [String] = []
        if let names = connecting?.names { parts.append("names \(Self.text(names))") }
        if let attempts = connecting?.attempts, !attempts.isEmpty { parts.append(Self.text(attempts)) }
        if let proxy = connecting?.proxy { parts.append("proxy \(Self.text(proxy))") }
        if let tls = connecting?.tls { parts.append("TLS \(Self.text(tls))") }
        if let upgrade { parts.append("upgrade \(Self.text(upgrade))") }
        if requests > 1 { parts.append("\(requests) requests") }
        return (parts + ["in all \(Self.text(total))"]).joined(separator: " · ")
    }

    private static func text(_ attempts: [ConnectTimeline.Attempt]) -> String {
        guard let chosen = attempts.first(where: { $0.outcome == .connected }) else {
            return "TCP failed at \(attempts.map(\.address.description).joined(separator: ", "))"
        }
        let others = attempts.filter { $0 != chosen }.map { "; \($0.address) \($0.outcome)" }
        let kind = chosen.address.path == nil ? "TCP" : "socket"
        return "\(kind) \(text(chosen.end - chosen.start)) (\(chosen.address)\(others.joined()))"
    }

    static func text(_ duration: Duration) -> String {
        let milliseconds = duration / .milliseconds(1)
        let tenths = Int((milliseconds * 10).rounded())
        return milliseconds < 10 ? "\(tenths / 10).\(tenths % 10) ms" : "\(Int(milliseconds.rounded())) ms"
    }
}

extension HandshakeTimeline.Stage {
    /// Where making a connection failed.
    init(_ error: SocketError) {
        switch error.code {
        case .invalidOptions, .invalidAddress, .invalidCertificate: self = .request
        case .unknownHost, .nameServiceFailed: self = .names
        case .proxyRefused: self = .proxy
        case .tls, .untrustedPeer, .truncated: self = .tls
        default:
            guard let timeline = error.timeline else {
                self = .names
                return
            }
            let isConnected = timeline.attempts.contains { $0.outcome == .connected }
            if timeline.tls != nil {
                self = .tls
            } else if isConnected {
                self = timeline.proxy == nil ? .tls : .proxy
            } else {
                self = timeline.attempts.isEmpty ? .names : .connecting
            }
        }
    }
}
