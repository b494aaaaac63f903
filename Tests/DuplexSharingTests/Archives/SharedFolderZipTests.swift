// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import Foundation
import Testing

@testable import DuplexServer
@testable import DuplexSharing

@Suite("A shared folder as a zip", .timeLimit(minutes: 4))
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
            let response = try await server.test(within: .limit(seconds: 120)) { client async throws in
                try await client.get("/zip")
            }
            #expect((response.headers[.contentLength] != nil) == saysLength)
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

    @Test("The same name thousands of times takes no longer for each")
    func manyNames() async throws {
        let text = try await listing(of: Array(repeating: "c.txt", count: 2_000))
        #expect(text.hasPrefix("c.txt=see c (2).txt=see c (3).txt=see ") && text.hasSuffix(" c (2000).txt=see\n"))
    }

    @Test("For a client that has gone nothing more is looked up", .timeLimit(minutes: 1))
    func cancelled() async throws {
        try await withTestFolder(["a": "x"]) { root in
            let folder = try SharedFolder(root)
            // Ends only by being cancelled.
            let (gate, hold) = AsyncStream<Void>.makeStream()
            let task = Task {
                for await _ in gate {}
                _ = try await folder.zip(of: [.root])
            }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            hold.finish()
        }
    }

    /// What Python reads of a zip: each name, and the first 40 bytes of a file.
    private static func names(_ zip: [UInt8]) async throws -> [String: String] {
        try await withTestFolder { root in
            try Data(zip).write(to: URL(fileURLWithPath: root + "a.zip"))
            let program = """
                import json, sys, zipfile
                z = zipfile.ZipFile(sys.argv[1])
                assert z.testzip() is None and all(i.flag_bits & 0x800 for i in z.infolist())
                print(json.dumps({n: '' if n.endswith('/') else z.read(n).decode()[:400] for n in z.namelist()}))
                """
            let run = try await ProgramRun("python3", "-c", program, root + "a.zip")
            return try JSONDecoder().decode([String: String].self, from: Data(run.text.utf8))
        }
    }

    private static func zip(_ folder: SharedFolder, saysLength: Bool = false) async throws -> [String: String] {
        var server = WebServer(port: 0)
        server.get("/zip") { _ in Response(body: try await folder.zip(of: [.root], saysLength: saysLength)) }
        let response = try await server.test(within: .limit(seconds: 120)) { client async throws in
            try await client.get("/zip")
        }
        return try await names(response.body)
    }

    @Test(
        "Names that aren't UTF-8, or can't be read, are in the zip under names that are distinct, and told",
        arguments: [true, false]
    )
    func rawNames(saysLength: Bool) async throws {
        try await withTestFolder(["a/c%E9.t": "text", "a/x\ny": "line", "a/x_y": "other", "a/d%FF/z": "z"]) { root in
            try DeepFolder.makeFile([0x63, 0xE9, 0x2E, 0x74], in: root + "a/", "first")
            try DeepFolder.makeFile([0x63, 0xE8, 0x2E, 0x74], in: root + "a/", "second")
            try DeepFolder.makeFile([0x2E, 0xE8], in: root + "a/", "hidden")
            try DeepFolder.makeFolder([0x64, 0xFF], in: root + "a/")
            try DeepFolder.makeFile([0x64, 0xFF, 0x2F, 0x7A], in: root + "a/", "inner")
            var names = try await Self.zip(try SharedFolder(root), saysLength: saysLength)
            let errors = names.removeValue(forKey: "errors.txt") ?? ""
            #expect(
                names == [
                    "a/": "", "a/c%E9.t": "text", "a/c%E9 (2).t": "first", "a/c%E8.t": "second", "a/x_y": "other",
                    "a/x_y (2)": "line", "a/d%FF/": "", "a/d%FF/z": "z", "a/d%FF (2)/": "", "a/d%FF (2)/z": "inner",
                ]
            )
            #expect(errors.hasPrefix("Some names in this archive aren't as they were.\n\n"))
            for name in ["a/c%E9 (2).t", "a/c%E8.t", "a/d%FF (2)"] {
                #expect(errors.contains("\(name): had a name that isn't UTF-8"))
            }
            #expect(errors.contains("a/x_y (2): had a name that can't be read"))
        }
    }

    @Test("The app is asked for a name of bytes, too, and a zip says what it refused")
    func asked() async throws {
        try await withTestFolder(["a": "a"]) { root in
            try DeepFolder.makeFile([0x63, 0xE9], in: root, "secret")
            var options = FolderOptions()
            options.before = { operation in
                if operation.path.text == "c%E9" { throw FolderError(.notPermitted, "No.") }
            }
            let names = try await Self.zip(try SharedFolder(root, options: options))
            #expect(
                Set(names.keys) == ["a", "errors.txt"] && names["errors.txt"]?.contains("c%E9: is missing") == true
            )
        }
    }

    @Test("A tree that is deeper than paths lead is in a zip", arguments: [420, 2_000])
    func deep(count: Int) async throws {
        try await withTestFolder { root in
            try DeepFolder.make([String](repeating: "d", count: count), in: root)
            let folder = try SharedFolder(root)
            defer { try? FolderTree.remove("d", in: folder.store.root) }
            let names = try await Self.zip(folder)
            // A link to a file is that file.
            #expect(names.count == count + 2 && names["errors.txt"] == nil)
            #expect(names[String(repeating: "d/", count: count) + "bottom"] == "deep")
        }
    }

    @Test("A tree that is deeper than a path in a zip may say is told, and all above is there")
    func tooDeep() async throws {
        try await withTestFolder { root in
            let name = String(repeating: "n", count: 250)
            try DeepFolder.make([String](repeating: name, count: 400), in: root)
            let folder = try SharedFolder(root)
            defer { try? FolderTree.remove(name, in: folder.store.root) }
            let names = try await Self.zip(folder)
            let errors = try #require(names["errors.txt"])
            #expect(names.count == 65_000 / 251 + 1)
            #expect(errors.hasPrefix("This archive isn't whole.\n\n…"))
            #expect(errors.utf8.count < 2_000)
        }
    }

    @Test("A folder that has gone, or can't be read, is told")
    func gone() async throws {
        try await withTestFolder(["a/b/c": "c", "a/d": "d"]) { root in
            let folder = try SharedFolder(root)
            let path = try #require(FolderPath("a"))
            let entry = try #require(try await folder.entry(at: path))
            let step = FolderWalk.Step(place: FileName("a"), entry: entry, name: "a")
            var walk = FolderWalk(folder: folder, roots: [step], visitor: .app).makeAsyncIterator()
            #expect(try await walk.next()?.path == "a")
            try FileManager.default.removeItem(atPath: root + "a/b")
            let item = try #require(try await walk.next())
            guard item.path == "a/b", case .missing = item.content else {
                Issue.record("\(item)")
                return
            }
            #expect(try await walk.next()?.path == "a/d")
        }
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
            let folder = try SharedFolder(root, options: options)
            await #expect(throws: FolderError.self) {
                try await folder.zip(of: [.root], by: FolderVisitor(user: "ann", address: nil))
            }
        }
    }
}
