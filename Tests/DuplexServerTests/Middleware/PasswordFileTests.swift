// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexSockets
import DuplexTesting
import DuplexWire
import Foundation
import HTTPTypes
import Testing

@testable import DuplexServer

#if os(Linux)
@Suite("Files of passwords")
struct PasswordFileTests {
    private func withFile(_ text: String, _ body: (URL) async throws -> Void) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "duplex-passwords-\(UUID().uuidString)")
        try Data(text.utf8).write(to: file)
        do {
            try await body(file)
        } catch {
            try? FileManager.default.removeItem(at: file)
            throw error
        }
        try FileManager.default.removeItem(at: file)
    }

    private func testing(
        _ file: URL,
        on threads: BlockingThreads? = nil,
        _ body: (TestClient) async throws -> Void
    ) async throws {
        var server = WebServer(port: 0)
        let path = file.path(percentEncoded: false)
        let passwords =
            if let threads { try PasswordFile(path: path, threads: threads) } else { try PasswordFile(path: path) }
        server.group("/in", .basicAuth(realm: "x", file: passwords)) { inside in
            inside.get("/") { request in request.user ?? "nobody" }
            inside.webSocket("/socket") { socket, request in
                try await socket.send(request.user ?? "nobody")
            }
        }
        server.get("/out") { _ in "out" }
        try await server.test(body)
    }

    private func status(
        _ client: TestClient,
        _ user: String,
        _ password: String = "secret ä"
    ) async throws -> HTTPResponse.Status {
        let value = try #require(PasswordCredentials(user: user, password: password).basicValue)
        return try await client.get("/in", headers: [.authorization: value]).status
    }

    private static let lines = PasswordEntriesTests.hashes.enumerated().map { "u\($0):\($1)\n" }

    @Test("Users of every kind of hash are let in with their passwords, and nobody else is")
    func checking() async throws {
        try await withFile(Self.lines.joined()) { file in
            try await testing(file) { client async throws in
                for number in Self.lines.indices {
                    #expect(try await status(client, "u\(number)") == .ok)
                    #expect(try await status(client, "u\(number)", "secret") == .unauthorized)
                }
                #expect(try await status(client, "u9") == .unauthorized)
                #expect(try await status(client, "") == .unauthorized)
                #expect(try await client.get("/in").status == .unauthorized)
                var options = WebSocketOptions()
                let value = try #require(PasswordCredentials(user: "u0", password: "secret ä").basicValue)
                options.headers = [.authorization: value]
                let socket = try await client.webSocket("/in/socket", options: options)
                #expect(try await socket.receive() == .text("u0"))
                await socket.reset()
            }
        }
    }

    @Test("A change of the file counts at once: users come and go, a bad line lets nobody in, and nor does no file")
    func changing() async throws {
        try await withFile(Self.lines[0]) { file in
            try await testing(file) { client async throws in
                #expect(try await status(client, "u0") == .ok)
                try Data(Self.lines[1].utf8).write(to: file)
                #expect(try await status(client, "u0") == .unauthorized)
                #expect(try await status(client, "u1") == .ok)
                try Data("u0:secret ä\nu0\n\(Self.lines[2])".utf8).write(to: file)
                #expect(try await status(client, "u0") == .unauthorized)
                #expect(try await status(client, "u2") == .ok)
                try Data().write(to: file)
                #expect(try await status(client, "u2") == .unauthorized)
                try FileManager.default.removeItem(at: file)
                #expect(try await status(client, "u2") == .internalServerError)
                try Data(Self.lines[2].utf8).write(to: file)
                #expect(try await status(client, "u2") == .ok)
            }
        }
    }

    @Test("Who was let in a moment ago still is while the queue of those to be checked is full, and others get 503")
    func known() async throws {
        try await withFile(Self.lines[0]) { file in
            let threads = BlockingThreads(name: "duplex-crypt", limit: 1)
            try await testing(file, on: threads) { client async throws in
                #expect(try await status(client, "u0") == .ok)
                let gate = DispatchSemaphore(value: 0)
                defer { gate.signal() }
                for number in 0...PasswordFile.queueBound {
                    threads.run(unawaited: { if number == 0 { gate.wait() } })
                }
                #expect(threads.waitingCount == PasswordFile.queueBound)
                #expect(try await status(client, "u0") == .ok)
                #expect(try await status(client, "u0", "wrong") == .serviceUnavailable)
            }
        }
    }

    @Test(
        "A file that can't be used is an error that says why",
        arguments: [
            ("mia:$apr1$a$b", "line 1 is Apache's own MD5"), ("mia:secret", "line 1"), ("\nmia", "line 2"),
            ("# x\nmia:$2y$05$rdxEk2Fo.RzdicEk81t7jeRZmhKPVsJm1DUw # note", "line 2"), ("mia:$6$salt", "line 1"),
            ("\u{FEFF}mia:$6$salt", "line 1"),
        ]
    )
    func faults(text: String, message: String) async throws {
        try await withFile(text) { file in
            let error = #expect(throws: SocketError.self) { try PasswordFile(path: file.path(percentEncoded: false)) }
            #expect(error?.code == .unreadableFile)
            #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        }
        let none = #expect(throws: SocketError.self) { try PasswordFile(path: "/nowhere/at/all") }
        #expect(none?.code == .unreadableFile)
    }

    @Test("A byte order mark at the beginning, as editors of Windows write it, isn't a part of the first name")
    func byteOrderMark() async throws {
        try await withFile("\u{FEFF}" + Self.lines[0].replacing("\n", with: "\r\n")) { file in
            try await testing(file) { client async throws in
                #expect(try await status(client, "u0") == .ok)
            }
        }
    }

    /// A bcrypt of cost 13 takes half a second or so, in which the loop answers others.
    @Test("While a password is checked the loop does other things, and who isn't in the file waits as long")
    func offTheLoop() async throws {
        let slow = "mia:$2y$13$abcdefghijklmnopqrstuu6mJkqUqXkhNqYQmQ9gKXAX1H6GrCfSq\n"
        try await withFile(slow) { file in
            try await testing(file) { client async throws in
                for user in ["mia", "eve"] {
                    let began = Instant.now()
                    // A machine that is busy may give the loop less time than the check: then it is tried again.
                    var order: [String] = []
                    for _ in 0..<5 where order != ["out", "401"] {
                        order = try await withThrowingTaskGroup(of: String.self) { group in
                            group.addTask { "\(try await status(client, user, "wrong").code)" }
                            group.addTask { try await client.get("/out").text }
                            return try await group.reduce(into: []) { $0.append($1) }
                        }
                    }
                    #expect(order == ["out", "401"])
                    #expect(began.duration(to: .now()) > .milliseconds(100), "\(user) was refused too soon")
                }
            }
        }
    }
}
#endif

