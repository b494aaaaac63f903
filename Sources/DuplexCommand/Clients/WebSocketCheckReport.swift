// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire

/// What `duplex check` has found out about a WebSocket, and what is wrong with it.
struct WebSocketCheckReport: CheckFindings {
    let url: String
    /// What was asked for.
    let wanted: WebSocketOptions
    /// The certificates that the server has shown, its own first.
    var certificates: [TLSCertificate] = []
    /// How long a ping took; `nil` if it wasn't answered.
    var roundTrip: Duration?
    /// The connection at its end; `nil` if it wasn't opened.
    var snapshot: WebSocketSnapshot?
    /// Why it wasn't opened.
    var failure: WebSocketError?

    init(url: String, wanted: WebSocketOptions) {
        self.url = url
        self.wanted = wanted
    }

    /// The report, line by line, fit for a terminal.
    ///
    /// - Parameter now: the time, for how long certificates are still valid.
    /// - Returns: the lines without their ends.
    func lines(now: UnixTime) -> [String] {
        var lines = [url.visible]
        if let timeline { lines += stages(timeline) }
        if let snapshot {
            lines += agreed(snapshot)
        } else if let security = timeline?.security {
            lines.append("  " + Self.text(security))
        }
        lines += CheckLines.certificates(certificates, now: now)
        return lines + verdict(now)
    }

    var error: (any Error)? { failure }

    func form(now: UnixTime) -> CheckForm {
        var form = CheckForm(url: url, certificates: certificates, failure: failure, now: now)
        form.remarks = remarks(now)
        if let connecting = timeline?.connecting { form.take(connecting) }
        form.milliseconds.upgrade = timeline?.upgrade?.milliseconds
        form.milliseconds.total = timeline?.total.milliseconds
        form.milliseconds.ping = roundTrip?.milliseconds
        form.tls = (snapshot?.timeline.security ?? timeline?.security).map { security in
            CheckForm.Security(
                version: "\(security.version)",
                cipherSuite: security.cipherSuite,
                applicationProtocol: security.applicationProtocol
            )
        }
        form.subprotocol = snapshot?.subprotocol
        form.compression = snapshot?.compression.map { "\($0)" }
        return form
    }

    private var timeline: HandshakeTimeline? { snapshot?.timeline.handshake ?? failure?.timeline }

    private func stages(_ timeline: HandshakeTimeline) -> [String] {
        var lines = CheckLines.indented(timeline.waterfall(width: CheckLines.width))
        lines.append("  in all  \(timeline.total.inMilliseconds) ms")
        if let roundTrip { lines.append("  ping  \(roundTrip.inMilliseconds) ms") }
        return lines
    }

    private func agreed(_ snapshot: WebSocketSnapshot) -> [String] {
        let security = snapshot.timeline.security.map(Self.text) ?? "not secured"
        let subprotocol = snapshot.subprotocol.map { "subprotocol \($0.visible)" } ?? "no subprotocol"
        let compression = snapshot.compression.map { "\($0)" } ?? "not compressed"
        return ["  \(security), \(subprotocol), \(compression)"]
    }

    private static func text(_ security: HandshakeTimeline.Security) -> String {
        CheckLines.secured("\(security)", security.cipherSuite, security.applicationProtocol)
    }

    // MARK: The verdict

    private func verdict(_ now: UnixTime) -> [String] {
        if failure != nil { return ["verdict: it doesn't work."] }
        let remarks = remarks(now)
        if remarks.isEmpty { return ["verdict: all is well."] }
        return ["verdict: it works, but"] + remarks.map { "  - \($0)" }
    }

    /// What is wrong with it, in plain words.
    func remarks(_ now: UnixTime) -> [String] {
        guard let snapshot else { return [] }
        return security(snapshot, now) + network(snapshot) + agreement(snapshot) + conduct(snapshot)
    }

    private func security(_ snapshot: WebSocketSnapshot, _ now: UnixTime) -> [String] {
        guard let security = snapshot.timeline.security else {
            let isHere = snapshot.remoteAddress.map { $0.isLoopback || $0.path != nil } ?? false
            return isHere ? [] : ["it isn't secured: whoever is on the way reads and changes it (use wss://)."]
        }
        var remarks: [String] = []
        if security.version < .tls13 {
            remarks.append("it is secured by \(security.version), and 1.3 is faster and safer.")
        }
        if let certificate = certificates.first, CheckLines.daysLeft(certificate, now: now) < 14 {
            remarks.append("the certificate is valid for \(CheckLines.daysLeft(certificate, now: now)) days only.")
        }
        return remarks
    }

    private func network(_ snapshot: WebSocketSnapshot) -> [String] {
        let attempts = snapshot.timeline.handshake?.connecting?.attempts ?? []
        return attempts.filter { $0.outcome != .connected && $0.outcome != .abandoned }.map { attempt in
            "\(attempt.address) \(attempt.outcome), and costs every client \((attempt.end - attempt.start).inMilliseconds) ms."
        }
    }

    private func agreement(_ snapshot: WebSocketSnapshot) -> [String] {
        if wanted.subprotocols.isEmpty || snapshot.subprotocol != nil { return [] }
        return [
            "the server agrees to none of the subprotocols: \(wanted.subprotocols.joined(separator: ", ").visible)."
        ]
    }

    private func conduct(_ snapshot: WebSocketSnapshot) -> [String] {
        var remarks: [String] = []
        if roundTrip == nil { remarks.append("pings aren't answered (RFC 6455 section 5.5.3 demands it).") }
        if !snapshot.closeReport.isClean {
            remarks.append("the closing handshake wasn't finished: \("\(snapshot.closeReport)".visible).")
        }
        return remarks
    }
}
