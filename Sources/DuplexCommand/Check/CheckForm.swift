// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

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
        milliseconds.names = timeline.names?.milliseconds
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
