// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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

    private func testing(_ file: URL, _ body: (TestClient) async throws -> Void) async throws {
        var server = WebServer(port: 0)
        let passwords = try PasswordFile(path: file.path(percentEncoded: false))
        server.group("/in", .basicAuth(realm: "x", file: passwords)) { inside in
            inside.get("/") { request in request[AuthenticatedUser.self] ?? "nobody" }
            inside.webSocket("/socket") { socket, request in
                try await socket.send(request[AuthenticatedUser.self] ?? "nobody")
            }
        }
        server.get("/out") { _ in "out" }
        try await WebServer.testing(server, body)
    }

    private func status(
        _ client: TestClient,
        _ user: String,
        _ password: String = "secret ä"
    ) async throws -> HTTPResponse.Status {
        let value = try #require(PasswordCredentials(user: user, password: password).basicValue)
        return try await client.get("/in", fields: [.authorization: value]).status
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
