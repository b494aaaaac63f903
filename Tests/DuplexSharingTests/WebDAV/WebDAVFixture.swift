// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import DuplexSharing

/// A calendar that a test moves.
final class ManualCalendar: Sendable {
    private let time = Mutex(UnixTime(seconds: 1_800_000_000))

    var now: UnixTime { time.withLock { $0 } }

    func advance(by seconds: Int64) { time.withLock { $0.seconds += seconds } }
}

/// A server that shares a folder of its own by WebDAV at `/dav`, for tests.
struct WebDAVFixture {
    let client: TestClient
    /// With a slash at its end.
    let root: String
    let calendar: ManualCalendar
    /// The user whom requests without another come from.
    var user: String?

    static func run(
        _ files: [String: String] = [:],
        sharing: WebDAVOptions = WebDAVOptions(),
        folder: FolderOptions = FolderOptions(),
        _ body: (WebDAVFixture) async throws -> Void
    ) async throws {
        try await withTestFolder(files) { root in
            let calendar = ManualCalendar()
            try await serve(root, calendar, sharing, folder) { client async throws in
                try await body(WebDAVFixture(client: client, root: root, calendar: calendar))
            }
        }
    }

    /// Runs a server for the folder; another one behind it is one after a restart.
    static func serve(
        _ root: String,
        _ calendar: ManualCalendar,
        _ sharing: WebDAVOptions = WebDAVOptions(),
        _ folder: FolderOptions = FolderOptions(),
        within limit: Duration = .limit(seconds: 60),
        _ body: (TestClient) async throws -> Void
    ) async throws {
        var server = WebServer(port: 0)
        let handler = WebDAVHandler(try SharedFolder(root, options: folder), sharing) { calendar.now }
        server.mount(handler, at: "/dav", [.userField])
        try await server.test(within: limit, body)
    }

    func with(_ user: String) -> WebDAVFixture {
        var copy = self
        copy.user = user
        return copy
    }

    @discardableResult
    func request(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ headers: HTTPFields = [:],
        _ body: String = ""
    ) async throws -> TestResponse {
        var headers = headers
        if let user, let name = HTTPField.Name("X-User") { headers[name] = user }
        return try await client.request(method, "/dav/" + path, headers: headers, body: Array(body.utf8))
    }

    func code(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ headers: HTTPFields = [:],
        _ body: String = ""
    ) async throws -> Int {
        try await request(method, path, headers, body).status.code
    }

    /// The text of a file below the folder; nil where there is none.
    func text(_ path: String) -> String? {
        FileManager.default.contents(atPath: root + path).map { String(decoding: $0, as: UTF8.self) }
    }

    func isFolder(_ path: String) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: root + path)
        return attributes?[.type] as? FileAttributeType == .typeDirectory
    }

    // MARK: Properties

    /// What a PROPFIND says: for each URL the elements with 200, by their names.
    func properties(
        _ path: String,
        depth: String = "0",
        _ body: String = ""
    ) async throws -> [String: [XMLName: XMLElement]] {
        let response = try await request(.propfind, path, [.depth: depth], body)
        guard response.status == .multi else { throw Problem(response.status, response.text) }
        return try Self.resources(response)
    }

    static func resources(
        _ response: TestResponse,
        status: String = "200"
    ) throws -> [String: [XMLName: XMLElement]] {
        let root = try XMLReader.element(of: response.body, XMLLimits(elements: 100_000))
        var resources: [String: [XMLName: XMLElement]] = [:]
        for element in root.elements where element.name == .dav("response") {
            let stats = element.elements.filter { $0.name == .dav("propstat") }
            let found = stats.filter { $0.first(.dav("status"))?.text.contains(status) == true }
            let properties = found.flatMap { $0.first(.dav("prop"))?.elements ?? [] }
            let href = element.first(.dav("href"))?.text ?? ""
            resources[href] = Dictionary(properties.map { ($0.name, $0) }) { first, _ in first }
        }
        return resources
    }

    // MARK: Locks

    static func lockInfo(_ scope: String = "exclusive") -> String {
        """
        <D:lockinfo xmlns:D="DAV:"><D:lockscope><D:\(scope)/></D:lockscope><D:locktype><D:write/></D:locktype>\
        <D:owner>me</D:owner></D:lockinfo>
        """
    }

    /// Takes a lock out, and returns its token.
    func lock(
        _ path: String,
        _ scope: String = "exclusive",
        depth: String = "infinity",
        _ others: HTTPFields = [:]
    ) async throws -> String {
        var headers = others
        headers[.depth] = depth
        let response = try await request(.lock, path, headers, Self.lockInfo(scope))
        guard response.status.code < 207, let token = response.headers[.lockToken] else {
            throw Problem(response.status, response.text)
        }
        return String(token.dropFirst().dropLast())
    }
}
