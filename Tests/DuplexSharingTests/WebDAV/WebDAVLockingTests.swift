// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Foundation
import HTTPTypes
import Testing

@testable import DuplexSharing

@Suite("LOCK and UNLOCK", .timeLimit(minutes: 1))
struct WebDAVLockingTests {
    private static let patch = """
        <D:propertyupdate xmlns:D='DAV:'><D:set><D:prop><x xmlns='u:'>1</x></D:prop></D:set></D:propertyupdate>
        """

    private static func condition(_ token: String) -> HTTPFields { [.davIf: "(<\(token)>)"] }

    private static func with(_ token: String, _ headers: HTTPFields) -> HTTPFields {
        var headers = headers
        headers[.davIf] = "</dav/> (Not <DAV:no-lock>) (<\(token)>)"
        return headers
    }

    @Test("Without its token nothing changes what is locked, with it everything does")
    func holds() async throws {
        try await WebDAVFixture.run(["f/a": "x", "f/old": "x", "b": "x", "g/": ""]) { dav async throws in
            let token = try await dav.lock("f")
            let changes: [(HTTPRequest.Method, String, HTTPFields, String)] = [
                (.put, "f/a", [:], "y"), (.put, "f/new", [:], "y"), (.proppatch, "f/a", [:], Self.patch),
                (.proppatch, "f", [:], Self.patch), (.mkcol, "f/h", [:], ""),
                (.copy, "b", [.destination: "/dav/f/copy"], ""), (.move, "f/a", [.destination: "/dav/g/a"], ""),
                (.move, "b", [.destination: "/dav/f/b"], ""), (.delete, "f/old", [:], ""), (.delete, "f", [:], ""),
            ]
            for (method, path, headers, body) in changes {
                let response = try await dav.request(method, path, headers, body)
                #expect(response.status == .locked && response.text.contains("/dav/f<"), "\(method) \(path)")
                #expect(response.text.contains("lock-token-submitted"))
            }
            for (method, path, headers, body) in changes {
                let code = try await dav.code(method, path, Self.with(token, headers), body)
                #expect(code < 300, "\(method) \(path): \(code)")
            }
            // The lock has gone with the folder.
            #expect(try await dav.code(.mkcol, "f") == 201)
            #expect(try await dav.code(.copy, "g/a", [.destination: "/dav/f/a"]) == 201)
        }
    }

    @Test("A lock on a folder alone keeps its names, and not what is in its files")
    func shallow() async throws {
        try await WebDAVFixture.run(["f/a": "x"]) { dav async throws in
            _ = try await dav.lock("f", depth: "0")
            #expect(try await dav.code(.put, "f/a", [:], "y") == 204)
            for (method, path) in [(HTTPRequest.Method.put, "f/b"), (.mkcol, "f/g"), (.delete, "f/a")] {
                #expect(try await dav.code(method, path) == 423, "\(method)")
            }
        }
    }

    @Test("What is locked below stays, and what it is in with it: 207 says so")
    func below() async throws {
        try await WebDAVFixture.run(["f/g/a": "x", "h": "x"]) { dav async throws in
            let token = try await dav.lock("f/g/a", depth: "0")
            let response = try await dav.request(.delete, "f")
            #expect(response.status == .multi && response.text.contains("<D:href>/dav/f/g/a</D:href>"))
            #expect(response.text.contains("423 Locked") && dav.text("f/g/a") == "x")
            #expect(try await dav.code(.move, "f", [.destination: "/dav/z"]) == 207)
            #expect(try await dav.code(.copy, "h", [.destination: "/dav/f"]) == 207)
            #expect(dav.text("f/g/a") == "x")
            #expect(try await dav.code(.copy, "f", [.destination: "/dav/z"]) == 201)
            #expect(try await dav.code(.delete, "f", [.davIf: "</dav/f/g/a> (<\(token)>)"]) == 204)
        }
    }

