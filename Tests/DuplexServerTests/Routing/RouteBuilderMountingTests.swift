// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTesting
import Testing

@Suite("Handlers that are mounted at a path")
struct RouteBuilderMountingTests {
    @Test(
        "They get how many segments lead to them, in a group and outside of one",
        arguments: [
            ("/a", "/a/x", "1"), ("/a/", "/a/x/y", "1"), ("/a/b", "/a/b/x", "2"), ("/:name/b/c", "/a/b/c/x", "3"),
        ]
    )
    func depth(mounted: String, path: String, depth: String) async throws {
        var server = WebServer(port: 0)
        server.mount([.get], at: mounted, []) { _, depth in Response(body: .text("\(depth)")) }
        server.group("/one/two") { group in
            group.mount([.get], at: mounted, []) { _, depth in Response(body: .text("\(depth)")) }
        }
        try await server.test { client async throws in
            #expect(try await client.get(path).text == depth)
            #expect(try await client.get("/one/two" + path).text == "\((Int(depth) ?? 0) + 2)")
        }
    }
}
