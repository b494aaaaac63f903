// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexInspector

@Suite("Who may look into an app", .timeLimit(minutes: 1))
struct InspectorGuardTests {
    @Test("The token in the address is exchanged for a cookie, and the page is asked for without it")
    func exchange() async throws {
        try await InspectorFixture.run { fixture async throws in
            let page = try await fixture.client.get("/_inspect/?token=\(fixture.inspector.token)")
            #expect(page.status == .ok && page.text.contains(#"content="0;url=./""#))
            #expect(page.headers[.cacheControl] == "no-store" && page.headers[.referrerPolicy] == "no-referrer")
            #expect(!page.text.contains(fixture.inspector.token))
            let cookie = try #require(page.headers[.setCookie])
            #expect(cookie.hasPrefix("duplex-inspector-") && cookie.hasSuffix("; HttpOnly; SameSite=Strict"))
            #expect(!cookie.contains(fixture.inspector.token) && !cookie.contains("Path"))
            let pair = String(cookie.prefix { $0 != ";" })
            let again = try await fixture.client.get("/_inspect/state", headers: [.cookie: "a=b; \(pair); c=d"])
            #expect(again.status == .ok)
            // It is exchanged again for whoever has the cookie, and doesn't stay in that address either.
            let second = try await fixture.client.get(
                "/_inspect/?token=\(fixture.inspector.token)",
                headers: [.cookie: pair]
            )
            #expect(second.text == page.text && second.headers[.setCookie] == cookie)
            // The token is good for the page's own path with a slash at its end, where the cookie belongs.
            let short = try await fixture.client.get("/_inspect?token=\(fixture.inspector.token)")
            #expect(short.status == .found)
            #expect(short.headers[.location] == "./_inspect/?token=\(fixture.inspector.token)")
        }
    }

    @Test("The token is found beside items of the query that can't be read")
    func unreadableItems() async throws {
        try await InspectorFixture.run { fixture async throws in
            let page = try await fixture.client.get("/_inspect/?fbclid=%E9&token=\(fixture.inspector.token)")
            #expect(page.status == .ok && page.headers[.setCookie] != nil)
        }
    }

    @Test(
        "What isn't the token lets nobody in",
        arguments: ["", "?token=", "?token=0", "?token=ffffffffffffffffffffffffffffffff", "?Token=TOKEN", "?x=TOKEN"]
    )
    func wrong(query: String) async throws {
        try await InspectorFixture.run { fixture async throws in
            let query = query.replacing("TOKEN", with: fixture.inspector.token)
            let answer = try await fixture.client.get("/_inspect/\(query)")
            #expect(answer.status == .unauthorized && answer.headers[.setCookie] == nil)
            #expect(answer.headers[.wwwAuthenticate] == #"Bearer realm="inspector""#)
        }
    }

    @Test(
        "No log and no other inspector has a query with the token, whatever the method, the path and the answer",
        arguments: [HTTPRequest.Method.get, .head, .post, .options, .delete]
    )
    func untold(method: HTTPRequest.Method) async throws {
        let log = RecordedLog()
        var server = WebServer(port: 0)
        server.logger = log.logger
        server.use(.accessLog())
        let other = server.inspector("/other")
        try await InspectorFixture.run(InspectorOptions(), server) { fixture async throws in
            let page = LivePage(socket: try await fixture.client.webSocket("/other/live", options: Self.options(other)))
            try await page.watch("requests")
            try await page.watch("nothing", as: 2)
            _ = try await page.news { $0.watch == 2 }
            let site = try #require(HTTPField.Name("Sec-Fetch-Site"))
            for path in ["/_inspect/", "/_inspect", "/_inspect/state", "/_inspect/none", "/_inspect/connections/reset"]
            {
                for headers in [HTTPFields(), [site: "cross-site", .origin: "http://evil.example"]] {
                    let target = "\(path)?token=\(fixture.inspector.token)"
                    _ = try await fixture.client.request(method, target, headers: headers)
                }
            }
            #expect(try await fixture.client.get("/last").status == .notFound)
            var urls: [String] = []
            while !urls.contains(where: { $0.hasSuffix("/last") }) {
                urls += try await page.news { $0.watch == 1 }.items?.compactMap { $0["url"]?.text } ?? []
            }
            #expect(urls.allSatisfy { !$0.contains("_inspect") }, "\(urls)")
            #expect(log.entries.filter { "\($0)".contains("_inspect") }.count >= 10)
            #expect(log.entries.allSatisfy { !"\($0)".contains(fixture.inspector.token) })
        }
    }

    private static func options(_ inspector: Inspector) -> WebSocketOptions {
        var options = WebSocketOptions()
        options.headers = [.authorization: "Bearer \(inspector.token)"]
        return options
    }

    @Test("A token in a referrer, in a cookie or in a path, and a cookie of another inspector, let nobody in")
    func elsewhere() async throws {
        try await InspectorFixture.run { fixture async throws in
            let token = fixture.inspector.token
            let others: [HTTPFields] = [
                [.referer: "http://localhost/_inspect/?token=\(token)"], [.cookie: "token=\(token)"],
                [.cookie: "duplex-inspector-00000000=\(token)"], [.authorization: "Basic \(token)"],
                [.authorization: "Bearer \(token)0"], [.authorization: token],
            ]
            for headers in others {
                #expect(try await fixture.client.get("/_inspect/state", headers: headers).status == .unauthorized)
            }
            #expect(try await fixture.client.get("/_inspect/\(token)").status == .unauthorized)
            // Changes can't be asked for with a token that any page could put into a link.
            let post = try await fixture.client.post("/_inspect/connections/reset?token=\(token)", body: [])
            #expect(post.status == .unauthorized)
        }
    }

