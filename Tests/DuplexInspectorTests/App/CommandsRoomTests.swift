// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestPeers
import DuplexTesting
import Synchronization
import Testing

@testable import DuplexInspector

@Suite("The page of commands")
struct CommandsRoomTests {
    private static func id(_ response: TestResponse) throws -> Int { try response.value(CommandsRoom.Choice.self).id }

    @Test("A command is run, its answer had, and both its beginning and its end logged, secrets masked")
    func running() async throws {
        let log = RecordedLog()
        try await InspectedApp.run(log.logger) { options in
            options.allowedChanges = [.commands]
            options.commands.add("Reindex", .text("folder"), .text("token").secret) { given in
                "\(given.text("folder") ?? "") done"
            }
        } _: { app async throws in
            let list = try await app.get("/commands").value(CommandsRoom.List.self)
            #expect(list.commands.map(\.name) == ["Reindex"] && !list.messages)
            #expect(list.commands[0].arguments.first == InspectorArgument.Field(name: "folder", kind: "text"))
            let wish = #"{"command":"Reindex","arguments":{"folder":"/a","token":"hush"}}"#
            let id = try Self.id(try await app.post("/commands/run", wish))
            let end = try await log.entry(of: "a command of the inspector has ended")
            #expect(end.metadata["command"] == "Reindex" && end.metadata["outcome"] == "done")
            let run = try await app.get("/commands/run?id=\(id)")
            let shown = try run.value(CommandRuns.Shown.self)
            #expect(shown.answer == InspectorCommandResponse.Shown(text: "/a done") && shown.message == nil)
            #expect(shown.arguments == [["folder", "/a"], ["token", "••••••"]])
            let begin = try await log.entry(of: "the inspector has changed something")
            #expect(begin.metadata["what"] == "Reindex (folder: /a, token: ••••••), run \(id)")
            #expect(!log.entries.contains { "\($0)".contains("hush") })
        }
    }

    @Test("What there is none of is refused")
    func refusals() async throws {
        try await InspectedApp.run { options in
            options.allowedChanges = [.commands]
            options.commands.add("Count", .number("to")) { _ in "" }
        } _: { app async throws in
            #expect(try await app.post("/commands/run", #"{"command":"Other"}"#).status == .notFound)
            let bad = try await app.post("/commands/run", #"{"command":"Count","arguments":{"to":"x"}}"#)
            #expect(bad.status == .badRequest && bad.text.contains("“to” is no number."))
            #expect(try await app.post("/commands/message", #"{"text":"a"}"#).status == .notFound)
            #expect(try await app.post("/commands/stop", #"{"id":7}"#).status == .notFound)
            #expect(try await app.get("/commands/run?id=7").status == .notFound)
            #expect(try await app.post("/commands/forget", "{}").text == "[]\n")
        }
    }

    @Test("Nothing is run where the app doesn't allow it")
    func forbidden() async throws {
        try await InspectedApp.run { options in
            options.commands.add("Count") { _ in
                Issue.record("it runs")
                return ""
            }
            options.messages { _ in
                Issue.record("it is taken")
                return ""
            }
        } _: { app async throws in
            for path in ["run", "message", "stop", "forget"] {
                let wish = #"{"command":"Count","text":"a","id":1}"#
                #expect(try await app.post("/commands/\(path)", wish).status == .forbidden)
            }
        }
    }

    @Test("A message comes to the app, and its answer back")
    func messages() async throws {
        let log = RecordedLog()
        try await InspectedApp.run(log.logger) { options in
            options.allowedChanges = [.commands]
            options.messages { .text("{\"length\":\($0.count)}") }
        } _: { app async throws in
            let id = try Self.id(try await app.post("/commands/message", #"{"text":"four"}"#))
            _ = try await log.entry(of: "a command of the inspector has ended")
            let run = try await app.get("/commands/run?id=\(id)").value(CommandRuns.Shown.self)
            #expect(run.message == true && run.answer == InspectorCommandResponse.Shown(text: "{\"length\":4}"))
        }
    }
}
