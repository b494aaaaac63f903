// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexServer

@Suite struct RoutePathsTests {
    private func head(_ method: HTTPRequest.Method, _ target: String) throws -> RequestHead {
        try RequestHead(method: method, target: target, headers: [.init("Host") ?? .accept: "a"])
    }

    private func paths() throws -> RoutePaths {
        let endpoints = try [("/a", HTTPRequest.Method.get), ("/a", .put), ("/b/:c", .get)].map { path, method in
            let handler = RouteHandler.immediate { _ in .text("") }
            return (
                path: path,
                endpoint: try Endpoint(pattern: path, method: method, handler: handler, settings: RouteSettings())
            )
        }
        return try RoutePaths(endpoints, [])
    }

    @Test("A plain path is found at a glance, and nothing else is")
    func plain() throws {
        let paths = try paths()
        #expect(paths.plainEndpoint(for: try head(.get, "/a"))?.name == "GET /a")
        #expect(paths.plainEndpoint(for: try head(.put, "/a?x"))?.name == "PUT /a")
        for (method, target) in [(HTTPRequest.Method.head, "/a"), (.get, "/b/1"), (.get, "/%61")] {
            #expect(paths.plainEndpoint(for: try head(method, target)) == nil)
        }
    }

    @Test("What is there under another method is told from what isn't there")
    func finding() throws {
        let paths = try paths()
        guard case .otherMethods(let resource) = paths.find(try head(.delete, "/a")) else {
            Issue.record("The path isn't found.")
            return
        }
        #expect(resource.allowed == "GET, HEAD, OPTIONS, PUT")
        if case .nothing = paths.find(try head(.get, "/c")) {} else { Issue.record("/c leads somewhere.") }
        guard case .respond(let endpoint, let parameters) = paths.find(try head(.head, "/b/1")) else {
            Issue.record("HEAD isn't answered by GET.")
            return
        }
        #expect(endpoint.name == "GET /b/:c" && parameters["c"] == "1")
    }
}