    @Test("A second lock is refused: above, below, beside shared ones")
    func conflicts() async throws {
        try await WebDAVFixture.run(["f/a": "x"]) { dav async throws in
            _ = try await dav.lock("f/a", "shared")
            _ = try await dav.lock("f/a", "shared")
            let info = WebDAVFixture.lockInfo()
            let same = try await dav.request(.lock, "f/a", [:], info)
            #expect(same.status == .locked && same.text.contains("no-conflicting-lock"))
            let above = try await dav.request(.lock, "f", [:], info)
            #expect(above.status == .multi && above.text.contains("424 Failed Dependency"))
            #expect(try await dav.code(.lock, "f", [.depth: "0"], info) == 200)
            #expect(try await dav.code(.lock, "f", [.depth: "1"], info) == 400)
            #expect(try await dav.code(.lock, "f", [:], "<lockinfo/>") == 400)
        }
    }

    @Test("A lock on nothing makes an empty file, where there is a folder for it")
    func unmapped() async throws {
        try await WebDAVFixture.run { dav async throws in
            let response = try await dav.request(.lock, "a", [:], WebDAVFixture.lockInfo())
            #expect(response.status == .created && dav.text("a") == "")
            #expect(try await dav.code(.lock, "none/a", [:], WebDAVFixture.lockInfo()) == 409)
            // And no lock stays behind where there isn't.
            #expect(try await dav.code(.mkcol, "none") == 201)
            #expect(try await dav.code(.put, "none/a", [:], "x") == 201)
            #expect(try await dav.code(.put, "a", [:], "x") == 423)
        }
    }

    @Test("A lock that can't be kept isn't granted, and stands in nobody's way")
    func unkept() async throws {
        // Where the folder of the locks should be there is a file.
        try await WebDAVFixture.run(["a": "x", ".duplex/webdav": "x"]) { dav async throws in
            #expect(try await dav.code(.lock, "a", [:], WebDAVFixture.lockInfo()) >= 400)
            #expect(try await dav.code(.lock, "b", [:], WebDAVFixture.lockInfo()) >= 400)
            #expect(dav.text("b") == nil)
            #expect(try await dav.code(.put, "a", [:], "y") == 204)
        }
    }

    @Test("A folder isn't made by LOCK")
    func noFolders() async throws {
        try await WebDAVFixture.run { dav async throws in
            #expect(try await dav.code(.lock, "f/", [:], WebDAVFixture.lockInfo()) == 405)
            #expect(dav.text("f") == nil)
        }
    }

    @Test("What has gone while nobody served it has no lock any more")
    func goneMeanwhile() async throws {
        try await withTestFolder(["a": "x"]) { root in
            let calendar = ManualCalendar()
            try await WebDAVFixture.serve(root, calendar) { client async throws in
                _ = try await WebDAVFixture(client: client, root: root, calendar: calendar).lock("a")
            }
            try FileManager.default.removeItem(atPath: root + "a")
            try await WebDAVFixture.serve(root, calendar) { client async throws in
                let dav = WebDAVFixture(client: client, root: root, calendar: calendar)
                #expect(try await dav.code(.put, "a", [:], "y") == 201)
            }
        }
    }

    @Test("A token that was submitted has to hold when the file is written, not only when it began to come")
    func expiresMeanwhile() async throws {
        try await WebDAVFixture.run(["a": "x"]) { dav async throws in
            let token = try await dav.lock("a", [.timeout: "Second-10"])
            let connection = await dav.client.connect()
            try await connection.begin(.put, "/dav/a", headers: Self.condition(token))
            try await connection.write(Array("new".utf8))
            while try FileManager.default.subpathsOfDirectory(atPath: dav.root + ".duplex/temporary").count < 2 {
                await Task.yield()
            }
            dav.calendar.advance(by: 10)
            try await connection.finish()
            #expect(try await connection.response().status == .preconditionFailed)
            #expect(dav.text("a") == "x")
            await connection.close()
        }
    }

