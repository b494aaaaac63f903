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

@Suite("The uploader's page and its files, as they are sent", .timeLimit(minutes: 1))
struct PageSiteTests {
    @Test("The page has the app's texts, escaped, and a policy without anything inline")
    func page() async throws {
        var options = UploaderOptions()
        options.title = "<Ours> & \"yours\""
        options.footer = "At home"
        options.pieceSize = .mebibytes(1)
        options.parallelUploads = 2
        try await UploaderFixture.run(showing: options) { uploader async throws in
            let page = try await uploader.get("")
            #expect(page.status == .ok && page.headers[.contentType] == "text/html; charset=utf-8")
            #expect(page.text.contains("<title>&lt;Ours&gt; &amp; &quot;yours&quot;</title>"))
            #expect(page.text.contains("<p>At home</p>") && page.text.contains("data-piece=\"1048576\""))
            #expect(page.text.contains("data-parallel=\"2\"") && !page.text.contains("{{"))
            #expect(page.headers[.contentSecurityPolicy] == UploaderPage.contentSecurityPolicy)
            #expect(page.headers[.cacheControl] == "no-cache" && page.headers[.xContentTypeOptions] == "nosniff")
            #expect(try await uploader.request(.head, "").body.isEmpty)
        }
    }

    @Test("Its files have their types, and aren't sent again to who has them")
    func assets() async throws {
        try await UploaderFixture.run { uploader async throws in
            for file in UploaderPage.files where file.name != "index.html" {
                let response = try await uploader.get("assets/\(file.name)")
                #expect(response.status == .ok && response.body == file.bytes)
                #expect(response.headers[.contentType] == file.contentType.rawValue)
                #expect(response.headers[.xContentTypeOptions] == "nosniff")
                let tag = try #require(response.headers[.eTag])
                let again = try await uploader.get("assets/\(file.name)", [.ifNoneMatch: tag])
                #expect(again.status == .notModified && again.body.isEmpty)
            }
            let tag = try #require(try await uploader.get("").headers[.eTag])
            #expect(try await uploader.get("", [.ifNoneMatch: tag]).status == .notModified)
            let packed = try await uploader.get("assets/app.js", [.acceptEncoding: "gzip"])
            #expect(packed.headers[.contentEncoding] == "gzip" && packed.body.count < 8_000)
        }
    }

    @Test(
        "What isn't there is told in JSON",
        arguments: ["assets/none.js", "assets/", "none", "assets/..%2Fapp.js", "/"]
    )
    func missing(path: String) async throws {
        try await UploaderFixture.run { uploader async throws in
            #expect(try await uploader.code(path) == 404)
        }
    }

    @Test("The way to the page is relative, and keeps the query")
    func redirect() async throws {
        try await UploaderFixture.run { uploader async throws in
            let response = try await uploader.client.get("/files?path=a%20b")
            #expect(response.status == .found && response.headers[.location] == "./files/?path=a%20b")
            #expect(try await uploader.client.get("/files").headers[.location] == "./files/")
        }
    }

    @Test("It is wherever it is mounted: at the top of the server, in a group, for a host", arguments: ["/", "/a/b"])
    func mounts(path: String) async throws {
        try await withTestFolder(["x": "x"]) { root in
            let folder = try SharedFolder(root)
            var server = WebServer(port: 0)
            server.uploader(path, folder: folder)
            server.group("/group") { $0.uploader("/in", folder: folder) }
            let bases = [path == "/" ? "/" : path + "/", "/group/in/"]
            try await server.test { client async throws in
                for base in bases {
                    #expect(try await client.get(base).text.contains("assets/app.js"))
                    #expect(try await client.get(base + "assets/app.js").status == .ok)
                    #expect(try await client.get(base + "list").text.contains("\"x\""))
                    #expect(try await client.post(base + "empty").status == .ok)
                }
                #expect(try await client.get("/group/in").headers[.location] == "./in/")
            }
        }
    }
}
