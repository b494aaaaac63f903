// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexTestProcesses
import DuplexTestTimes
import Foundation
import Testing

@testable import DuplexSharing

/// Clients that end their sending side after a request, as `nc -N` does, over a real connection.
@Suite(.timeLimit(minutes: 1)) struct HalfClosedWebDAVTests {
    /// What a client asks for, the status that it gets, and whether the file at the path is there then.
    struct Step: Sendable, CustomTestStringConvertible {
        var method: String
        var path: String
        var rest = ""
        var status: Int
        var leaves: String?
        var removes: String?

        var testDescription: String { "\(method) \(path)" }

        func request(_ number: Int) -> String {
            "\(method) /dav/\(number)-\(path) HTTP/1.\(number % 2)\r\nHost: localhost\r\n"
                + rest.replacing("NUMBER", with: "\(number)") + (rest.contains("\r\n\r\n") ? "" : "\r\n")
        }
    }

    static let steps = [
        Step(method: "PUT", path: "a.txt", rest: "Content-Length: 5\r\n\r\nhello", status: 201, leaves: "a.txt"),
        Step(method: "MKCOL", path: "folder", status: 201, leaves: "folder"),
        Step(
            method: "MOVE",
            path: "a.txt",
            rest: "Destination: /dav/NUMBER-folder/b.txt\r\n",
            status: 201,
            leaves: "folder/b.txt",
            removes: "a.txt"
        ),
        Step(
            method: "COPY",
            path: "folder",
            rest: "Destination: /dav/NUMBER-copy\r\n",
            status: 201,
            leaves: "copy/b.txt"
        ),
        Step(method: "GET", path: "folder/b.txt", status: 200, leaves: "folder/b.txt"),
        Step(method: "PROPFIND", path: "folder", rest: "Depth: 1\r\n", status: 207, leaves: "folder/b.txt"),
        Step(method: "DELETE", path: "folder", status: 204, removes: "folder"),
    ]

    @Test("Each change of a folder is made, and answered with what was done, each of many times")
    func steps() async throws {
        try await withTestFolder([:]) { root in
            let folder = try SharedFolder(root)
            try await withServer { server in
                server.webDAV("/dav", folder: folder)
            } _: { address in
                for number in 0..<12 {
                    for step in Self.steps {
                        let peer = try await RawPeer.connect(to: address)
                        try await peer.send(step.request(number))
                        await peer.finishWriting()
                        let text = String(decoding: try await peer.readToEnd(), as: UTF8.self)
                        #expect(text.hasPrefix("HTTP/1.1 \(step.status) "), "\(step.method): \(text.prefix(100))")
                        let files = FileManager.default
                        if let path = step.leaves { #expect(files.fileExists(atPath: "\(root)\(number)-\(path)")) }
                        if let path = step.removes { #expect(!files.fileExists(atPath: "\(root)\(number)-\(path)")) }
                    }
                }
            }
        }
    }

    @Test("A file whose sending was cut isn't there, and the client is told")
    func cut() async throws {
        try await withTestFolder([:]) { root in
            let folder = try SharedFolder(root)
            try await withServer { server in
                server.webDAV("/dav", folder: folder)
            } _: { address in
                let peer = try await RawPeer.connect(to: address)
                try await peer.send("PUT /dav/a.txt HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhel")
                await peer.finishWriting()
                #expect(try await peer.readResponse().status == 400)
                #expect(try await peer.isAtEnd())
                #expect(!FileManager.default.fileExists(atPath: root + "a.txt"))
            }
        }
    }
}
