// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestPeers
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Foundation
import HTTPTypes
import Testing

@testable import DuplexServer
@testable import DuplexSharing

/// Every name of the corpus by every way into a folder but WebDAV, which has its own tests: nothing outside is read, written
/// or named.
@Suite("Hostile names", .timeLimit(minutes: 15))
struct HostileNamesTests {
    @Test("There are as many as are worth the name, each once")
    func corpus() {
        #expect(HostileNames.texts.count >= 400 && HostileNames.targets.count >= 600)
    }

    /// Plays the cases, and looks around the folder now and then.
    private static func play<Case: Sendable>(
        _ cases: [Case],
        in hostile: HostileFolder,
        _ body: (Case) async throws -> Void
    ) async throws {
        let before = try hostile.outside()
        for (number, one) in cases.enumerated() {
            try hostile.makeInside()
            try await body(one)
            if number % 16 > 0 && number + 1 < cases.count { continue }
            let after = try hostile.outside()
            try #require(after == before, "up to \(one)")
        }
    }

    // MARK: A folder that is served

    @Test("A folder that is served", arguments: [false, true])
    func files(showsHidden: Bool) async throws {
        var options = FileOptions()
        options.showsHidden = showsHidden
        try await HostileFolder.run { [options] hostile in
            var server = WebServer(port: 0)
            server.files("/f", folder: hostile.root, options: options)
            try await server.test(within: .limit(seconds: 600)) { client async throws in
                var statuses: Set<Int> = []
                let codings = [
                    "", "Accept-Encoding: br, gzip\r\n", "Range: bytes=0-\r\n", "Accept: application/json\r\n",
                ]
                // Each file in each coding, and the names in one or in all.
                var cases = codings.flatMap { coding in ["file.txt", "folder"].map { (target: $0, codings: [coding]) } }
                for (number, target) in HostileNames.targets.enumerated() {
                    cases.append((target, HostileNames.share(number + (showsHidden ? 1 : 0), of: 4, codings)))
                }
                try await Self.play(cases, in: hostile) { target, codings in
                    for coding in codings {
                        let response = try await Self.get(client, "/f/\(target)", coding)
                        let status = response.status.code
                        statuses.insert(status)
                        #expect([200, 206, 301, 400, 404, 414, 431].contains(status), "\(target): \(status)")
                        let leak = hostile.leak(in: response.body) ?? hostile.leak(in: "\(response.headers)".utf8)
                        #expect(leak == nil && !response.headers.contains(.setCookie), "\(target)")
                    }
                }
                #expect(statuses.isSuperset(of: [200, 206, 301, 400, 404]))
                #expect(try await client.get("/f/file.txt").text == "a file")
            }
        }
    }

    private static func get(_ client: TestClient, _ target: String, _ headers: String) async throws -> TestResponse {
        let connection = await client.connect()
        let head = "GET \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(headers)\r\n"
        try await connection.send(raw: head)
        let response = try await connection.response()
        await connection.close()
        return response
    }

    // MARK: A folder that is shared

