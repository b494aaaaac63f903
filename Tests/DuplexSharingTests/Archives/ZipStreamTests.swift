// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import DuplexServer
@testable import DuplexSharing

@Suite("A zip that is streamed while it is made", .timeLimit(minutes: 2))
struct ZipStreamTests {
    private static let files = [
        "empty": "", "text.txt": String(repeating: "Hello, hello. ", count: 100_000), "ä ☃/ö.txt": "umlaut",
        "a/b/c.json": "{}", "picture.png": String(repeating: "not really a picture", count: 1_000),
    ]

    private static func item(_ path: String, in folder: ConfinedFolder, size: UInt64? = nil) throws -> ZipItem {
        let day = UnixTime(seconds: 1_700_000_000)
        let known: UInt64? = if case .found(let file) = try folder.find(path) { file.size } else { nil }
        let content = ZipItem.Content.file(size: size ?? known ?? 0) {
            guard case .found(let file) = try folder.find(path) else {
                throw SocketError(.unreadableFile, message: "It has gone.")
            }
            return file
        }
        return ZipItem(path, content, modified: day, permissions: path.hasSuffix("txt") ? 0o640 : 0o755)
    }

    /// Runs the body with a zip of the files, made in the four ways, at the path of a file.
    private func withZips(
        _ body: (_ zip: String, _ packing: ZipMethod, _ saysLength: Bool, _ folder: String) async throws -> Void
    ) async throws {
        try await withTestFolder(Self.files) { root in
            let folder = try ConfinedFolder(path: root)
            let day = UnixTime(seconds: 1_700_000_000)
            var items = [ZipItem("ä ☃", .folder, modified: day), ZipItem("none", .folder, modified: day)]
            items += try Self.files.keys.sorted().map { try Self.item($0, in: folder) }
            let ways: [(ZipMethod, Bool)] = [
                (.stored, true), (.stored, false), (.deflated(), false), (.deflated(level: 9), true),
            ]
            for (packing, saysLength) in ways {
                let response = try await Self.response(ZipStream(packing).body(of: items, saysLength: saysLength))
                let isKnown = packing == .stored && saysLength
                #expect((response.headers[.contentLength] == "\(response.body.count)") == isKnown)
                let zip = root + "out.zip"
                try Data(response.body).write(to: URL(fileURLWithPath: zip))
                try await body(zip, packing, saysLength, root)
            }
        }
    }

    private static func response(_ body: ResponseBody) async throws -> TestResponse {
        var server = WebServer(port: 0)
        server.get("/zip") { _ in Response(type: "application/zip", body: body) }
        return try await server.test { client async throws in try await client.get("/zip") }
    }

    @Test("unzip and 7-Zip find nothing wrong with it")
    func checkers() async throws {
        try await withZips { zip, packing, _, _ async throws in
            let unzip = try await ProgramRun("unzip", "-t", zip)
            #expect(unzip.status == 0 && unzip.text.contains("No errors detected"), "\(packing): \(unzip.text)")
            let sevenZip = try await ProgramRun("7zz", "t", zip)
            #expect(sevenZip.status == 0 && sevenZip.text.contains("Everything is Ok"), "\(packing): \(sevenZip.text)")
            #expect(!sevenZip.text.contains("arning"), "\(sevenZip.text)")
        }
    }

