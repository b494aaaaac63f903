// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Foundation
import Testing

@testable import DuplexServer
@testable import DuplexSharing

@Suite("Where an upload is to be")
struct UploadTargetTests {
    private static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

    private static func target(_ values: KeyValuePairs<String, String>) throws(UploadRefusal) -> UploadTarget {
        let text = values.map { "\($0) \(base64($1))" }.joined(separator: ",")
        return try UploadTarget(UploadMetadata(text) ?? .none, clash: .refuse)
    }

    @Test("The name may lead into folders, and the path to the folder that they are in")
    func paths() throws {
        #expect(try Self.target(["name": "a.txt"]).path.text == "a.txt")
        #expect(try Self.target(["filename": "ä.txt", "path": "b/c"]).path.text == "b/c/ä.txt")
        let target = try Self.target(["name": "d/e.txt", "path": "b", "clash": "number"])
        #expect(target.path.text == "b/d/e.txt" && target.clash == .number)
    }

    @Test("What is no path is refused, and so is a clash that isn't known")
    func refused() {
        let cases: [(KeyValuePairs<String, String>, Int)] = [
            ([:], 400), (["name": ""], 400), (["name": "../a"], 403), (["name": "a/../b"], 403),
            (["name": ".duplex/x"], 403), (["name": "a\u{0}"], 403), (["name": "a", "path": ".."], 403),
            (["name": "/"], 403), (["name": "a", "clash": "ask"], 400),
        ]
        for (values, status) in cases {
            do {
                _ = try Self.target(values)
                Issue.record("\(values) is taken")
            } catch {
                #expect(error.status.code == status, "\(values)")
            }
        }
    }
}
