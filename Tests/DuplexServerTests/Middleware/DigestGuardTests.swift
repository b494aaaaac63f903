// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Synchronization
import Testing

@Suite("Who makes a request, by Digest")
struct DigestGuardTests {
    private func testing(_ option: RouteOption, _ body: (TestClient) async throws -> Void) async throws {
        var server = WebServer(port: 0)
        server.group("/in", option) { inside in
            inside.get("/") { request in request.user ?? "nobody" }
            inside.post("/body") { request in "\(try await request.body.collect().count)" }
            inside.webSocket("/socket") { socket, request in
                try await socket.send(request.user ?? "nobody")
            }
        }
        try await server.test(body)
    }

    private static let accounts = RouteOption.digestAuth(
        realm: "the room",
        accounts: ["mia": "pä:ss", "": "x", "Jäs ø": "pä:ss"],
        options: DigestOptions(algorithms: [.sha256, .sha512256, .md5])
    )
    private static let asked = RouteOption.digestAuth(
        realm: "the room",
        options: DigestOptions(algorithms: [.sha256, .sha512256, .md5])
    ) { user in
        await Task.yield()
        return ["mia": "pä:ss", "Jäs ø": "pä:ss"][user]
    }

    @Test(
        "The right password lets in by every algorithm, by a list or by what the app says",
        arguments: [false, true],
        DigestAlgorithm.allCases
    )
    func right(isAsked: Bool, algorithm: DigestAlgorithm) async throws {
        try await testing(isAsked ? Self.asked : Self.accounts) { client async throws in
            let first = try await client.get("/in")
            #expect(first.status == .unauthorized && !first.isStale)
            #expect(first.headers[values: .wwwAuthenticate].count == 3)
            for user in ["mia", "Jäs ø"] {
                let mia = DigestClient(user: user, algorithm: algorithm)
                let challenge = try await client.get("/in")
                let answer = try await client.get("/in", headers: mia.headers(challenge, "/in"))
                #expect(answer.status == .ok && answer.text == user)
                #expect(answer.headers[.authenticationInfo]?.contains("nc=00000001, qop=auth") == true)
                var options = WebSocketOptions()
                options.headers = mia.headers(challenge, "/in/socket", count: 2)
                let socket = try await client.webSocket("/in/socket", options: options)
                #expect(try await socket.receive() == .text(user))
                await socket.reset()
            }
        }
    }