    @Test("The calls of a shared folder", arguments: [false, true])
    func calls(showsHidden: Bool) async throws {
        var options = FolderOptions()
        options.showsHidden = showsHidden
        try await HostileFolder.run { [options] hostile in
            let folder = try SharedFolder(hostile.root, options: options)
            let paths = HostileNames.texts.compactMap { FolderPath($0) }
            #expect(paths.count > 150 && paths.count < HostileNames.texts.count - 100)
            let file = try #require(FolderPath("file.txt"))
            let taken = try #require(FolderPath("taken"))
            for call in 0..<10 {
                try await Self.play(HostileNames.share(call + (showsHidden ? 1 : 0), of: 2, paths), in: hostile) {
                    path in
                    do {
                        try await Self.call(call, folder, path, file, taken, hostile)
                    } catch let error as FolderError {
                        #expect(
                            error.code != .system && hostile.leak(in: "\(error)".utf8) == nil,
                            "\(call) \(path): \(error)"
                        )
                    }
                    try hostile.makeInside()
                    #expect(try await folder.entry(at: file) != nil, "\(path)")
                }
            }
        }
    }

    private static func call(
        _ number: Int,
        _ folder: SharedFolder,
        _ path: FolderPath,
        _ file: FolderPath,
        _ taken: FolderPath,
        _ hostile: HostileFolder
    ) async throws {
        switch number {
        case 0: _ = try await folder.entry(at: path)
        case 1:
            let names = try await folder.entries(of: path).entries.map(\.name).joined(separator: "\n")
            #expect(
                hostile.leak(in: names.utf8) == nil && !names.contains("secret.txt") && !names.contains("shared-beside")
            )
        case 2:
            let opened = try await folder.open(path, by: .app)
            if opened.kind == .file {
                let bytes = try opened.range(from: 0, count: opened.size).readAll(atMost: 1 << 20)
                #expect(hostile.leak(in: bytes) == nil, "\(path)")
            }
        case 3: try await folder.createFolder(path)
        case 4:
            let upload = try await folder.upload(to: path, onConflict: .replace, size: 13, by: .app)
            try await upload.write(Array("duplex-escape".utf8))
            _ = try await upload.finish()
        case 5: try await folder.copy(file, to: path, onConflict: .replace)
        case 6:
            try await folder.copy(path, to: taken, onConflict: .replace)
            try await check(taken, in: folder, hostile)
        case 7: try await folder.move(file, to: path, onConflict: .replace)
        case 8:
            try await folder.move(path, to: taken, onConflict: .replace)
            try await check(taken, in: folder, hostile)
        default:
            try await folder.changeProperties(of: path, by: .app) { _ in Array("duplex-escape".utf8) }
            try await folder.restore(try await folder.moveToTrash(path))
            try await folder.remove(path)
        }
    }

    private static func check(_ taken: FolderPath, in folder: SharedFolder, _ hostile: HostileFolder) async throws {
        let bytes = FileManager.default.contents(atPath: hostile.root + "taken") ?? Data()
        let opened = try? await folder.open(taken, by: .app)
        // A link that was moved leads out as before, and to nothing.
        if opened != nil { #expect(hostile.leak(in: bytes) == nil) }
        try await folder.remove(taken)
    }

    // MARK: Uploads

    @Test("Uploads that are resumed: the folder, and the name", arguments: ["name", "path", "filename"])
    func uploads(key: String) async throws {
        let texts = HostileNames.share(
            ["name", "path", "filename"].firstIndex(of: key) ?? 0,
            of: 3,
            HostileNames.texts
        )
        try await HostileFolder.run { hostile in
            var server = WebServer(port: 0)
            server.resumableUploads("/up", folder: try SharedFolder(hostile.root))
            try await server.test(within: .limit(seconds: 600)) { client async throws in
                var statuses: Set<Int> = []
                try await Self.play(["plain", "folder"] + texts, in: hostile) { text in
                    var values = [(key, text), ("clash", "replace")]
                    if key == "path" { values.append(("name", "duplex-escape")) }
                    let metadata = values.map { "\($0) \(Data($1.utf8).base64EncodedString())" }.joined(separator: ",")
                    let headers: HTTPFields = [
                        UploadProtocol.resumable: "1.0.0", UploadProtocol.length: "13",
                        UploadProtocol.metadata: metadata, .contentType: UploadProtocol.contentType,
                    ]
                    let response = try await client.post("/up", headers: headers, body: Array("duplex-escape".utf8))
                    let status = response.status.code
                    statuses.insert(status)
                    #expect(
                        [201, 400, 403, 404, 405, 409, 415, 431].contains(status),
                        "\(text): \(status) \(response.text)"
                    )
                    let leak = hostile.leak(in: response.body) ?? hostile.leak(in: "\(response.headers)".utf8)
                    #expect(leak == nil && !response.headers.contains(.setCookie), "\(text)")
                }
                #expect(statuses.isSuperset(of: [201, 403]))
            }
        }
    }

    // MARK: Zips

    @Test("The names in a zip, whatever somebody has called his files, and what it is asked for")
    func zips() async throws {
        try await HostileFolder.run { hostile in
            let names = Set(HostileNames.texts).filter { name in
                !name.utf8.contains(0) && !name.utf8.contains(0x2F) && name.utf8.count < 256
            }
            // As those who may write to the disk do.
            for name in names where FileManager.default.fileExists(atPath: hostile.root + name) == false {
                try? Data("duplex-escape".utf8).write(to: URL(fileURLWithPath: hostile.root + name))
            }
            let folder = try SharedFolder(hostile.root)
            var server = WebServer(port: 0)
            server.get("/zip") { request in
                let paths = try request.query.compactMap { FolderPath($0.value) }
                do {
                    return Response(type: "application/zip", body: try await folder.zip(of: paths))
                } catch let error as FolderError {
                    throw error.problem
                }
            }
            try await server.test { client async throws in
                let before = try hostile.outside()
                let whole = try await client.get("/zip?path=")
                try await Self.check(whole.body, hostile)
                for path in Set(HostileNames.texts.compactMap { FolderPath($0) }).prefix(400) {
                    let query = HostileNames.encoded(path.text)
                    let response = try await client.get("/zip?path=\(query)")
                    #expect([200, 404, 414, 431].contains(response.status.code), "\(path)")
                    #expect(hostile.leak(in: response.body) == nil, "\(path)")
                }
                let after = try hostile.outside()
                #expect(after == before)
            }
        }
    }

    /// Has Python and unzip read it: no name leads out of the folder that it is unpacked in, on any system.
    private static func check(_ zip: [UInt8], _ hostile: HostileFolder) async throws {
        #expect(hostile.leak(in: zip) == nil)
        try await withTestFolder(["in/out/": ""]) { root in
            try Data(zip).write(to: URL(fileURLWithPath: root + "a.zip"))
            let program = """
                import re, sys, zipfile
                names = zipfile.ZipFile(sys.argv[1]).namelist()
                bad = [n for n in names if n.startswith('/') or '\\\\' in n or re.match('[A-Za-z]:', n) or '\\0' in n
                       or any('.' in part and set(part) <= set('. ') for part in n.rstrip('/').split('/'))]
                print(len(names), bad)
                """
            let run = try await ProgramRun("python3", "-c", program, root + "a.zip")
            let parts = run.text.split(separator: " ", maxSplits: 1)
            #expect(parts.last == "[]\n" && (parts.first.flatMap { Int($0) } ?? 0) > 100, "\(run.text)")
            let unzip = try await ProgramRun("unzip", "-qo", root + "a.zip", "-d", root + "in/out")
            #expect(unzip.status < 3, "\(unzip.text)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: root).sorted() == ["a.zip", "in"])
            #expect(try FileManager.default.contentsOfDirectory(atPath: root + "in") == ["out"])
        }
    }
}
