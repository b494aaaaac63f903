// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexInspector
import DuplexServer
import DuplexSockets
import DuplexTestTimes
import Foundation
import Logging
import Synchronization
import Testing

extension PeerTests {
    /// The inspector's pages of values, commands and views in a browser, with an app of their own.
    @Suite(.serialized) struct InspectedAppTests {
        /// An app that is inspected.
        final class App: Sendable {
            enum Level: String, CaseIterable {
                case quiet
                case loud
            }

            struct State {
                var retries = 3
                var level = Level.quiet
                var note = "first"
                var pause = 1.5
                var isOn = false
                var plan = ["a": [1, 2]]
                var looks = 0
            }

            let state = Mutex(State())

            func addValues(to values: inout InspectorValues, suite: String) {
                values.defaults = [.named(suite)]
                values.add(
                    "Retry limit",
                    get: { self.state.withLock { $0.retries } },
                    set: { new in
                        self.state.withLock { $0.retries = new }
                    }
                )
                values.add(
                    "Level",
                    get: { self.state.withLock { $0.level } },
                    set: { new in
                        self.state.withLock { $0.level = new }
                    }
                )
                values.add(
                    "Note",
                    get: { self.state.withLock { $0.note } },
                    set: { new in
                        self.state.withLock { $0.note = new }
                    }
                )
                values.add(
                    "Pause",
                    get: { self.state.withLock { $0.pause } },
                    set: { new in
                        self.state.withLock { $0.pause = new }
                    }
                )
                values.add(
                    "On",
                    get: { self.state.withLock { $0.isOn } },
                    set: { new in
                        self.state.withLock { $0.isOn = new }
                    }
                )
                values.addJSON(
                    "Plan",
                    get: { self.state.withLock { $0.plan } },
                    set: { new in
                        self.state.withLock { $0.plan = new }
                    }
                )
                values.add("API token", get: { "abc" }, set: { _ in })
                values.add("Fixed <b>value</b>", in: "More", get: { "a\u{202E}b" })
            }

            func addCommands(to options: inout InspectorOptions) {
                options.commands.add(
                    "Reindex",
                    .text("folder", default: "/"),
                    .number("depth", in: 0...9, default: 2),
                    .choice("mode", of: ["fast", "whole"]),
                    .bool("dry"),
                    .text("token").optional.secret,
                    detail: "Reads a folder."
                ) { arguments in
                    let depth = arguments.integer("depth") ?? -1
                    let folder = arguments.text("folder") ?? ""
                    return "\(folder) \(depth) \(arguments.text("mode") ?? "") \(arguments.bool("dry"))"
                }
                options.commands.add("Table") { _ in
                    .table(columns: ["name", "size"], rows: [["<i>a</i>", "1"], ["b", "2"]])
                }
                options.commands.add("Fails") { _ in throw Problem(.badRequest, "The disk is full.") }
                options.commands.add("Waits") { _ in
                    try await Task.sleep(for: .seconds(120))
                    return "over"
                }
                options.messages { text in
                    if text == "value" { self.state.withLock { $0.note = "told" } }
                    return .text(#"{"echo":"\#(text)"}"#)
                }
            }
        }

        /// Runs a server with the inspector at `/in`, and a script of `Peers` against it.
        static func browse(
            _ script: String,
            _ arguments: [String] = [],
            _ configure: (inout InspectorOptions, inout WebServer) -> Void
        ) async throws -> [Substring] {
            var server = WebServer(host: "127.0.0.1", port: 0)
            server.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
            var options = InspectorOptions()
            options.access = .ownToken("the-token-of-this-test")
            configure(&options, &server)
            server.inspector("/in", options: options)
            return try await server.withRunning { address in
                let url = "http://\(address)/in/?token=the-token-of-this-test"
                let command = [Peer.python, Peer.path("Tests/PeerTests/Peers/\(script)"), url] + arguments
                let folder = ProcessInfo.processInfo.environment["SCREENSHOTS"]
                let environment = Peer.environment.merging(folder.map { ["SCREENSHOTS": $0] } ?? [:]) { $1 }
                return try await PeerProcess.run(command, environment: environment).split(separator: "\n")
            }
        }

        @Test(
            "Chromium finds, edits and removes values, and doesn't overwrite what has changed",
            .timeLimit(minutes: 3)
        )
        func values() async throws {
            let suite = "duplex-tests-\(UUID().uuidString)"
            let defaults = try #require(UserDefaults(suiteName: suite))
            defer { defaults.removePersistentDomain(forName: suite) }
            defaults.set("blue", forKey: "colour")
            defaults.set(7, forKey: "count")
            defaults.set("hush", forKey: "password")
            let app = App()
            let lines = try await Self.browse("inspector_values.py") { options, server in
                options.allowedChanges = [.values]
                app.addValues(to: &options.values, suite: suite)
                server.post("/note/:text") { request in
                    app.state.withLock { $0.note = request.parameters["text"] ?? "" }
                    return Response.text("ok")
                }
            }
            #expect(lines.count == 9 && lines.allSatisfy { $0.hasPrefix("ok: ") }, "\(lines)")
            let state = app.state.withLock { $0 }
            #expect(state.retries == 9 && state.level == .loud && state.isOn && state.plan == ["b": [3]])
            #expect(state.pause == 0.25 && state.note == "mine")
            #expect(UserDefaults(suiteName: suite)?.integer(forKey: "count") == 8)
            #expect(UserDefaults(suiteName: suite)?.string(forKey: "colour") == nil)
        }

        @Test("Chromium fills in forms, runs commands, stops one, and sends messages", .timeLimit(minutes: 3))
        func commands() async throws {
            let app = App()
            let lines = try await Self.browse("inspector_commands.py") { options, _ in
                options.allowedChanges = [.commands]
                app.addCommands(to: &options)
            }
            #expect(lines.count == 9 && lines.allSatisfy { $0.hasPrefix("ok: ") }, "\(lines)")
            #expect(app.state.withLock { $0.note } == "told")
        }
    }
}
#endif
