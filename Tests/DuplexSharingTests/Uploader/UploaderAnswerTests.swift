// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Testing

@testable import DuplexSharing

@Suite("What the uploader's API answers", .timeLimit(minutes: 1))
struct UploaderAnswerTests {
    @Test("Changes, with where something was if it was anywhere")
    func changes() throws {
        let (old, new) = (try #require(FolderPath("a/ü \"")), try #require(FolderPath("b")))
        let changed = UploaderAnswer.Changed([
            (old, FolderChange(path: new, replaced: true)), (nil, FolderChange(path: new, replaced: false)),
        ])
        let response = try UploaderAnswer.json(changed)
        let text = #"{"changed":[{"from":"a/ü \"","path":"b","replaced":true},{"path":"b","replaced":false}]}"#
        #expect(response.body.bytes.map { String(decoding: $0, as: UTF8.self) } == text + "\n")
        #expect(try CompactJSON.value(of: text) == changed)
        #expect(response.headers[.contentType] == "application/json")
        #expect(response.headers[.cacheControl] == "no-store" && response.headers[.xContentTypeOptions] == "nosniff")
    }

    @Test("Problems are told in JSON, whatever the client would like more, with their fields")
    func problems() async throws {
        var server = WebServer(port: 0)
        server.get("/", UploaderAnswer.problems) { _ throws -> String in
            throw Problem(.conflict, "It's \"there\".", headers: [.retryAfter: "7"])
        }
        try await server.test { client async throws in
            let response = try await client.get("/", headers: [.accept: "text/html"])
            #expect(response.status == .conflict && response.headers[.contentType] == "application/problem+json")
            #expect(response.text == #"{"status":409,"title":"Conflict","detail":"It's \"there\"."}"# + "\n")
            #expect(response.headers[.retryAfter] == "7" && response.headers[.cacheControl] == "no-store")
        }
    }
}
