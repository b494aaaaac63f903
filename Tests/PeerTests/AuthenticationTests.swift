// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
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
            let value = request.fields[.authorization] ?? ""
            let answer = AuthenticationChallenge.parse([value]).first
            let parts = [request[AuthenticatedUser.self], answer?.scheme, answer?["algorithm"], answer?["nc"]]
            return parts.compactMap { $0 }.joined(separator: " ")
        }

        private static func digest(_ algorithms: [DigestChallenge.Algorithm], hashesUsers: Bool = false) -> RouteOption
        {
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
            .timeLimit(.minutes(1)),
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

        @Test("curl sends its body once it is let in, and not before", .timeLimit(.minutes(1)))
        func curlBody() async throws {
            let body = String(repeating: "x", count: 100_000)
            let arguments = ["--anyauth", "--data", body, "--header", "Expect: 100-continue"]
            let lines = try await Self.curl(arguments, Self.digest([.sha256, .md5]), "/in/body")
            #expect(lines == ["\(Self.user) digest SHA-256 00000001 100000", "200"])
        }

        @Test(
            "curl with a wrong password isn't let in by any scheme",
            .timeLimit(.minutes(1)),
            arguments: ["--digest", "--basic"]
        )
        func curlWrong(option: String) async throws {
            let lines = try await Self.curl([option], Self.digest([.sha256, .md5]), "/in/a", password: "wrong")
            #expect(lines.last == "401")
        }

        @Test("curl is let in by Basic, and turned away when it has guessed too often", .timeLimit(.minutes(1)))
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
                #expect(codes == ["401", "401", "429"] && output.contains("429 60"), "\(output)")
            }
        }

        #if os(Linux)
        @Test("What htpasswd and openssl make is taken", .timeLimit(.minutes(1)))
        func passwordFile() async throws {
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

        @Test(
            "Python's requests answers, whatever order the algorithms are in, and counts",
            .timeLimit(.minutes(1)),
            arguments: [([.sha256, .md5], "MD5"), ([.sha256], "SHA-256"), ([.md5], "MD5")]
                as [([DigestChallenge.Algorithm], String)]
        )
        func requests(algorithms: [DigestChallenge.Algorithm], answered: String) async throws {
            // It quotes neither names nor realms.
            let options = DigestOptions(algorithms: algorithms, offersBasic: true)
            let option = RouteOption.digestAuth(realm: "room", accounts: ["mia": "pä:ss"], options: options)
            try await Self.server(option).withRunning { address in
                let script = Peer.path("Tests/PeerTests/Peers/requests_client.py")
                let output = try await PeerProcess.run([Peer.python, script, "http://\(address)/in", "mia", "pä:ss"])
                let lines = output.split(separator: "\n")
                #expect(
                    lines == [
                        "200 mia digest \(answered) 00000001", "200 mia digest \(answered) 00000002",
                        "200 mia digest \(answered) 00000003 1000",
                    ]
                )
                let wrong = try await PeerProcess.run([Peer.python, script, "http://\(address)/in", "mia", "x"])
                #expect(wrong.split(separator: "\n").allSatisfy { $0.hasPrefix("401") })
            }
        }

        @Test("A browser asks its user once, and answers by SHA-256 from there on", .timeLimit(.minutes(2)))
        func browser() async throws {
            let option = RouteOption.digestAuth(realm: "the room", accounts: ["mia": "pä:ss"])
            try await Self.server(option).withRunning { address in
                let script = Peer.path("scripts/peers/login_check.py")
                let output = try await PeerProcess.run(
                    [Peer.python, script, "http://\(address)/in/", "mia", "pä:ss", "--deadline", "60"]
                )
                let lines = output.split(separator: "\n")
                #expect(
                    lines == [
                        "asked for the room by digest", "mia digest SHA-256 00000001", "mia digest SHA-256 00000002",
                    ]
                )
            }
        }
    }
}
