// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Foundation
import Testing

@testable import DuplexSockets

/// `openssl s_server` and `openssl s_client`, each at the other end of a socket of ours.
enum OpenSSLPeer {
    // MARK: Servers

    /// Runs a server that turns the lines it reads around (`-rev`), or does what its arguments say instead.
    ///
    /// - Parameters:
    ///   - identity: what it shows. Default: one for localhost and its addresses.
    ///   - arguments: of `openssl s_server`.
    ///   - body: gets the server and its port, once it listens.
    /// - Throws: ``PeerProgram/Failed`` with what `body` threw and what the server printed.
    static func serve(
        as identity: PEMFiles? = nil,
        _ arguments: [String] = ["-rev"],
        _ body: (PeerProgram, Int) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            let files = try identity ?? PEMFiles(TestCertificates.server, in: folder, called: "server")
            let command = [
                "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", files.certificates, "-key", files.key,
            ]
            // It looks for the files that it is asked for where it was started.
            let start = [
                "/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", (files.certificates as NSString).deletingLastPathComponent,
            ]
            try await PeerProgram.withRunning(start + command + arguments) { server in
                let line = try await server.line(with: "ACCEPT ")
                let port = try #require(line.split(separator: ":").last.flatMap { Int($0) })
                try await body(server, port)
            }
        }
    }

    /// Connects to such a server, and closes the connection behind `body`.
    static func connect<Value: Sendable>(
        to port: Int,
        _ options: TLSOptions,
        _ body: (Socket) async throws -> Value
    ) async throws -> Value {
        var connecting = ConnectOptions(timeout: .limit(seconds: 60))
        connecting.tls = options
        connecting.tls.handshakeTimeout = .seconds(60)
        let socket = try await Socket.connect(to: .tls("127.0.0.1", port: port), options: connecting)
        do {
            let value = try await body(socket)
            await socket.close()
            return value
        } catch {
            await socket.reset()
            throw error
        }
    }

    /// Has the server turn a line around.
    static func talk(_ socket: Socket) async throws -> TLSInfo {
        try await socket.write("secret\n")
        #expect(try await socket.readLine() == "terces")
        return try #require(await socket.tls)
    }

    // MARK: Clients

    /// What came of one connection.
    struct Visit {
        /// What was agreed upon, or why our side gave up.
        var secured: Result<TLSInfo, any Error>
        /// With what the client ended.
        var status: Int32
        /// What it printed.
        var output: String

        /// Why our side gave up, for people; empty when it didn't.
        var failure: String {
            if case .failure(let error) = secured { "\(error)" } else { "" }
        }
    }

    /// Runs a client against a socket of ours, which is its server.
    ///
    /// - Parameters:
    ///   - arguments: of `openssl s_client`.
    ///   - options: of our side.
    ///   - input: what the client sends.
    ///   - output: a file that gets what the client prints. Default: ``Visit/output``.
    ///   - body: what our side does once it is secured, before it closes in order.
    /// - Returns: what came of it.
    /// - Throws: ``PeerProgram/Failed`` when the client can't be run; what our side threw is in the result.
    static func visit(
        _ arguments: [String],
        _ options: TLSServerOptions,
        input: PeerProgram.Input = .pipe,
        output: String = "/dev/stdout",
        _ body: (Socket, PeerProgram) async throws -> Void
    ) async throws -> Visit {
        var options = options
        options.handshakeTimeout = .seconds(60)
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
        var iterator = listener.makeAsyncIterator()
        let command = ["openssl", "s_client", "-connect", "127.0.0.1:\(listener.localAddress.port)"] + arguments
        let redirected = ["/bin/sh", "-c", "exec \"$@\" >\"$0\"", output] + command
        let visit = try await PeerProgram.withRunning(redirected, input: input) { client in
            let socket = try #require(await iterator.next())
            var secured: Result<TLSInfo, any Error>
            do {
                try await socket.startTLS(options)
                secured = .success(try #require(await socket.tls))
                try await body(socket, client)
            } catch {
                secured = .failure(error)
            }
            await socket.close()
            let (status, output) = await client.finished()
            return Visit(secured: secured, status: status, output: output)
        }
        await listener.close()
        return visit
    }

    /// Runs a client that is greeted with a line, “welcome”.
    static func visit(_ arguments: [String], _ options: TLSServerOptions) async throws -> Visit {
        try await visit(arguments, options) { socket, _ in try await socket.write("welcome\n") }
    }
}

