// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexSharing

/// The names of the corpus by every method: nothing outside the folder is read, written or named.
///
/// In the suite each name is played by two methods or three, and with `DUPLEX_HOSTILE` set by all: `scripts/more/heavy names`.
@Suite("Hostile names by WebDAV", .timeLimit(minutes: 15))
struct HostileWebDAVTests {
    /// A method that gets the name.
    enum Way: String, CaseIterable, Sendable {
        case get, put, delete, mkcol, propfind, proppatch, lock, copyTo, moveTo, copyFrom, moveFrom

        var method: String {
            switch self {
            case .copyTo, .copyFrom: "COPY"
            case .moveTo, .moveFrom: "MOVE"
            default: rawValue.uppercased()
            }
        }

        var body: String {
            switch self {
            case .put: "duplex-escape"
            case .proppatch:
                "<propertyupdate xmlns='DAV:'><set><prop><x xmlns='u:'>duplex-escape</x></prop></set></propertyupdate>"
            case .lock: WebDAVFixture.lockInfo()
            default: ""
            }
        }

        /// The path behind the folder's, and the fields.
        func head(_ target: String) -> (path: String, headers: String) {
            switch self {
            case .propfind: (target, "Depth: 1\r\n")
            case .copyTo, .moveTo: ("file.txt", "Destination: /dav/\(target)\r\n")
            case .copyFrom, .moveFrom: (target, "Destination: /dav/taken\r\n")
            default: (target, "")
            }
        }

        /// What may be answered, beside refusals.
        var successes: Set<Int> {
            switch self {
            case .get: [200, 301]
            case .put: [201, 204]
            case .delete: [204]
            case .mkcol: [201]
            case .propfind, .proppatch: [207]
            case .lock: [200, 201, 207]
            case .copyTo, .moveTo, .copyFrom, .moveFrom: [201, 204]
            }
        }

        /// 400 for what is no request, 502 for a destination that isn't here, 501 where a path leads to no route.
        var refusals: Set<Int> { [400, 403, 404, 405, 409, 412, 414, 415, 431, 501, 502] }
    }

    private static func send(
        _ client: TestClient,
        _ method: String,
        _ path: String,
        _ headers: String = "",
        _ body: String = ""
    ) async throws -> TestResponse {
        let connection = await client.connect()
        let head = "\(method) /dav/\(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(headers)"
        try await connection.send(raw: "\(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        let response = try await connection.response()
        await connection.close()
        return response
    }

    /// The names that a method gets.
    private static func targets(_ way: Way, _ showsHidden: Bool) -> [String] {
        let number = (Way.allCases.firstIndex(of: way) ?? 0) + (showsHidden ? Way.allCases.count : 0)
        // The plain names, too: something has to succeed.
        return ["file.txt", "new.txt"] + HostileNames.share(number, of: 10, HostileNames.targets)
    }

    @Test("Nothing leads out", arguments: Way.allCases, [false, true])
    func names(way: Way, showsHidden: Bool) async throws {
        var options = FolderOptions()
        options.showsHidden = showsHidden
        try await HostileFolder.run { hostile in
            try await WebDAVFixture.serve(
                hostile.root,
                ManualCalendar(),
                WebDAVOptions(),
                options,
                within: .seconds(600)
            ) { client async throws in
                var done: Set<Int> = []
                let before = try hostile.outside()
                let targets = Self.targets(way, showsHidden)
                for (number, target) in targets.enumerated() {
                    done.insert(try await Self.play(way, target, client, hostile))
                    // The next request is answered, and nothing has changed around the folder.
                    if number % 16 > 0 && number + 1 < targets.count { continue }
                    try hostile.makeInside()
                    #expect(try await Self.send(client, "GET", "file.txt").text == "a file", "\(target)")
                    let after = try hostile.outside()
                    try #require(after == before, "\(way), up to \(target)")
                }
                print("duplex-hostile: \(targets.count) requests by \(way)")
                // The names that lead nowhere else are served.
                #expect(!done.isDisjoint(with: way.successes) && !done.isDisjoint(with: way.refusals))
            }
        }
    }

    /// Plays one case, and returns its status.
    private static func play(
        _ way: Way,
        _ target: String,
        _ client: TestClient,
        _ hostile: HostileFolder
    ) async throws -> Int {
        try hostile.makeInside()
        let (path, headers) = way.head(target)
        let response = try await send(client, way.method, path, headers, way.body)
        let status = response.status.code
        #expect(way.successes.union(way.refusals).contains(status), "\(way) \(target): \(status) \(response.text)")
        let head = "\(response.headers)"
        let leak = hostile.leak(in: response.body) ?? hostile.leak(in: head.utf8)
        #expect(leak == nil, "\(way) \(target): \(status)")
        #expect(!response.headers.contains(.setCookie), "\(target)")
        if let token = response.headers[.lockToken] {
            _ = try await send(client, "UNLOCK", path, "Lock-Token: \(token)\r\n")
        }
        if way == .copyFrom || way == .moveFrom {
            let taken = try await send(client, "GET", "taken")
            #expect(hostile.leak(in: taken.body) == nil, "\(way) \(target)")
            _ = try await send(client, "DELETE", "taken")
        }
        return status
    }
}
