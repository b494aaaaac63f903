// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Foundation
import Testing

@testable import DuplexSockets

/// Unix sockets with programs that others wrote at the other end.
@Suite("Unix sockets with socat, ncat and curl", .timeLimit(minutes: 3))
struct UnixSocketPeerTests {
    /// Runs a listener and its handler for the length of a closure.
    private func withListener(
        _ path: String,
        tls: TLSServerOptions? = nil,
        _ handler: @escaping @Sendable (isolated Socket) async throws -> Void,
        _ body: () async throws -> Void
    ) async throws {
        let listener = try SocketListener.bind(.unix(path), tls: tls)
        let serving = Task { try await listener.serve(handler) }
        let result: Result<Void, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        serving.cancel()
        await #expect(throws: CancellationError.self) { try await serving.value }
        try result.get()
    }

    /// Answers each line with the same in capitals.
    private static let shout: @Sendable (isolated Socket) async throws -> Void = { socket in
        while let line = try await socket.readLine() { try await socket.write(line.uppercased() + "\n") }
        try await socket.write("THE END\n")
    }

    // MARK: Their clients

    /// Has a program send lines, finish, and read to the end.
    private func converse(_ command: [String]) async throws {
        try await PeerProgram.withRunning(command) { client in
            for word in ["one", "two"] {
                try client.write("\(word)\n")
                try await client.line(with: word.uppercased())
            }
            client.finishWriting()
            try await client.line(with: "THE END")
            #expect(await client.finished().status == 0)
        }
    }

