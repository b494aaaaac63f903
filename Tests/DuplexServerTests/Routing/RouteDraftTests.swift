// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexServer

@Suite struct RouteDraftTests {
    private func endpoint(_ path: String) throws -> Endpoint {
        try Endpoint(pattern: path, method: .get, handler: .immediate { _ in .text("") }, settings: RouteSettings())
    }

    @Test("The same route may be there once for each host")
    func twice() throws {
        var draft = RouteDraft()
        draft.add(try endpoint("/a"), at: "/a", for: nil)
        draft.add(try endpoint("/a"), at: "/a", for: HostPattern("example.com"))
        draft.add(try endpoint("/a"), at: "/a", for: HostPattern("*.com"))
        #expect(try draft.hosts().map(\.pattern) == [HostPattern("example.com"), HostPattern("*.com")])
        #expect(draft.names.count == 3)
        draft.add(try endpoint("/a"), at: "/a", for: HostPattern("example.com"))
        #expect(throws: RouteError.self) { try draft.hosts() }
    }

    @Test("A host that no request can be for is an error that names it")
    func host() {
        var server = WebServer(port: 0)
        server.host("example.com:80") { $0.get("/") { _ in "" } }
        #expect {
            _ = try server.table()
        } throws: { error in
            let error = error as? RouteError
            return error?.code == .badHost && error?.route == "example.com:80/"
        }
    }
}