    @Test("The server shows by Authentication-Info that it knows the password, too")
    func proof() async throws {
        try await testing(Self.accounts) { client async throws in
            let mia = DigestClient()
            let first = try await client.get("/in")
            let answer = try await client.get("/in", headers: mia.headers(first, "/in"))
            let hash = { (text: String) in Base16.encode(HTTPDigest.digest(.sha256, Array(text.utf8)) ?? []) }
            let nonce = try #require(mia.challenge(first)?.nonce)
            let expected = hash(hash("mia:the room:pä:ss") + ":\(nonce):00000001:c-nonce:auth:" + hash(":/in"))
            #expect(
                answer.headers[.authenticationInfo]
                    == "rspauth=\"\(expected)\", cnonce=\"c-nonce\", nc=00000001, qop=auth"
            )
        }
    }

    /// CocoaHTTPServer took the realm that the client named.
    @Test(
        "A wrong password, a user who isn't known and a realm of the client's own aren't let in",
        arguments: [false, true]
    )
    func wrong(isAsked: Bool) async throws {
        try await testing(isAsked ? Self.asked : Self.accounts) { client async throws in
            let first = try await client.get("/in")
            var wrong: [HTTPFields] = [
                [.authorization: "Digest"], [.authorization: "Basic bWlhOnDDpDpzcw=="], [.authorization: ""],
            ]
            for (user, password) in [
                ("mia", "pä:s"), ("mia", ""), ("eve", ""), ("eve", "pä:ss"), ("", ""), ("MIA", "pä:ss"),
            ] {
                wrong.append(DigestClient(user: user, password: password).headers(first, "/in"))
            }
            let right = try #require(DigestClient().headers(first, "/in")[.authorization])
            for (part, other) in [
                ("the room", "their room"), ("username=\"mia\"", "username=\"eve\""), ("=SHA-256", "=MD5"),
            ] {
                wrong.append([.authorization: right.replacing(part, with: other)])
            }
            for headers in wrong {
                let answer = try await client.get("/in", headers: headers)
                #expect(answer.status == .unauthorized && !answer.isStale, "\(headers)")
                #expect(answer.headers[.authenticationInfo] == nil)
            }
            var twice = DigestClient().headers(first, "/in")
            twice.append(HTTPField(name: .authorization, value: right))
            #expect(try await client.get("/in", headers: twice).status == .unauthorized)
            let error = await #expect(throws: WebSocketError.self) { try await client.webSocket("/in/socket") }
            #expect(error?.handshake?.status == .unauthorized)
        }
    }

    /// GCDWebServer formatted the hash that it hadn't as “(null)”, by which anybody could compute the response.
    @Test(
        "For a user who isn't known no hash does, whatever a missing one might look like",
        arguments: ["(null)", "", "nil", "null", String(repeating: "0", count: 64), "eve:the room:"]
    )
    func missingHash(hash: String) async throws {
        // Of eve there is none at all, or one that no answer by SHA-256 can be checked with.
        let kept = try #require(DigestSecret(hash: String(repeating: "a", count: 32), .md5))
        let other = try #require(DigestSecret(hash: String(repeating: "a", count: 64), .sha256))
        let mixed = RouteOption.digestAuth(realm: "the room", accounts: ["eve": kept, "mia": other])
        for option in [Self.accounts, Self.asked, mixed] { try await refuses(option, hash) }
    }

    private func refuses(_ option: RouteOption, _ hash: String) async throws {
        try await testing(option) { client async throws in
            let first = try await client.get("/in")
            let nonce = try #require(DigestClient().challenge(first)?.nonce)
            let digest = { (text: String) in Base16.encode(HTTPDigest.digest(.sha256, Array(text.utf8)) ?? []) }
            for secret in [hash, digest(hash)] {
                let response = digest("\(secret):\(nonce):00000001:c:auth:\(digest("GET:/in"))")
                let value =
                    "Digest username=\"eve\", realm=\"the room\", uri=\"/in\", nonce=\"\(nonce)\", nc=00000001, "
                    + "cnonce=\"c\", qop=auth, algorithm=SHA-256, response=\"\(response)\""
                let answer = try await client.get("/in", headers: [.authorization: value])
                #expect(answer.status == .unauthorized && !answer.isStale)
            }
        }
    }

    /// Of GCDWebServer there was one nonce for as long as the process ran.
    @Test("A nonce grows old, and then the client is told that this is all that was wrong")
    func expiry() async throws {
        try await testing(Self.accounts) { client async throws in
            let mia = DigestClient()
            let first = try await client.get("/in")
            #expect(mia.challenge(first)?.nonce != mia.challenge(try await client.get("/in"))?.nonce)
            await client.clock.advance(by: .seconds(299))
            #expect(try await client.get("/in", headers: mia.headers(first, "/in")).status == .ok)
            await client.clock.advance(by: .seconds(1))
            let old = try await client.get("/in", headers: mia.headers(first, "/in", count: 2))
            #expect(old.status == .unauthorized && old.isStale)
            #expect(try await client.get("/in", headers: mia.headers(old, "/in")).text == "mia")
            // Who doesn't know the password learns nothing.
            let wrong = DigestClient(password: "x").headers(first, "/in")
            #expect(try await !client.get("/in", headers: wrong).isStale)
        }
    }

    @Test("A nonce or an opaque that the server didn't make is as one that has grown old")
    func forged() async throws {
        try await testing(Self.accounts) { client async throws in
            let first = try await client.get("/in")
            for (name, own) in [("nonce", "a"), ("opaque", "a"), ("nonce", "")] {
                var values = first.headers[values: .wwwAuthenticate].map { value in
                    value.split(separator: ", ").map { $0.hasPrefix(name + "=") ? "\(name)=\"\(own)\"" : $0 }
                        .joined(separator: ", ")
                }
                values.reverse()
                let challenges = AuthenticationChallenge.parse(values).compactMap(DigestChallenge.init)
                let forged = try #require(challenges.first { $0.algorithm == .md5 })
                let value = forged.answer(
                    PasswordCredentials(user: "mia", password: "pä:ss"),
                    method: "GET",
                    target: "/in",
                    clientNonce: "c",
                    digest: HTTPDigest.digest
                )
                let answer = try await client.get("/in", headers: [.authorization: value ?? ""])
                #expect(answer.status == .unauthorized && answer.isStale, "\(name)")
            }
        }
    }

    @Test("An answer that somebody has overheard isn't taken again, and later ones of its client are")
    func replay() async throws {
        try await testing(Self.accounts) { client async throws in
            let mia = DigestClient()
            let first = try await client.get("/in")
            let headers = mia.headers(first, "/in")
            #expect(try await client.get("/in", headers: headers).status == .ok)
            let again = try await client.get("/in", headers: headers)
            #expect(again.status == .unauthorized && again.isStale)
            #expect(try await client.get("/in", headers: mia.headers(first, "/in", count: 3)).status == .ok)
            #expect(try await client.get("/in", headers: mia.headers(first, "/in", count: 2)).status == .ok)
            #expect(try await client.get("/in", headers: mia.headers(first, "/in", count: 2)).status == .unauthorized)
        }
    }

    /// GCDWebServer didn't compare.
    @Test("An answer for another target or another method doesn't do")
    func otherTarget() async throws {
        try await testing(Self.accounts) { client async throws in
            let mia = DigestClient()
            let first = try await client.get("/in")
            for target in ["/", "/in/", "/in?a=b", "/in/body", "http://other.test/in"] {
                let answer = try await client.get("/in", headers: mia.headers(first, target))
                #expect(answer.status == .badRequest, "\(target)")
            }
            let proxied = mia.headers(first, "http://localhost/in")
            #expect(try await client.get("/in", headers: proxied).status == .ok)
            let asGet = mia.headers(first, "/in", count: 2)
            #expect(try await client.request(.head, "/in", headers: asGet).status == .unauthorized)
            let asHead = mia.headers(first, "/in", method: .head, count: 2)
            #expect(try await client.request(.head, "/in", headers: asHead).status == .ok)
        }
    }

    @Test("Basic is offered behind Digest where that is wanted, and is refused where it isn't")
    func basic() async throws {
        let bytes = try #require(HTTPDigest.digest(.sha256, Array("eve:x:secret".utf8)))
        let hash = try #require(DigestSecret(hash: Base16.encode(bytes), .sha256))
        let option = RouteOption.digestAuth(
            realm: "x",
            accounts: ["mia": "pä:ss", "eve": hash],
            options: DigestOptions(offersBasic: true)
        )
        try await testing(option) { client async throws in
            let first = try await client.get("/in")
            let schemes = first.headers[values: .wwwAuthenticate].map { $0.split(separator: " ")[0] }
            // Of a hash by SHA-256 no other algorithm can be checked.
            #expect(schemes == ["Digest", "Basic"])
            for (user, password, isRight) in [
                ("mia", "pä:ss", true), ("eve", "secret", true), ("eve", "pä:ss", false), ("bob", "secret", false),
                ("mia", "", false),
            ] {
                let value = try #require(PasswordCredentials(user: user, password: password).basicValue)
                let answer = try await client.get("/in", headers: [.authorization: value])
                #expect(answer.status == (isRight ? .ok : .unauthorized), "\(user)")
                let digest = DigestClient(user: user, password: password)
                let other = try await client.get("/in", headers: digest.headers(try await client.get("/in"), "/in"))
                #expect(other.text == user || !isRight)
            }
        }
    }

    @Test("Names are hashed where clients are asked to, and others may send them plain")
    func hashedUsers() async throws {
        let options = DigestOptions(algorithms: [.sha512256, .md5], hashesUsers: true)
        let option = RouteOption.digestAuth(realm: "x", accounts: ["mia": "pä:ss"], options: options)
        try await testing(option) { client async throws in
            for algorithm: DigestAlgorithm in [.sha512256, .md5] {
                let mia = DigestClient(algorithm: algorithm)
                let first = try await client.get("/in")
                let headers = mia.headers(first, "/in")
                #expect(headers[.authorization]?.contains("userhash=true") == true)
                #expect(headers[.authorization]?.contains("mia") == false)
                #expect(try await client.get("/in", headers: headers).text == "mia")
                let eve = DigestClient(user: "eve", algorithm: algorithm)
                #expect(try await client.get("/in", headers: eve.headers(first, "/in")).status == .unauthorized)
            }
        }
        // Nobody was asked to.
        try await testing(Self.asked) { client async throws in
            let first = try await client.get("/in")
            let value = DigestClient().headers(first, "/in")[.authorization] ?? ""
            let headers: HTTPFields = [.authorization: value + ", userhash=true"]
            #expect(try await client.get("/in", headers: headers).status == .unauthorized)
        }
    }

    @Test("What the app throws where it looks for a secret is answered as what a handler throws")
    func throwing() async throws {
        let asked = Mutex<[String]>([])
        let option = RouteOption.digestAuth(realm: "x") { user in
            asked.withLock { $0.append(user) }
            throw Problem(.serviceUnavailable, "The accounts are gone.")
        }
        try await testing(option) { client async throws in
            let first = try await client.get("/in")
            #expect(asked.withLock { $0 } == [])
            let answer = try await client.get("/in", headers: DigestClient().headers(first, "/in"))
            #expect(answer.status == .serviceUnavailable && asked.withLock { $0 } == ["mia"])
        }
    }

    @Test("A realm with quotation marks is quoted, and right for who takes it as it is meant")
    func quotedRealm() async throws {
        try await testing(.digestAuth(realm: #"a "b" \c"#, accounts: ["mia": "pä:ss"])) { client async throws in
            let first = try await client.get("/in")
            #expect(DigestClient().challenge(first)?.realm == #"a "b" \c"#)
            #expect(try await client.get("/in", headers: DigestClient().headers(first, "/in")).text == "mia")
        }
    }
}

