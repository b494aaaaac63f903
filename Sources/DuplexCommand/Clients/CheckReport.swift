// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets

/// What `duplex check` has found out.
struct CheckReport: CheckFindings {
    let endpoint: Endpoint
    let timeline: ConnectTimeline?
    /// Why there is no connection.
    var failure: SocketError?
    let connection: TLSInfo?
    let certificates: [TLSCertificate]

    init(
        _ endpoint: Endpoint,
        _ timeline: ConnectTimeline?,
        _ connection: TLSInfo?,
        _ certificates: [TLSCertificate]
    ) {
        self.endpoint = endpoint
        self.timeline = timeline
        self.connection = connection
        self.certificates = certificates
    }

    /// The report, line by line, fit for a terminal.
    ///
    /// - Parameter now: the time, for how long certificates are still valid.
    /// - Returns: the lines without their ends.
    func lines(now: UnixTime) -> [String] {
        var lines = ["\(endpoint)".visible]
        if let timeline {
            let picture = failure?.waterfall(width: CheckLines.width) ?? timeline.waterfall(width: CheckLines.width)
            lines += CheckLines.indented(picture) + lost(timeline)
            lines.append("  in all  \(timeline.total.inMilliseconds) ms")
        }
        if let connection {
            let (version, cipher) = ("\(connection.version)", connection.cipherSuite)
            lines.append("  " + CheckLines.secured(version, cipher, connection.applicationProtocol))
        }
        lines += CheckLines.certificates(certificates, now: now)
        return lines
    }

    var error: (any Error)? { failure }

    func form(now: UnixTime) -> CheckForm {
        var form = CheckForm(url: "\(endpoint)", certificates: certificates, failure: failure, now: now)
        if let timeline { form.take(timeline) }
        form.tls = connection.map { connection in
            CheckForm.Security(
                version: "\(connection.version)",
                cipherSuite: connection.cipherSuite,
                applicationProtocol: connection.applicationProtocol
            )
        }
        return form
    }

    /// The addresses that didn't answer, in full: the picture has no room for the reasons.
    private func lost(_ timeline: ConnectTimeline) -> [String] {
        let lost = timeline.attempts.filter { $0.outcome != .connected && $0.outcome != .abandoned }
        return lost.map { "  \($0.address) \($0.outcome)" }
    }
}

/// The lines that every report has in common.
enum CheckLines {
    /// How many columns a picture has, beside the indentation.
    static let width = 78

    /// A picture's lines in their place.
    static func indented(_ picture: [String]) -> [String] { picture.map { "  \($0)" } }

    /// What TLS has come to.
    static func secured(_ version: String, _ cipherSuite: String, _ applicationProtocol: String?) -> String {
        "\(version), \(cipherSuite), \(applicationProtocol.map { "ALPN \($0.visible)" } ?? "no ALPN")"
    }

    /// What the peer has shown, its own certificate first.
    static func certificates(_ certificates: [TLSCertificate], now: UnixTime) -> [String] {
        certificates.enumerated().flatMap { describe($1, number: $0 + 1, now: now) }
    }

    /// How many days a certificate is still valid; negative once it isn't.
    static func daysLeft(_ certificate: TLSCertificate, now: UnixTime) -> Int64 {
        (certificate.notAfter.seconds - now.seconds) / 86_400
    }

    private static func describe(_ certificate: TLSCertificate, number: Int, now: UnixTime) -> [String] {
        let days = daysLeft(certificate, now: now)
        let validity =
            certificate.notAfter < now
            ? "expired" : certificate.notBefore > now ? "not valid yet" : "\(days) days left"
        var lines = ["  certificate \(number)  \(certificate.subject.visible)"]
        if !certificate.names.isEmpty {
            lines.append("    for  \(certificate.names.joined(separator: ", ").visible)")
        }
        lines.append("    issued by  \(certificate.issuer.visible)")
        lines.append("    valid  \(certificate.notBefore) to \(certificate.notAfter), \(validity)")
        lines.append("    key  \(certificate.keyType), \(certificate.keyBits) bits, \(certificate.pin)")
        return lines
    }
}

/// What `duplex check --json` prints: what a connection is made of, as one object.
///
/// Members that don't apply are left out.
struct CheckForm: Encodable {
    /// One address that was tried.
    struct Attempt: Encodable {
        let address: String
        let outcome: String
        let milliseconds: Double
    }

    /// How long each stage took.
    struct Milliseconds: Encodable {
        var names: Double?
        var proxy: Double?
        var tls: Double?
        var upgrade: Double?
        var ping: Double?
        var total: Double?
    }

    /// What TLS has come to.
    struct Security: Encodable {
        let version: String
        let cipherSuite: String
        let applicationProtocol: String?
    }

    /// A certificate that the peer has shown.
    struct Certificate: Encodable {
        let subject: String
        let names: [String]
        let issuer: String
        let notBefore: String
        let notAfter: String
        let daysLeft: Int64
        let keyType: String
        let keyBits: Int
        let pin: String
    }

    var url: String
    /// Whether there was a connection.
    var works = true
    /// What is wrong with it.
    var remarks: [String] = []
    var attempts: [Attempt] = []
    var milliseconds = Milliseconds()
    var tls: Security?
    var subprotocol: String?
    var compression: String?
    let certificates: [Certificate]
    /// Why there is no connection, and the exit status for that.
    var error: String?
    var status: Int32?

    init(url: String, certificates: [TLSCertificate], failure: (any Error)?, now: UnixTime) {
        self.url = url
        self.certificates = certificates.map { certificate in
            Certificate(
                subject: certificate.subject,
                names: certificate.names,
                issuer: certificate.issuer,
                notBefore: "\(certificate.notBefore)",
                notAfter: "\(certificate.notAfter)",
                daysLeft: CheckLines.daysLeft(certificate, now: now),
                keyType: certificate.keyType,
                keyBits: certificate.keyBits,
                pin: certificate.pin
            )
        }
        guard let failure = failure.map({ Failure($0) }) else { return }
        (works, error, status) = (false, failure.message, failure.status.rawValue)
    }

    /// Takes over how the connection of bytes came about.
    mutating func take(_ timeline: ConnectTimeline) {
        attempts = timeline.attempts.map { attempt in
            let time = (attempt.end - attempt.start).milliseconds
            return Attempt(address: "\(attempt.address)", outcome: "\(attempt.outcome)", milliseconds: time)
        }
        milliseconds.names = timeline.nameLookup?.milliseconds
        milliseconds.proxy = timeline.proxy?.milliseconds
        milliseconds.tls = timeline.tls?.milliseconds
        milliseconds.total = timeline.total.milliseconds
    }
}

/// What a check has found out, of a stream or a WebSocket.
protocol CheckFindings: Sendable {
    /// Why there is no connection.
    var error: (any Error)? { get }
    /// The report, line by line, fit for a terminal.
    func lines(now: UnixTime) -> [String]
    /// The report for programs.
    func form(now: UnixTime) -> CheckForm
}
