// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexInspector

@Suite("Commands that the app names")
struct InspectorCommandsTests {
    @Test("A command is kept with its arguments and its time, and messages are one with a text")
    func adding() async throws {
        var options = InspectorOptions()
        options.commands.add("Reindex", .text("folder"), .bool("deep"), detail: "It reads.") { given in
            "\(given.text("folder") ?? "")!"
        }
        options.messages(within: .seconds(3)) { "\($0)?" }
        let command = try #require(options.commands.all.first)
        #expect(command.name == "Reindex" && command.detail == "It reads." && command.limit == .seconds(60))
        #expect(command.arguments.map(\.name) == ["folder", "deep"])
        let arguments = try InspectorArguments(["folder": "/"], for: command.arguments)
        #expect(try await command.run(arguments) == "/!")
        let messages = try #require(options.commands.messages)
        #expect(messages.limit == .seconds(3))
        #expect(try await messages.run(try InspectorArguments(["text": "a"], for: messages.arguments)) == "a?")
    }
}
