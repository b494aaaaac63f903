// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestProcesses
import DuplexTestTimes
import DuplexWire
import Foundation
import Synchronization
import Testing

@Suite("Codings of contents with curl and Python at the other end", .timeLimit(minutes: 2))
struct CodingPeerTests {
    /// Runs a program to its end, and returns what it has written.
    private func output(of command: [String]) async throws -> String {
        let program = SpawnedProcess()
        program.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        program.arguments = command
        let pipe = Pipe()
        program.standardOutput = .pipe(pipe)
        try program.run()
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                let data = Result { try pipe.fileHandleForReading.readToEnd() ?? Data() }
                continuation.resume(with: data.map { String(decoding: $0, as: UTF8.self) })
            }
        }
    }

    private func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = NSTemporaryDirectory() + "duplex-codings-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder)
    }

    /// Has Python make a file.
    private func make(_ path: String, _ bytes: String) async throws {
        let program = "import gzip,zlib; open(r'\(path)','wb').write(\(bytes)); print('made')"
        #expect(try await output(of: ["python3", "-c", program]) == "made\n")
    }

    @Test(
        "What Python's gzip and zlib have made is read as it was",
        arguments: [
            ("gzip", "gzip.compress(b'Hello' * 100000)"),
            ("gzip", "gzip.compress(b'Hello' * 60000) + gzip.compress(b'Hello' * 40000)"),
            ("deflate", "zlib.compress(b'Hello' * 100000)"),
            ("deflate", "zlib.compress(b'Hello' * 100000)[2:-4]"),
            ("deflate, gzip", "gzip.compress(zlib.compress(b'Hello' * 100000))"),
        ]
    )
    func uploads(coding: String, bytes: String) async throws {
        try await withFolder { folder in
            try await make("\(folder)/body", bytes)
            try await withServer { server in
                server.post("/") { request in
                    let body = try await request.body.collect()
                    return body == Array(String(repeating: "Hello", count: 100_000).utf8) ? "same" : "other"
                }
            } _: { address async throws in
                let url = "http://\(address)/"
                let command = [
                    "curl", "-sS", "-H", "Content-Encoding: \(coding)", "--data-binary", "@\(folder)/body", url,
                ]
                #expect(try await output(of: command) == "same")
                #expect(try await output(of: command + ["-H", "Transfer-Encoding: chunked"]) == "same")
            }
        }
    }

    @Test("1 GiB of zeros in 1 MiB is refused once 4 MiB have come of it, 64 KiB at a time")
    func bomb() async throws {
        try await withFolder { folder in
            try await make(
                "\(folder)/bomb",
                "(lambda c: b''.join(c.compress(bytes(1 << 20)) for _ in range(1024)) + c.flush())(zlib.compressobj(9, 8, 31))"
            )
            let most = Mutex(0)
            try await withServer { server in
                server.use(.bodySize(.mebibytes(4)))
                server.post("/whole") { request in "\(try await request.body.collect().count)" }
                server.post("/pieces") { request in
                    var count = 0
                    for try await piece in request.body {
                        count += piece.count
                        let sum = count
                        most.withLock { $0 = max($0, sum) }
                        #expect(piece.count <= 64 * 1_024)
                    }
                    return "\(count)"
                }
            } _: { address async throws in
                for path in ["whole", "pieces"] {
                    let answer = try await output(of: [
                        "curl", "-sS", "-w", "%{http_code}", "-o", "/dev/null", "-H", "Content-Encoding: gzip",
                        "--data-binary", "@\(folder)/bomb", "http://\(address)/\(path)",
                    ])
                    #expect(answer == "413")
                }
                #expect(most.withLock { $0 } <= 4 << 20)
            }
        }
    }

    @Test("curl inflates what it gets, whole and piece by piece, and gets the same plain")
    func downloads() async throws {
        let text = String(repeating: "All work and no play. ", count: 50_000)
        try await withServer { server in
            server.use(.compressResponses())
            server.get("/whole") { _ in text }
            server.get("/short") { _ in String(text.prefix(5_000)) }
            server.get("/pieces") { _ in
                Response(type: .plainText) { writer in
                    for _ in 0..<100 { try await writer.write(String(text.prefix(text.utf8.count / 100))) }
                }
            }
        } _: { address async throws in
            for path in ["whole", "short", "pieces"] {
                let url = "http://\(address)/\(path)"
                let plain = try await output(of: ["curl", "-sS", url])
                #expect(try await output(of: ["curl", "-sS", "--compressed", url]) == plain)
                #expect(plain.utf8.count == (path == "short" ? 5_000 : text.utf8.count))
                let size = try await output(of: [
                    "curl", "-sS", "--compressed", "-o", "/dev/null", "-w", "%{size_download}", url,
                ])
                #expect((Int(size) ?? .max) < plain.utf8.count / 20, "\(path)")
            }
        }
    }

    @Test("Python's gzip takes what was flushed after each piece")
    func python() async throws {
        try await withServer { server in
            server.use(.compressResponses())
            server.get("/") { _ in
                Response(type: .csv) { writer in for number in 0..<500 { try await writer.write("\(number)\n") } }
            }
        } _: { address async throws in
            let program = """
                import gzip, urllib.request
                request = urllib.request.Request("http://\(address)/", headers={"Accept-Encoding": "gzip"})
                with urllib.request.urlopen(request) as response:
                    assert response.headers["Content-Encoding"] == "gzip"
                    print(gzip.decompress(response.read()) == b"".join(b"%d\\n" % n for n in range(500)))
                """
            #expect(try await output(of: ["python3", "-c", program]) == "True\n")
        }
    }
}
