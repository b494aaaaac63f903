// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestTimes
import DuplexWire
import Foundation
import HTTPTypes
import Testing

extension PeerTests {
    /// Clients that others wrote, and who they are.
    @Suite(.serialized)
    struct AuthenticationTests {
        private static let user = "Jäs ø"
        private static let password = "pä:s\"s \\"

        /// A server that tells by which scheme and algorithm, and in which request with a nonce, somebody was let in.
        private static func server(_ option: RouteOption) -> WebServer {
            var server = WebServer(host: "127.0.0.1", port: 0)
            server.group("/in", option) { inside in
                inside.get("/:name") { request in description(request) }
                inside.post("/body") { request in
                    "\(description(request)) \(try await request.body.collect().count)"
                }
            }
            return server
        }

        private static func description(_ request: Request) -> String {
            let value = request.headers[.authorization] ?? ""
            let answer = AuthenticationChallenge.parse([value]).first
            let parts = [request.user, answer?.scheme, answer?["algorithm"], answer?["nc"]]
            return parts.compactMap { $0 }.joined(separator: " ")
        }

        private static func digest(_ algorithms: [DigestAlgorithm], hashesUsers: Bool = false) -> RouteOption {
            let options = DigestOptions(algorithms: algorithms, offersBasic: true, hashesUsers: hashesUsers)
            return .digestAuth(realm: "the room", accounts: [user: .password(password)], options: options)
        }

        private static func curl() throws -> String {
            let folders = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]
            guard let file = folders.map({ $0 + "/curl" }).first(where: FileManager.default.isExecutableFile(atPath:))
            else { throw PeerProcess.Failed(description: "curl isn't there: run scripts/setup --tests") }
            return file
        }

        /// Runs curl as that user, against paths of the server.
        private static func curl(
            _ arguments: [String],
            _ option: RouteOption,
            _ paths: String...,
            password: String = password
        ) async throws -> [String] {
            try await server(option).withRunning { address in
                let command = [try curl(), "--silent", "--show-error", "--user", "\(user):\(password)"]
                let urls = paths.map { "http://\(address)\($0)" }
                let format = ["--write-out", "\\n%{http_code}\\n"]
                let output = try await PeerProcess.run(command + arguments + format + urls)
                return output.split(separator: "\n").map(String.init)
            }
        }

