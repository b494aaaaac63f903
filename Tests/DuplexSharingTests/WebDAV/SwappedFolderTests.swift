// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import DuplexSharing

/// Requests while a thread swaps a folder for a link that leads out, and back, without a moment in which there is neither.
///
/// `DUPLEX_RACES` says how many requests are made; scripts/more/heavy makes 100,000.
@Suite("A folder that is swapped for a link", .timeLimit(minutes: 30))
struct SwappedFolderTests {
    private static let files = [
        "in/a/file.txt": "inside", "in/a/sub/x": "inside", "out/secret.txt": "CANARY", "out/file.txt": "CANARY",
        "out/sub/x": "CANARY",
    ]

    /// All that is outside: names, when anything of it was changed, and contents.
    private static func outside(_ root: String) throws -> [String: String] {
        var found: [String: String] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: root + "out") + [""] {
            let text = FileManager.default.contents(atPath: root + "out/" + path).map {
                String(decoding: $0, as: UTF8.self)
            }
            guard case .found(let file) = try ConfinedFolder(path: root + "out").find(path) else { continue }
            found[path] = "\(file.status) \(text ?? "")"
        }
        return found
    }

    /// Swaps until it is told to end; counts how often.
    private final class Swapper: Sendable {
        let count = Atomic(0)
        private let isOver = Atomic(false)

        init(_ root: String) throws {
            guard case .found(let file) = try ConfinedFolder(path: root + "in").find(""),
                let folder = OpenedFolder(file)
            else { throw Problem(.notFound, "There is no folder to swap in.") }
            Thread.detachNewThread { [self] in
                while !isOver.load(ordering: .relaxed) {
                    try? folder.rename("a", to: folder, as: "b", .exchange)
                    count.wrappingAdd(1, ordering: .relaxed)
                }
            }
        }

        func end() { isOver.store(true, ordering: .relaxed) }
    }

    @Test("Nothing outside is read, written or named")
    func swaps() async throws {
        let count = ProcessInfo.processInfo.environment["DUPLEX_RACES"].flatMap { Int($0) } ?? 640
        try await withTestFolder(Self.files, links: ["in/b": "../out"]) { root in
            let before = try Self.outside(root)
            let swapper = try Swapper(root)
            defer { swapper.end() }
            let statuses = try await Self.requests(count, root)
            let after = try Self.outside(root)
            #expect(after == before)
            // Both were met: the folder, and the link; and each way was gone.
            #expect(swapper.count.load(ordering: .relaxed) >= count / 2)
            // Each takes its chance, which few have.
            for (index, name) in Self.ways.enumerated() where count >= 10_000 {
                #expect(statuses[index, default: []].contains { $0 < 300 }, "\(name) \(statuses[index, default: []])")
            }
            print("\(count) requests beside \(swapper.count.load(ordering: .relaxed)) swaps: nothing outside was met")
        }
    }

    /// Makes so many, some at a time; returns which statuses there were.
    private static func requests(_ count: Int, _ root: String) async throws -> [Int: Set<Int>] {
        let folder = try SharedFolder(root + "in")
        var server = WebServer(port: 0)
        server.mount(WebDAVHandler(folder, WebDAVOptions()), at: "/dav", [])
        server.files("/files", folder: root + "in")
        server.get("/zip") { _ in
            do {
                let paths = ["a", "b"].compactMap { FolderPath($0) }
                return Response(body: try await folder.zip(of: Bool.random() ? paths : [.root]))
            } catch let error as FolderError { throw error.problem }
        }
        let found = Record()
        try await server.test(within: .seconds(1_700)) { client async throws in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<4 {
                    group.addTask {
                        for number in stride(from: task, to: count, by: 4) {
                            let way = number / 4 % Self.ways.count
                            let status = try await Self.request(way, task, client)
                            found.statuses.withLock { _ = $0[way, default: []].insert(status) }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        return found.statuses.withLock { $0 }
    }

    private final class Record: Sendable {
        let statuses = Mutex<[Int: Set<Int>]>([:])
    }

    private static let ways = [
        "GET", "GET of what is outside", "PUT", "PUT below", "MKCOL", "COPY in", "COPY out", "MOVE in", "MOVE out",
        "PROPFIND",
        "PROPPATCH", "LOCK", "DELETE", "COPY of all", "files", "zip",
    ]

    private static func request(_ way: Int, _ task: Int, _ client: TestClient) async throws -> Int {
        let name = ["a", "b"][Int.random(in: 0...1)]
        let own = "/dav/\(name)/own\(task)"
        let response =
            switch way {
            case 0: try await client.get("/dav/\(name)/\(["file.txt", "sub/x"][Int.random(in: 0...1)])")
            case 1: try await outside(name, client)
            case 2: try await client.request(.put, own, body: Array("CHANGED".utf8))
            case 3: try await client.request(.put, "/dav/\(name)/sub/x", body: Array("CHANGED".utf8))
            case 4: try await made(own, client)
            case 5: try await transfer(.copy, "/dav/a/file.txt", own, client)
            case 6: try await transfer(.copy, "/dav/\(name)/sub/x", "/dav/taken\(task)", client)
            case 7: try await transfer(.move, "/dav/taken\(task)", own, client)
            case 8: try await transfer(.move, own, "/dav/taken\(task)", client)
            case 9: try await client.request(.propfind, "/dav/\(name)/", headers: [.depth: "1"])
            case 10: try await noted("/dav/\(name)/file.txt", client)
            case 11: try await locked("/dav/\(name)/locked\(task)", client)
            case 12: try await client.request(.delete, own)
            case 13: try await transfer(.copy, "/dav/\(name)", "/dav/tree\(task)", client)
            case 14:
                try await client.get("/files/\(name)/\(["file.txt", "secret.txt", "sub/x"][Int.random(in: 0...2)])")
            default: try await client.get("/zip")
            }
        let text = response.text
        #expect(!text.contains("CANARY") && !text.contains("secret.txt"), "\(ways[way]) \(response.status)")
        return response.status.code
    }

    /// What is outside isn't there; 207 stands for "as it should be" in the list of what was answered.
    private static func outside(_ name: String, _ client: TestClient) async throws -> TestResponse {
        let response = try await client.get("/dav/\(name)/secret.txt")
        #expect(response.status == .notFound)
        return try await client.request(.options, "/dav/\(name)/secret.txt")
    }

    private static func made(_ path: String, _ client: TestClient) async throws -> TestResponse {
        _ = try await client.request(.delete, path)
        return try await client.request(.mkcol, path)
    }

    private static func transfer(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ target: String,
        _ client: TestClient
    ) async throws -> TestResponse {
        try await client.request(method, path, headers: [.destination: target])
    }

    private static func noted(_ path: String, _ client: TestClient) async throws -> TestResponse {
        let body = "<propertyupdate xmlns='DAV:'><set><prop><x xmlns='u:'>1</x></prop></set></propertyupdate>"
        return try await client.request(.proppatch, path, body: Array(body.utf8))
    }

    private static func locked(_ path: String, _ client: TestClient) async throws -> TestResponse {
        let response = try await client.request(.lock, path, body: Array(WebDAVFixture.lockInfo().utf8))
        if let token = response.headers[.lockToken] {
            _ = try await client.request(.unlock, path, headers: [.lockToken: token])
        }
        return response
    }
}
