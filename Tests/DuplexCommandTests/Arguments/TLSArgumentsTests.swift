// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexSockets
import Testing

@testable import DuplexCommand

@Suite("TLS of a client on the command line")
struct ClientTLSArgumentsTests {
    @Test("Without arguments nothing is changed")
    func none() throws {
        let options = try ClientTLSArguments.parse([]).apply(to: TLSOptions())
        #expect(options.serverName == nil && options.identity == nil)
    }

    @Test("A name, a certificate to show, and a key that goes with it")
    func given() async throws {
        try await withCertificate { folder in
            let options = try ClientTLSArguments.parse([
                "--server-name", "a.test", "--ca", folder + "cert.pem", "--cert", folder + "cert.pem", "--key",
                folder + "key.pem",
            ]).apply(to: TLSOptions())
            #expect(options.serverName == "a.test")
            #expect(options.identity?.certificates.count == 1)
        }
        #expect(throws: (any Error).self) { try ClientTLSArguments.parse(["--key", "k"]) }
        #expect(throws: SocketError.self) {
            try ClientTLSArguments.parse(["--ca", "/nowhere"]).apply(to: TLSOptions())
        }
    }
}

@Suite("TLS of a server on the command line")
struct ServerTLSArgumentsTests {
    @Test("Without a certificate there is none; with one it is read, and read anew")
    func loading() async throws {
        #expect(try ServerTLSArguments.parse([]).load() == nil)
        try await withCertificate { folder in
            let arguments = try ServerTLSArguments.parse([
                "--tls-cert", folder + "cert.pem", "--tls-key", folder + "key.pem",
            ])
            let options = try #require(try arguments.load())
            try options.identities.reload()
        }
        #expect(throws: (any Error).self) { try ServerTLSArguments.parse(["--tls-key", "k"]) }
    }
}

@Suite("The files of an identity")
struct IdentityFilesTests {
    @Test("A certificate and its key are read, from two files or from one")
    func reads() async throws {
        try await withTemporaryFolder { folder in
            let identity = try TLSIdentity.selfSigned(for: ["a.test"])
            try NewFile.write(identity.certificatesPEM, to: folder + "cert.pem", permissions: 0o644, replaces: false)
            try NewFile.write(identity.keyPEM, to: folder + "key.pem", permissions: 0o600, replaces: false)
            let both = identity.certificatesPEM + identity.keyPEM
            try NewFile.write(both, to: folder + "both.pem", permissions: 0o600, replaces: false)
            for (certificate, key) in [("cert.pem", "key.pem"), ("both.pem", nil)] {
                let files = IdentityFiles(
                    certificate: folder + certificate,
                    key: key.map { folder + $0 },
                    keyOption: "--key"
                )
                #expect(try files.load().certificates == identity.certificates)
            }
        }
    }

    @Test("Where the key is missing, the option for its file is named; where the certificate is, it isn't")
    func missing() async throws {
        try await withTemporaryFolder { folder in
            let identity = try TLSIdentity.selfSigned(for: ["a.test"])
            let certificate = folder + "cert.pem"
            try NewFile.write(identity.certificatesPEM, to: certificate, permissions: 0o644, replaces: false)
            let alone = IdentityFiles(certificate: certificate, key: nil, keyOption: "--tls-key")
            let first = #expect(throws: SocketError.self) { try alone.load() }
            #expect(first?.message.contains("cert.pem") == true)
            #expect(
                first?.message.hasSuffix("Name the file of the key with --tls-key: `duplex cert` makes key.pem.")
                    == true
            )
            let wrong = IdentityFiles(certificate: certificate, key: "/no/key.pem", keyOption: "--tls-key")
            let second = #expect(throws: SocketError.self) { try wrong.load() }
            #expect(second?.message.hasSuffix("--tls-key is “/no/key.pem”.") == true)
            let none = IdentityFiles(certificate: "/no/cert.pem", key: nil, keyOption: "--tls-key")
            let third = #expect(throws: SocketError.self) { try none.load() }
            #expect(third?.message.contains("--tls-key") == false)
        }
    }
}
