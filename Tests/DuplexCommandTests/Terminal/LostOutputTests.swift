// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Testing

@testable import DuplexCommand

/// How every subcommand ends whose output can't be written.
@Suite("Lost output", .timeLimit(minutes: 2))
struct LostOutputTests {
    /// A way to lose output.
    enum Loss: CaseIterable {
        case closed
        case full
        case noReader

        var redirection: String? {
            switch self {
            case .closed: ">&-"
            case .full: ">/dev/full"
            case .noReader: nil
            }
        }

        var status: Int32 { self == .noReader ? 141 : 1 }

        /// The last line of standard error; `nil` for nothing at all.
        var sentence: String? {
            switch self {
            case .closed: "duplex: Standard output isn't open for writing.\n"
            case .full: "duplex: Standard output can't be written: No space left on device, errno 28.\n"
            case .noReader: nil
            }
        }
    }

    /// Command lines whose output is what they are for; `URL` is an echo, `TOPICS` a server of topics, `FOLDER` a folder.
    static let commands = [
        "--help", "--version", "help serve", "serve --help", "--generate-completion-script bash",
        "connect URL -x hello", "connect URL -x hello --json", "connect URL -x hello -n 1000", "ping URL -c 2 -i 1ms",
        "ping URL -c 0 -i 1ms", "ping URL -c 2 -i 1ms --json", "check URL", "check URL --json",
        "bench URL --connections 1 --duration 50ms --warmup 0", "bench URL --connections 1 --duration 50ms --json",
        "cert --force --cert FOLDER/c.pem --key FOLDER/k.pem", "publish TOPICS room/1 text",
        "subscribe TOPICS room/1 --last 1", "subscribe TOPICS room/1 --last 1 -n 1",
    ]

    @Test(
        "A command whose result can't be written says so and fails; one without a reader ends quietly",
        arguments: Loss.allCases
    )
    func results(loss: Loss) async throws {
        try await withTemporaryFolder { folder in
            try await withServeCommand(["--topics"]) { authority in
                let topics = "ws://\(authority)/topics"
                #expect(try await RunningCommand.run(["publish", topics, "room/1", "kept"]).status == 0)
                for command in Self.commands {
                    let line = command.replacing("URL", with: "ws://\(authority)/echo").replacing(
                        "TOPICS",
                        with: topics
                    )
                    .replacing("FOLDER", with: folder)
                    let result = try await Self.run(line.split(separator: " ").map(String.init), loss)
                    #expect(result.status == loss.status, "\(command): \(result)")
                    #expect(result.errors == loss.sentence ?? "", "\(command)")
                }
            }
        }
    }

    @Test(
        "A server ends if its address can't be written",
        arguments: ["serve -p 0", "serve tcp://localhost:0", "inspect x -p 0"]
    )
    func servers(command: String) async throws {
        let result = try await Self.run(command.split(separator: " ").map(String.init), .full)
        #expect(result.status == 1 && result.errors == Loss.full.sentence, "\(result)")
    }

    @Test("An access log on standard output is a result", arguments: Loss.allCases)
    func accessLog(loss: Loss) async throws {
        let result = try await Self.run(["serve", "-p", "0", "--log", "-"], loss)
        #expect(result.status == loss.status && result.errors == loss.sentence ?? "", "\(result)")
    }

    @Test("A server whose address was read goes on without the reader")
    func announced() async throws {
        let server = try RunningCommand(["serve", "tcp://localhost:0", "--quiet"])
        let url = try #require(try await server.readLine().split(separator: " ").last.map(String.init))
        try server.endReading()
        let echo = try await RunningCommand.run(["connect", url, "-x", "hello"])
        #expect(echo == CommandResult(status: 0, output: "hello\n", errors: ""))
        server.signal(15)
        #expect(try await server.finishWithoutOutput().status == 0)
    }

    @Test("Complaints that can't be written make a success a failure; closed, they aren't wanted")
    func complaints() async throws {
        try await withServeCommand { authority in
            let command = ["connect", "ws://\(authority)/echo", "-x", "hello", "-v"]
            let full = try await RunningCommand(command, redirecting: "2>/dev/full").finish()
            #expect(full == CommandResult(status: 1, output: "hello\n", errors: ""))
            let closed = try await RunningCommand(command, redirecting: "2>&-").finish()
            #expect(closed == CommandResult(status: 0, output: "hello\n", errors: ""))
            let refused = try await RunningCommand(["check", "x", "--frob"], redirecting: "2>/dev/full").finish()
            #expect(refused.status == 64)
        }
    }

    private static func run(_ arguments: [String], _ loss: Loss) async throws -> CommandResult {
        let command = try RunningCommand(
            arguments,
            redirecting: loss.redirection,
            hasReader: loss != .noReader
        )
        return try await command.finishWithoutOutput()
    }
}
