// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTesting
import HTTPTypes
import Logging
import Testing

@testable import DuplexInspector

/// An inspector in memory, asked by somebody who has its token.
struct InspectedApp {
    let client: TestClient

    /// Runs a server with the inspector at `/in`.
    static func run(
        _ logger: Logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() },
        _ configure: (inout InspectorOptions) -> Void,
        _ body: (InspectedApp) async throws -> Void
    ) async throws {
        var server = WebServer(port: 0)
        server.logger = logger
        var options = InspectorOptions()
        options.access = .ownToken("the-token-of-this-test")
        configure(&options)
        server.inspector("/in", options: options)
        try await server.test { client async throws in try await body(InspectedApp(client: client)) }
    }

    func get(_ path: String) async throws -> TestResponse {
        try await client.get("/in\(path)", headers: [.authorization: "Bearer the-token-of-this-test"])
    }

    func post(_ path: String, _ json: String) async throws -> TestResponse {
        let headers: HTTPFields = [
            .authorization: "Bearer the-token-of-this-test",
            .contentType: "application/json", .accept: "application/problem+json",
        ]
        return try await client.post("/in\(path)", headers: headers, body: Array(json.utf8))
    }
}
