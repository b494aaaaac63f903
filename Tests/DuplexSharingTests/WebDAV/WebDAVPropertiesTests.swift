// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexSharing

@Suite("PROPFIND and PROPPATCH", .timeLimit(minutes: 1))
struct WebDAVPropertiesTests {
    private static let own = XMLName("note", in: "u:own")

    private static func update(_ steps: String) -> String {
        "<D:propertyupdate xmlns:D='DAV:' xmlns:o='u:own' xml:lang='de'>\(steps)</D:propertyupdate>"
    }

    private static func set(_ text: String) -> String {
        update("<D:set><D:prop><o:note>\(text)</o:note></D:prop></D:set>")
    }

    @Test("All that is common is told of a file and of a folder")
    func all() async throws {
        try await WebDAVFixture.run(["f/a.txt": "Hello"]) { dav async throws in
            let found = try await dav.properties("f", depth: "1")
            #expect(Set(found.keys) == ["/dav/f/", "/dav/f/a.txt"])
            let (folder, file) = (try #require(found["/dav/f/"]), try #require(found["/dav/f/a.txt"]))
            #expect(folder[.dav("resourcetype")]?.elements.map(\.name) == [.dav("collection")])
            #expect(file[.dav("resourcetype")]?.children == [])
            #expect(file[.dav("getcontentlength")]?.text == "5" && folder[.dav("getcontentlength")] == nil)
            #expect(file[.dav("getcontenttype")]?.text.hasPrefix("text/plain") == true)
            #expect(file[.dav("displayname")]?.text == "a.txt" && folder[.dav("displayname")]?.text == "f")
            let get = try await dav.request(.head, "f/a.txt")
            #expect(file[.dav("getetag")]?.text.suffix(20) == get.headers[.eTag]?.suffix(20))
            #expect(file[.dav("getlastmodified")]?.text == get.headers[.lastModified])
            #expect(file[.dav("creationdate")]?.text.hasSuffix("Z") == true)
            #expect(file[.dav("supportedlock")]?.elements.count == 2)
            #expect(file[.dav("quota-available-bytes")] == nil)
            #expect(try await dav.properties("").keys.sorted() == ["/dav/"])
        }
    }

    @Test("Those that are named, with 404 for those that aren't there; and names alone")
    func named() async throws {
        try await WebDAVFixture.run(["a": "Hello"]) { dav async throws in
            let body = "<propfind xmlns='DAV:'><prop><getcontentlength/><x xmlns='u:'/></prop></propfind>"
            let response = try await dav.request(.propfind, "a", [.depth: "0"], body)
            #expect(try WebDAVFixture.resources(response)["/dav/a"]?.keys.map(\.local) == ["getcontentlength"])
            let missing = try WebDAVFixture.resources(response, status: "404")
            #expect(missing["/dav/a"]?.keys.map(\.description) == ["{u:}x"])
            let names = try await dav.properties("a", "<propfind xmlns='DAV:'><propname/></propfind>")
            #expect(names["/dav/a"]?[.dav("getcontentlength")]?.children == [])
            #expect(names["/dav/a"]?.count == 9)
        }
    }

    @Test("Room is told where it is asked for (RFC 4331)")
    func quota() async throws {
        var options = FolderOptions()
        options.quota = .bytes(1_000)
        try await WebDAVFixture.run(["a": "Hello"], folder: options) { dav async throws in
            let body = """
                <propfind xmlns='DAV:'><prop><quota-available-bytes/><quota-used-bytes/></prop></propfind>
                """
            let found = try await dav.properties("", body)["/dav/"]
            #expect(found?[.dav("quota-available-bytes")]?.text == "995")
            #expect(found?[.dav("quota-used-bytes")]?.text == "5")
            #expect(try await dav.code(.put, "b", [:], String(repeating: "x", count: 996)) == 507)
        }
    }

    @Test("A depth without end, and what is no question, are refused")
    func refused() async throws {
        try await WebDAVFixture.run(["a": "Hello"]) { dav async throws in
            let response = try await dav.request(.propfind, "", [.depth: "infinity"])
            #expect(response.status == .forbidden && response.text.contains("propfind-finite-depth"))
            // Clients that leave the field out mean no more than this (webdav4 for Python).
            #expect(try WebDAVFixture.resources(try await dav.request(.propfind, "")).count == 2)
            #expect(try await dav.code(.propfind, "none") == 404)
            for body in ["<propfind xmlns='DAV:'>", "<propfind/>", "x", "<!DOCTYPE a><propfind xmlns='DAV:'/>"] {
                #expect(try await dav.code(.propfind, "a", [.depth: "0"], body) == 400, "\(body)")
            }
            let deep = String(repeating: "<a>", count: 40) + String(repeating: "</a>", count: 40)
            let bombs = [
                "<!DOCTYPE a [<!ENTITY b 'bb'><!ENTITY c '&b;&b;'>]><propfind xmlns='DAV:'><prop>&c;</prop></propfind>",
                "<!DOCTYPE a SYSTEM 'file:///etc/passwd'><propfind xmlns='DAV:'/>",
                "<propfind xmlns='DAV:'>&b;</propfind>",
            ]
            for (method, path) in [(HTTPRequest.Method.propfind, "a"), (.proppatch, "a"), (.lock, "a"), (.lock, "new")]
            {
                for body in bombs { #expect(try await dav.code(method, path, [.depth: "0"], body) == 400, "\(method)") }
                #expect(try await dav.code(method, path, [.depth: "0"], deep) == 413, "\(method)")
            }
            #expect(dav.text("new") == nil)
            let long = "<propfind xmlns='DAV:'>" + String(repeating: " ", count: 1 << 20) + "</propfind>"
            #expect(try await dav.code(.propfind, "a", [.depth: "0"], long) == 413)
            #expect(try await dav.code(.propfind, "none", [.depth: "0"]) == 404)
        }
    }

    @Test("What clients note stays as it was, with its markup and its language")
    func dead() async throws {
        try await WebDAVFixture.run(["a": "Hello"]) { dav async throws in
            let value = "one <o:b x='&lt;&#13;'>two</o:b> &amp; ä"
            #expect(try await dav.code(.proppatch, "a", [:], Self.set(value)) == 207)
            let found = try #require(try await dav.properties("a")["/dav/a"]?[Self.own])
            #expect(found.attribute(.language) == "de" && found.text == "one  & ä")
            let inner = try #require(found.elements.first)
            #expect(inner.name == XMLName("b", in: "u:own") && inner.text == "two")
            #expect(inner.attribute(XMLName("x", in: "")) == "<\r")
            let removal = Self.update("<D:remove><D:prop><o:note/><o:none/></D:prop></D:remove>")
            let response = try await dav.request(.proppatch, "a", [:], removal)
            #expect(try WebDAVFixture.resources(response)["/dav/a"]?.count == 2)
            #expect(try await dav.properties("a")["/dav/a"]?[Self.own] == nil)
        }
    }

    @Test("A property that is the server's makes all of it fail")
    func protected() async throws {
        try await WebDAVFixture.run(["a": "Hello"]) { dav async throws in
            let body = Self.update("<D:set><D:prop><o:note>x</o:note><D:getetag>x</D:getetag></D:prop></D:set>")
            let response = try await dav.request(.proppatch, "a", [:], body)
            #expect(response.status == .multi && response.text.contains("cannot-modify-protected-property"))
            #expect(try WebDAVFixture.resources(response, status: "403")["/dav/a"]?.keys.map(\.local) == ["getetag"])
            #expect(try WebDAVFixture.resources(response, status: "424")["/dav/a"]?.keys.map(\.local) == ["note"])
            #expect(try await dav.properties("a")["/dav/a"]?[Self.own] == nil)
            // Another name to show is the client's business.
            let name = Self.update("<D:set><D:prop><D:displayname>x</D:displayname></D:prop></D:set>")
            #expect(try await dav.code(.proppatch, "a", [:], name) == 207)
            #expect(try await dav.properties("a")["/dav/a"]?[.dav("displayname")]?.text == "x")
        }
    }

    @Test("Properties go where the file goes, stay when it is written, and may be as long as they may be")
    func travel() async throws {
        var sharing = WebDAVOptions()
        sharing.propertySize = .kibibytes(32)
        try await WebDAVFixture.run(["a": "Hello", "f/": ""], sharing: sharing) { dav async throws in
            func note(_ path: String) async throws -> String? {
                try await dav.properties(path).values.first?[Self.own]?.text
            }
            // The longer one is more than ext4 keeps with a file, and lies beside.
            for text in ["x", String(repeating: "y", count: 30_000)] {
                #expect(try await dav.code(.put, "f/a", [:], "x") < 300)
                #expect(try await dav.code(.proppatch, "f/a", [:], Self.set(text)) == 207)
                #expect(try await dav.code(.put, "f/a", [:], "y") == 204)
                #expect(try await note("f/a") == text)
                #expect(try await dav.code(.copy, "f", [.destination: "/dav/g"]) < 300)
                #expect(try await dav.code(.move, "f/a", [.destination: "/dav/b"]) < 300)
                #expect(try await note("g/a") == text)
                #expect(try await note("b") == text)
                #expect(try await dav.code(.delete, "b") == 204)
                #expect(try await dav.code(.put, "b", [:], "y") == 201)
                #expect(try await note("b") == nil)
            }
            let long = try await dav.request(.proppatch, "a", [:], Self.set(String(repeating: "z", count: 33_000)))
            #expect(try WebDAVFixture.resources(long, status: "507")["/dav/a"]?.count == 1)
        }
    }

    @Test("A folder with many files is told of whole")
    func many() async throws {
        let files = Dictionary(uniqueKeysWithValues: (0..<300).map { ("f/\($0)", "x") })
        try await WebDAVFixture.run(files) { dav async throws in
            #expect(try await dav.properties("f", depth: "1").count == 301)
        }
    }

    @Test("The answer to a request of 8 KB is as long as its names, whatever their namespace")
    func escaped() async throws {
        let files = Dictionary(uniqueKeysWithValues: (0..<100).map { ("f/\($0)", "x") })
        try await WebDAVFixture.run(files) { dav async throws in
            let namespace = String(repeating: "&quot;", count: 1_000)
            let names = (0..<256).map { "<x:a\($0)/>" }.joined()
            let body = "<propfind xmlns='DAV:'><prop xmlns:x='\(namespace)'>\(names)</prop></propfind>"
            let response = try await dav.request(.propfind, "f", [.depth: "1"], body)
            #expect(response.status == .multi && response.body.count < 500_000)
            let missing = try WebDAVFixture.resources(response, status: "404")
            #expect(missing.count == 101)
            let name = XMLName("a255", in: String(repeating: "\"", count: 1_000))
            #expect(missing["/dav/f/99"]?[name] != nil && missing["/dav/f/"]?.count == 256)
            let removal = "<remove><prop xmlns:x='\(namespace)'>\(names)</prop></remove>"
            let update = "<propertyupdate xmlns='DAV:'>\(removal)</propertyupdate>"
            let done = try await dav.request(.proppatch, "f/0", [:], update)
            #expect(done.status == .multi && done.body.count < 10_000)
            #expect(try WebDAVFixture.resources(done)["/dav/f/0"]?.count == 256)
        }
    }

    @Test("One with more than are listed isn't told of by halves")
    func tooMany() async throws {
        var options = FolderOptions()
        options.listingLimit = 3
        let files = Dictionary(uniqueKeysWithValues: (0..<4).map { ("f/\($0)", "x") })
        try await WebDAVFixture.run(files, folder: options) { dav async throws in
            let response = try await dav.request(.propfind, "f", [.depth: "1"])
            #expect(response.status == .insufficientStorage)
            #expect(response.text.contains("number-of-matches-within-limits"))
            #expect(try await dav.request(.propfind, "f", [.depth: "0"]).status.code == 207)
            try await dav.request(.delete, "f/0")
            #expect(try await dav.properties("f", depth: "1").count == 4)
        }
    }
}