    @Test("Names that lead here from elsewhere are refused: a page of anybody's could have one (DNS rebinding)")
    func hosts() async throws {
        var options = InspectorOptions()
        options.hosts = ["inspect.example.com"]
        // The server answers for all: what counts is what the inspector says.
        var server = WebServer(port: 0)
        server.allowedHosts = ["*"]
        try await InspectorFixture.run(options, server) { fixture async throws in
            let host = try #require(HTTPField.Name("Host"))
            for name in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1"] {
                let answer = try await fixture.get("state", [host: name])
                #expect(answer.status == .misdirectedRequest, "\(name)")
            }
            for name in ["localhost:8080", "127.0.0.1", "[::1]:9", "inspect.example.com", "a.localhost"] {
                #expect(try await fixture.get("state", [host: name]).status == .ok, "\(name)")
            }
        }
    }

    @Test("Pages of other sites make no changes and open no WebSocket, whatever cookie the browser would send")
    func otherSites() async throws {
        try await InspectorFixture.run(InspectorFixture.allowing(.killing)) { fixture async throws in
            let site = try #require(HTTPField.Name("Sec-Fetch-Site"))
            let forged: [HTTPFields] = [
                [.origin: "http://evil.example"], [.origin: "null"], [site: "cross-site"], [site: "same-site"],
            ]
            for headers in forged {
                let answer = try await fixture.post("connections/reset", "{'id':'ws-0'}", headers)
                #expect(answer.status == .forbidden, "\(headers)")
            }
            // The same without is let through, and finds nothing.
            #expect(try await fixture.post("connections/reset", "{'id':'ws-0'}").status == .notFound)
            var options = WebSocketOptions()
            options.headers = fixture.token
            options.headers[.origin] = "http://evil.example"
            await #expect(throws: WebSocketError.self) {
                try await fixture.client.webSocket("/_inspect/live", options: options)
            }
        }
    }

    @Test("Whatever pages the app lets open WebSockets, those of other ports of this host read nothing with the cookie")
    func otherPorts() async throws {
        var server = WebServer(port: 0)
        server.webSockets.origins = .any
        try await InspectorFixture.run(InspectorOptions(), server) { fixture async throws in
            var options = WebSocketOptions()
            options.headers = fixture.token
            options.headers[.origin] = "http://localhost:3000"
            await #expect(throws: WebSocketError.self) {
                try await fixture.client.webSocket("/_inspect/live", options: options)
            }
            let site = try #require(HTTPField.Name("Sec-Fetch-Site"))
            for value in ["same-site", "cross-site"] {
                #expect(try await fixture.get("state", [site: value]).status == .forbidden)
                // A link leads to the page, which then asks for the rest itself.
                #expect(try await fixture.get("", [site: value]).status == .ok)
            }
            #expect(try await fixture.get("state", [site: "same-origin"]).status == .ok)
        }
    }

    @Test(
        "What a proxy on this machine sends for others is refused until the app answers those",
        arguments: ["Forwarded", "X-Forwarded-For", "X-Real-IP", "Via"]
    )
    func proxies(field: String) async throws {
        let headers: HTTPFields = [try #require(HTTPField.Name(field)): "203.0.113.1"]
        try await InspectorFixture.run { fixture async throws in
            #expect(try await fixture.get("state", headers).status == .forbidden)
        }
        var options = InspectorOptions()
        options.answersOtherMachines = true
        try await InspectorFixture.run(options) { fixture async throws in
            #expect(try await fixture.get("state", headers).status == .ok)
            // One that has TLS says so, and the cookie is for TLS only then.
            let scheme = try #require(HTTPField.Name("X-Forwarded-Proto"))
            let page = try await fixture.client.get(
                "/_inspect/?token=\(fixture.inspector.token)",
                headers: [scheme: "https"]
            )
            #expect(page.headers[.setCookie]?.hasSuffix("; HttpOnly; SameSite=Strict; Secure") == true)
        }
    }

    @Test("With an app's own authentication the token counts for nothing, and who isn't known gets 401")
    func users() async throws {
        var options = InspectorOptions()
        options.access = .users
        var server = WebServer(port: 0)
        server.get("/") { _ in "ok" }
        let known = RouteOption.before { request in
            if request.headers[.from] == "ann" { request.user = "ann" }
            return nil
        }
        let inspector = server.inspector("/_inspect", known, options: options)
        #expect(inspector.address(below: "http://localhost:80/") == "http://localhost:80/_inspect/")
        try await server.test { client async throws in
            #expect(try await client.get("/_inspect/state", headers: [.from: "ann"]).status == .ok)
            #expect(try await client.get("/_inspect/state", headers: [.from: "bob"]).status == .unauthorized)
            let token: HTTPFields = [.authorization: "Bearer \(inspector.token)"]
            #expect(try await client.get("/_inspect/state", headers: token).status == .unauthorized)
        }
    }

    @Test("Tokens are compared to their ends, and differ from inspector to inspector")
    func tokens() {
        #expect(InspectorGuard.isSame("abc", "abc") && !InspectorGuard.isSame("abc", "abd"))
        #expect(!InspectorGuard.isSame("abc", "ab") && !InspectorGuard.isSame("", "a") && InspectorGuard.isSame("", ""))
        let tokens = (0..<4).map { _ in InspectorGuard(.token, hosts: [], answersOtherMachines: false).token }
        let own = "a token of the app's own"
        #expect(Set(tokens).count == 4 && tokens.allSatisfy { $0.count == 32 })
        #expect(InspectorGuard(.ownToken(own), hosts: [], answersOtherMachines: true).token == own)
    }
}
