// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Foundation
import HTTPTypes
import Testing

@testable import DuplexSharing

/// The names of the corpus by every way into the uploader: nothing outside the folder is read, written or named.
///
/// In the suite each way plays a share of the names, and with `DUPLEX_HOSTILE` set all.
@Suite("Hostile names by the uploader", .timeLimit(minutes: 15))
struct HostileUploaderTests {
    enum Way: String, CaseIterable, Sendable {
        case list, search, download, view, zip, assets
        case create, renameTo, renameFrom, moveTo, moveFrom, copyTo, copyFrom, delete
        case formName, formPath, tusName, tusPath

        /// Those that have the name in their URL.
        var isInURL: Bool { [.list, .search, .download, .view, .zip, .assets].contains(self) }

        /// A GET, for a name as it stands in URLs.
        func request(_ target: String) -> String {
            let path =
                self == .assets
                ? "assets/\(target)"
                : "\(rawValue)?text=e&path=\(target.replacing("&", with: "%26").replacing("#", with: "%23"))"
            return "GET /files/\(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        }

        /// A POST, for a name in JSON: what it is to, and its body.
        func body(_ name: String) -> (path: String, text: String) {
            switch self {
            case .renameTo: ("rename", #"{"path":"file.txt","name":\#(name)}"#)
            case .renameFrom: ("rename", #"{"path":\#(name),"name":"taken"}"#)
            case .moveTo: ("move", #"{"from":["file.txt"],"to":\#(name)}"#)
            case .moveFrom: ("move", #"{"from":[\#(name)],"to":"folder","clash":"replace"}"#)
            case .copyTo: ("copy", #"{"from":["file.txt"],"to":\#(name)}"#)
            case .copyFrom: ("copy", #"{"from":[\#(name)],"to":"folder","clash":"replace"}"#)
            case .delete: ("delete", #"{"paths":[\#(name)]}"#)
            default: ("create", #"{"path":\#(name)}"#)
            }
        }
    }

    @Test("Nothing leads out", arguments: Way.allCases)
    func names(way: Way) async throws {
        try await HostileFolder.run { hostile in
            var server = WebServer(port: 0)
            server.uploader("/files", folder: try SharedFolder(hostile.root))
            try await server.test { client async throws in
                let before = try Self.outside(hostile)
                let names = Self.names(way)
                var done: Set<Int> = []
                for (number, name) in names.enumerated() {
                    try hostile.makeInside()
                    done.insert(try await Self.play(way, name, client, hostile))
                    if number % 16 > 0 && number + 1 < names.count { continue }
                    let after = try Self.outside(hostile)
                    try #require(after == before, "\(way), up to \(name)")
                }
                // The names that lead nowhere else are served.
                let isServed = !done.isDisjoint(with: [200, 201]) || way == .assets
                #expect(isServed && done.contains { $0 >= 400 }, "\(way): \(done)")
            }
        }
    }

    /// A name that begins with a joiner makes one character with the slash in front of it: bytes tell that it is inside.
    private static func outside(_ hostile: HostileFolder) throws -> [String: String] {
        try hostile.outside().filter { !$0.key.utf8.starts(with: "a/b/shared/".utf8) }
    }

    /// The names that a way gets.
    private static func names(_ way: Way) -> [String] {
        let names = way.isInURL ? HostileNames.targets : HostileNames.texts
        if ProcessInfo.processInfo.environment["DUPLEX_HOSTILE"] != nil { return names }
        let share = (Way.allCases.firstIndex(of: way) ?? 0) % 3
        return names.enumerated().filter { $0.offset % 3 == share }.map(\.element) + ["folder", "file.txt"]
    }

    /// Plays one case, and returns its status.
    private static func play(
        _ way: Way,
        _ name: String,
        _ client: TestClient,
        _ hostile: HostileFolder
    ) async throws -> Int {
        let response = try await send(way, name, client)
        #expect(response.status.code < 500 || response.status == .notImplemented, "\(way) \(name): \(response.status)")
        let leak = hostile.leak(in: response.body) ?? hostile.leak(in: "\(response.headers)".utf8)
        #expect(leak == nil && !response.headers.contains(.setCookie), "\(way) \(name): \(response.status)")
        return response.status.code
    }

    private static func send(_ way: Way, _ name: String, _ client: TestClient) async throws -> TestResponse {
        if way.isInURL {
            let connection = await client.connect()
            try await connection.send(raw: way.request(name))
            let response = try await connection.response()
            await connection.close()
            return response
        }
        switch way {
        case .formName:
            return try await sendForm("name=\"f\"; filename=\"\(plain(name))\"\r\n\r\nduplex-escape", client)
        case .formPath: return try await sendForm("name=\"path\"\r\n\r\n\(name)", client)
        case .tusName: return try await sendUpload([("name", name)], client)
        case .tusPath: return try await sendUpload([("path", name), ("name", "duplex-escape")], client)
        default:
            let (path, body) = way.body(String(decoding: try JSONEncoder().encode(name), as: UTF8.self))
            let headers: HTTPFields = [.contentType: "application/json"]
            return try await client.post("/files/\(path)", headers: headers, body: Array(body.utf8))
        }
    }

    /// As a browser writes it there.
    private static func plain(_ name: String) -> String {
        name.replacing("\"", with: "%22").replacing("\r", with: "%0D").replacing("\n", with: "%0A")
    }

    private static func sendForm(_ part: String, _ client: TestClient) async throws -> TestResponse {
        let head = "Content-Disposition: form-data; "
        let file = "\(head)name=\"f\"; filename=\"duplex-escape\"\r\n\r\nduplex-escape"
        let body = "--b\r\n\(head)\(part)\r\n--b\r\n\(file)\r\n--b--\r\n"
        let headers: HTTPFields = [.contentType: "multipart/form-data; boundary=b"]
        return try await client.post("/files/upload", headers: headers, body: Array(body.utf8))
    }

    private static func sendUpload(_ values: [(String, String)], _ client: TestClient) async throws -> TestResponse {
        var headers: HTTPFields = [.contentType: "application/offset+octet-stream"]
        let metadata = values.map { "\($0) \(Data($1.utf8).base64EncodedString())" }.joined(separator: ",")
        for (name, value) in [("Tus-Resumable", "1.0.0"), ("Upload-Length", "1"), ("Upload-Metadata", metadata)] {
            headers[try #require(HTTPField.Name(name))] = value
        }
        return try await client.post("/files/uploads", headers: headers, body: [0])
    }
}