    @Test("socat and ncat talk to our listener at a path, one after the other and side by side")
    func clients() async throws {
        try await withFolder { folder in
            let path = "\(folder)/socket"
            // socat waits so long for our end after its own; ncat does without being told.
            let commands = [["socat", "-t", "60", "-", "UNIX-CONNECT:\(path)"], ["ncat", "-U", path]]
            try await withListener(path, Self.shout) {
                for command in commands { try await converse(command) }
                try await withThrowingTaskGroup { group in
                    for command in commands + commands { group.addTask { try await converse(command) } }
                    try await group.waitForAll()
                }
            }
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    #if os(Linux)
    @Test("socat talks to our listener at an abstract name")
    func abstractClient() async throws {
        let name = "duplex-\(UInt64.random(in: 0 ... .max))"
        try await withListener("@\(name)", Self.shout) {
            try await converse(["socat", "-t", "60", "-", "ABSTRACT-CONNECT:\(name)"])
        }
    }
    #endif

    @Test("5 MB from socat arrive whole")
    func upload() async throws {
        let bytes = TestFile.pattern(5_000_000)
        try await withFolder { folder in
            let path = "\(folder)/socket"
            let (arrivals, arrival) = AsyncStream<[UInt8]>.makeStream()
            try await TestFile.with(bytes) { file in
                try await withListener(
                    path,
                    { socket in
                        defer { arrival.finish() }
                        var received: [UInt8] = []
                        while let piece = try await socket.read() { received += piece }
                        arrival.yield(received)
                    },
                    {
                        try await PeerProgram.succeed(["socat", "-u", "OPEN:\(file.path)", "UNIX-CONNECT:\(path)"])
                        // It ends when the system has what it wrote; here it may still be on its way.
                        let received = await arrivals.first { _ in true }
                        #expect(received == bytes)
                    }
                )
            }
        }
    }

    // MARK: Their servers

    /// Has an echo server of others give back what two connections send, up to the end.
    ///
    /// - Parameters:
    ///   - path: where it listens.
    ///   - count: how many bytes.
    ///   - finishesFirst: whether the connections end their side before they have got everything back.
    /// - Throws: what the sockets throw.
    private func echo(at path: String, count: Int = 1_000_000, finishesFirst: Bool = true) async throws {
        let bytes = TestFile.pattern(count)
        let sockets = [try await Socket.connect(to: .unix(path)), try await Socket.connect(to: .unix(path))]
        try await withThrowingTaskGroup { group in
            for socket in sockets {
                group.addTask {
                    try await socket.write(bytes)
                    if finishesFirst { await socket.finishWriting() }
                }
                group.addTask {
                    let echoed = try await socket.read(exactly: bytes.count)
                    #expect(echoed == bytes)
                    await socket.finishWriting()
                    let end = try await socket.read()
                    #expect(end == nil)
                }
            }
            try await group.waitForAll()
        }
        for socket in sockets { await socket.close() }
    }

    @Test("Our client talks to socat at a path")
    func socatServer() async throws {
        try await withFolder { folder in
            let path = "\(folder)/socket"
            let command = ["socat", "-d", "-d", "-t", "60", "UNIX-LISTEN:\(path),fork", "EXEC:cat"]
            try await PeerProgram.withRunning(command) { server in
                try await server.line(with: "listening on")
                try await echo(at: path)
            }
        }
    }

    #if os(Linux)
    @Test("Our client talks to socat at an abstract name")
    func abstractServer() async throws {
        let name = "duplex-\(UInt64.random(in: 0 ... .max))"
        let command = ["socat", "-d", "-d", "-t", "60", "ABSTRACT-LISTEN:\(name),fork", "EXEC:cat"]
        try await PeerProgram.withRunning(command) { server in
            try await server.line(with: "listening on")
            try await echo(at: "@\(name)")
        }
    }
    #endif

    @Test("Our client talks to ncat at a path")
    func ncatServer() async throws {
        try await withFolder { folder in
            let path = "\(folder)/socket"
            try await PeerProgram.withRunning(["ncat", "-v", "-lkU", path, "--exec", "/bin/cat"]) { server in
                try await server.line(with: "Listening on")
                // It throws away what its program still has to say once its client has ended, and stands still with
                // more than its pipes hold, as it doesn't read from its program while it waits to write to it.
                try await echo(at: path, count: 30_000, finishesFirst: false)
            }
        }
    }

    // MARK: HTTP

    /// Answers each request with what it has asked for.
    private static let respond: @Sendable (isolated Socket) async throws -> Void = { socket in
        guard let request = try await socket.readLine() else { return }
        while let field = try await socket.readLine(), !field.isEmpty {}
        let page = "you asked: \(request)\n"
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: \(page.utf8.count)\r\nConnection: close"
        try await socket.write("\(head)\r\n\r\n\(page)")
    }

    @Test("curl gets a page over a Unix socket")
    func page() async throws {
        try await withFolder { folder in
            let path = "\(folder)/socket"
            try await withListener(path, Self.respond) {
                let page = try await PeerProgram.succeed(
                    ["curl", "--silent", "--show-error", "--fail", "--unix-socket", path, "http://localhost/a/page"]
                )
                #expect(page == "you asked: GET /a/page HTTP/1.1\n")
            }
        }
    }

    @Test("curl gets a page over TLS over a Unix socket, from a server whose certificate is for the host alone")
    func securedPage() async throws {
        try await withFolder { folder in
            let path = "\(folder)/socket"
            let root = try PEMFiles.authority(in: folder)
            let tls = try TestCertificates.serverOptions { $0.applicationProtocols = ["http/1.1"] }
            let command = ["curl", "--silent", "--show-error", "--fail", "--unix-socket", path]
            try await withListener(path, tls: tls, Self.respond) {
                let page = try await PeerProgram.succeed(command + ["--cacert", root, "https://localhost/a/page"])
                #expect(page == "you asked: GET /a/page HTTP/1.1\n")
                // 60: the certificate isn't to be trusted.
                let wrong = try await PeerProgram.run(command + ["--cacert", root, "https://other.test/"])
                #expect(wrong.status == 60, "\(wrong.output)")
                let unknown = try await PeerProgram.run(command + ["https://localhost/"])
                #expect(unknown.status == 60, "\(unknown.output)")
            }
        }
    }
}
