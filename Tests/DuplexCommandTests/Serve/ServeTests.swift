// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexSockets
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Foundation
import HTTPTypes
import Testing

@testable import DuplexCommand

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite("duplex serve", .timeLimit(minutes: 1))
struct ServeTests {
    private static func start(_ arguments: [String] = []) async throws -> (server: RunningCommand, port: Int) {
        let server = try RunningCommand(["serve", "--port", "0"] + arguments)
        let line = try await server.readLine()
        return (server, try #require(line.split(separator: ":").last.flatMap { Int($0) }, "\(line)"))
    }

    @Test("It tells where it listens and how to talk to it")
    func greeting() async throws {
        let (server, port) = try await Self.start(["--echo", "/loud"])
        server.signal(15)
        let result = try await server.finish()
        #expect(result.status == 0)
        #expect(result.output.contains("duplex connect ws://localhost:\(port)/loud"))
        #expect(result.errors.isEmpty)
    }

    @Test("Quiet, it tells no more than the port that the system chose")
    func quiet() async throws {
        let (server, _) = try await Self.start(["--quiet"])
        server.signal(2)
        #expect(try await server.finish() == CommandResult(status: 0, output: "", errors: ""))
    }

    @Test("It agrees to a subprotocol, and lets in the pages of the origins that it is told")
    func subprotocolsAndOrigins() async throws {
        let (server, port) = try await Self.start([
            "--subprotocol", "chat.v2", "--subprotocol", "chat.v1", "--origin", "https://page.test",
        ])
        var options = WebSocketOptions()
        (options.subprotocols, options.origin) = (["chat.v1", "chat.v2"], "https://page.test")
        let socket = try await WebSocket.connect(to: "ws://localhost:\(port)/", options: options)
        #expect(socket.subprotocol == "chat.v2")
        await socket.close()
        options.origin = "https://other.test"
        do {
            _ = try await WebSocket.connect(to: "ws://localhost:\(port)/", options: options)
            Issue.record("A page from elsewhere was let in.")
        } catch let error as WebSocketError {
            #expect(error.handshake?.status == .forbidden)
        }
        server.signal(15)
        #expect(try await server.finish().status == 0)
    }

    @Test("On loopback it answers for other hosts when it is told to")
    func allowedHosts() async throws {
        for (arguments, isAllowed) in [([], false), (["--allowed-host", "b.test", "--allowed-host", "A.test"], true)] {
            let (server, port) = try await Self.start(arguments)
            for (host, isOpen) in [("a.test", isAllowed), ("c.test", false), ("localhost", true)] {
                let socket = try await Socket.connect(to: .host("127.0.0.1", port: port))
                try await socket.write("GET /hello HTTP/1.1\r\nHost: \(host):\(port)\r\n\r\n")
                let line = try await socket.readLine()
                #expect(line?.hasPrefix(isOpen ? "HTTP/1.1 200" : "HTTP/1.1 421") == true, "\(host): \(line ?? "")")
                await socket.close()
            }
            server.signal(15)
            #expect(try await server.finish().status == 0)
        }
        let withPort = try await RunningCommand.run(["serve", "--port", "0", "--allowed-host", "a.test:80"])
        #expect(withPort.status == 64 && withPort.errors.contains("without a port"))
    }

    @Test("A folder that is shared is told of with its addresses, and what is done in it with -v")
    func shared() async throws {
        try await withTemporaryFolder { folder in
            let (server, port) = try await Self.start([folder, "--webdav", "--anyone", "--host", "*", "-v", "--qr"])
            let body = String(repeating: "x", count: 70_000)
            let socket = try await Socket.connect(to: .host("127.0.0.1", port: port))
            try await socket.write(
                "PUT /dav/a.txt HTTP/1.1\r\nHost: localhost\r\nContent-Length: 70000\r\n\r\n\(body)"
            )
            #expect(try await socket.readLine() == "HTTP/1.1 201 Created")
            await socket.close()
            server.signal(15)
            let result = try await server.finish()
            #expect(result.status == 0)
            #expect(result.output.contains("As a disk (WebDAV): http://"), "\(result.output)")
            #expect(result.output.contains("\u{1b}[30;107m    █▀▀▀▀▀█ "), "\(result.output)")
            let lines = result.errors.split(separator: "\n")
            #expect(lines.count == 2 && lines.first == "127.0.0.1 wrote “a.txt” (68.4 KiB)", "\(result.errors)")
            #expect(lines.last?.hasPrefix("↑ 127.0.0.1 PUT /dav/a.txt: 68.4 KiB in ") == true, "\(result.errors)")
            let file = try String(contentsOf: URL(fileURLWithPath: folder + "a.txt"), encoding: .utf8)
            #expect(file == body)
        }
    }

    @Test("Only a folder is shared", arguments: [["--upload"], ["--webdav", "tcp://localhost:0"]])
    func unshared(arguments: [String]) async throws {
        let result = try await RunningCommand.run(["serve"] + arguments)
        #expect(result.status == 64 && result.errors.contains("go with a folder"), "\(result.errors)")
    }

    @Test("A port that is taken ends it with 1 and says so")
    func portTaken() async throws {
        let (server, port) = try await Self.start()
        let second = try await RunningCommand.run(["serve", "--port", "\(port)"])
        #expect(second.status == 1)
        #expect(second.output.isEmpty)
        #expect(second.errors.contains("\(port)"))
        #expect(second.errors.hasPrefix("duplex: "))
        #expect(second.errors.split(separator: "\n", omittingEmptySubsequences: false).count == 2, "\(second.errors)")
        server.signal(15)
        #expect(try await server.finish().status == 0)
    }

    @Test("An address that isn't one ends it with 64")
    func badAddress() async throws {
        let result = try await RunningCommand.run(["serve", "--port", "0", "--host", "example"])
        #expect(result.status == 64)
        #expect(result.errors.contains("example"))
    }

    @Test("A signal closes every connection with 1001", arguments: [2, 15] as [Int32])
    func signal(number: Int32) async throws {
        let (server, port) = try await Self.start(["--loops", "2"])
        var sockets: [WebSocket] = []
        for path in ["echo", "chat", "other"] {
            sockets.append(try await WebSocket.connect(to: "ws://localhost:\(port)/\(path)"))
        }
        server.signal(number)
        for socket in sockets {
            for try await _ in socket.messages {}
            #expect(await socket.closeReport.received?.code == .goingAway)
        }
        #expect(try await server.finish().status == 0)
    }

    @Test("A second signal ends it at once with 130, whoever doesn't answer the close")
    func secondSignal() async throws {
        let (server, port) = try await Self.start()
        let socket = try await Socket.connect(to: .host("localhost", port: port))
        try await socket.write(Self.upgrade)
        let answer = String(decoding: try #require(try await socket.read()), as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 101 "))
        server.signal(15)
        // The close frame (RFC 6455 section 5.5.1) with 1001: the first signal is being dealt with.
        #expect(try await socket.read() == [0x88, 0x02, 0x03, 0xE9])
        server.signal(15)
        #expect(try await server.finish().status == 130)
        await socket.close()
    }

    @Test("Limits on the command line hold")
    func limits() async throws {
        let (server, port) = try await Self.start(["--max-message", "4B", "--handler", "sync"])
        let socket = try await WebSocket.connect(to: "ws://localhost:\(port)/")
        try await socket.send("1234")
        #expect(try await socket.receive() == "1234")
        try await socket.send("12345")
        let error = await #expect(throws: WebSocketError.self) { try await socket.receive() }
        #expect(error?.closeReport?.received?.code == .messageTooBig)
        server.signal(15)
        #expect(try await server.finish().status == 0)
    }

    @Test("A client that is faster than it may be is read more slowly, and loses nothing")
    func rates() async throws {
        let (server, port) = try await Self.start(["--message-rate", "20", "--handler", "sync"])
        let socket = try await WebSocket.connect(to: "ws://localhost:\(port)/")
        let clock = ContinuousClock()
        let start = clock.now
        for number in 0..<30 {
            try await socket.send("\(number)")
            #expect(try await socket.receive() == .text("\(number)"))
        }
        // Twenty are free, and the others come at twenty in a second.
        #expect(clock.now - start > .milliseconds(400))
        server.signal(15)
        #expect(try await server.finish().status == 0)
    }

    @Test("With a standard error that nobody reads, connections that break stop nothing, nor does a signal wait")
    func nobodyReadsErrors() async throws {
        let (server, port) = try await Self.start(["--loops", "1", "--log-level", "debug"])
        // What is logged of them is several times what a pipe has room for.
        try await withThrowingTaskGroup(of: Void.self) { clients in
            for _ in 0..<20 {
                clients.addTask {
                    for _ in 0..<30 {
                        let socket = try await Socket.connect(to: .host("localhost", port: port))
                        try await socket.write(Self.upgrade)
                        _ = try await socket.read()
                        await socket.reset()
                    }
                }
            }
            try await clients.waitForAll()
        }
        let socket = try await WebSocket.connect(to: "ws://localhost:\(port)/")
        try await socket.send("still there?")
        #expect(try await socket.receive() == "still there?")
        await socket.close()
        server.signal(SIGTERM)
        #expect(try await server.status() == 0)
    }

    @Test("It serves a folder as a file says, logs, and opens the log anew on SIGHUP")
    func folder() async throws {
        try await withTemporaryFolder { root in
            let site = root + "site/"
            try FileManager.default.createDirectory(atPath: site, withIntermediateDirectories: true)
            try Data("hello".utf8).write(to: URL(fileURLWithPath: site + "index.html"))
            let log = root + "access.log"
            let text = "folder: \(site)\nport: 1\nlog: \(log)\nauth: ann:secret\n"
            try Data(text.utf8).write(to: URL(fileURLWithPath: root + "serve.yaml"))
            let (server, port) = try await Self.start(["--config", root + "serve.yaml"])
            func get() async throws -> String {
                let socket = try await Socket.connect(to: .host("localhost", port: port))
                let user = "Authorization: Basic \(Data("ann:secret".utf8).base64EncodedString())\r\n"
                try await socket.write("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(user)\r\n")
                var answer = ""
                while let bytes = try await socket.read() { answer += String(decoding: bytes, as: UTF8.self) }
                return answer
            }
            #expect(try await get().hasSuffix("\r\n\r\nhello"))
            let file = try await Self.contents(of: log) { $0.contains("- ann [") }
            #expect(file.contains("\"GET / HTTP/1.1\" 200 5"))
            try FileManager.default.moveItem(atPath: log, toPath: log + ".old")
            server.signal(SIGHUP)
            // Lines go to the old file until the signal has come.
            while !FileManager.default.fileExists(atPath: log) { _ = try await get() }
            server.signal(SIGTERM)
            let result = try await server.finish()
            #expect(result.status == 0 && result.errors.isEmpty)
        }
    }

    /// What a file holds once it is as it should be, for ten seconds at most; another process writes it.
    private static func contents(
        of path: String,
        _ isRight: @escaping @Sendable (String) -> Bool
    ) async throws -> String {
        let deadline = ContinuousClock.now + .seconds(10)
        var text = ""
        while !isRight(text), ContinuousClock.now < deadline {
            text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            await Task.yield()
        }
        return text
    }

    @Test("Files go over TLS, whole and at once; a folder with the key in it isn't served")
    func securedFolder() async throws {
        try await withCertificate { folder in
            let site = folder + "site"
            try FileManager.default.createDirectory(atPath: site, withIntermediateDirectories: true)
            let lines = (1...100_000).map { "\($0)\n" }.joined()
            try Data("hello\n".utf8).write(to: URL(fileURLWithPath: site + "/short.txt"))
            try Data(lines.utf8).write(to: URL(fileURLWithPath: site + "/long.txt"))
            let files = ["--tls-cert", folder + "cert.pem", "--tls-key", folder + "key.pem"]
            try await withServe([site, "--port", "0"] + files) { url, _ in
                let options = try ConnectionOptions.parse(["--insecure"]).connectOptions
                let endpoint = try Endpoint(url.replacing("https", with: "tls"))
                for (name, text) in [("short", "hello\n"), ("long", lines)] {
                    let socket = try await Socket.connect(to: endpoint, options: options)
                    try await socket.write("GET /\(name).txt HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                    var answer: [UInt8] = []
                    while let bytes = try await socket.read() { answer += bytes }
                    #expect(String(decoding: answer, as: UTF8.self).hasSuffix("\r\n\r\n" + text), "\(name)")
                }
            }
            let refused = try await RunningCommand.run(["serve", folder, "--port", "0"] + files)
            #expect(refused.status == 1 && refused.errors.contains("lies in the folder"))
        }
    }

    @Test("What is wrong in a file ends it with 1 and is told")
    func wrongFile() async throws {
        try await withTemporaryFolder { root in
            try Data(#"{"prot": 1}"#.utf8).write(to: URL(fileURLWithPath: root + "serve.json"))
            let result = try await RunningCommand.run(["serve", "--config", root + "serve.json"])
            #expect(result.status == 1 && result.errors.contains("“prot”") && result.errors.hasPrefix("duplex: "))
            let absent = try await RunningCommand.run(["serve", root + "absent"])
            #expect(absent.status == 1 && absent.errors.contains("is no folder that can be read"))
        }
    }

    @Test("The help says where a password may be seen, and what the keys of a file are")
    func help() async throws {
        let help = try await RunningCommand.run(["serve", "--help"])
        let words = help.output.split { $0.isWhitespace }.joined(separator: " ")
        for text in [
            "Other programs of the machine can see it in the list of processes", "DUPLEX_PORT", "tls.certificate",
            "duplex serve --config serve.yaml", "[<folder or address>]", "Default: 8080",
            "values: sync, async, broadcast",
        ] {
            #expect(words.contains(text), "\(text)")
        }
    }

    @Test("A level of the log that isn't one is wrong usage")
    func badLevel() async throws {
        let result = try await RunningCommand.run(["serve", "--port", "0", "--log-level", "loud"])
        #expect(result.status == 64)
        #expect(result.errors.contains("notice"))
    }

    private static let upgrade =
        "GET /echo HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
}
