// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Foundation
import HTTPTypes
import Testing

@Suite("Parts of files", .timeLimit(minutes: 1))
struct FileContentTests {
    /// `/etc/passwd` would do, but its text is the machine's.
    private static let text = String((0..<10_000).map { Character(Unicode.Scalar(UInt8(97 + $0 % 26))) })

    private func withFile(_ body: @escaping @Sendable (TestClient, String) async throws -> Void) async throws {
        try await withTestFolder(["a.txt": Self.text, "empty": ""]) { root in
            var server = WebServer(port: 0)
            server.files("/", folder: root)
            try await server.test { client async throws in try await body(client, root) }
        }
    }

    private static func text(_ range: Range<Int>) -> String {
        String(text.dropFirst(range.lowerBound).prefix(range.count))
    }

    @Test(
        "One part",
        arguments: [
            ("0-0", 0..<1), ("9999-", 9_999..<10_000), ("-3", 9_997..<10_000), ("5000-7000", 5_000..<7_001),
            ("0-", 0..<10_000),
        ]
    )
    func one(value: String, range: Range<Int>) async throws {
        try await withFile { client, _ async throws in
            let response = try await client.get("/a.txt", headers: [.range: "bytes=\(value)"])
            #expect(response.status == .partialContent && response.text == Self.text(range))
            #expect(response.headers[.contentRange] == "bytes \(range.lowerBound)-\(range.upperBound - 1)/10000")
            #expect(response.headers[.contentType] == "text/plain; charset=utf-8" && response.headers[.eTag] != nil)
        }
    }

    @Test("Several parts, each with its place")
    func several() async throws {
        try await withFile { client, _ async throws in
            let response = try await client.get("/a.txt", headers: [.range: "bytes=9000-9999, 0-9, 100-300"])
            #expect(response.status == .partialContent && response.headers[.contentRange] == nil)
            let type = try #require(response.headers[.contentType].map(MediaType.init(rawValue:)))
            let boundary = try #require(type[parameter: "boundary"])
            #expect(type.essence == "multipart/byteranges")
            #expect(response.headers[.contentLength] == "\(response.body.count)")
            let parts = response.text.components(separatedBy: "\r\n--\(boundary)")
            #expect(parts.count == 5 && parts[0].isEmpty && parts[4] == "--\r\n")
            for (part, range) in zip(parts[1...3], [9_000..<10_000, 0..<10, 100..<301]) {
                let place = "Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/10000"
                #expect(part == "\r\nContent-Type: text/plain; charset=utf-8\r\n\(place)\r\n\r\n\(Self.text(range))")
            }
        }
    }

    @Test(
        "What lies beyond the file is refused, with its length",
        arguments: ["10000-", "-0", "20000-20001,10000-10000"]
    )
    func beyond(value: String) async throws {
        try await withFile { client, _ async throws in
            let response = try await client.get("/a.txt", headers: [.range: "bytes=\(value)"])
            #expect(response.status == .rangeNotSatisfiable && response.headers[.contentRange] == "bytes */10000")
        }
    }

    @Test("Any range of an empty file is the file", arguments: ["0-", "0-1023", "-5", "7-"])
    func empty(value: String) async throws {
        try await withFile { client, _ async throws in
            let response = try await client.get("/empty", headers: [.range: "bytes=\(value)"])
            #expect(response.status == .ok && response.body.isEmpty && response.headers[.contentRange] == nil)
        }
    }

    @Test("A range of HEAD, of another unit, and one that nobody can read are passed over")
    func passedOver() async throws {
        try await withFile { client, _ async throws in
            #expect(try await client.request(.head, "/a.txt", headers: [.range: "bytes=0-1"]).status == .ok)
            for value in [
                "lines=0-1", "bytes=a-b", "bytes=2-1",
                "bytes=" + (0..<17).map { "\($0 * 2)-\($0 * 2)" }.joined(separator: ","),
            ] {
                let response = try await client.get("/a.txt", headers: [.range: value])
                #expect(response.status == .ok && response.body.count == 10_000, "\(value)")
            }
        }
    }

    @Test("Conditions come before ranges, and If-Range behind them (RFC 9110 section 13.2.2)")
    func order() async throws {
        try await withFile { client, root async throws in
            let tag = try #require(try await client.get("/a.txt").headers[.eTag])
            let range = HTTPField.Name.range
            #expect(
                try await client.get("/a.txt", headers: [range: "bytes=0-1", .ifNoneMatch: tag]).status == .notModified
            )
            #expect(
                try await client.get("/a.txt", headers: [range: "bytes=0-1", .ifMatch: "\"x\""]).status
                    == .preconditionFailed
            )
            #expect(
                try await client.get("/a.txt", headers: [range: "bytes=0-1", .ifMatch: tag]).status == .partialContent
            )
            #expect(try await client.get("/a.txt", headers: [range: "bytes=0-1", .ifRange: "W/\(tag)"]).status == .ok)
            #expect(try await client.get("/a.txt", headers: [range: "bytes=0-1", .ifRange: "\"x\""]).status == .ok)
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_000_000_000)],
                ofItemAtPath: root + "a.txt"
            )
            let date = "Sun, 09 Sep 2001 01:46:40 GMT"
            #expect(
                try await client.get("/a.txt", headers: [range: "bytes=0-1", .ifRange: date]).status == .partialContent
            )
            let other = "Sun, 09 Sep 2001 01:46:41 GMT"
            #expect(try await client.get("/a.txt", headers: [range: "bytes=0-1", .ifRange: other]).status == .ok)
        }
    }

    @Test("The tag of a file that was changed just now allows no part: there may have been two contents with it")
    func fresh() async throws {
        try await withFile { client, root async throws in
            // A file is new for two seconds of the calendar: a machine that is busy may need more than one try.
            while true {
                try FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: root + "a.txt")
                // The server looks at the file anew.
                await client.clock.advance(by: .seconds(2))
                let tag = try #require(try await client.get("/a.txt").headers[.eTag])
                #expect(!tag.hasPrefix("W/"))
                if try await client.get("/a.txt", headers: [.range: "bytes=0-1", .ifRange: tag]).status == .ok {
                    break
                }
                try Task.checkCancellation()
            }
        }
        #if os(Linux)
        var server = WebServer(port: 0)
        server.files("/", folder: "/etc")
        try await server.test { client async throws in
            let tag = try #require(try await client.get("/passwd").headers[.eTag])
            let part = try await client.get("/passwd", headers: [.range: "bytes=0-1", .ifRange: tag])
            #expect(part.status == .partialContent && part.body.count == 2)
        }
        #endif
    }

    @Test("A file that is cut short while its parts are sent cuts the connection")
    func cutShort() async throws {
        try await withTestFolder(["a.txt": String(repeating: "a", count: 8_000_000)]) { root in
            try await withServer { server in
                server.files("/", folder: root)
            } _: { address in
                let peer = try await RawPeer.connect(to: address)
                try await peer.send("GET /a.txt HTTP/1.1\r\nHost: a\r\nRange: bytes=0-3999999,4000001-\r\n\r\n")
                _ = try await peer.socket.read(exactly: 100)
                try Data("short".utf8).write(to: URL(fileURLWithPath: root + "a.txt"))
                // Eight million were promised.
                var count = 0
                await #expect(throws: (any Error).self) {
                    while true {
                        guard let bytes = try await peer.socket.read() else { throw CancellationError() }
                        count += bytes.count
                    }
                }
                #expect(count < 7_999_999)
            }
        }
    }
}
