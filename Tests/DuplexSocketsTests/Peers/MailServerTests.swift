// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Foundation
import Testing

@testable import DuplexSockets

/// STARTTLS with mail servers and clients that others wrote.
@Suite("STARTTLS with aiosmtpd and openssl s_client", .timeLimit(minutes: 3))
struct MailServerTests {
    /// The root of the repository; by way of links, since the tests may be built from elsewhere.
    private static let root: URL = {
        var folder = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        repeat {
            folder.deleteLastPathComponent()
        } while folder.path != "/"
            && !FileManager.default.fileExists(atPath: folder.appending(path: "scripts/setup").path)
        return folder
    }()

    private static let message =
        "Subject: secured\r\n\r\n" + (0..<2_000).map { "line \($0) of a message that has to arrive whole\r\n" }.joined()

    /// Runs a mail server, and connects to it.
    private func withServer(
        _ files: [String],
        _ body: (PeerProgram, Socket) async throws -> Void
    ) async throws {
        let command = [".build-peers/venv/bin/python3", "Tests/PeerTests/Peers/smtp_server.py"].map { path in
            Self.root.appending(path: path).path(percentEncoded: false)
        }
        try await PeerProgram.withRunning(command + files) { server in
            let line = try await server.line(with: "port ")
            let port = try #require(line.split(separator: " ").last.flatMap { Int($0) })
            let socket = try await Socket.connect(to: .host("127.0.0.1", port: port))
            do {
                try await SMTPTalk.reply("220", from: socket)
                try await body(server, socket)
            } catch {
                await socket.reset()
                throw error
            }
            await socket.close()
        }
    }

    private func withIdentity(_ names: [String], _ body: ([String]) async throws -> Void) async throws {
        try await withFolder { folder in
            let files = try PEMFiles(TestCertificates.issue(names), in: folder, called: "server")
            try await body([files.certificates, files.key])
        }
    }

    private func received(_ way: String) -> String {
        "message \(way) sender@example.com one@example.com,two@example.com "
            + Data(Self.message.utf8).base64EncodedString()
    }

    // MARK: Our client

    @Test("A message arrives whole at a server that takes it over TLS only")
    func message() async throws {
        try await withIdentity(["127.0.0.1"]) { files in
            try await withServer(files) { server, socket in
                let offers = try await SMTPTalk.send("EHLO client.test", expecting: "250", on: socket)
                #expect(offers.contains("250-STARTTLS"))
                try await SMTPTalk.send("MAIL FROM:<sender@example.com>", expecting: "530", on: socket)
                try await SMTPTalk.send("STARTTLS", expecting: "220", on: socket)
                try await socket.startTLS(TestCertificates.clientOptions())
                #expect(await socket.tls?.version == .tls13)
                let secured = try await SMTPTalk.send("EHLO client.test", expecting: "250", on: socket)
                #expect(!secured.contains { $0.contains("STARTTLS") })
                try await SMTPTalk.mail(Self.message, on: socket)
                #expect(try await server.line(with: "message") == received("secured"))
                try await SMTPTalk.send("QUIT", expecting: "221", on: socket)
                #expect(try await socket.readLine() == nil)
            }
        }
    }

    @Test("A server whose certificate is for another gets no message")
    func wrongName() async throws {
        try await withIdentity(["other.test"]) { files in
            try await withServer(files) { _, socket in
                try await SMTPTalk.send("EHLO client.test", expecting: "250", on: socket)
                try await SMTPTalk.send("STARTTLS", expecting: "220", on: socket)
                let error = await asyncSocketError { try await socket.startTLS(TestCertificates.clientOptions()) }
                #expect(error?.code == .untrustedPeer)
                #expect(error?.message == "The certificate is for other.test, and not for “127.0.0.1”.")
                await expectSocketError(.untrustedPeer) { try await socket.write("MAIL") }
            }
        }
    }

    @Test("A server without STARTTLS is seen to have none, and one that is asked all the same refuses")
    func withoutSTARTTLS() async throws {
        try await withServer([]) { server, socket in
            let offers = try await SMTPTalk.send("EHLO client.test", expecting: "250", on: socket)
            #expect(!offers.contains { $0.contains("STARTTLS") })
            try await SMTPTalk.send("STARTTLS", expecting: "454", on: socket)
            try await SMTPTalk.mail(Self.message, on: socket)
            #expect(try await server.line(with: "message") == received("plain"))
            // A handshake that nobody has agreed to fails, and says why.
            let error = await asyncSocketError { try await socket.startTLS(TestCertificates.clientOptions()) }
            #expect(error?.code == .tls)
            #expect(error?.message.contains("the peer doesn't speak TLS") == true, "\(error)")
        }
    }

    // MARK: Our server

    @Test("A client goes on secured where it was in the clear", arguments: [TLSVersion.tls12, .tls13])
    func client(version: TLSVersion) async throws {
        try await withFolder { folder in
            let root = try PEMFiles.authority(in: folder)
            let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
            var iterator = listener.makeAsyncIterator()
            let command = [
                "openssl", "s_client", "-quiet", "-crlf", "-starttls", "smtp", "-CAfile", root, "-verify_return_error",
                "-verify_hostname", "localhost", "-connect", "127.0.0.1:\(listener.localAddress.port)",
            ]
            try await PeerProgram.withRunning(command + version.flag) { client in
                // What it passes on once it is secured.
                try client.write("NOOP secret\nQUIT\n")
                let socket = try #require(await iterator.next())
                let commands = try await SMTPTalk.serve(socket, TestCertificates.serverOptions())
                #expect(await socket.tls?.version == version)
                await socket.close()
                #expect(commands.plain.map { $0.prefix(4) } == ["EHLO", "STAR"])
                #expect(commands.secured == ["NOOP secret", "QUIT"])
                let (status, output) = await client.finished()
                #expect(status == 0)
                #expect(output.contains("250 taken\n") || output.contains("250 taken\r\n"))
                #expect(output.contains("221 bye"))
            }
            await listener.close()
        }
    }
}
