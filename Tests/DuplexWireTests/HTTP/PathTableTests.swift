// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestSplits
import HTTPTypes
import Testing

@testable import DuplexWire

@Suite struct PathTableTests {
    /// The head of a request for the target, read in one pass or made of parts.
    private func head(_ target: String, isReceived: Bool) throws -> RequestHead {
        let parts = try RequestHead(method: .get, target: target, headers: [.host: "a"])
        guard isReceived else { return parts }
        var parser = RequestHeadParser()
        var position = 0
        let parsed = try parser.parse(wire("GET \(target) HTTP/1.1\nHost: a\n\n").span, from: &position)
        return try #require(parsed)
    }

    private static let paths = [
        "/", "/a", "/b", "/ab", "/1234567", "/12345678", "/123456789", "/api/v1/aaaa/settings",
        "/api/v1/bbbb/settings", "/api/v1/aaaa/settingz", "/\(String(repeating: "x", count: 300))",
    ]

    @Test("Each path is found, with a query as well, however its head was made", arguments: paths)
    func found(path: String) throws {
        let table = PathTable(Self.paths)
        for isReceived in [true, false] {
            for query in ["", "?", "?/b"] {
                let number = table.number(for: try head(path + query, isReceived: isReceived))
                #expect(number.map { Self.paths[$0] } == path)
            }
        }
    }

    @Test("What is a path's beginning, or has another case, or more, isn't found, and nothing is in an empty table")
    func missing() throws {
        let table = PathTable(["/abc", "/12345678"])
        for path in ["/", "/ab", "/abcd", "/aBc", "/abc/", "/1234567", "/123456789", "/12345679", "/22345678"] {
            for table in [table, PathTable([])] {
                #expect(table.number(for: try head(path, isReceived: true)) == nil, "\(path)")
            }
        }
    }

    @Test("Of thousands of paths that are alike each is found")
    func many() throws {
        let paths = (0..<3_000).map { "/users/\($0)/settings" }
        let table = PathTable(paths)
        for (number, path) in paths.enumerated() {
            #expect(table.number(for: try head(path, isReceived: false)) == number)
        }
    }
}

extension HTTPField.Name {
    fileprivate static var host: Self { Self(parsed: "host") ?? .accept }
}
