// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Foundation
import Glibc
import Testing

@testable import DuplexSockets

/// What happens after the handshake between our server and the client that others wrote.
@Suite("openssl s_client and our server's stream", .timeLimit(minutes: 3))
struct OpenSSLStreamTests {
    private func options(_ change: (inout TLSServerOptions) -> Void = { _ in }) throws -> TLSServerOptions {
        try TestCertificates.serverOptions(change)
    }

    @Test("Our end in order is one for the client", arguments: [TLSVersion.tls12, .tls13])
    func ourEnd(version: TLSVersion) async throws {
        let visit = try await OpenSSLPeer.visit(version.flag + ["-quiet"], options())
        #expect(visit.output.contains("welcome\n"))
        #expect(!visit.output.contains("unexpected eof"))
        #expect(visit.status == 0)
        // Without it the client sees that the stream was cut.
        let cut = try await OpenSSLPeer.visit(version.flag, options()) { socket, _ in
            try await socket.loop.run { _ in SystemCalls.finishWriting(socket.channel.value.descriptor) }
            while try await socket.read() != nil {}
        }
        #expect(cut.output.contains("unexpected eof"))
    }

    @Test("A client's end in order ends the stream", arguments: [TLSVersion.tls12, .tls13])
    func theirEnd(version: TLSVersion) async throws {
        let visit = try await OpenSSLPeer.visit(version.flag, options()) { socket, client in
            try client.write("last words\n")
            #expect(try await socket.readLine() == "last words")
            client.finishWriting()
            #expect(try await socket.read() == nil)
        }
        _ = try visit.secured.get()
        #expect(visit.output.contains("DONE"))
    }

    @Test("A client that is killed has cut the stream", arguments: [TLSVersion.tls12, .tls13])
    func killed(version: TLSVersion) async throws {
        let visit = try await OpenSSLPeer.visit(version.flag, options()) { socket, client in
            try client.write("half a\n")
            #expect(try await socket.readLine() == "half a")
            client.signal(SIGKILL)
            let error = await asyncSocketError { _ = try await socket.read() }
            #expect(error?.code == .truncated || error?.code == .connectionReset)
        }
        _ = try visit.secured.get()
    }

    @Test("A client that wants to renegotiate is refused")
    func renegotiation() async throws {
        let visit = try await OpenSSLPeer.visit(["-tls1_2"], options()) { socket, client in
            try await socket.write("welcome\n")
            try await client.line(with: "welcome")
            try client.write("R\n")
            try await client.line(with: "RENEGOTIATING")
            // The client gives up, in whichever way.
            do { while try await socket.read() != nil {} } catch is SocketError {}
        }
        _ = try visit.secured.get()
        #expect(visit.output.contains("no renegotiation"))
        #expect(visit.status != 0)
    }

    @Test("New keys in the middle of a stream go unnoticed")
    func keyUpdate() async throws {
        let visit = try await OpenSSLPeer.visit(["-tls1_3"], options()) { socket, client in
            // “k” sends new keys, “K” wants ours as well.
            for command in ["k", "K", "K"] {
                try client.write("\(command)\n")
                try await client.line(with: "KEYUPDATE")
                try client.write("after \(command)\n")
                #expect(try await socket.readLine() == "after \(command)")
                try await socket.write("got \(command)\n")
                try await client.line(with: "got \(command)")
            }
        }
        _ = try visit.secured.get()
        #expect(visit.status == 0)
    }

    @Test("Both sides log the same keys", arguments: [TLSVersion.tls12, .tls13])
    func keyLog(version: TLSVersion) async throws {
        try await withFolder { folder in
            let (theirs, ours) = ("\(folder)/theirs", "\(folder)/ours")
            let visit = try await OpenSSLPeer.visit(
                version.flag + ["-keylogfile", theirs],
                options { $0.keyLogFile = ours }
            )
            _ = try visit.secured.get()
            let lines = try [theirs, ours].map { path in
                Set(
                    try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").filter {
                        !$0.hasPrefix("#")
                    }
                )
            }
            #expect(lines[0] == lines[1])
            #expect(lines[0].count == (version == .tls13 ? 5 : 1))
        }
    }

    @Test("5 MB from the client arrive whole", arguments: [TLSVersion.tls12, .tls13])
    func upload(version: TLSVersion) async throws {
        let bytes = TestFile.pattern(5_000_000)
        try await TestFile.with(bytes) { file in
            let visit = try await OpenSSLPeer.visit(
                version.flag + ["-nocommands"],
                options(),
                input: .file(file.path)
            ) { socket, _ in
                var received: [UInt8] = []
                while let piece = try await socket.read() { received += piece }
                #expect(received == bytes)
            }
            _ = try visit.secured.get()
        }
    }

    @Test("5 MB for the client arrive whole", arguments: [TLSVersion.tls12, .tls13])
    func download(version: TLSVersion) async throws {
        let bytes = TestFile.pattern(5_000_000)
        try await withFolder { folder in
            let path = "\(folder)/received"
            let visit = try await OpenSSLPeer.visit(version.flag + ["-quiet"], options(), output: path) { socket, _ in
                try await socket.write(bytes)
            }
            _ = try visit.secured.get()
            #expect(visit.status == 0)
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(bytes))
        }
    }
}
