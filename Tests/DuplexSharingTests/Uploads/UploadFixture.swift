// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestProcesses
import DuplexTesting
import DuplexWire
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import DuplexSharing

/// A server that takes uploads in a folder of its own, for tests.
struct UploadFixture {
    let client: TestClient
    /// With a slash at its end.
    let root: String

    static func run(
        _ taking: ResumableUploadOptions = ResumableUploadOptions(),
        folder: FolderOptions = FolderOptions(),
        _ body: (UploadFixture) async throws -> Void
    ) async throws {
        try await withTestFolder { root in
            var server = WebServer(port: 0)
            server.resumableUploads("/up", folder: try SharedFolder(root, options: folder), options: taking)
            try await server.test { client async throws in
                try await body(UploadFixture(client: client, root: root))
            }
        }
    }

    static func metadata(_ values: KeyValuePairs<String, String>) -> String {
        values.map { "\($0) \(Data($1.utf8).base64EncodedString())" }.joined(separator: ",")
    }

    func request(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ headers: HTTPFields = [:],
        body: [UInt8] = []
    ) async throws -> TestResponse {
        var headers = headers
        headers[UploadProtocol.resumable] = "1.0.0"
        return try await client.request(method, path, headers: headers, body: body)
    }

    /// Makes an upload, and returns where it is.
    func create(_ name: String, _ length: Int?, _ others: HTTPFields = [:]) async throws -> String {
        var headers = others
        headers[length == nil ? UploadProtocol.deferred : UploadProtocol.length] = "\(length ?? 1)"
        headers[UploadProtocol.metadata] = Self.metadata(["name": name])
        let response = try await request(.post, "/up", headers)
        #expect(response.status == .created, "\(response.text)")
        return try #require(response.headers[.location])
    }

    func patch(_ url: String, _ offset: Int, _ text: String, _ others: HTTPFields = [:]) async throws -> TestResponse {
        var headers = others
        headers[.contentType] = UploadProtocol.contentType
        headers[UploadProtocol.offset] = "\(offset)"
        return try await request(.patch, url, headers, body: Array(text.utf8))
    }

    func offset(_ url: String) async throws -> String? {
        try await request(.head, url).headers[UploadProtocol.offset]
    }

    func text(_ name: String) -> String? {
        FileManager.default.contents(atPath: root + name).map { String(decoding: $0, as: UTF8.self) }
    }

    /// What lies beside the shared files: of uploads that aren't whole, or were so lately.
    func leftovers() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root + ".duplex/uploads").sorted()
    }
}
