// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexDeflate
import DuplexServer
import DuplexTestPeers
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Foundation
import HTTPTypes
import Testing

@Suite("Files in gzip", .timeLimit(minutes: 1))
struct FileCompressionTests {
    private static func text(_ count: Int) -> String { String("All work and no play. ".repeated(upTo: count)) }
    /// One that is compressed on the loop, and one for which that takes too long.
    private static let files = [
        "short.txt": text(4_000), "long.html": text(300_000), "tiny.txt": "tiny", "picture.png": text(4_000),
        "ready.js": text(4_000), "ready.js.gz": "ready", "huge.txt": text(2_000_000),
    ]
    private static let gzip: HTTPFields = [.acceptEncoding: "gzip"]

    private func withFiles(
        _ options: FileOptions = FileOptions(),
        _ body: @escaping @Sendable (TestClient, String) async throws -> Void
    ) async throws {
        try await withTestFolder(Self.files) { root in
            var server = WebServer(port: 0)
            server.files("/", folder: root, options: options)
            try await server.test { client async throws in try await body(client, root) }
        }
    }

    private static func inflated(_ bytes: [UInt8]) throws -> String {
        let inflater = ContentInflater([.gzip], upTo: .mebibytes(4), pool: ContentPool())
        inflater.take(bytes)
        var output: [UInt8] = []
        while let piece = try inflater.next() { output += piece }
        try inflater.finish()
        return String(decoding: output, as: UTF8.self)
    }

    /// Whether the tags are the same; one of them may have become strong meanwhile.
    private static func isSameTag(_ one: TestResponse, _ other: TestResponse) -> Bool {
        one.headers[.eTag] != nil && one.headers[.eTag] == other.headers[.eTag]
    }

    @Test("A text is sent in gzip to who takes that, with a tag of its own", arguments: ["short.txt", "long.html"])
    func texts(name: String) async throws {
        try await withFiles { client, _ async throws in
            let plain = try await client.get("/\(name)")
            #expect(plain.text == Self.files[name] && plain.headers[.vary] == "Accept-Encoding")
            #expect(plain.headers[.contentEncoding] == nil)
            for round in 1...3 {
                let coded = try await client.get("/\(name)", headers: Self.gzip)
                #expect(coded.headers[.contentEncoding] == "gzip" && coded.headers[.vary] == "Accept-Encoding")
                #expect(coded.body.count < plain.body.count / 10, "round \(round)")
                #expect(coded.headers[.contentLength] == "\(coded.body.count)")
                #expect(try Self.inflated(coded.body) == Self.files[name])
                #expect(coded.headers[.contentType] == plain.headers[.contentType])
                let tags = (coded.headers[.eTag], plain.headers[.eTag])
                #expect(tags.0 != nil && tags.0 != tags.1 && coded.headers[.acceptRanges] == nil)
                #expect(tags.0?.hasPrefix("\"") == true && tags.0?.hasSuffix("-gzip\"") == true)
                let head = try await client.request(.head, "/\(name)", headers: Self.gzip)
                #expect(head.body.isEmpty && head.headers[.contentLength] == coded.headers[.contentLength])
                #expect(Self.isSameTag(head, coded))
                var headers = Self.gzip
                headers[.ifNoneMatch] = coded.headers[.eTag]
                let same = try await client.get("/\(name)", headers: headers)
                #expect(same.status == .notModified && same.body.isEmpty && Self.isSameTag(same, coded))
                headers[.ifNoneMatch] = plain.headers[.eTag]
                #expect(try await client.get("/\(name)", headers: headers).status == .ok)
            }
        }
    }