    @Test("Locks are told of, refreshed, end by themselves and by UNLOCK")
    func life() async throws {
        try await WebDAVFixture.run(["a": "x"]) { dav async throws in
            let token = try await dav.lock("a", [.timeout: "Second-100"])
            let found = try await dav.properties("a")["/dav/a"]?[.dav("lockdiscovery")]?.elements.first
            #expect(found?.first(.dav("locktoken"))?.first(.dav("href"))?.text == token)
            #expect(found?.first(.dav("timeout"))?.text == "Second-100" && found?.first(.dav("owner"))?.text == "me")
            dav.calendar.advance(by: 60)
            #expect(try await dav.code(.lock, "a") == 412)
            #expect(try await dav.code(.lock, "a", [.davIf: "(<urn:uuid:1>)"]) == 412)
            let refreshed = try await dav.request(.lock, "a", [.davIf: "(<\(token)>)", .timeout: "Second-50"])
            #expect(refreshed.status == .ok && refreshed.text.contains("Second-50"))
            #expect(refreshed.headers[.lockToken] == nil)
            dav.calendar.advance(by: 49)
            #expect(try await dav.code(.put, "a", [:], "y") == 423)
            #expect(try await dav.code(.unlock, "a", [.lockToken: "<urn:uuid:1>"]) == 409)
            #expect(try await dav.code(.unlock, "a") == 400)
            #expect(try await dav.code(.unlock, "a", [.lockToken: "<\(token)>"]) == 204)
            #expect(try await dav.code(.put, "a", [:], "y") == 204)
            _ = try await dav.lock("a", [.timeout: "Infinite"])
            dav.calendar.advance(by: 3_600)
            #expect(try await dav.code(.put, "a", [:], "y") == 204)
        }
    }

    @Test("A lock is its user's: the token alone helps nobody else")
    func users() async throws {
        try await WebDAVFixture.run(["a": "x"]) { dav async throws in
            let (me, you) = (dav.with("me"), dav.with("you"))
            let token = try await me.lock("a")
            #expect(try await you.code(.put, "a", Self.condition(token), "y") == 423)
            #expect(try await you.code(.unlock, "a", [.lockToken: "<\(token)>"]) == 403)
            #expect(try await you.code(.lock, "a", Self.condition(token)) == 412)
            #expect(try await me.code(.put, "a", Self.condition(token), "y") == 204)
        }
    }

    @Test("The field If is held to, whatever is locked")
    func conditions() async throws {
        try await WebDAVFixture.run(["a": "x", "b": "x"]) { dav async throws in
            #expect(try await dav.code(.put, "a", [.davIf: "(<DAV:no-lock>)"], "y") == 412)
            #expect(try await dav.code(.put, "a", [.davIf: "(Not <DAV:no-lock>)"], "y") == 204)
            #expect(try await dav.code(.put, "a", [.davIf: "("], "z") == 400)
            // Tags as the RFC's own examples have them.
            #expect(try await dav.code(.put, "a", [.davIf: #"(["I am an ETag"])"#], "z") == 412)
            #expect(try await dav.code(.put, "a", [.davIf: #"(Not [W/"A weak ETag"])"#], "y") == 204)
            #expect(try await dav.code(.put, "a", [.davIf: #"(["I am an ETag)"#], "z") == 400)
            let token = try await dav.lock("a")
            #expect(try await dav.code(.put, "a", [.davIf: "(<\(token)> [\"other\"])"], "z") == 412)
            #expect(try await dav.code(.put, "a", [.davIf: "(<\(token)>x) (Not <DAV:no-lock>)"], "z") == 400)
            #expect(try await dav.code(.put, "a", [.davIf: "(<\(token)x>) (Not <DAV:no-lock>)"], "z") == 423)
            let tagged = "<http://localhost/dav/a> (<\(token)>)"
            #expect(try await dav.code(.copy, "b", [.destination: "/dav/a", .davIf: tagged]) == 204)
            #expect(dav.text("a") == "x")
            // What was there has gone, and the lock still holds for its URL.
            #expect(try await dav.code(.put, "a", [:], "z") == 423)
        }
    }

