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

@Suite("Deep trees and names of bytes by WebDAV and the uploader's API", .timeLimit(minutes: 2))
struct DeepWebDAVTests {
    @Test("COPY and MOVE have names that aren't UTF-8, and PROPFIND says how many it doesn't list")
    func rawNames() async throws {
        try await UploaderFixture.run(["old/plain.txt": "x"]) { files async throws in
            try DeepFolder.makeFile([0x63, 0xE9, 0x2E, 0x74], in: files.root + "old/", "first")
            try DeepFolder.makeFolder([0xFF], in: files.root + "old/")
            let copied = try await files.client.request(.copy, "/dav/old/", headers: [.destination: "/dav/new/"])
            #expect(copied.status == .created)
            let expected: Set<[UInt8]> = [Array("plain.txt".utf8), [0x63, 0xE9, 0x2E, 0x74], [0xFF]]
            #expect(try DeepFolder.names(in: files.root + "new") == expected)
            let moved = try await files.client.request(.move, "/dav/new/", headers: [.destination: "/dav/third/"])
            #expect(moved.status == .created)
            #expect(try DeepFolder.names(in: files.root + "third") == expected)
            let found = try await files.client.request(.propfind, "/dav/third/", headers: [.depth: "1"])
            let root = try XMLReader.element(of: found.body, XMLLimits())
            #expect(root.elements.count { $0.name == .dav("response") } == 2)
            let remark = root.first(.dav("responsedescription"))?.text
            #expect(remark == "Not listed, as their names can't be in a URL here: 2.")
            let listing = try await files.client.get("/dav/third/", headers: [.accept: "application/json"])
            #expect(listing.text.contains("\"unlisted\":2"))
            let page = try await files.client.get("/dav/third/", headers: [.accept: "text/html"])
            #expect(page.text.contains("can't be in an address: 2."))
            let list = try await files.client.get("/files/list?path=third")
            #expect(list.text.contains("\"unlisted\":2"))
            #expect(try await files.client.request(.delete, "/dav/third/").status == .noContent)
            #expect(!FileManager.default.fileExists(atPath: files.root + "third"))
        }
    }

    @Test("A tree that was nested by moves goes by DELETE, and nothing is left on the disk")
    func nested() async throws {
        try await WebDAVFixture.run { dav async throws in
            for (number, name) in ["a", "b", "c", "d"].enumerated() {
                try DeepFolder.make([String](repeating: name, count: 98), in: dav.root)
                if number == 0 { continue }
                let inner = ["a", "b", "c", "d"][number - 1]
                let target = "/dav/" + String(repeating: name + "/", count: 98) + inner
                #expect(try await dav.code(.move, inner, [.destination: target]) == 201)
            }
            #expect(try await dav.code(.copy, "d", [.destination: "/dav/e"]) == 201)
            #expect(
                try await dav.code(.propfind, "e/" + String(repeating: "d/", count: 97) + "c", [.depth: "1"]) == 207
            )
            // Its content lies deeper than a path leads.
            let last = "e/" + String(repeating: "d/", count: 97) + "c/c"
            #expect(try await dav.code(.propfind, last, [.depth: "1"]) == 507)
            for name in ["d", "e"] { #expect(try await dav.code(.delete, name) == 204) }
            let left = try FileManager.default.subpathsOfDirectory(atPath: dav.root)
            #expect(left.allSatisfy { $0.hasPrefix(".duplex") } && left.count == 3, "\(left.count)")
        }
    }

    @Test("What DELETE can't remove is in its place, and an error", .enabled(if: TestMount.isPossible))
    func stays() async throws {
        try await WebDAVFixture.run(["a/m/mount/": "", "a/b": "x"]) { dav async throws in
            try await TestMount.with(dav.root + "a/m/mount") {
                let response = try await dav.request(.delete, "a")
                #expect(response.status == .forbidden && response.text.contains("what is left is in its place"))
                #expect(dav.isFolder("a/m/mount") && dav.text("a/b") == nil)
            }
            #expect(try await dav.code(.delete, "a") == 204)
        }
    }
}