    @Test("Left as they are: what is short, long, no text, there in gzip already, and for who doesn't want it")
    func plain() async throws {
        try await withFiles { client, _ async throws in
            for name in ["tiny.txt", "picture.png", "huge.txt"] {
                let response = try await client.get("/\(name)", headers: Self.gzip)
                #expect(response.headers[.contentEncoding] == nil && response.text == Self.files[name], "\(name)")
            }
            #expect(try await client.get("/ready.js", headers: Self.gzip).text == "ready")
            for accepted in ["br", "gzip;q=0", "identity, gzip;q=0.5", "deflate"] {
                let response = try await client.get("/short.txt", headers: [.acceptEncoding: accepted])
                #expect(response.headers[.contentEncoding] == nil && response.text == Self.files["short.txt"])
            }
        }
        for change: (inout FileOptions) -> Void in [
            { $0.compression = .disabled }, { $0.compressedFileSize = .bytes(3_999) },
        ] {
            var options = FileOptions()
            change(&options)
            try await withFiles(options) { client, _ async throws in
                let response = try await client.get("/short.txt", headers: Self.gzip)
                #expect(response.headers[.contentEncoding] == nil && response.text == Self.files["short.txt"])
            }
        }
    }

    @Test("Parts are those of the file as it is")
    func parts() async throws {
        try await withFiles { client, _ async throws in
            let tag = try #require(try await client.get("/short.txt", headers: Self.gzip).headers[.eTag])
            var headers = Self.gzip
            headers[.range] = "bytes=0-9"
            let part = try await client.get("/short.txt", headers: headers)
            #expect(
                part.status == .partialContent && part.text == "All work a" && part.headers[.contentEncoding] == nil
            )
            headers[.ifRange] = tag
            let whole = try await client.get("/short.txt", headers: headers)
            #expect(whole.status == .ok && whole.text == Self.files["short.txt"])
            #expect(whole.headers[.contentEncoding] == nil)
        }
    }

    @Test("A file that was changed is compressed anew, whether it is kept open or not", arguments: [0, 100])
    func changed(openFiles: Int) async throws {
        var options = FileOptions()
        options.openFileLimit = openFiles
        try await withFiles(options) { client, root async throws in
            for (name, count) in [("short.txt", 5_000), ("long.html", 200_000), ("short.txt", 300_000)] {
                _ = try await client.get("/\(name)", headers: Self.gzip)
                let text = Self.text(count)
                try Data(text.utf8).write(to: URL(fileURLWithPath: root + name))
                let response = try await client.get("/\(name)", headers: Self.gzip)
                #expect(response.headers[.contentEncoding] == "gzip")
                #expect(try Self.inflated(response.body) == text, "\(name) \(count)")
            }
        }
    }

    @Test("Where nothing is to be kept, it is compressed each time")
    func notKept() async throws {
        var options = FileOptions()
        options.compressedSize = .bytes(0)
        try await withFiles(options) { client, _ async throws in
            for name in ["short.txt", "long.html", "long.html"] {
                let response = try await client.get("/\(name)", headers: Self.gzip)
                #expect(try Self.inflated(response.body) == Self.files[name], "\(name)")
            }
        }
    }

    @Test("curl gets the same, however many ask at once")
    func curl() async throws {
        try await withTestFolder(Self.files) { root in
            try await withServer { server in
                server.files("/", folder: root)
            } _: { address in
                let host = "http://\(address)"
                for name in ["short.txt", "long.html"] {
                    try await withThrowingTaskGroup(of: String.self) { group in
                        for _ in 0..<6 {
                            group.addTask {
                                try await ProgramRun("curl", "-sS", "--fail", "--compressed", "\(host)/\(name)").text
                            }
                        }
                        for try await output in group { #expect(output == Self.files[name]) }
                    }
                    let head = try await ProgramRun("curl", "-sSI", "-H", "Accept-Encoding: gzip", "\(host)/\(name)")
                    #expect(head.text.lowercased().contains("content-encoding: gzip"))
                }
            }
        }
    }
}

extension String {
    /// Itself again and again, so many bytes of it.
    fileprivate func repeated(upTo count: Int) -> Substring {
        String(repeating: self, count: count / utf8.count + 1).prefix(count)
    }
}
