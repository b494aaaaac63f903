// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexSharing

@Suite("What the uploader's API shows", .timeLimit(minutes: 1))
struct UploaderReadingTests {
    private static let files = ["a/b c.txt": "hello", "a/d/e": "", "größe.png": "x", ".hidden": "x"]
    /// As queries have it, which say more bytes than JSON.
    private static let badQueries = [
        "..", "../x", "a%2F..", "%2e%2e/x", "a%00b", ".duplex", "a//b", "%ff", "%e2%80%ae",
    ]

    // MARK: Lists

    @Test("A list has what is in a folder, and what may be done there")
    func list() async throws {
        try await UploaderFixture.run(Self.files) { uploader async throws in
            let top = try await uploader.list()
            #expect(top.path == "" && !top.isCut && top.mayWrite && top.quota == nil)
            #expect(top.free > 0)
            let entries = top.entries.sorted { $0.name < $1.name }
            #expect(entries.map(\.name) == ["a", "größe.png"])
            #expect(entries.map(\.kind) == ["folder", "file"] && entries.map(\.type) == [nil, "image/png"])
            #expect(entries.map(\.size) == [0, 1] && entries.allSatisfy { $0.tag != nil && $0.path == nil })
            #expect(entries[1].modified.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil)
            let below = try await uploader.list("?path=/a/")
            #expect(below.path == "a" && below.entries.count == 2)
            #expect(try await uploader.list("?path=a").entries == below.entries)
        }
    }

    @Test("A list says that it is cut, and what the quota is")
    func bounds() async throws {
        var options = FolderOptions()
        options.listingLimit = 2
        options.quota = .kibibytes(1)
        try await UploaderFixture.run(["a": "", "b": "12345", "c": ""], folder: options) { uploader async throws in
            let list = try await uploader.list()
            #expect(list.entries.count == 2 && list.isCut)
            #expect(list.quota == 1_024 && list.free == 1_019)
        }
    }

    @Test("There is no list of what is gone, of a file, of what is hidden")
    func noList() async throws {
        try await UploaderFixture.run(Self.files) { uploader async throws in
            #expect(try await uploader.code("list?path=none") == 404)
            #expect(try await uploader.code("list?path=none/none") == 404)
            #expect(try await uploader.code("list?path=a/b%20c.txt") == 409)
            #expect(try await uploader.code("list?path=.hidden") == 404)
            #expect(try await uploader.code("list?path=%zz") == 400)
        }
    }

    @Test("A path that can't be one leads nowhere", arguments: badQueries)
    func badNames(path: String) async throws {
        try await UploaderFixture.run(Self.files) { uploader async throws in
            for name in ["list", "download", "view", "zip"] {
                let code = try await uploader.code("\(name)?path=\(path)")
                #expect(code == 403 || code == 400, "\(name)")
            }
            let code = try await uploader.code("search?text=a&path=\(path)")
            #expect(code == 403 || code == 400)
        }
    }

    @Test("A link that leads out isn't there")
    func links() async throws {
        try await UploaderFixture.run(Self.files, links: ["out": "/etc/passwd", "folder": "/etc"]) {
            uploader async throws in
            #expect(try await uploader.list().entries.count == 2)
            for path in ["out", "folder/passwd"] {
                #expect(try await uploader.code("download?path=\(path)") == 404)
                #expect(try await uploader.code("view?path=\(path)") == 404)
                #expect(try await uploader.code("zip?path=\(path)") == 404)
            }
        }
    }

    // MARK: Searches

    @Test("A search finds names below a folder, and says where they are")
    func search() async throws {
        try await UploaderFixture.run(Self.files) { uploader async throws in
            let found = try await uploader.search("?path=&text=GR%C3%96%C3%9FE")
            #expect(found.entries.map(\.path) == ["größe.png"] && !found.isCut)
            #expect(try await uploader.search("?text=E&path=a").entries.map(\.path) == ["a/d/e"])
            #expect(try await uploader.search("?text=hidden").entries == [])
            #expect(try await uploader.code("search?path=a") == 400)
            #expect(try await uploader.code("search?text=a&path=none") == 404)
        }
    }

    @Test("A search ends where it is told to")
    func searchBounds() async throws {
        var options = UploaderOptions()
        options.resultLimit = 1
        try await UploaderFixture.run(["a": "", "b/a": ""], showing: options) { uploader async throws in
            let found = try await uploader.search("?text=a")
            #expect(found.entries.map(\.path) == ["a"] && found.isCut)
        }
    }

    // MARK: Files

    @Test("A download is kept under its name, whole or a part")
    func download() async throws {
        try await UploaderFixture.run(Self.files) { uploader async throws in
            let whole = try await uploader.get("download?path=a/b%20c.txt")
            #expect(whole.text == "hello" && whole.headers[.contentType] == "text/plain; charset=utf-8")
            #expect(whole.headers[.contentDisposition]?.hasPrefix("attachment; filename=\"b c.txt\"") == true)
            #expect(whole.headers[.contentSecurityPolicy] == "sandbox")
            #expect(whole.headers[.cacheControl] == "private, no-cache")
            #expect(whole.headers[.crossOriginResourcePolicy] == "same-origin")
            let tag = try #require(whole.headers[.eTag])
            #expect(try await uploader.get("download?path=a/b%20c.txt", [.ifNoneMatch: tag]).status == .notModified)
            let part = try await uploader.get("download?path=a/b%20c.txt", [.range: "bytes=1-2"])
            #expect(part.status == .partialContent && part.text == "el")
            #expect(try await uploader.code("download?path=a") == 400)
            #expect(try await uploader.code("download?path=none") == 404)
            #expect(try await uploader.code("download?path=.hidden") == 404)
        }
    }