    @Test("Python's zipfile reads names, dates, modes and every byte")
    func python() async throws {
        let program = """
            import sys, zipfile
            z = zipfile.ZipFile(sys.argv[1])
            assert z.testzip() is None
            for i in z.infolist():
                data = z.read(i)
                same = i.is_dir() or data == open(sys.argv[2] + i.filename, 'rb').read()
                print(i.filename, same, oct(i.external_attr >> 16), i.date_time, i.compress_type)
            """
        try await withZips { zip, packing, _, folder async throws in
            let run = try await ProgramRun("python3", "-c", program, zip, folder)
            let method = packing == .stored ? 0 : 8
            let date = "(2023, 11, 14, 22, 13, 20)"
            #expect(
                run.text == """
                    ä ☃/ True 0o40755 \(date) 0
                    none/ True 0o40755 \(date) 0
                    a/b/c.json True 0o100755 \(date) \(method)
                    empty True 0o100755 \(date) \(method)
                    picture.png True 0o100755 \(date) 0
                    text.txt True 0o100640 \(date) \(method)
                    ä ☃/ö.txt True 0o100640 \(date) \(method)

                    """
            )
        }
    }

    @Test("bsdtar extracts it from a pipe, where it can't look at the directory first")
    func pipe() async throws {
        try await withZips { zip, packing, _, folder async throws in
            let script = """
                export LC_ALL=C.UTF-8; mkdir -p "$2/out" && cat "$1" | bsdtar -x -f - -C "$2/out" &&
                cmp "$2/text.txt" "$2/out/text.txt" && cmp "$2/a/b/c.json" "$2/out/a/b/c.json" && ls "$2/out" | wc -l
                """
            let run = try await ProgramRun("sh", "-c", script, "sh", zip, folder)
            #expect(run.status == 0 && run.text.hasSuffix("6\n"), "\(packing): \(run.text)")
        }
    }

    // MARK: What isn't as it was

    private func withFaults(
        saysLength: Bool,
        _ spoil: @escaping @Sendable (String) throws -> Void
    ) async throws -> (response: TestResponse?, listing: String) {
        try await withTestFolder(["a.txt": "first", "b.txt": "second", "c.txt": "third"]) { root in
            let folder = try ConfinedFolder(path: root)
            let items = try ["a.txt", "b.txt", "c.txt"].map { try Self.item($0, in: folder) }
            try spoil(root)
            guard
                let response = try? await Self.response(ZipStream().body(of: items, saysLength: saysLength))
            else { return (nil, "") }
            let zip = root + "out.zip"
            try Data(response.body).write(to: URL(fileURLWithPath: zip))
            let program = """
                import sys, zipfile
                z = zipfile.ZipFile(sys.argv[1])
                assert z.testzip() is None
                for name in z.namelist(): print(name, z.read(name).decode(), sep=': ')
                """
            return (response, try await ProgramRun("python3", "-c", program, zip).text)
        }
    }

    @Test("A file that has gone is left out, and named in errors.txt; with a length said, the connection is cut")
    func gone() async throws {
        for saysLength in [false, true] {
            let (response, listing) = try await withFaults(saysLength: saysLength) { root in
                try FileManager.default.removeItem(atPath: root + "b.txt")
            }
            let expected = """
                a.txt: first
                c.txt: third
                errors.txt: This archive isn't whole.

                b.txt: is missing


                """
            #expect(saysLength ? response == nil : listing == expected, "\(listing)")
        }
    }

    @Test("A file that has become shorter or longer is there as it is, or no longer than was said")
    func changed() async throws {
        for (text, saysLength, expected) in [
            ("sec", false, "sec"), ("second and more", false, "second and more"), ("second and more", true, "second"),
            ("other", false, "other"), ("sec", true, nil),
        ] {
            let (response, listing) = try await withFaults(saysLength: saysLength) { root in
                try Data(text.utf8).write(to: URL(fileURLWithPath: root + "b.txt"))
            }
            let whole = expected.map { "a.txt: first\nb.txt: \($0)\nc.txt: third\n" }
            #expect(whole == nil ? response == nil : listing == whole, "\(text): \(listing)")
        }
    }

    @Test("Items may come from a sequence, and what it throws cuts the connection")
    func sequence() async throws {
        struct Fault: Error {}
        let day = UnixTime(seconds: 0)
        let (items, add) = AsyncThrowingStream<ZipItem, any Error>.makeStream()
        add.yield(ZipItem("a", .folder, modified: day))
        add.finish()
        #expect(try await Self.response(ZipStream().body(of: items)).body.count > 100)
        let (others, addOther) = AsyncThrowingStream<ZipItem, any Error>.makeStream()
        addOther.yield(ZipItem("a", .folder, modified: day))
        addOther.finish(throwing: Fault())
        await #expect(throws: (any Error).self) { try await Self.response(ZipStream().body(of: others)) }
    }

    // MARK: A client that is slow

    /// How much the client has taken, and how far ahead of it files were opened.
    private final class Progress: Sendable {
        let state = Mutex((taken: 0, opened: 0, ahead: 0))

        func open(_ size: Int) {
            state.withLock { state in
                state.ahead = max(state.ahead, state.opened - state.taken)
                state.opened += size
            }
        }

        func take(_ count: Int) { state.withLock { $0.taken += count } }
    }

    @Test("No file is opened before the client has taken nearly all of those before")
    func backpressure() async throws {
        let size = 1 << 20
        try await withTestFolder(["a": String(repeating: "x", count: size)]) { root in
            let folder = try ConfinedFolder(path: root)
            let progress = Progress()
            let items = (0..<12).map { number in
                let content = ZipItem.Content.file(size: UInt64(size)) {
                    progress.open(size)
                    guard case .found(let file) = try folder.find("a") else { throw CancellationError() }
                    return file
                }
                return ZipItem("\(number)", content, modified: UnixTime(seconds: 0))
            }
            var server = WebServer(port: 0)
            server.get("/zip") { _ in Response(body: ZipStream().body(of: items, saysLength: false)) }
            try await server.test { client async throws in
                let connection = await client.connect()
                try await connection.send(.get, "/zip")
                _ = try await connection.head()
                while let piece = try await connection.piece() { progress.take(piece.count) }
                await connection.close()
            }
            let (taken, opened, ahead) = progress.state.withLock { $0 }
            #expect(opened == 12 * size && taken > opened)
            // What is on its way: 256 KiB each in the connection and in a piece, 64 KiB waiting, and what is being read.
            #expect(ahead < size, "\(ahead)")
        }
    }
}