    @Test("A deep lock is told once in a listing, of what was asked for or what it is on")
    func toldOnce() async throws {
        try await WebDAVFixture.run(["f/g/a": "x", "f/g/b": "x"]) { dav async throws in
            let (deep, own) = (try await dav.lock("f", "shared"), try await dav.lock("f/g/a", "shared", depth: "0"))
            func tokens(_ path: String, depth: String) async throws -> [String: [String]] {
                try await dav.properties(path, depth: depth).mapValues { properties in
                    let locks = properties[.dav("lockdiscovery")]?.elements ?? []
                    return locks.compactMap { $0.first(.dav("locktoken"))?.first(.dav("href"))?.text }
                }
            }
            let listed = try await tokens("f/g", depth: "1")
            #expect(listed == ["/dav/f/g/": [deep], "/dav/f/g/a": [own], "/dav/f/g/b": []])
            #expect(try await tokens("f/g/b", depth: "0") == ["/dav/f/g/b": [deep]])
            #expect(try await tokens("f/g/a", depth: "0") == ["/dav/f/g/a": [own, deep]])
        }
    }

    @Test("However many shared locks there are, answers stay short, and a user's are told to that user")
    func manyShared() async throws {
        var sharing = WebDAVOptions()
        sharing.userLockLimit = 40
        let files = Dictionary(uniqueKeysWithValues: (0..<50).map { ("\($0)", "x") })
        try await WebDAVFixture.run(files, sharing: sharing) { dav async throws in
            let (me, you) = (dav.with("me"), dav.with("you"))
            let long = WebDAVFixture.lockInfo("shared").replacing("me", with: String(repeating: "o", count: 900))
            for _ in 0..<40 {
                let response = try await you.request(.lock, "", [:], long)
                #expect(response.status == .ok && response.body.count < 2_048)
                let token = try #require(response.headers[.lockToken]?.dropFirst().dropLast())
                #expect(response.text.contains(token))
            }
            #expect(try await you.code(.lock, "", [:], long) == 507)
            let own = try await me.lock("", "shared")
            let response = try await me.request(.propfind, "", [.depth: "1"])
            #expect(response.body.count < 80_000 && response.text.contains(own))
            let tooLong = WebDAVFixture.lockInfo("shared").replacing("me", with: String(repeating: "&lt;", count: 256))
            #expect(try await me.code(.lock, "0", [:], tooLong) == 413)
        }
    }

    @Test("Locks hold over a restart, and as many as there may be")
    func restart() async throws {
        var sharing = WebDAVOptions()
        sharing.lockLimit = 2
        try await withTestFolder(["a": "x", "b": "x", "c": "x"]) { root in
            let calendar = ManualCalendar()
            try await WebDAVFixture.serve(root, calendar, sharing) { client async throws in
                let dav = WebDAVFixture(client: client, root: root, calendar: calendar)
                _ = try await dav.with("me").lock("a")
                _ = try await dav.lock("b", [.timeout: "Second-10"])
                #expect(try await dav.code(.lock, "c", [:], WebDAVFixture.lockInfo()) == 507)
            }
            calendar.advance(by: 10)
            try await WebDAVFixture.serve(root, calendar, sharing) { client async throws in
                let dav = WebDAVFixture(client: client, root: root, calendar: calendar)
                #expect(try await dav.code(.put, "a", [:], "y") == 423)
                #expect(try await dav.code(.put, "b", [:], "y") == 204)
                let owner = try await dav.properties("a")["/dav/a"]?[.dav("lockdiscovery")]?.elements.first
                #expect(owner?.first(.dav("owner"))?.text == "me")
            }
        }
    }
}

extension WebDAVFixture {
    fileprivate func lock(_ path: String, _ headers: HTTPFields) async throws -> String {
        try await lock(path, "exclusive", depth: "0", headers)
    }
}
