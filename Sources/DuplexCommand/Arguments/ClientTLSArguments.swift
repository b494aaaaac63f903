// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexSockets

/// How a client secures its connection, where the URL asks for it.
struct ClientTLSArguments: ParsableArguments {
    @Option(
        name: .customLong("ca"),
        help: ArgumentHelp("Trust the certificates of this PEM file, beside the system's roots.", valueName: "file")
    )
    var authority: String?

    @Flag(
        name: [.customShort("k"), .customLong("insecure")],
        help: "Take any certificate. Whoever is on the way can read and change everything."
    )
    var insecure = false

    @Option(help: ArgumentHelp("The name to ask for and to look for in the certificate.", valueName: "name"))
    var serverName: String?

    @Option(name: .customLong("cert"), help: ArgumentHelp("Show the certificates of this PEM file.", valueName: "file"))
    var certificate: String?

    @Option(
        help: ArgumentHelp("The PEM file of the private key for --cert. Default: the same file.", valueName: "file")
    )
    var key: String?

    func validate() throws {
        if key != nil && certificate == nil { throw ValidationError("--key goes with --cert.") }
    }

    /// - Throws: `SocketError` when a file lacks what it should have.
    func apply(to options: TLSOptions) throws -> TLSOptions {
        var options = options
        if let serverName { options.serverName = serverName }
        // Each change has what is costly made anew, so only what was asked for is changed.
        if let authority { options.trust = .systemRoots.adding(try TLSCertificate.pem(at: authority)) }
        if insecure { options.trust = .anyone }
        if let certificate {
            options.identity = try IdentityFiles(certificate: certificate, key: key, keyOption: "--key").load()
        }
        return options
    }
}
