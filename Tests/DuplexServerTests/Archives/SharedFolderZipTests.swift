// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import DuplexTesting
import Foundation
import Testing

@testable import DuplexServer

@Suite("A shared folder as a zip", .timeLimit(.minutes(1)))
struct SharedFolderZipTests {
    private static let files = [
        "a/x/1.txt": "one", "a/x/2.txt": "two", "a/.hidden": "no", "b/x": "a file", "c.txt": "see", "empty/": "",
    ]

    private func listing(
        of paths: [String],
        saysLength: Bool = false,
        method: ZipMethod = .stored
    ) async throws -> String {
        try await withTestFolder(
            Self.files,
            links: ["a/out": "/etc/passwd", "a/loop": ".", "a/x/up": "..", "b/file": "../c.txt"]
        ) { root in
            let folder = try SharedFolder(root)
            let paths = paths.compactMap { FolderPath($0) }
            var server = WebServer(port: 0)
            server.get("/zip") { _ in
                Response(body: try await folder.zip(of: paths, method: method, saysLength: saysLength))
            }
            let response = try await WebServer.testing(server) { client async throws in try await client.get("/zip") }
            #expect((response.fields[.contentLength] != nil) == saysLength)
            let zip = root + "../duplex-\(UUID().uuidString).zip"
            defer { try? FileManager.default.removeItem(atPath: zip) }
            try Data(response.body).write(to: URL(fileURLWithPath: zip))
            let program = """
                import sys, zipfile
                z = zipfile.ZipFile(sys.argv[1])
                print(' '.join(n + ('' if n.endswith('/') else '=' + z.read(n).decode().replace(' ', '_')) for n in z.namelist()))
                """
            return try await ProgramRun("python3", "-c", program, zip).text
        }
    }

    @Test("Folders with all that is in them, without what is hidden or outside")
    func tree() async throws {
        for saysLength in [false, true] {
            #expect(try await listing(of: ["a"], saysLength: saysLength) == "a/ a/x/ a/x/1.txt=one a/x/2.txt=two\n")
        }
        let all = "a/ a/x/ a/x/1.txt=one a/x/2.txt=two b/ b/file=see b/x=a_file c.txt=see empty/\n"
        #expect(try await listing(of: [""], method: .deflated()) == all)
    }

    @Test("A selection from several folders, its names numbered where they are the same")
    func selection() async throws {
        let text = try await listing(of: ["c.txt", "a/x", "b/x", "c.txt"])
        #expect(text == "c.txt=see x/ x/1.txt=one x/2.txt=two x (2)=a_file c (2).txt=see\n")
    }

    @Test("Nothing there is an error before anything is sent")
    func nothing() async throws {
        try await withTestFolder(Self.files) { root in
            let folder = try SharedFolder(root)
            let paths = ["a", "nowhere"].compactMap { FolderPath($0) }
            await #expect(throws: FolderError.self) { try await folder.zip(of: paths) }
        }
    }

    @Test("Who may not read gets nothing")
    func access() async throws {
        try await withTestFolder(Self.files) { root in
            var options = FolderOptions()
            options.access = { _ in .none }
            let folder = try SharedFolder(root, options)
            await #expect(throws: FolderError.self) {
                try await folder.zip(of: [.root], by: FolderVisitor(user: "ann", address: nil))
            }
        }
    }
}
