// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestPeers
import Testing

@testable import DuplexServer

@Suite struct HandlerRunnerTests {
    private static func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n" }

    /// As a default: where it is named, Swift 6.3 releases the actor once too often in a closure without isolation of its own.
    private static func isRunner(_ isolation: (any Actor)? = #isolation) -> Bool { isolation is HandlerRunner }

    @Test("The handlers of a connection run in one task, isolated to it")
    func oneTask() async throws {
        try await withServer { server in
            server.get("/task") { _ in
                await Task.yield()
                return "\(TaskIdentity.current)"
            }
            server.get("/isolated") { _ in
                await Task.yield()
                return "\(Self.isRunner())"
            }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            let other = try await RawPeer.connect(to: address)
            let task = try await peer.response(to: Self.get("/task")).text
            #expect(try await peer.response(to: Self.get("/isolated")).text == "true")
            #expect(try await peer.response(to: Self.get("/task")).text == task)
            #expect(try await other.response(to: Self.get("/task")).text != task)
        }
    }

    @Test("A handler whose client has reset the connection is cancelled, and no other")
    func cancelling() async throws {
        let (ends, tell) = AsyncStream<Bool>.makeStream()
        let (starts, begin) = AsyncStream<Void>.makeStream()
        try await withServer { server in
            server.get("/wait") { _ in
                begin.yield()
                do { try await Task.sleep(for: .seconds(3_600)) } catch { tell.yield(Task.isCancelled) }
                return "late"
            }
            server.get("/other") { _ in
                await Task.yield()
                return "\(Task.isCancelled)"
            }
        } _: { address in
            let other = try await RawPeer.connect(to: address)
            #expect(try await other.response(to: Self.get("/other")).text == "false")
            let peer = try await RawPeer.connect(to: address)
            try await peer.send(Self.get("/wait"))
            for await _ in starts { break }
            await peer.reset()
            for await end in ends {
                #expect(end)
                break
            }
            #expect(try await other.response(to: Self.get("/other")).text == "false")
        }
    }
}
