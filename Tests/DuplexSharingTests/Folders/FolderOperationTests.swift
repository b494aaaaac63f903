// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import Testing

@testable import DuplexServer
@testable import DuplexSharing

@Suite struct FolderOperationTests {
    @Test("It changes the folders whose lists change")
    func changes() throws {
        let (from, to) = (try #require(FolderPath("a/b")), try #require(FolderPath("c/d")))
        let (first, second) = (from.parent, to.parent)
        func changed(_ kind: FolderOperation.Kind, to destination: FolderPath? = nil) -> Set<FolderPath> {
            FolderOperation(kind, from, to: destination, by: .app).changedFolders
        }
        #expect(changed(.read) == [])
        #expect(changed(.write) == [first] && changed(.delete) == [first] && changed(.createFolder) == [first])
        #expect(changed(.move, to: to) == [first, second])
        #expect(changed(.copy, to: to) == [second])
    }

    @Test("A visitor is the user and the address of a request, and never the app")
    func visitors() async throws {
        var server = WebServer(port: 0)
        server.get("/", .basicAuth(realm: "x", accounts: ["ann": ":"])) { request in
            let visitor = FolderVisitor(request)
            return "\(visitor.user ?? "-") \(visitor.isApp)"
        }
        try await WebServer.testing(server) { client async throws in
            let response = try await client.get("/", fields: [.authorization: "Basic YW5uOjo="])
            #expect(response.text == "ann false")
        }
        #expect(FolderVisitor(user: nil, address: nil) != .app)
    }
}
