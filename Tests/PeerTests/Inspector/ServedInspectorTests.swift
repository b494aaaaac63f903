// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexTestProcesses
import DuplexTestTimes
import DuplexWebSockets
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
            .timeLimit(minutes: 1)
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

        @Test("Nothing can be changed unless it is allowed by name, and only that", .timeLimit(minutes: 1))
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

        /// Makes a folder of that name, and has it sent as a zip, beside the page.
        private static func change(_ folder: String, _ field: String, name: String) async throws {
            let answer = try await ask(
                folder + "/create",
                "-H",
                field,
                "-H",
                "Content-Type: application/json",
                "-d",
                #"{"path":"\#(name)"}"#
            )
            #expect(answer.hasPrefix("HTTP/1.1 2"), "\(answer)")
            let list = try await ask(folder + "/list?path=", "-H", field)
            #expect(list.contains(#""name":"page.html""#) && list.contains(#""name":"\#(name)""#), "\(list)")
            try await withTestFolder([:]) { place in
                let (file, url) = (place + "files.zip", folder + "/zip?path=page.html&path=" + name)
                let curl = ["/usr/bin/env", "curl", "-sSf", "--max-time", "20", "-H", field, "-o", file, url]
                _ = try await PeerProcess.run(curl)
                let python = ["/usr/bin/env", "python3", "-m", "zipfile"]
                let names = try await PeerProcess.run(python + ["-l", file])
                #expect(names.contains("page.html") && names.contains(name + "/"), "\(names)")
                _ = try await PeerProcess.run(python + ["-t", file])
            }
        }

        @Test("A folder is read, changed and packed, by whoever may and by the inspector", .timeLimit(minutes: 1))
        func files() async throws {
            let arguments = ["--upload", "--webdav", "--anyone", "--inspect-allow", "files"]
            try await Self.serving(arguments) { server, token in
                let known = "Authorization: Bearer " + token
                for (number, field) in ["Accept: */*", known].enumerated() {
                    try await Self.change(server + ["", "/_inspect/files/0"][number], field, name: "made\(number)")
                }
                let disk = try await Self.ask(server + "/dav/", "-X", "PROPFIND", "-H", "Depth: 1")
                #expect(disk.hasPrefix("HTTP/1.1 207 ") && disk.contains("/dav/made1/"), "\(disk)")
            }
        }

        private struct News: Decodable {
            var watch: Int
            var error: String?
            /// Whatever the topic shows.
            var position: Int?
        }

        @Test("Each topic is shown live", .timeLimit(minutes: 1))
        func topics() async throws {
            try await Self.serving([]) { server, token in
                var options = WebSocketOptions()
                options.headers[.authorization] = "Bearer " + token
                let url = server.replacing("http://", with: "ws://") + "/_inspect/live"
                let socket = try await WebSocket.connect(to: url, options: options)
                let topics = ["machine", "values", "commands", "connections", "requests", "console"]
                for (number, topic) in topics.enumerated() {
                    try await socket.send(#"{"watch":\#(number),"topic":"\#(topic)"}"#)
                }
                var waiting = Set(topics.indices)
                for try await message in socket.messages {
                    let news = try JSONDecoder().decode(News.self, from: Data("\(message)".utf8))
                    #expect(news.error == nil && news.position != nil, "\(message)")
                    waiting.remove(news.watch)
                    if waiting.isEmpty { break }
                }
                #expect(waiting.isEmpty)
                await socket.close()
            }
        }
    }
}
#endif
