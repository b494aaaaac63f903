// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexSockets
import DuplexWebSockets
import DuplexWire
import Synchronization

/// `duplex check`: what a connection is made of, stage by stage; of a WebSocket, whether it works.
struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Connect, and show what was negotiated, the certificates, and the time of each stage.",
        discussion: """
            Shows the certificates of a server also when they aren't trusted, and then says why they aren't.

              duplex check wss://example.com/chat --subprotocol chat.v2
              duplex check localhost:8080/echo
              duplex check tls://example.com:443
              duplex check tls://localhost:7443 --ca cert.pem --alpn http/1.1

            A WebSocket is opened, pinged and closed in order, and the last lines say what is wrong with it. The others use \
            only --timeout and the options of TLS.

            \(CommandStatus.explanation)
            """
    )

    @Argument(
        help: """
            ws://host[:port]/path, wss://…, ws+unix:…, tls://host:port, tcp://host:port or unix:path; ws:// without a scheme
            """,
        transform: TargetArgument.any
    )
    var url: TargetArgument

    @Option(
        name: .customLong("alpn"),
        parsing: .singleValue,
        help: ArgumentHelp(
            "A protocol to offer by ALPN, the preferred one first; may be repeated. Default: http/1.1 for wss://.",
            valueName: "name"
        )
    )
    var protocols: [String] = []

    @Flag(help: "Print the report as one JSON object.")
    var json = false

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        let scheme = url.url.prefix { $0 != ":" }.lowercased()
        if !protocols.isEmpty && !["tls", "wss", "https"].contains(scheme) {
            throw ValidationError("--alpn goes with tls:// and wss:// only.")
        }
    }

    func run() async throws {
        let findings: any CheckFindings
        do {
            findings = try await Interruption.shared.cancelling { try await check() }
        } catch {
            let failure = Failure(error)
            if json { try Console.shared.print(json: FailureForm(failure, url: url.url)) }
            throw failure
        }
        if json {
            var form = findings.form(now: .now)
            form.url = url.url
            try Console.shared.print(json: form)
        } else {
            for line in findings.lines(now: .now) { Console.shared.print(line) }
        }
        if let error = findings.error { throw Failure(error) }
    }

    private func check() async throws -> any CheckFindings {
        let seen = Seen()
        if let endpoint = url.stream { return try await checkStream(endpoint, seen) }
        return try await checkWebSocket(seen)
    }

    private func checkStream(_ endpoint: Endpoint, _ seen: Seen) async throws -> CheckReport {
        var options = try connection.connectOptions
        options.tls.applicationProtocols = protocols
        options.tls.trust = seen.look(by: options.tls.trust)
        do {
            let socket = try await Socket.connect(to: endpoint, options: options)
            let connection = await socket.tls
            await socket.close()
            return CheckReport(endpoint, socket.timeline, connection, connection?.peerCertificates ?? [])
        } catch let error as SocketError {
            var report = CheckReport(endpoint, error.timeline, nil, seen.certificates.withLock { $0 })
            report.failure = error
            return report
        }
    }

    private func checkWebSocket(_ seen: Seen) async throws -> WebSocketCheckReport {
        var options = try connection.webSocketOptions
        options.pings = .disabled
        if !protocols.isEmpty { options.tls.applicationProtocols = protocols }
        options.tls.trust = seen.look(by: options.tls.trust)
        var report = WebSocketCheckReport(url: url.url, wanted: options)
        do {
            let socket = try await WebSocket.connect(to: url.url, options: options)
            report.roundTrip = try? await socket.ping(timeout: connection.timeout.duration)
            await socket.close()
            report.snapshot = await socket.snapshot
        } catch let error as WebSocketError {
            report.failure = error
        }
        // A resumed session has no certificate to show.
        report.certificates = seen.certificates.withLock { $0 }
        return report
    }

    /// What the peer has shown, whatever the result.
    private final class Seen: Sendable {
        let certificates = Mutex<[TLSCertificate]>([])

        /// Looks at every peer, and lets in those that would be let in anyway.
        func look(by trust: TLSTrust) -> TLSTrust {
            trust.decided { peer in
                self.certificates.withLock { $0 = peer.certificates }
                return peer.failure == nil
            }
        }
    }
}
