// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Foundation
import HTTPTypes
import Testing

@testable import DuplexSharing

@Suite("Uploads that are resumed, for the uploader", .timeLimit(minutes: 1))
struct UploaderUploadsTests {
    private static func field(_ name: String) throws -> HTTPField.Name { try #require(HTTPField.Name(name)) }

    private static func metadata(_ values: KeyValuePairs<String, String>) -> String {
        values.map { "\($0) \(Data($1.utf8).base64EncodedString())" }.joined(separator: ",")
    }

    private static func creation(_ values: KeyValuePairs<String, String>, length: Int) throws -> HTTPFields {
        [
            try field("Tus-Resumable"): "1.0.0", try field("Upload-Length"): "\(length)",
            try field("Upload-Metadata"): metadata(values),
        ]
    }

    @Test("An upload is where its Location says, relative to where it was made, and has its path at its end")
    func pieces() async throws {
        try await UploaderFixture.run(["a/": ""]) { uploader async throws in
            let headers = try Self.creation(["path": "a", "name": "b/ü.txt", "clash": "refuse"], length: 6)
            let made = try await uploader.request(.post, "uploads", headers)
            let location = try #require(made.headers[.location])
            #expect(made.status == .created && location.hasPrefix("uploads/"))
            var patch: HTTPFields = [.contentType: "application/offset+octet-stream"]
            patch[try Self.field("Tus-Resumable")] = "1.0.0"
            patch[try Self.field("Upload-Offset")] = "0"
            #expect(try await uploader.request(.patch, location, patch, "abc").status == .noContent)
            #expect(uploader.text("a/b/ü.txt") == nil)
            patch[try Self.field("Upload-Offset")] = "3"
            let last = try await uploader.request(.patch, location, patch, "def")
            #expect(last.headers[try Self.field("Upload-Path")] == "a/b/%C3%BC.txt")
            #expect(uploader.text("a/b/ü.txt") == "abcdef")
        }
    }

    @Test("A name that is taken is refused with 409, whenever that is seen")
    func clashes() async throws {
        try await UploaderFixture.run(["a": "old"]) { uploader async throws in
            let taken = try await uploader.request(.post, "uploads", try Self.creation(["name": "a"], length: 1))
            #expect(taken.status == .conflict && taken.headers[.contentType] == "application/problem+json")
            let made = try await uploader.request(.post, "uploads", try Self.creation(["name": "b"], length: 1))
            let location = try #require(made.headers[.location])
            try await uploader.folder.createFolder(try #require(FolderPath("b")))
            var headers: HTTPFields = [.contentType: "application/offset+octet-stream"]
            headers[try Self.field("Tus-Resumable")] = "1.0.0"
            headers[try Self.field("Upload-Offset")] = "0"
            #expect(try await uploader.request(.patch, location, headers, "x").status == .conflict)
            #expect(try await uploader.request(.head, location, headers).status == .conflict)
        }
    }

    @Test("Pages of other sites, and who may only read, begin none")
    func strangers() async throws {
        try await UploaderFixture.run(folder: UploaderFixture.roles) { uploader async throws in
            var headers = try Self.creation(["name": "a"], length: 0)
            #expect(try await uploader.with("reader").request(.post, "uploads", headers).status == .forbidden)
            headers[.origin] = "https://other.example"
            #expect(try await uploader.with("writer").request(.post, "uploads", headers).status == .forbidden)
            #expect(try uploader.names == [])
        }
    }
}
