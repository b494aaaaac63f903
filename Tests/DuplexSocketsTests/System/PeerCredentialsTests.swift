// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Foundation
import Glibc
import Testing

@testable import DuplexSockets

@Suite("Peer credentials", .timeLimit(minutes: 2)) struct PeerCredentialsTests {
    private static let own = PeerCredentials(processID: getpid(), userID: geteuid(), groupID: getegid())

    /// A listener at a path that everybody may connect to, and who its connections say they are.
    private func withListener(
        tls: TLSServerOptions? = nil,
        _ body: (String, inout SocketListener.AsyncIterator) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            #expect(unsafe chmod(folder, 0o711) == 0)
            let listener = try SocketListener.bind(.unix("\(folder)/socket", permissions: 0o666), tls: tls)
            var sockets = listener.makeAsyncIterator()
            do {
                try await body("\(folder)/socket", &sockets)
            } catch {
                await listener.close()
                throw error
            }
            await listener.close()
        }
    }

    @Test("Both ends of a Unix socket know the process at the other one, with its user and group")
    func bothEnds() async throws {
        try await withListener { path, sockets in
            let near = try await Socket.connect(to: .unix(path))
            let far = try #require(try await sockets.next())
            #expect(await far.peerCredentials == Self.own)
            #expect(await near.peerCredentials == Self.own)
            await near.reset()
            #expect(await near.peerCredentials == nil, "It is closed.")
            await far.close()
        }
    }

    @Test(
        "A process of another user is known by its own number, user and group",
        .enabled(if: geteuid() == 0, "Only root can start a process of another user.")
    )
    func otherUser() async throws {
        try await withListener { path, sockets in
            // The shell says its own number, and then is socat.
            let shell = "echo process $$; exec socat -u - UNIX-CONNECT:\(path)"
            let user = ["setpriv", "--reuid=12345", "--regid=23456", "--clear-groups"]
            try await PeerProgram.withRunning(user + ["sh", "-c", shell]) { program in
                let process = try await program.line(with: "process ").split(separator: " ").last.flatMap { Int32($0) }
                let socket = try #require(try await sockets.next())
                let peer = await socket.peerCredentials
                #expect(peer == PeerCredentials(processID: process, userID: 12_345, groupID: 23_456))
                #expect(process != getpid())
                await socket.close()
            }
        }
    }

    @Test("The peer stays known under TLS, and after it has gone")
    func secured() async throws {
        try await withListener(tls: try TestCertificates.serverOptions()) { path, sockets in
            let near = Task {
                let socket = try await Socket.connect(to: .unix(path))
                try await socket.startTLS(try TestCertificates.clientOptions { $0.serverName = "localhost" })
                await socket.close()
            }
            let far = try #require(try await sockets.next())
            #expect(await far.tls != nil)
            try await near.value
            #expect(try await far.read() == nil)
            #expect(await far.peerCredentials == Self.own)
            await far.close()
        }
    }

    @Test("A socket that was adopted knows its peer, and one over TCP knows no process")
    func adopted() async throws {
        var ends: [Int32] = [-1, -1]
        #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { close(ends[1]) }
        let socket = try await Socket.adopt(descriptor: ends[0])
        #expect(await socket.peerCredentials == Self.own)
        await socket.close()
        try await withPair { near, far in
            #expect(await near.peerCredentials == nil)
            #expect(await far.peerCredentials == nil)
        }
    }

    @Test("What isn't a socket has no peer, and a log has all that is known")
    func others() {
        #expect(PeerCredentials(of: -1) == nil)
        let unknown = PeerCredentials(processID: nil, userID: 1, groupID: 2)
        #expect("\(unknown)" == "process unknown, user 1, group 2")
        #expect("\(PeerCredentials(processID: 7, userID: 1, groupID: 2))" == "process 7, user 1, group 2")
    }
}