/// An identity as the files that programs want.
struct PEMFiles {
    /// The certificate with those that lead to the root behind it.
    let certificates: String
    let key: String

    init(certificates: String, key: String) {
        (self.certificates, self.key) = (certificates, key)
    }

    init(_ identity: TLSIdentity, in folder: String, called name: String) throws {
        (certificates, key) = ("\(folder)/\(name).pem", "\(folder)/\(name)-key.pem")
        try identity.certificatesPEM.write(toFile: certificates, atomically: true, encoding: .utf8)
        try identity.keyPEM.write(toFile: key, atomically: true, encoding: .utf8)
    }

    /// The root that issued all certificates of tests, as a file.
    static func authority(in folder: String) throws -> String {
        try PEMFiles(TestCertificates.authority, in: folder, called: "authority").certificates
    }
}

/// The kinds of key that certificates have, each made by openssl.
enum KeyKind: String, CaseIterable {
    case rsa, ecdsa, ed25519

    /// Which ciphers of TLS 1.2 go with it.
    var family: String { self == .rsa ? "ECDHE-RSA" : "ECDHE-ECDSA" }

    /// What openssl makes the key by.
    private var arguments: [String] {
        switch self {
        case .rsa: ["-newkey", "rsa:2048"]
        case .ecdsa: ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
        case .ed25519: ["-newkey", "ed25519"]
        }
    }

    /// Makes a root and a certificate for localhost, both with this kind of key.
    ///
    /// - Parameter folder: gets the files.
    /// - Returns: the certificate and its key, and the root.
    /// - Throws: ``PeerProgram/Failed`` with what openssl said.
    func make(in folder: String) async throws -> (server: PEMFiles, root: String) {
        let root = PEMFiles(certificates: "\(folder)/root.pem", key: "\(folder)/root-key.pem")
        let server = PEMFiles(certificates: "\(folder)/server.pem", key: "\(folder)/server-key.pem")
        let base = ["openssl", "req", "-x509", "-noenc", "-days", "30"] + arguments
        try await PeerProgram.succeed(base + ["-subj", "/CN=Root", "-keyout", root.key, "-out", root.certificates])
        try await PeerProgram.succeed(
            base + [
                "-CA", root.certificates, "-CAkey", root.key, "-subj", "/CN=localhost", "-keyout", server.key,
                "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE",
                "-out", server.certificates,
            ]
        )
        return (server, root.certificates)
    }
}

/// A version of TLS and a cipher suite of it, as they are named on both sides.
struct CipherCase: CustomTestStringConvertible {
    var version: TLSVersion
    /// The name without the kind of key.
    var name: String
    /// The registered name, of which a part is told.
    var registered: String

    static let all = [
        CipherCase(version: .tls13, name: "TLS_AES_128_GCM_SHA256", registered: "AES_128_GCM_SHA256"),
        CipherCase(version: .tls13, name: "TLS_AES_256_GCM_SHA384", registered: "AES_256_GCM_SHA384"),
        CipherCase(version: .tls13, name: "TLS_CHACHA20_POLY1305_SHA256", registered: "CHACHA20_POLY1305_SHA256"),
        CipherCase(version: .tls12, name: "AES128-GCM-SHA256", registered: "WITH_AES_128_GCM_SHA256"),
        CipherCase(version: .tls12, name: "AES256-GCM-SHA384", registered: "WITH_AES_256_GCM_SHA384"),
        CipherCase(version: .tls12, name: "CHACHA20-POLY1305", registered: "WITH_CHACHA20_POLY1305_SHA256"),
    ]

    var testDescription: String { name }

    /// The name with the kind of key where TLS 1.2 has it in it.
    func name(for kind: KeyKind) -> String { version == .tls13 ? name : "\(kind.family)-\(name)" }

    /// Options of `openssl s_client` that leave it this one only.
    func arguments(for kind: KeyKind) -> [String] {
        version.flag + [version == .tls13 ? "-ciphersuites" : "-cipher", name(for: kind)]
    }
}

extension TLSVersion {
    /// The option that leaves openssl this version only.
    var flag: [String] { [self == .tls13 ? "-tls1_3" : "-tls1_2"] }
}
