// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexSockets

/// `duplex cert`: a certificate that is signed by itself, for development.
struct Cert: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a self-signed certificate for development.",
        discussion: """
            Makes a key on P-256 and a certificate for localhost, or for the names given. Nobody trusts it who isn't told to:

              duplex cert
              duplex serve --tls-cert cert.pem --tls-key key.pem
              duplex connect wss://localhost:8080/echo --ca cert.pem

            The key is readable for its owner alone. Files that are there already are left as they are, unless --force is \
            given.
            """
    )

    @Argument(help: ArgumentHelp("DNS names and addresses that it is for.", valueName: "name"))
    var names = ["localhost", "127.0.0.1", "::1"]

    @Option(name: .customLong("cert"), help: ArgumentHelp("Where to put the certificate.", valueName: "file"))
    var certificate = "cert.pem"

    @Option(help: ArgumentHelp("Where to put the private key.", valueName: "file"))
    var key = "key.pem"

    @Option(help: "For how many days it is valid.")
    var days = 397

    @Flag(help: "Replace files that are there already.")
    var force = false

    func validate() throws {
        guard (1...36_500).contains(days) else { throw ValidationError("--days must be 1 to 36500.") }
        guard certificate != key else { throw ValidationError("The certificate and the key need a file each.") }
    }

    func run() async throws {
        do {
            let identity = try TLSIdentity.selfSigned(for: names, days: days)
            try NewFile.write(identity.keyPEM, to: key, permissions: 0o600, replaces: force)
            try NewFile.write(identity.certificatesPEM, to: certificate, permissions: 0o644, replaces: force)
            let made = identity.certificates[0]
            Console.shared.print("\(certificate) and \(key): for \(names.joined(separator: ", "))")
            Console.shared.print("  valid until \(made.notAfter); pin \(made.pin)")
        } catch {
            throw Failure(error)
        }
    }
}
