// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexSockets

/// How a server secures its connections.
struct ServerTLSArguments: ParsableArguments {
    @Option(
        name: .customLong("tls-cert"),
        help: ArgumentHelp(
            "Secure connections with the certificates of this PEM file; `duplex cert` makes one for development.",
            valueName: "file"
        )
    )
    var certificate: String?

    @Option(
        name: .customLong("tls-key"),
        help: ArgumentHelp("The PEM file of the private key. Default: that of --tls-cert.", valueName: "file")
    )
    var key: String?

    func validate() throws {
        if key != nil && certificate == nil { throw ValidationError("--tls-key goes with --tls-cert.") }
    }

    /// Reads the files, which `reload()` of the identities reads anew.
    ///
    /// - Returns: `nil` when connections are to be in the clear.
    /// - Throws: `SocketError` when a file lacks what it should have.
    func load() throws -> TLSServerOptions? {
        guard let certificate else { return nil }
        let files = IdentityFiles(certificate: certificate, key: key, keyOption: "--tls-key")
        return TLSServerOptions(try TLSIdentities { [try files.load()] })
    }
}