@Suite("What a file of passwords says")
struct PasswordEntriesTests {
    /// Of “secret ä”, made by openssl passwd and by crypt(3) itself.
    static let hashes = [
        "$2y$04$abcdefghijklmnopqrstuurydDy6ajAR/b4uUYXRl/HDpX6JrEDzC",
        "$5$saltsalt$OaWrK4nmhlHO8SCAHqi9g.e0kcKiZNwbxYhWI.cXR3B",
        "$5$rounds=1000$abc$3s9Oe5be0w.2.K7bkqWaKxBJu11RayEBLxv0FWuv7u5",
        "$6$saltsalt$bF1CGxXrXd8t3M5P5A4BftQgLa5/4Gb7KGxv.tqILmZo0ZJ/DUCqnXITceKwyk1NCcmbGhbHuW4U8Tm9PrsxK0",
        "$y$j75$abcdefgh$gnht3Fuf8dNcnXgqnst8.SWMVFBrxjyf7GiiaX.21K5",
    ]

    @Test("Names and hashes are read, also with line ends of DOS, further fields, comments and names twice")
    func reading() {
        let hashes = Self.hashes
        let text = "# users\r\nmia:\(hashes[0])\r\n\neve:\(hashes[3]):more\nmia:\(hashes[1])\nlast:\(hashes[4])"
        let entries = PasswordEntries(text)
        #expect(entries.hashes == ["mia": hashes[0], "eve": hashes[3], "last": hashes[4]])
        #expect(entries.faults == [])
    }

