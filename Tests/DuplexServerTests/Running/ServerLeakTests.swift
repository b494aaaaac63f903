// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexSockets
import DuplexTestPeers
import DuplexTestProcesses
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Foundation
import Glibc
import HTTPTypes
import Logging
import Synchronization
import Testing

@testable import DuplexServer

/// A server that has been stopped leaves nothing behind, whatever it could do and whatever its clients did.
///
/// In a process of its own, in which nobody else opens descriptors or starts threads; for WebSockets see LeakTests.
@Suite(.timeLimit(minutes: 2)) struct ServerLeakTests {
    @Test("A server with everything on, started and stopped 20 times, leaves no descriptor, thread, file or connection")
    func everything() async {
        let child = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            await FullServer.expectNothingLeft()
        }
        let text = child.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
        #expect(text == "")
    }
}

/// A server with a route of each kind, behind middleware of each kind, and clients that leave it in each way.
private struct FullServer {
    /// What connections are made of, for as long as it is there.
    private final class Living: Sendable {
        private struct Reference {
            weak var object: (any AnyObject & Sendable)?
        }

        private let references = Mutex<[Reference]>([])

        func add(_ object: (any AnyObject & Sendable)?) {
            references.withLock { $0.append(Reference(object: object)) }
        }

        var count: Int { references.withLock { $0.count { $0.object != nil } } }
        var total: Int { references.withLock { $0.count } }
    }

    private enum Token: RequestKey {
        typealias Value = Box
    }

    private final class Box: Sendable {}

    private let folder: String
    private let living: Living
    private let feed = EventFeed()

    // MARK: The server

    private func server(on group: EventLoopGroup) throws -> WebServer {
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.eventLoops = group
        server.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        server.allowedHosts = ["*"]
        server.listen(on: Listener(.unix("\(folder)/socket")))
        let log = try AccessLogFile(path: "\(folder)/access.log")
        server.use(
            .accessLog(.file(log)),
            .metrics(ServerMetrics()),
            .requestID(),
            .securityHeaders(),
            .compressResponses(),
            .rateLimit(.perSecond(10_000, burst: 10_000)),
            .timeLimit(.seconds(30)),
            .cors(CORSPolicy(.any)),
            .before { [living] request in
                let box = Box()
                living.add(box)
                request[Token.self] = box
                return nil
            }
        )
        add(to: &server)
        return server
    }

