// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Testing

@testable import DuplexServer

/// Every duration of a server and its routes that an app sets: longer than zero, or an error when the server starts.
@Suite("Durations of a server", .timeLimit(minutes: 2))
struct DurationRuleTests {
    static let refused: [Duration] = [.seconds(-1), .zero, .seconds(Int64.min)]
    static let huge = Duration.seconds(Int64.max)

    /// A setting of a server or of one of its routes.
    struct Setting: CustomStringConvertible, Sendable {
        let description: String
        var allowsZero = false
        let set: @Sendable (inout WebServer, Duration) throws -> Void
    }

    static let settings: [Setting] = [
        Setting(description: "closeTimeout") { $0.closeTimeout = $1 },
        Setting(description: "idleTimeout") { $0.idleTimeout = $1 },
        Setting(description: "blockedLoopThreshold") { $0.blockedLoopThreshold = $1 },
        Setting(description: "webSockets.pings") { $0.webSockets.pings = .every($1, timeout: .seconds(1)) },
        Setting(description: "limits.http.headTime") { $0.limits.http.headTime = $1 },
        Setting(description: "limits.messages.messageTime") { $0.limits.messages.messageTime = $1 },
        Setting(description: "drain", allowsZero: true) { $0.drain = Drain(over: $1) },
        Setting(description: "route's timeLimit") { $0.get("/a", .timeLimit($1)) { _ in "" } },
        Setting(description: "route's closeTimeout") { $0.get("/a", .closeTimeout($1)) { _ in "" } },
        Setting(description: "route's pings") { $0.get("/a", .pings(.every($1, timeout: $1))) { _ in "" } },
        Setting(description: "route's limits") {
            $0.get("/a", .limits(.internet.with(messageTime: $1))) { _ in "" }
        },
        Setting(description: "throttleFailures") { $0.use(.throttleFailures(within: $1)) },
        Setting(description: "digest") {
            $0.use(.digestAuth(realm: "a", options: DigestOptions(nonceLifetime: $1)) { _ in nil })
        },
        Setting(description: "cors", allowsZero: true) { $0.use(.cors(CORSPolicy(.any, maximumAge: $1))) },
        Setting(description: "securityHeaders", allowsZero: true) {
            var headers = SecurityHeaders()
            headers.transportSecurity = $1
            $0.use(.securityHeaders(headers))
        },
        Setting(description: "events' heartbeat") { $0.events("/a", heartbeat: $1) { _ in } },
        Setting(description: "events' retry", allowsZero: true) {
            $0.events("/a", of: EventFeed(keeping: 1), retry: $1)
        },
        Setting(description: "events' patience") { $0.events("/a", slow: .end(patience: $1)) { _ in } },
        Setting(description: "files' maxAge", allowsZero: true) {
            var options = FileOptions()
            options.maxAge = $1
            $0.files("/f", folder: "/", options: options)
        },
        Setting(description: "files' openFileAge", allowsZero: true) {
            var options = FileOptions()
            options.openFileAge = $1
            $0.files("/f", folder: "/", options: options)
        },
    ]

    @Test(
        "A server with a duration that isn't longer than zero doesn't start, and says which it is",
        arguments: settings
    )
    func refuses(setting: Setting) throws {
        for time in Self.refused where time < .zero || !setting.allowsZero {
            var server = WebServer(port: 0)
            try setting.set(&server, time)
            let error = #expect(throws: RouteError.self) { _ = try server.table() }
            #expect(error?.code == .invalidArgument && error?.message.contains(" has to be ") != setting.allowsZero)
        }
    }

    @Test("A server with durations longer than any clock counts answers, and ends", arguments: settings)
    func huge(setting: Setting) async throws {
        var server = WebServer(port: 0)
        server.get("/hello") { _ in "hello" }
        try setting.set(&server, Self.huge)
        let running = try await server.start()
        #expect(running.urls.count == 1)
        await running.stop(within: .zero)
    }

    @Test("Zero and less cut everything at once when a server stops")
    func stops() async throws {
        for time in [Duration.zero, .seconds(-1), .seconds(Int64.min)] {
            let running = try await WebServer(port: 0).start()
            await running.stop(within: time)
        }
    }
}