        @Test(
            "curl answers the first algorithm, also where its user's name is to be hashed",
            .timeLimit(minutes: 1),
            arguments: [("--digest", false), ("--anyauth", false), ("--digest", true)]
        )
        func curlDigest(option: String, hashesUsers: Bool) async throws {
            let guarding = Self.digest([.sha256, .md5], hashesUsers: hashesUsers)
            let lines = try await Self.curl([option], guarding, "/in/a", "/in/b?c=d")
            let user = Self.user
            #expect(
                lines == [
                    "\(user) digest SHA-256 00000001", "200", "\(user) digest SHA-256 00000001", "200",
                ]
            )
            let old = try await Self.curl([option], Self.digest([.md5], hashesUsers: hashesUsers), "/in/a")
            #expect(old == ["\(user) digest MD5 00000001", "200"])
        }

        @Test(
            "curl is let in where SHA-512-256, which some of it compute wrongly, isn't first",
            .timeLimit(minutes: 1)
        )
        func curlLongDigest() async throws {
            let lines = try await Self.curl(["--digest"], Self.digest([.sha256, .sha512256, .md5]), "/in/a")
            #expect(lines == ["\(Self.user) digest SHA-256 00000001", "200"])
        }

        @Test("curl sends its body once it is let in, and not before", .timeLimit(minutes: 1))
        func curlBody() async throws {
            let body = String(repeating: "x", count: 100_000)
            let arguments = ["--anyauth", "--data", body, "--header", "Expect: 100-continue"]
            let lines = try await Self.curl(arguments, Self.digest([.sha256, .md5]), "/in/body")
            #expect(lines == ["\(Self.user) digest SHA-256 00000001 100000", "200"])
        }

        @Test(
            "curl with a wrong password isn't let in by any scheme",
            .timeLimit(minutes: 1),
            arguments: ["--digest", "--basic"]
        )
        func curlWrong(option: String) async throws {
            let lines = try await Self.curl([option], Self.digest([.sha256, .md5]), "/in/a", password: "wrong")
            #expect(lines.last == "401")
        }

        @Test("curl is let in by Basic, and turned away when it has guessed too often", .timeLimit(minutes: 1))
        func curlBasic() async throws {
            let option = Self.digest([.sha256])
            #expect(try await Self.curl(["--basic"], option, "/in/a") == ["\(Self.user) basic", "200"])
            var server = WebServer(host: "127.0.0.1", port: 0)
            server.get("/", option, .throttleFailures(2)) { _ in "in" }
            try await server.withRunning { address in
                let command = [try Self.curl(), "--silent", "--output", "/dev/null", "--user", "\(Self.user):x"]
                let format = ["--write-out", "%{http_code} %header{retry-after}\n"]
                let urls = (0..<3).flatMap { _ in ["--output", "/dev/null", "http://\(address)/"] }
                let output = try await PeerProcess.run(command + format + urls)
                let codes = output.split(separator: "\n").map { $0.prefix(3) }
                let wait = try #require(output.split(whereSeparator: \.isWhitespace).last.flatMap { Int($0) })
                // What is left of a minute.
                #expect(codes == ["401", "401", "429"] && (30...60).contains(wait), "\(output)")
            }
        }

        #if os(Linux)
        private static let kinds = ["-B", "-2", "-5"]

        @Test("A file that htpasswd makes is taken, and what it changes there counts", .timeLimit(minutes: 1))
        func passwordFile() async throws {
            let file = FileManager.default.temporaryDirectory.appending(path: "duplex-passwords-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: file) }
            let path = file.path(percentEncoded: false)
            let htpasswd = try ForwardProxyTests.program("htpasswd")
            for (number, kind) in Self.kinds.enumerated() {
                let options = number == 0 ? ["-c"] : []
                try await PeerProcess.run([htpasswd, "-b", kind] + options + [path, "u\(number)", Self.password])
            }
            var server = WebServer(host: "127.0.0.1", port: 0)
            server.get("/", .basicAuth(realm: "x", file: try PasswordFile(path: path))) { request in
                request.user ?? "nobody"
            }
            try await server.withRunning { address in
                func answer(_ user: String, _ password: String) async throws -> String {
                    let login = ["--silent", "--user", "\(user):\(password)", "--write-out", " %{http_code}"]
                    return try await PeerProcess.run([try Self.curl()] + login + ["http://\(address)/"])
                }
                for number in Self.kinds.indices {
                    #expect(
                        try await answer("u\(number)", Self.password) == "u\(number) 200\n",
                        "\(Self.kinds[number])"
                    )
                    #expect(try await answer("u\(number)", "x").hasSuffix(" 401\n"), "\(Self.kinds[number])")
                }
                try await PeerProcess.run([htpasswd, "-b", "-B", path, "u0", "another"])
                try await PeerProcess.run([htpasswd, "-D", path, "u1"])
                #expect(try await answer("u0", "another") == "u0 200\n")
                #expect(try await answer("u0", Self.password).hasSuffix(" 401\n"))
                #expect(try await answer("u1", Self.password).hasSuffix(" 401\n"))
            }
            // What it makes by default is too weak to be taken.
            try await PeerProcess.run([htpasswd, "-b", "-m", path, "u3", Self.password])
            let error = #expect(throws: SocketError.self) { try PasswordFile(path: path) }
            #expect(error?.message.contains("Apache's own MD5") == true, "\(error?.message ?? "")")
        }

        @Test("A hash that openssl passwd makes is taken", .timeLimit(minutes: 1))
        func opensslPassword() async throws {
            let file = FileManager.default.temporaryDirectory.appending(path: "duplex-passwords-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: file) }
            let hash = try await PeerProcess.run(["/usr/bin/openssl", "passwd", "-6", Self.password])
            try Data("\(Self.user):\(hash)".utf8).write(to: file)
            let passwords = try PasswordFile(path: file.path(percentEncoded: false))
            let option = RouteOption.basicAuth(realm: "x", file: passwords)
            #expect(try await Self.curl(["--basic"], option, "/in/a") == ["\(Self.user) basic", "200"])
            #expect(try await Self.curl(["--basic"], option, "/in/a", password: "x").last == "401")
        }
        #endif

        /// What the library's three requests are answered with.
        private static func digest(
            _ library: String,
            _ algorithms: [DigestAlgorithm],
            password: String = "pä:ss"
        ) async throws -> [Substring] {
            // requests quotes neither names nor realms.
            let options = DigestOptions(algorithms: algorithms, offersBasic: true)
            let option = RouteOption.digestAuth(realm: "room", accounts: ["mia": "pä:ss"], options: options)
            return try await server(option).withRunning { address in
                let script = [Peer.python, Peer.path("Tests/PeerTests/Peers/digest_client.py"), library]
                return try await PeerProcess.run(script + ["http://\(address)/in", "mia", password])
                    .split(separator: "\n")
            }
        }

        @Test(
            "Python's requests answers the last algorithm, httpx and aiohttp the first, and all count",
            .timeLimit(minutes: 1),
            arguments: [
                ("requests", [.sha256, .md5], "MD5"), ("requests", [.sha256], "SHA-256"), ("requests", [.md5], "MD5"),
                ("httpx", [.sha256, .md5], "SHA-256"), ("httpx", [.md5], "MD5"),
                ("aiohttp", [.sha256, .md5], "SHA-256"), ("aiohttp", [.md5], "MD5"),
            ] as [(String, [DigestAlgorithm], String)]
        )
        func libraries(library: String, algorithms: [DigestAlgorithm], answered: String) async throws {
            let lines = try await Self.digest(library, algorithms)
            let digest = "200 mia digest \(answered)"
            #expect(lines == ["\(digest) 00000001", "\(digest) 00000002", "\(digest) 00000003 1000"])
        }

        @Test(
            "Their wrong passwords aren't let in",
            .timeLimit(minutes: 1),
            arguments: ["requests", "httpx", "aiohttp"]
        )
        func librariesWrong(library: String) async throws {
            let lines = try await Self.digest(library, [.sha256, .md5], password: "x")
            #expect(lines.count == 3 && lines.allSatisfy { $0.hasPrefix("401") }, "\(lines)")
        }

        /// What Chromium's user was asked, and what the pages say.
        private static func browse(_ server: WebServer, _ options: String...) async throws -> [Substring] {
            try await server.withRunning { address in
                let login = ["http://\(address)/in/", "mia", "pä:ss", "--deadline", "60"]
                let script = [Peer.python, Peer.path("scripts/more/peers/login_check.py")]
                return try await PeerProcess.run(script + login + options).split(separator: "\n")
            }
        }

        @Test(
            "A browser asks its user once, and answers by the first algorithm that it knows from there on",
            .timeLimit(minutes: 3),
            arguments: [
                ([.sha256, .md5], false, "SHA-256"), ([.md5], true, "MD5"), ([.sha512256, .sha256], true, "SHA-256"),
            ] as [([DigestAlgorithm], Bool, String)]
        )
        func browser(algorithms: [DigestAlgorithm], hashesUsers: Bool, answered: String) async throws {
            let options = DigestOptions(algorithms: algorithms, hashesUsers: hashesUsers)
            let option = RouteOption.digestAuth(realm: "the room", accounts: ["mia": "pä:ss"], options: options)
            let lines = try await Self.browse(Self.server(option))
            let digest = "mia digest \(answered)"
            #expect(lines == ["asked for the room by digest", "\(digest) 00000001", "\(digest) 00000002"])
        }

        @Test("A browser asks again when the password was wrong", .timeLimit(minutes: 2))
        func browserWrong() async throws {
            let option = RouteOption.digestAuth(realm: "the room", accounts: ["mia": "pä:ss"])
            let lines = try await Self.browse(Self.server(option), "--wrong-first")
            #expect(lines.count == 4 && lines.prefix(2).allSatisfy { $0 == "asked for the room by digest" }, "\(lines)")
            #expect(lines.suffix(2).allSatisfy { $0.hasPrefix("mia digest SHA-256 ") }, "\(lines)")
        }

        @Test("A browser doesn't ask its user when all that is wrong is an old nonce", .timeLimit(minutes: 2))
        func browserStale() async throws {
            let options = DigestOptions(nonceLifetime: .seconds(1))
            let option = RouteOption.digestAuth(realm: "the room", accounts: ["mia": "pä:ss"], options: options)
            // Loads the second page again until its nonce is another one.
            let lines = try await Self.browse(Self.server(option), "--until", " 00000001")
            let digest = "mia digest SHA-256 00000001"
            #expect(lines == ["asked for the room by digest", "\(digest)", "\(digest)"])
        }

        /// Says by which requests with the nonce a page has got what it asked for.
        private static let page = """
            <!doctype html><title>page</title><link rel=icon href=data:,><body><script>
            const socket = () => new Promise((done) => {
                const socket = new WebSocket("/in/socket")
                socket.onmessage = (event) => { socket.close(); done(event.data) }
                socket.onerror = () => done("no WebSocket")
            })
            const events = () => new Promise((done) => {
                const source = new EventSource("/in/events")
                source.onmessage = (event) => { source.close(); done(event.data) }
                source.onerror = () => { source.close(); done("no events") }
            })
            const text = async () => (await fetch("/in/text")).text()
            const tell = (what) => document.body.append(what, document.createElement("br"))
            told = socket().then(tell).then(events).then(tell).then(text).then(tell)
            </script>
            """

        @Test("A page behind a password opens WebSockets and events without asking", .timeLimit(minutes: 2))
        func browserStreams() async throws {
            let option = RouteOption.digestAuth(realm: "the room", accounts: ["mia": "pä:ss"])
            var server = WebServer(host: "127.0.0.1", port: 0)
            server.group("/in", option) { inside in
                inside.get("/a") { _ in Response.html(Self.page) }
                inside.get("/b") { request in Self.description(request) }
                inside.get("/text") { request in "text for \(Self.description(request))" }
                inside.webSocket("/socket") { socket, request in
                    try await socket.send("WebSocket for \(Self.description(request))")
                    for try await _ in socket.messages {}
                }
                inside.events("/events") { stream in
                    try await stream.send("events for \(Self.description(stream.request))")
                }
            }
            let lines = try await Self.browse(server)
            let digest = "mia digest SHA-256 0000000"
            #expect(
                lines == [
                    "asked for the room by digest", "WebSocket for \(digest)2", "events for \(digest)3",
                    "text for \(digest)4", "\(digest)5",
                ]
            )
        }
    }
}