    @Test("A byte order mark at the beginning is passed over, and one elsewhere isn't")
    func byteOrderMark() {
        let entries = PasswordEntries("\u{FEFF}mia:\(Self.hashes[0])\n\u{FEFF}eve:\(Self.hashes[3])")
        let names: [[UInt8]] = entries.hashes.keys.map { Array($0.utf8) }
        #expect(names.contains(Array("mia".utf8)) && !names.contains(Array("\u{FEFF}mia".utf8)))
        #expect(entries.hashes.count == 2 && entries.hashes["eve"] == nil)
    }

    @Test("Lines that can't be used are passed over, and told by their numbers")
    func faults() {
        let entries = PasswordEntries("a:$apr1$x$y\nb\n:$6$x\nc:{SHA}x\nd:plain\ne:\(Self.hashes[3])\nf:")
        #expect(entries.hashes == ["e": Self.hashes[3]])
        #expect(entries.faults.count == 6)
        #expect(entries.faults.first?.contains("line 1 is Apache's own MD5") == true)
        #expect(entries.faults.last?.contains("line 7") == true)
    }

    @Test("Who isn't in the file is compared with the same hash each time, one of those that are")
    func decoys() {
        #expect(PasswordEntries("").decoy(for: "mia") == nil)
        let entries = PasswordEntries(Self.hashes.enumerated().map { "u\($0):\($1)" }.joined(separator: "\n"))
        let decoys = (0..<100).map { entries.decoy(for: "x\($0)") }
        #expect(decoys == (0..<100).map { entries.decoy(for: "x\($0)") })
        #expect(decoys.allSatisfy { entries.hashes.values.contains($0 ?? "") } && Set(decoys).count > 1)
    }
}

@Suite("Credentials that were right a moment ago")
struct VerifiedPasswordsTests {
    private func instant(_ seconds: Int) -> Instant { Instant(nanoseconds: Int64(seconds) * 1_000_000_000) }

    @Test("They are right for a minute, with the same hash, and no others are")
    func lifetime() {
        let verified = VerifiedPasswords()
        let mia = PasswordCredentials(user: "mia", password: "secret")
        #expect(verified.isEmpty && !verified.contains(mia, "hash", at: instant(0)))
        verified.add(mia, "hash", at: instant(0))
        #expect(!verified.isEmpty && verified.contains(mia, "hash", at: instant(59)))
        #expect(!verified.contains(mia, "hash", at: instant(60)))
        #expect(!verified.contains(mia, "another", at: instant(1)))
        for (user, password) in [
            ("mia", "Secret"), ("ann", "secret"), ("mi", "asecret"), ("mia 6 s", "ecret"), ("", ""),
        ] {
            #expect(!verified.contains(PasswordCredentials(user: user, password: password), "hash", at: instant(1)))
        }
    }

    @Test("The last ones are remembered, and no more than the bound")
    func bound() {
        let verified = VerifiedPasswords()
        func credentials(_ number: Int) -> PasswordCredentials { PasswordCredentials(user: "\(number)", password: "x") }
        let count = 3 * VerifiedPasswords.bound
        for number in 0..<count {
            verified.add(credentials(number), "hash", at: Instant(nanoseconds: Int64(number)))
        }
        let there = (0..<count).filter { verified.contains(credentials($0), "hash", at: instant(1)) }
        #expect(there.count <= VerifiedPasswords.bound && there.last == count - 1)
    }
}
