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

@testable import DuplexSharing

@Suite("COPY and MOVE", .timeLimit(minutes: 1))
struct WebDAVMovingTests {
    private static let files = ["a": "A", "b": "B", "f/c": "C", "f/g/d": "D", "h/": ""]

    @Test("A file goes, and what is there goes only where that is allowed", arguments: [true, false])
    func files(isMove: Bool) async throws {
        let method = isMove ? HTTPRequest.Method.move : .copy
        try await WebDAVFixture.run(Self.files) { dav async throws in
            let first = try await dav.request(method, "a", [.destination: "http://\(dav.host)/dav/h/%C3%A4"])
            #expect(first.status == .created && first.headers[.location] == "/dav/h/%C3%A4")
            #expect(dav.text("h/ä") == "A" && (dav.text("a") == nil) == isMove)
            #expect(try await dav.code(method, "h/%C3%A4", [.destination: "/dav/b", .overwrite: "F"]) == 412)
            #expect(dav.text("b") == "B" && dav.text("h/ä") == "A")
            #expect(try await dav.code(method, "h/%C3%A4", [.destination: "/dav/b", .overwrite: "T"]) == 204)
            #expect(dav.text("b") == "A" && (dav.text("h/ä") == nil) == isMove)
        }
    }

    @Test("A folder goes with all in it, and takes the place of another as a whole", arguments: [true, false])
    func folders(isMove: Bool) async throws {
        let method = isMove ? HTTPRequest.Method.move : .copy
        try await WebDAVFixture.run(Self.files.merging(["i/old": "x"]) { first, _ in first }) { dav async throws in
            #expect(try await dav.code(method, "f/", [.destination: "/dav/i/"]) == 204)
            #expect(dav.text("i/c") == "C" && dav.text("i/g/d") == "D" && dav.text("i/old") == nil)
            #expect(dav.isFolder("f") != isMove)
            // A file in the place of a folder, and a folder in that of a file.
            #expect(try await dav.code(method, "a", [.destination: "/dav/i"]) == 204)
            #expect(dav.text("i") == "A")
            #expect(try await dav.code(method, "h", [.destination: "/dav/b"]) == 204)
            #expect(dav.isFolder("b"))
        }
    }

    @Test("Behind a proxy with a Host of its own the client's host is the server's, by a field or by an option")
    func proxied() async throws {
        let url = "https://files.example/dav/moved"
        let forwarded = try #require(HTTPField.Name("X-Forwarded-Host"))
        let standard = try #require(HTTPField.Name("Forwarded"))
        for name in [[forwarded: "files.example"], [standard: "for=192.0.2.1;host=files.example;proto=https"]] {
            try await WebDAVFixture.run(Self.files) { dav async throws in
                var headers: HTTPFields = [.destination: url]
                #expect(try await dav.code(.move, "a", headers) == 502)
                for (name, value) in name { headers[name] = value }
                let moved = try await dav.request(.move, "a", headers)
                #expect(moved.status == .created && moved.headers[.location] == "/dav/moved")
                // And the resource that a lock's token is for.
                let token = try await dav.lock("moved")
                headers[.davIf] = "<\(url)> (<\(token)>)"
                headers[.destination] = "https://files.example/dav/b"
                #expect(try await dav.code(.copy, "moved", headers) == 204)
                headers[name.keys.first ?? forwarded] = "other.example"
                #expect(try await dav.code(.copy, "moved", headers) != 204)
            }
        }
        var sharing = WebDAVOptions()
        sharing.publicHosts = ["files.example"]
        try await WebDAVFixture.run(Self.files, sharing: sharing) { dav async throws in
            #expect(try await dav.code(.move, "a", [.destination: url]) == 201)
            #expect(try await dav.code(.move, "b", [.destination: "https://other.example/dav/c"]) == 502)
        }
    }

    @Test("MOVE behind a proxy, over a connection")
    func proxiedOverConnection() async throws {
        try await withTestFolder(["a": "A"]) { root in
            let folder = try SharedFolder(root)
            try await withServer { server in
                server.webDAV("/dav", folder: folder)
            } _: { address in
                let peer = try await RawPeer.connect(to: address)
                let answer = try await peer.response(
                    to: "MOVE /dav/a HTTP/1.1\r\nHost: inner\r\nX-Forwarded-Host: files.example:8443\r\n"
                        + "Destination: https://files.example:8443/dav/b\r\n\r\n"
                )
                #expect(answer.status == 201 && answer["Location"] == "/dav/b")
            }
        }
    }

    @Test("COPY of a folder with Depth 0 is the folder alone")
    func shallow() async throws {
        try await WebDAVFixture.run(Self.files) { dav async throws in
            #expect(try await dav.code(.copy, "f", [.destination: "/dav/z", .depth: "0"]) == 201)
            #expect(dav.isFolder("z") && dav.text("z/c") == nil)
            #expect(try await dav.code(.copy, "f", [.destination: "/dav/y", .depth: "1"]) == 400)
            #expect(try await dav.code(.move, "f", [.destination: "/dav/y", .depth: "0"]) == 400)
        }
    }

    @Test("Over file systems, too: what can't go there whole stays", .enabled(if: TestMount.isPossible))
    func overDevices() async throws {
        try await WebDAVFixture.run(Self.files.merging(["mount/": ""]) { first, _ in first }) { dav async throws in
            try await TestMount.with(dav.root + "mount") {
                #expect(try await dav.code(.put, "mount/p", [:], "P") == 201)
                #expect(try await dav.code(.copy, "f", [.destination: "/dav/mount/f"]) == 201)
                #expect(try await dav.code(.move, "f", [.destination: "/dav/mount/f", .overwrite: "F"]) == 412)
                #expect(try await dav.code(.move, "f", [.destination: "/dav/mount/f"]) == 204)
                #expect(dav.text("mount/f/g/d") == "D" && dav.text("f/c") == nil)
                try FileManager.default.createSymbolicLink(atPath: dav.root + "mount/f/l", withDestinationPath: "c")
                #expect(try await dav.code(.move, "mount/f", [.destination: "/dav/b"]) == 403)
                #expect(dav.text("mount/f/g/d") == "D" && dav.text("b") == "B")
                #expect(try await dav.code(.delete, "mount") == 403)
                #expect(try await dav.code(.delete, "mount/f") == 204)
                #expect(try FileManager.default.contentsOfDirectory(atPath: dav.root + "mount") == ["p"])
            }
        }
    }

    @Test("What can't go stays, and nothing is destroyed", arguments: [HTTPRequest.Method.move, .copy])
    func refused(method: HTTPRequest.Method) async throws {
        try await WebDAVFixture.run(Self.files) { dav async throws in
            let cases: [(String, String, Int)] = [
                ("a", "/dav/a", 403), ("f", "/dav/f/g/x", 403), ("f/c", "/dav/f", 403), ("a", "/dav/none/a", 409),
                ("none", "/dav/b", 404), ("a", "/dav/.duplex", 403), ("a", "/dav/..%2Fb", 403), ("a", "/b", 502),
                ("a", "http://example.net/dav/b", 502), ("a", "b", 400), ("f", "/dav/", 403),
            ]
            for (path, destination, status) in cases {
                let code = try await dav.code(method, path, [.destination: destination])
                #expect(code == status, "\(path) to \(destination)")
            }
            #expect(try await dav.code(method, "a") == 400)
            #expect(dav.text("a") == "A" && dav.text("f/c") == "C" && dav.text("f/g/d") == "D")
        }
    }
}

extension WebDAVFixture {
    /// What the server is called in URLs.
    fileprivate var host: String { "localhost" }
}