@Suite("How a route asks for Digest")
struct DigestOptionsTests {
    @Test("SHA-256 comes first and MD5 last, and each names its algorithm")
    func standard() async throws {
        #expect(DigestOptions().algorithms == [.sha256, .md5] && DigestOptions().nonceLifetime == .seconds(300))
        #expect(!DigestOptions().offersBasic && !DigestOptions().hashesUsers)
        var server = WebServer(port: 0)
        server.get("/", .digestAuth(realm: "x", accounts: ["mia": "y"])) { _ in "in" }
        try await server.test { client async throws in
            let values = try await client.get("/").headers[values: .wwwAuthenticate]
            #expect(values.count == 2 && values[0].contains("algorithm=SHA-256") && values[1].contains("algorithm=MD5"))
            let nonces = AuthenticationChallenge.parse(values).map { $0["nonce"] }
            #expect(nonces[0] != nil && nonces[0] == nonces[1])
        }
    }

    @Test("A nonce is good for as long as the route says")
    func lifetime() async throws {
        var server = WebServer(port: 0)
        let options = DigestOptions(algorithms: [.md5], nonceLifetime: .seconds(10))
        server.get("/", .digestAuth(realm: "x", accounts: ["mia": "pä:ss"], options: options)) { _ in "in" }
        try await server.test { client async throws in
            let mia = DigestClient(algorithm: .md5)
            let first = try await client.get("/")
            #expect(first.headers[values: .wwwAuthenticate].count == 1)
            #expect(try await client.get("/", headers: mia.headers(first, "/")).text == "in")
            await client.clock.advance(by: .seconds(10))
            #expect(try await client.get("/", headers: mia.headers(first, "/", count: 2)).isStale)
        }
    }
}
