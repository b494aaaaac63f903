// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexInspector
import DuplexServer
import DuplexTestTimes
import DuplexTesting
import HTTPTypes
import Testing

@testable import DuplexCommand

@Suite(.timeLimit(minutes: 1)) struct InspectedServerTests {
    @Test("With --inspect there is an inspector, which lets nobody in without its token; without it there is none")
    func flag() async throws {
        for (arguments, status) in [(["--inspect"], 401), ([], 426)] {
            let options = try ServeArguments.parse(["--quiet"] + arguments)
            let server = try options.server(serving: nil, tls: nil, log: nil)
            try await server.test { client async throws in
                #expect(try await client.get("/_inspect/").status.code == status)
            }
        }
    }

    @Test("What may be changed is named, and another name is refused with those that there are")
    func changes() throws {
        #expect(try ServeArguments.parse(["--inspect-allow", "sql"]).inspectorChanges == ["sql"])
        let error = #expect(throws: (any Error).self) {
            try ServeArguments.parse(["--inspect-allow", "everything"]).validate()
        }
        #expect(error.map { ServeArguments.message(for: $0).contains("replaying") } == true)
    }
}

@Suite("The process as boxes")
struct DemoSceneTests {
    private static func all(_ node: InspectorView) -> [InspectorView] { [node] + node.children.flatMap { all($0) } }

    @Test("Servers, connections, WebSockets and loops are there, each within what it is in")
    func scene() async throws {
        var server = WebServer(port: 0)
        server.webSocket("/scene") { socket in for try await _ in socket.messages {} }
        try await server.test { client async throws in
            let socket = try await client.webSocket("/scene")
            let scene = await DemoScene.take()
            #expect(scene.type == "Process" && scene.children.last?.type == "EventLoopGroup")
            let nodes = Self.all(scene)
            let mine = try #require(
                nodes.first { $0.type == "WebSocket" && $0.properties.contains(.init("route", "WebSocket /scene")) }
            )
            #expect(mine.children.map(\.type) == ["Buffer", "Buffer"])
            #expect(mine.children.allSatisfy { $0.clips && $0.children[0].isHidden })
            #expect(Set(nodes.map(\.id)).count == nodes.count)
            for node in nodes {
                for child in node.children {
                    #expect(child.x >= 0 && child.x + child.width <= node.width, "\(child.id)")
                    #expect(
                        child.y >= 0 && child.y + child.height <= node.height,
                        "\(child.id)"
                    )
                }
            }
            await socket.close()
        }
    }
}
