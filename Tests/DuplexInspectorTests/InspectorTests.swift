// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSharing
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Synchronization
import Testing

@testable import DuplexInspector

@Suite("The inspector of a server", .timeLimit(minutes: 1))
struct InspectorTests {
    /// Every path that the inspector answers, with names in the place of parameters, and its method.
    private static func routes(of server: WebServer) -> [(method: HTTPRequest.Method?, path: String)] {
        server.routeTexts.filter { $0.path.hasPrefix("/_inspect") }.map { route in
            let segments = route.path.split(separator: "/", omittingEmptySubsequences: false)
            let path = segments.map { $0.hasPrefix(":") ? "x" : $0 == "*" ? "a/b" : String($0) }.joined(separator: "/")
            return (route.method, path)
        }
    }

    @Test("Without the token every route answers 401, whatever it is, and those that will be added as well")
    func walk() async throws {
        var options = InspectorOptions()
        options.allowedChanges = Set(InspectorChange.allCases)
        var server = WebServer(port: 0)
        server.inspector("/_inspect", options: options)
        let routes = Self.routes(of: server)
        #expect(routes.count > 10 && routes.contains { $0.method == nil } && routes.contains { $0.method == .post })
        try await server.test { client async throws in
            for (method, path) in routes {
                if let method {
                    let response = try await client.request(method, path, headers: [:], body: [])
                    #expect(response.status == .unauthorized, "\(method) \(path)")
                    #expect(response.headers[.contentSecurityPolicy] != nil && response.headers[.setCookie] == nil)
                } else {
                    let error = await #expect(throws: WebSocketError.self) { try await client.webSocket(path) }
                    #expect(error?.status?.code == 401, "\(path)")
                }
            }
            for path in ["/_inspect", "/_inspect/", "/_inspect/none", "/_inspect/assets/none.js", "/_inspect/a/b/c"] {
                #expect(try await client.get(path).status == .unauthorized, "\(path)")
            }
        }
    }

    @Test("The page, its files and what it is to show are there for those who have the token")
    func page() async throws {
        try await InspectorFixture.run(InspectorFixture.allowing(.sql, .files)) { fixture async throws in
            let page = try await fixture.get("")
            #expect(page.status == .ok && page.headers[.contentSecurityPolicy] == InspectorSite.contentSecurityPolicy)
            for file in InspectorSite.files where file.name != "index.html" {
                let response = try await fixture.get("assets/\(file.name)")
                #expect(response.status == .ok && response.body == file.bytes, "\(file.name)")
                #expect(response.headers[.contentType] == file.contentType.rawValue)
            }
            let state = try await fixture.get("state").value(Inspector.State.self)
            #expect(state.allows == ["files", "sql"] && state.pages.first == "connections")
            #expect(try await fixture.get("none").status == .notFound)
        }
    }

    @Test("The address is told once the server takes connections, and leads in")
    func address() async throws {
        let told = Mutex<[String]>([])
        var options = InspectorOptions()
        options.onStart = { address in told.withLock { $0.append(address) } }
        var server = WebServer(host: "127.0.0.1", port: 0)
        let inspector = server.inspector("/_inspect/", options: options)
        #expect(inspector.path == "/_inspect/")
        let running = try await server.start()
        let port = running.addresses[0].port
        #expect(told.withLock { $0 } == ["http://localhost:\(port)/_inspect/?token=\(inspector.token)"])
        let peer = try await RawPeer.connect(to: running.addresses[0])
        let request = "GET /_inspect/?token=\(inspector.token) HTTP/1.1\r\nHost: localhost:\(port)\r\n\r\n"
        #expect(try await peer.response(to: request).status == 200)
        await running.stop()
    }

    @Test("Two inspectors of one process don't know each other's visitors")
    func two() async throws {
        var server = WebServer(port: 0)
        let one = server.inspector("/one")
        let other = server.inspector("/other")
        #expect(one.token != other.token)
        try await server.test { client async throws in
            let token: HTTPFields = [.authorization: "Bearer \(one.token)"]
            #expect(try await client.get("/one/state", headers: token).status == .ok)
            #expect(try await client.get("/other/state", headers: token).status == .unauthorized)
        }
    }
}

@Suite struct InspectorRoomsTests {
    @Test("Parts that need something of the app are there when it is given")
    func parts() throws {
        func pages(_ options: InspectorOptions) -> [String] {
            let history = RequestHistory(options.requests)
            return InspectorRooms.all(options, history, below: "/_inspect", on: nil).map(\.page)
        }
        var options = InspectorOptions()
        let few = pages(options)
        #expect(few.first == "connections" && few.contains("machine") && !few.contains("databases"))
        options.databases["Main"] = "/none"
        options.console = InspectorConsole()
        let more = pages(options)
        #expect(more.contains("databases") && more.contains("console") && Set(more).count == more.count)
    }
}

@Suite("The inspector's page")
struct InspectorSiteTests {
    @Test("Its policy allows this origin's files, and pictures that it makes itself")
    func policy() {
        #expect(InspectorSite.contentSecurityPolicy.contains("; img-src 'self' blob: data:; "))
        #expect(InspectorSite.contentSecurityPolicy.hasSuffix("; trusted-types 'none'"))
    }
}
