// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The command `duplex`: a server to talk to, and clients to talk, measure and load with.
@main
struct Duplex: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "duplex",
        abstract:
            "Talk WebSocket, TLS and plain streams: serve, connect, publish, subscribe, check, ping, bench and inspect.",
        discussion: """
            Try it in two terminals:

              duplex serve
              duplex connect ws://localhost:8080/echo

            \(CommandStatus.explanation)
            """,
        version: "0.1.0",
        subcommands: [
            Serve.self, Connect.self, Publish.self, Subscribe.self, Check.self, Cert.self, Ping.self, Bench.self,
            Inspect.self,
        ]
    )

    static func main() {
        StandardDescriptors.prepare()
        Interruption.keepingMainThread { await runToEnd() }
    }

    /// A function of its own, so that nothing of the line is alive when the process ends.
    private static func complain(_ failure: Failure) {
        if !failure.message.isEmpty { Console.shared.complain("duplex: \(failure.message)") }
    }

    /// Says what the parser has to say: help and versions as results, and what is wrong with the command line.
    ///
    /// - Returns: The exit status.
    private static func tell(_ error: any Error) -> Int32 {
        let (text, status) = (fullMessage(for: error), exitCode(for: error))
        if status.isSuccess {
            Console.shared.print(text)
        } else if !text.isEmpty {
            Console.shared.complain(text)
        }
        return status.rawValue
    }

    /// Reads the command line.
    ///
    /// The parser would name an argument that is missing rather than an option that it doesn't know.
    private static func parse() async throws -> any ParsableCommand {
        do {
            return try await asyncParseAsRoot()
        } catch {
            var arguments = Array(CommandLine.arguments.dropFirst())
            for _ in 0..<mostArguments where message(for: error).hasPrefix("Missing expected argument") {
                // A URL as well as a topic.
                arguments.append("localhost")
                do {
                    _ = try parseAsRoot(arguments)
                } catch let other where message(for: other).hasPrefix("Unknown option") {
                    throw other
                } catch {
                    // The first error is reported.
                }
            }
            throw error
        }
    }

    /// How many arguments a subcommand has at most: those of `publish`.
    private static let mostArguments = 3

    /// Does what the command line says, and ends the process with the status for it.
    private static func runToEnd() async -> Never {
        do {
            var command = try await parse()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            await end(CommandStatus.success.rawValue)
        } catch let failure as Failure {
            // Work that lost output was cancelled for that, and says so as if by a signal.
            if failure.status != .interrupted || Console.shared.loss == nil { complain(failure) }
            await end(failure.status.rawValue)
        } catch {
            await end(tell(error))
        }
    }

    /// Ends the process with that status, or with the one for output that was lost.
    private static func end(_ status: Int32) async -> Never {
        if let loss = Console.shared.loss {
            complain(loss)
            await Console.shared.flush()
            endProcess(loss.status.rawValue)
        }
        await Console.shared.flush()
        let isIncomplete = status == CommandStatus.success.rawValue && Console.shared.hasLostComplaint
        endProcess(isIncomplete ? CommandStatus.failure.rawValue : status)
    }
}

/// `exit(3)`, whose name the method of the command hides.
private func endProcess(_ status: Int32) -> Never {
    exit(status)
}
