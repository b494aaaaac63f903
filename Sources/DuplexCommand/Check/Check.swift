// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexSockets
import DuplexWire
import Synchronization

/// `duplex check`: what a connection is made of, stage by stage.
struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Connect, and show what was negotiated, the certificates, and the time of each stage.",
        discussion: """
            Shows the certificates of a server also when they aren't trusted, and then says why they aren't.

              duplex check tls://example.com:443
              duplex check tls://localhost:7443 --ca cert.pem --alpn http/1.1

            \(CommandStatus.explanation)
            """
    )

    @Argument(help: "tls://host:port, tcp://host:port or unix:path") var url: String

    @Option(
        name: .customLong("alpn"),
        parsing: .singleValue,
        help: ArgumentHelp("A protocol to offer by ALPN, the preferred one first; may be repeated.", valueName: "name")
    )
    var protocols: [String] = []

    @Option(help: ArgumentHelp("How long it may take, from the name to TLS: 10s, 250ms.", valueName: "time"))
    var timeout = TimeArgument.seconds(10)

    @OptionGroup var tls: ClientTLSArguments

    func run() async throws {
        do {
            try await Interruption.shared.cancelling { try await check() }
        } catch {
            throw Failure(error)
        }
    }

    private func check() async throws {
        let endpoint = try Endpoint(url)
        let seen = Seen()
        var options = ConnectOptions(timeout: timeout.duration)
        options.tls = try tls.apply(to: options.tls)
        options.tls.applicationProtocols = protocols
        // Looks at every peer, and lets in those that would be let in anyway.
        options.tls.trust = options.tls.trust.decided { peer in
            seen.certificates.withLock { $0 = peer.certificates }
            return peer.failure == nil
        }
        do {
            let socket = try await Socket.connect(to: endpoint, options: options)
            let connection = await socket.tls
            await socket.close()
            let certificates = connection?.peerCertificates ?? []
            show(CheckReport(endpoint, socket.timeline, connection, certificates))
        } catch let error as SocketError {
            show(CheckReport(endpoint, error.timeline, nil, seen.certificates.withLock { $0 }))
            throw error
        }
    }

    private func show(_ report: CheckReport) {
        for line in report.lines(now: .now) { Console.shared.print(line) }
    }

    /// What the peer has shown, whatever comes of it.
    private final class Seen: Sendable {
        let certificates = Mutex<[TLSCertificate]>([])
    }
}