@Suite("What isn't in a zip as it should be")
struct ZipRunTests {
    @Test("It is told in lines, by names that are safe, and bounded")
    func faults() {
        var faults = ZipFaults()
        #expect(faults.text == nil)
        faults.add("../a\nb", "is missing")
        #expect(faults.text == "This archive isn't whole.\n\n__/a_b: is missing\n")
        faults.add(renamed: String(repeating: "x/", count: 2_000) + "y", "had another name")
        #expect(faults.text?.hasSuffix("\n…" + String(repeating: "/x", count: 499) + "/y: had another name\n") == true)
        faults = ZipFaults()
        faults.add(renamed: "a", "had another name")
        #expect(faults.text == "Some names in this archive aren't as they were.\n\na: had another name\n")
        faults.add("b", "is missing")
        for number in 0..<1_100 { faults.add("\(number)", "is missing") }
        #expect(faults.text?.hasSuffix("\nand 102 more\n") == true)
    }
}

@Suite("Items of a zip")
struct ZipItemTests {
    @Test("Permissions are those that folders and files usually have, unless they are known")
    func permissions() {
        let day = UnixTime(seconds: 0)
        #expect(ZipItem("a", .folder, modified: day).entry(.stored, size: 0).permissions == 0o755)
        let known = ZipItem("a", .folder, modified: day, permissions: 0o700)
        #expect(known.entry(.stored, size: 0).permissions == 0o700)
        #expect(ZipItem("a", .folder, modified: day).entry(.stored, size: 0).kind == .folder)
    }
}

@Suite("Whether files of a zip are deflated")
struct ZipMethodTests {
    @Test("Stored unless a level says how hard")
    func levels() {
        #expect(
            ZipMethod.stored.level == nil && ZipMethod.deflated().level == 1 && ZipMethod.deflated(level: 9).level == 9
        )
    }
}
