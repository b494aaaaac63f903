// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexTestProcesses
import Foundation
import Testing

extension PeerTests {
    /// The inspector of `duplex serve`, as the built command has it.
    @Suite(.serialized) struct ServedInspectorTests {
        /// An answer with its head, as curl prints it.
        private static func ask(_ url: String, _ arguments: String...) async throws -> String {
            try await PeerProcess.run(["/usr/bin/env", "curl", "-si", "--max-time", "20"] + arguments + [url])
        }

        /// Runs the command with a folder, and gives the server's URL and the inspector's with its token.
        private static func serving(
            _ arguments: [String],
            _ body: (_ server: String, _ token: String) async throws -> Void
        ) async throws {
            let page = "<script>parent.postMessage(document.cookie, '*')</script>"
            try await withTestFolder(["page.html": page]) { root async throws in
                try await DuplexServe.withRunning([root, "--inspect"] + arguments) { serve in
                    let line = try await serve.line(containing: "The inspector: ")
                    let address = try #require(line.split(separator: " ").last)
                    let parts = address.split(separator: "/_inspect/?token=")
                    try #require(parts.count == 2, "\(line)")
                    try await body(String(parts[0]), String(parts[1]))
                }
            }
        }

        @Test(
            "Who has the printed token is let in, and nobody else; a page of the folder has no origin",
            .timeLimit(.minutes(1))
        )
        func wayIn() async throws {
            try await Self.serving([]) { server, token in
                let inspector = server + "/_inspect/"
                for path in ["", "state", "connections/one", "assets/app.js", "files/0/"] {
                    let answer = try await Self.ask(inspector + path)
                    #expect(answer.hasPrefix("HTTP/1.1 401 "), "\(path): \(answer)")
                }
                let exchange = try await Self.ask(inspector + "?token=" + token)
                #expect(exchange.contains("HttpOnly; SameSite=Strict") && exchange.contains("url=./"))
                let known = "Authorization: Bearer " + token
                let page = try await Self.ask(inspector, "-H", known)
                #expect(page.hasPrefix("HTTP/1.1 200 "))
                #expect(page.contains("default-src 'none'; script-src 'self'") && page.contains("trusted-types 'none'"))
                let elsewhere = try await Self.ask(inspector, "-H", known, "-H", "Host: evil.example")
                #expect(elsewhere.hasPrefix("HTTP/1.1 421 "), "\(elsewhere)")
                // What is in the folder is of the same host, and is told to be of no origin: its scripts can't ask in our name.
                for path in ["/page.html", "/"] {
                    let file = try await Self.ask(server + path)
                    #expect(file.hasPrefix("HTTP/1.1 200 "))
                    #expect(file.lowercased().contains("content-security-policy: sandbox allow-scripts"), "\(file)")
                }
                let forged = try await Self.ask(inspector + "state", "-H", known, "-H", "Origin: null", "-X", "POST")
                #expect(!forged.hasPrefix("HTTP/1.1 2"))
            }
        }

        private static func set(
            _ inspector: String,
            _ token: String,
            _ path: String,
            _ json: String
        ) async throws -> String {
            try await ask(
                inspector + path,
                "-H",
                "Authorization: Bearer " + token,
                "-H",
                "Content-Type: application/json",
                "-d",
                json
            )
        }

        @Test("Nothing can be changed unless it is allowed by name, and only that", .timeLimit(.minutes(1)))
        func changes() async throws {
            let note = #"{"group":"Demo","name":"Note","text":"new"}"#
            let count = #"{"command":"Count","arguments":{"to":"3"}}"#
            try await Self.serving([]) { server, token in
                let inspector = server + "/_inspect/"
                let state = try await Self.ask(inspector + "state", "-H", "Authorization: Bearer " + token)
                #expect(state.contains(#""allows":[]"#), "\(state)")
                for (path, json) in [
                    ("values/set", note), ("commands/run", count), ("files/0/create", #"{"path":"made"}"#),
                ] {
                    let answer = try await Self.set(inspector, token, path, json)
                    // What the folder itself doesn't let anybody do isn't there at all.
                    let refused = path.hasPrefix("files/") ? "HTTP/1.1 405 " : "HTTP/1.1 403 "
                    #expect(answer.hasPrefix(refused), "\(path): \(answer)")
                }
            }
            try await Self.serving(["--inspect-allow", "commands", "--inspect-allow", "killing"]) { server, token in
                let inspector = server + "/_inspect/"
                let state = try await Self.ask(inspector + "state", "-H", "Authorization: Bearer " + token)
                #expect(state.contains(#""allows":["commands","killing"]"#), "\(state)")
                let run = try await Self.set(inspector, token, "commands/run", count)
                #expect(run.hasPrefix("HTTP/1.1 200 "), "\(run)")
                let value = try await Self.set(inspector, token, "values/set", note)
                #expect(value.hasPrefix("HTTP/1.1 403 "), "\(value)")
            }
        }
    }
}
#endif
