// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Foundation
import HTTPTypes
import Testing

@Suite("Bodies and parts of forms as files", .timeLimit(minutes: 1))
struct ReceivedFileTests {
    private func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = NSTemporaryDirectory() + "duplex-received-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder)
    }

    private static func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    /// Waits until the folder has these files and no others.
    private func settle(_ folder: String, _ names: [String]) async throws {
        while try Self.names(folder) != names { await Task.yield() }
    }

    @Test("A body is a file while somebody has it, and stays when it is kept")
    func body() async throws {
        try await withFolder { folder async throws in
            try await withServer { server in
                server.use(.bodySize(.mebibytes(4)))
                server.post("/gone") { request in
                    let file = try await request.file(in: folder)
                    let bytes = try Data(contentsOf: URL(fileURLWithPath: file.path))
                    return "\(file.size) \(bytes.reduce(0) { $0 &+ Int($1) })"
                }
                server.post("/kept") { request in
                    let file = try await request.file(in: folder)
                    try await file.move(to: "\(folder)/kept")
                    return file.path
                }
                server.post("/short") { request in "\(try await request.file(in: folder, limit: 3).size)" }
                server.post("/nowhere") { request in try await request.file(in: "/nowhere").path }
            } _: { address async throws in
                let peer = try await RawPeer.connect(to: address)
                for count in [0, 1, 300_000, 1_000_000] {
                    try await peer.send("POST /gone HTTP/1.1\r\nHost: a\r\nContent-Length: \(count)\r\n\r\n")
                    try await peer.send([UInt8](repeating: 3, count: count))
                    #expect(try await peer.readResponse().text == "\(count) \(count * 3)")
                }
                try await settle(folder, [])
                let head = "HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nHello"
                #expect(try await peer.response(to: "POST /kept " + head).text == "\(folder)/kept")
                #expect(try await peer.response(to: "POST /kept " + head).status == 500)
                #expect(try await peer.response(to: "POST /short " + head).status == 413)
                try await settle(folder, ["kept"])
                #expect(try String(contentsOfFile: "\(folder)/kept", encoding: .utf8) == "Hello")
            }
        }
    }

    @Test("A folder that isn't there is answered with 500; a disk that is full with 507")
    func faults() async throws {
        var server = WebServer(port: 0)
        server.post("/nowhere") { request in try await request.file(in: "/nowhere").path }
        server.post("/full") { _ async throws -> String in throw SocketError(.system, message: "full", errno: ENOSPC) }
        try await server.test { client async throws in
            #expect(try await client.post("/nowhere", body: "a".utf8).status == .internalServerError)
            let full = try await client.post("/full")
            #expect(full.status.code == 507 && full.text.hasPrefix("507 Insufficient Storage\n"))
        }
    }

    @Test("What comes in part only leaves nothing behind")
    func cut() async throws {
        try await withFolder { folder async throws in
            try await withServer { server in
                server.post("/") { request in try await request.file(in: folder).path }
            } _: { address async throws in
                let peer = try await RawPeer.connect(to: address)
                try await peer.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\n")
                try await peer.send([UInt8](repeating: 0, count: 400_000))
                while try Self.names(folder).isEmpty { await Task.yield() }
                await peer.reset()
                try await settle(folder, [])
            }
        }
    }

    @Test("A part of a form is a file as well")
    func part() async throws {
        try await withFolder { folder async throws in
            var server = WebServer(port: 0)
            server.post("/") { request in
                var text = ""
                for try await part in try request.multipart() {
                    let file = try await part.file(in: folder)
                    text += "\(part.name) \(file.size) \(try String(contentsOfFile: file.path, encoding: .utf8))\n"
                    if let name = part.safeFilename { try await file.move(to: "\(folder)/\(name)") }
                }
                return text
            }
            let form = """
                --b\r\nContent-Disposition: form-data; name=a\r\n\r\none\r
                --b\r\nContent-Disposition: form-data; name=b; filename="../c.txt"\r\n\r\nthree\r\n--b--\r\n
                """
            try await server.test { client async throws in
                let headers: HTTPFields = [.contentType: "multipart/form-data; boundary=b"]
                #expect(try await client.post("/", headers: headers, body: form.utf8).text == "a 3 one\nb 5 three\n")
            }
            try await settle(folder, ["c.txt"])
        }
    }
}
