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
    /// Several people who look at one app: two in browsers, and one who takes nothing of what comes.
    @Suite(.serialized) struct SeveralViewersTests {
        private static let lines = 50_000

        @Test(
            "What one changes all see, each with a page and a filter of their own, and who is slow loses lines alone",
            .timeLimit(minutes: 3)
        )
        func viewers() async throws {
            let app = InspectedAppTests.App()
            let console = InspectorConsole()
            let logger = Logger(label: "app") { InspectorLogHandler(label: $0, to: console) }
            let lines = try await InspectedAppTests.browse("inspector_several.py", ["\(Self.lines)"]) {
                options,
                server in
                options.onStart = { _ in }
                options.console = console
                options.allowedChanges = [.values, .commands, .killing]
                options.values.add(
                    "Note",
                    get: { app.state.withLock { $0.note } },
                    set: { new in app.state.withLock { $0.note = new } }
                )
                options.commands.add("Greet") { _ in "hello to all" }
                server.webSocket("/several-socket") { socket in
                    for try await message in socket.messages { try await socket.send(message) }
                }
                server.post("/several-lines/:text") { request in
                    logger.info("\(request.parameters["text"] ?? "")")
                    return Response.text("ok")
                }
                server.post("/several-flood") { _ in
                    await Task.detached {
                        let rest = String(repeating: "x", count: 300)
                        for number in 1...Self.lines { logger.info("flood \(number) \(rest)") }
                        logger.warning("the end of the flood")
                    }.value
                    return Response.text("ok")
                }
            }
            #expect(lines.count == 7 && lines.allSatisfy { $0.hasPrefix("ok: ") }, "\(lines)")
            #expect(app.state.withLock { $0.note } == "of the first viewer")
        }
    }
}
#endif
