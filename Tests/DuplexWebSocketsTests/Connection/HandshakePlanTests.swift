// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexWebSockets

@Suite("The requests of an attempt")
struct HandshakePlanTests {
    private func plan(
        _ url: String = "wss://a.test/x",
        _ configure: (inout WebSocketOptions) -> Void = { _ in }
    ) throws -> HandshakePlan {
        var options = WebSocketOptions()
        configure(&options)
        return HandshakePlan(try WebSocketURL(url), options)
    }

    private func refusal(_ status: Int, _ headers: HTTPFields = [:]) -> HandshakeError {
        HandshakeError(.refused, "no", response: ResponseHead(status: .init(code: status), headers: headers))
    }

    @Test("Ours are there when they are asked for, and the caller's take their place, each once")
    func headers() throws {
        let jar = CookieJar()
        try jar.set("jar=1", from: "wss://a.test/x")
        var ours = try plan("wss://u:p@a.test/x") {
            $0.origin = "https://o"
            $0.userAgent = "ua"
            $0.cookies = jar
        }
        let sent = ours.headers(token: nil)
        #expect(sent[values: .origin] == ["https://o"])
        #expect(sent[values: .userAgent] == ["ua"])
        #expect(sent[values: .cookie] == ["jar=1"])
        #expect(sent[values: .authorization] == ["Basic dTpw"])
        let given: HTTPFields = [.origin: "1", .userAgent: "2", .cookie: "3=3", .authorization: "4"]
        var theirs = try plan("wss://u:p@a.test/x") {
            $0.origin = "https://o"
            $0.userAgent = "ua"
            $0.cookies = jar
            $0.headers = given
            $0.authentication = .bearer { "t" }
        }
        #expect(theirs.token == nil)
        let theirFields = theirs.headers(token: nil)
        #expect(theirFields == given)
        var bare = try plan()
        let none = bare.headers(token: nil)
        #expect(none.isEmpty)
    }

    @Test("Redirects are followed up to the limit, and the refusal says why not")
    func limit() throws {
        var plan = try plan { $0.redirects = 1 }
        let found = refusal(302, [.location: "/y"])
        let first = try plan.follow(found)
        #expect(first)
        #expect(plan.target.requestTarget == "/y")
        let error = #expect(throws: HandshakeError.self) { _ = try plan.follow(found) }
        #expect(error?.hint == "1 redirects were followed, and no more may be")
        var none = try self.plan()
        let isFollowed = try none.follow(found)
        #expect(!isFollowed)
        var downgrade = try self.plan { $0.redirects = 5 }
        let toPlain = #expect(throws: HandshakeError.self) {
            _ = try downgrade.follow(refusal(302, [.location: "ws://a.test/"]))
        }
        #expect(toPlain?.hint?.contains("without it") == true)
        #expect(toPlain?.status?.code == 302)
    }

    @Test("Another server gets none of the caller's fields, not even when it sends back")
    func secrets() throws {
        let jar = CookieJar()
        try jar.set("s=1; Path=/", from: "wss://a.test/")
        var plan = try plan("wss://a.test/x") {
            $0.redirects = 5
            $0.cookies = jar
            $0.authentication = .bearer { "t" }
            $0.headers = [.init("X-Mine") ?? .via: "1", .init("Host") ?? .via: "h"]
        }
        #expect(plan.token != nil)
        _ = plan.headers(token: "t")
        _ = try plan.follow(refusal(302, [.location: "wss://b.test/"]))
        #expect(plan.token == nil)
        let other = plan.headers(token: nil)
        #expect(other.isEmpty)
        _ = try plan.follow(refusal(302, [.location: "wss://a.test/"]))
        #expect(plan.token == nil)
        let back = plan.headers(token: nil)
        // The jar's cookies are for that server, whoever sends there.
        #expect(back.map(\.name.canonicalName) == ["cookie"])
        #expect(plan.requests == 3)
        var explicit = try self.plan("wss://a.test/x") {
            $0.redirects = 5
            $0.headers = [.cookie: "a=b", .authorization: "x", .proxyAuthorization: "y", .origin: "https://mine"]
            $0.userAgent = "ua"
        }
        _ = try explicit.follow(refusal(301, [.location: "/same"]))
        let kept = explicit.headers(token: nil)
        #expect(kept[.cookie] == "a=b" && kept[.origin] == "https://mine")
        _ = try explicit.follow(refusal(301, [.location: "wss://a.test:444/"]))
        let stripped = explicit.headers(token: nil)
        #expect(stripped == [.userAgent: "ua"])
    }

    @Test("A challenge is answered once, and not with a field of the caller's own")
    func challenges() throws {
        let challenge = refusal(401, [.wwwAuthenticate: "Digest realm=r, nonce=n, qop=auth"])
        var plan = try plan { $0.authentication = .digest(user: "u", password: "p") }
        let before = plan.headers(token: nil)
        #expect(before[.authorization] == nil)
        let isAnswered = try plan.follow(challenge)
        #expect(isAnswered)
        let answered = plan.headers(token: nil)
        #expect(answered[.authorization]?.hasPrefix("Digest username=\"u\"") == true)
        let again = try plan.follow(challenge)
        #expect(!again)
        var own = try self.plan {
            $0.authentication = .digest(user: "u", password: "p")
            $0.headers[.authorization] = "mine"
        }
        let isOwnAnswered = try own.follow(challenge)
        #expect(!isOwnAnswered)
    }

    @Test("Cookies of a refusal are kept")
    func cookies() throws {
        let jar = CookieJar()
        var plan = try plan { $0.cookies = jar }
        _ = try plan.follow(refusal(403, [.setCookie: "a=b"]))
        #expect(jar.contents.cookies.count == 1)
    }
}