    private func add(to server: inout WebServer) {
        let living = living
        let text = String(repeating: "a page ", count: 10_000)
        server.get("/page") { _ in text }
        server.get("/written", .earlyHints) { request in
            living.add(#isolation)
            try await request.sendEarlyHints("</a.css>; rel=preload")
            return Response(type: .html) { writer in for _ in 0..<100 { try await writer.write(text) } }
        }
        server.get("/file") { [folder] _ in Response(type: .octetStream, body: try .file("\(folder)/content")) }
        server.post("/upload") { [folder] request in
            living.add(#isolation)
            return "\(try await request.file(in: folder).size)"
        }
        server.post("/form") { request in
            var count = 0
            for try await part in try request.multipart() { count += try await part.collect().count }
            return "\(count)"
        }
        server.events("/events") { stream in
            for number in 0... { try await stream.send("\(number)") }
        }
        server.events("/feed", of: feed)
        let digest = RouteOption.digestAuth(
            realm: "r",
            accounts: ["mia": "pw"],
            options: DigestOptions(algorithms: [.sha256])
        )
        server.get("/digest", digest, .throttleFailures()) { _ in "in" }
        server.get("/basic", .basicAuth(realm: "r") { $0.password == "pw" }) { _ in "in" }
        server.get("/never") { _ in
            living.add(#isolation)
            // Until it is cancelled.
            try await Task.sleep(for: .seconds(3_600))
            return ""
        }
        server.webSocket("/socket") { socket in
            living.add(socket)
            for try await message in socket.messages { try await socket.send(message) }
        }
    }

    // MARK: Its clients

    private func play(_ address: SocketAddress, _ group: EventLoopGroup) async throws {
        let connect = {
            RawPeer(try await Socket.connect(to: .address(address), on: group), masks: true)
        }
        let head = "HTTP/1.1\r\nHost: a\r\n"
        let peer = try await connect()
        for request in [
            "GET /page \(head)\r\n", "GET /page \(head)Accept-Encoding: gzip\r\n\r\n", "GET /file \(head)\r\n",
        ] {
            try expect(try await response(peer, request).status == 200, request)
        }
        let body = String(repeating: "a", count: 100_000)
        let uploaded = try await response(peer, "POST /upload \(head)Content-Length: 100000\r\n\r\n\(body)")
        try expect(uploaded.text == "100000", uploaded.head)
        let form = "--b\r\n\r\nabc\r\n--b--"
        let type = "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: \(form.utf8.count)\r\n\r\n"
        try expect(try await response(peer, "POST /form \(head)\(type)\(form)").text == "3", "form")
        try await authenticate(peer, head)
        try expect(try await response(peer, "GET /none \(head)\r\n").status == 404, "none")
        // Each in the midst of what it has asked for; the last ones are there until the end of the server.
        let requests = ["GET /written", "GET /file", "GET /events", "GET /feed", "POST /upload", "GET /never"]
        for request in requests {
            for mode in 0..<3 {
                let other = try await connect()
                let length = request.hasPrefix("POST") ? "Content-Length: 100000\r\n" : ""
                let coding = mode == 0 ? "Accept-Encoding: gzip\r\n" : ""
                try await other.send("\(request) \(head)\(length)\(coding)\r\n")
                if request != "GET /never" && request != "POST /upload" {
                    do { _ = try await other.readHead() } catch {
                        throw Unexpected(what: "\(request) \(mode) \(error)")
                    }
                }
                if mode == 0 { await other.reset() }
                if mode == 1 { await other.finishWriting() }
            }
        }
        try feed.publish("news")
        let socket = try await WebSocket.connect(to: "ws://\(address)/socket", on: group)
        try await socket.send("hello")
        _ = try await socket.receive()
    }

    private func authenticate(_ peer: RawPeer, _ head: String) async throws {
        let basic = PasswordCredentials(user: "mia", password: "pw").basicValue ?? ""
        let answer = try await response(peer, "GET /basic \(head)Authorization: \(basic)\r\n\r\n")
        try expect(answer.text == "in", answer.head)
        let asked = try await response(peer, "GET /digest \(head)\r\n")
        let challenges = AuthenticationChallenge.parse([asked["WWW-Authenticate"] ?? ""])
        let value = challenges.compactMap(DigestChallenge.init).first?.answer(
            PasswordCredentials(user: "mia", password: "pw"),
            method: "GET",
            target: "/digest",
            clientNonce: "c-nonce",
            count: 1,
            digest: HTTPDigest.digest
        )
        let digest = try await response(peer, "GET /digest \(head)Authorization: \(value ?? "")\r\n\r\n")
        try expect(digest.text == "in", digest.head)
    }

    private func response(_ peer: RawPeer, _ request: String) async throws -> RawResponse {
        do {
            return try await peer.response(to: request)
        } catch {
            throw Unexpected(what: "\(request.prefix(20)): \(error)")
        }
    }

    private struct Unexpected: Error {
        let what: String
    }

    private func expect(_ holds: Bool, _ what: String) throws {
        if !holds { throw Unexpected(what: what) }
    }

    // MARK: Counting

    private func run(_ rounds: Int) async throws {
        let group = try EventLoopGroup(loops: 2)
        for _ in 0..<rounds {
            let running = try await server(on: group).start()
            try await play(running.addresses[0], group)
            await running.stop(within: .milliseconds(50))
        }
        await group.stop()
    }

    /// Says on standard error what is left.
    static func expectNothingLeft() async {
        let folder = NSTemporaryDirectory() + "duplex-leaks-\(UUID().uuidString)"
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            try Data(count: 1 << 20).write(to: URL(fileURLWithPath: "\(folder)/content"))
            let living = Living()
            // What the runtime opens when it is first used stays open; only what comes on top is a leak.
            await useTimers()
            try await FullServer(folder: folder, living: Living()).run(1)
            _ = await comesTrue(within: .limit(seconds: 10)) { ThreadCensus.loops() == 0 }
            let before = ThreadCensus.entries(of: "/proc/self/fd").count
            try await FullServer(folder: folder, living: living).run(20)
            let isClear = await comesTrue(within: .limit(seconds: 10)) {
                ThreadCensus.loops() == 0 && living.count == 0
                    && ThreadCensus.entries(of: "/proc/self/fd").count <= before
            }
            let files = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            if isClear && living.total > 20 && files == ["access.log", "content"] { return }
            let after = ThreadCensus.entries(of: "/proc/self/fd").count
            report(
                "\(before) descriptors, \(after) now; \(ThreadCensus.loops()) threads; \(living.count) of \(living.total)"
            )
            report("\(files)")
        } catch {
            report("\(error)")
        }
    }

    private static func report(_ text: String) {
        _ = unsafe write(2, text + "\n", text.utf8.count + 1)
    }
}
#endif