    @Test("What is shown in the page can do nothing there, and a PDF is in no sandbox")
    func view() async throws {
        let files = ["a.html": "<script>x</script>", "a.svg": "<svg/>", "a.pdf": "%PDF-", "a.txt": "0123"]
        try await UploaderFixture.run(files) { uploader async throws in
            for name in files.keys {
                let response = try await uploader.get("view?path=\(name)")
                let policy = try #require(response.headers[.contentSecurityPolicy])
                #expect(policy.hasPrefix("default-src 'none'; ") && policy.contains("frame-ancestors 'self'"))
                #expect(policy.contains("sandbox") == (name != "a.pdf") && !policy.contains("script-src"))
                #expect(response.headers[.xContentTypeOptions] == "nosniff")
                #expect(response.headers[.xFrameOptions] == "SAMEORIGIN")
                #expect(response.headers[.contentDisposition]?.hasPrefix("inline;") == true)
            }
            #expect(try await uploader.get("view?path=a.txt", [.range: "bytes=-1"]).text == "3")
            #expect(try await uploader.get("view?path=a.txt", [.range: "bytes=9-"]).status.code == 416)
        }
    }

    @Test("A frame of the page is let in where the server lets none in")
    func frames() async throws {
        try await withTestFolder(["a.pdf": "%PDF-"]) { root in
            var server = WebServer(port: 0)
            server.use(.securityHeaders())
            server.uploader("/", folder: try SharedFolder(root))
            try await server.test { client async throws in
                #expect(try await client.get("/view?path=a.pdf").headers[.xFrameOptions] == "SAMEORIGIN")
                #expect(try await client.get("/").headers[.xFrameOptions] == "DENY")
            }
        }
    }

    @Test("A zip has what was chosen, under a name of its own")
    func zip() async throws {
        try await UploaderFixture.run(Self.files) { uploader async throws in
            func name(_ query: String) async throws -> String? {
                let response = try await uploader.get("zip?\(query)")
                #expect(response.headers[.contentType] == "application/zip" && response.text.hasPrefix("PK"))
                #expect(response.headers[.cacheControl] == "no-store")
                return response.headers[.contentDisposition]?.split(separator: "\"").dropFirst().first.map(String.init)
            }
            #expect(try await name("path=a") == "a.zip")
            #expect(try await name("path=a&path=gr%C3%B6%C3%9Fe.png") == "files.zip")
            #expect(try await name("path=a/b%20c.txt&path=a/d") == "a.zip")
            #expect(try await name("path=") == "files.zip")
            #expect(try await uploader.code("zip") == 400)
            #expect(try await uploader.code("zip?path=a&path=none") == 404)
        }
    }

    @Test("What is too much for an address is named by a form")
    func zipOfForm() async throws {
        try await UploaderFixture.run(Self.files) { uploader async throws in
            func zip(_ paths: String, _ others: HTTPFields = [:]) async throws -> TestResponse {
                var headers = others
                headers[.contentType] = "application/x-www-form-urlencoded"
                return try await uploader.request(.post, "zip", headers, "paths=\(paths)")
            }
            let response = try await zip("a/b+c.txt%0D%0Aa/d%0Agr%C3%B6%C3%9Fe.png")
            #expect(response.headers[.contentType] == "application/zip" && response.status == .ok)
            for name in ["b c.txt", "d/e", "größe.png"] { #expect(response.text.contains(name)) }
            #expect(response.headers[.contentSecurityPolicy]?.contains("frame-ancestors 'self'") == true)
            // Each path counts once, and there is a limit for all of them.
            let once = try await zip("a/b+c.txt")
            #expect(
                try await zip("a/b+c.txt" + String(repeating: "%0Aa/b+c.txt", count: 20_000)).body.count
                    == once.body.count
            )
            let many = (0...10_000).map { "x\($0)" }.joined(separator: "%0A")
            #expect(try await zip(many).status == .badRequest)
            #expect(try await zip("").status == .badRequest)
            #expect(try await zip("a%0Anone").status == .notFound)
            #expect(try await zip("a%0A../x").status == .forbidden)
            #expect(try await zip("a", [.origin: "https://other.example"]).status == .forbidden)
            #expect(try await uploader.code("zip", "{}") == 415)
        }
    }

    // MARK: Who may

    @Test("Who may only read sees all but the trash, and nobody else sees anything")
    func readers() async throws {
        try await UploaderFixture.run(Self.files, folder: UploaderFixture.roles) { uploader async throws in
            let gets = ["list", "search?text=a", "download?path=a/d/e", "view?path=a/d/e", "zip?path=a"]
            for path in gets {
                #expect(try await uploader.with("reader").code(path) == 200, "\(path)")
                #expect(try await uploader.with("nobody").code(path) == 403, "\(path)")
            }
            #expect(try await uploader.with("reader").list().mayWrite == false)
            #expect(try await uploader.with("writer").list().mayWrite)
            #expect(try await uploader.with("reader").code("trash") == 403)
            #expect(try await uploader.with("writer").code("trash") == 200)
        }
    }

    @Test("The app may refuse what is read")
    func hooks() async throws {
        var options = FolderOptions()
        options.before = { operation in
            if operation.path.name == "e" { throw Problem(.unavailableForLegalReasons, "Not here.") }
        }
        try await UploaderFixture.run(Self.files, folder: options) { uploader async throws in
            #expect(try await uploader.code("download?path=a/d/e") == 451)
            #expect(try await uploader.code("view?path=a/b%20c.txt") == 200)
        }
    }
}
