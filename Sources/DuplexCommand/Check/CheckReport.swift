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
    let connection: TLSConnection?
    let certificates: [TLSCertificate]

    init(
        _ endpoint: Endpoint,
        _ timeline: ConnectTimeline?,
        _ connection: TLSConnection?,
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
}

extension CheckReport {
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
