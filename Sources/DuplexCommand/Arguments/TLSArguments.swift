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
        if insecure { options.trust = .insecure }
        if let certificate {
            options.identity = try IdentityFiles(certificate: certificate, key: key, keyOption: "--key").load()
        }
        return options
    }
}

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
        return TLSServerOptions(try ReloadableTLSIdentity { [try files.load()] })
    }
}

/// The identity that two options name: a file of certificates, and one with the key, which may be the same.
struct IdentityFiles: Sendable {
    let certificate: String
    /// The file of the key; `nil` where the certificate's has it, too.
    let key: String?
    /// The option that names the key, for errors.
    let keyOption: String

    /// Reads the files.
    ///
    /// - Throws: `SocketError` when a file lacks what it should have; it says which option names the key.
    func load() throws -> TLSIdentity {
        do {
            return try .pem(certificatesAt: certificate, keyAt: key ?? certificate)
        } catch {
            guard error.code == .invalidCertificate, hasCertificates else { throw error }
            throw SocketError(.invalidCertificate, message: "\(error.message) \(hint)")
        }
    }

    /// With certificates in order, what failed was the key.
    private var hasCertificates: Bool { (try? TLSCertificate.pem(at: certificate)) != nil }

    private var hint: String {
        if let key { return "\(keyOption) is “\(key.visible)”." }
        return "Name the file of the key with \(keyOption): `duplex cert` makes key.pem."
    }
}
