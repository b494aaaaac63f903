// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// The first commands of a connection, and what their replies mean.
struct RedisGreeting {
    let url: RedisURL
    /// What the connection is called.
    let name: String

    /// The commands, sent in one go.
    var commands: [RedisCommand] {
        var hello: [RedisCommand.Word] = ["HELLO", 3]
        if let credentials = url.credentials {
            hello += ["AUTH", .text(credentials.user), .text(credentials.password)]
        }
        hello += ["SETNAME", .text(name)]
        var commands = [RedisCommand(hello)]
        if url.database != 0 { commands.append(RedisCommand("SELECT", .number(Int64(url.database)))) }
        // Says whether the server is ready: it greets while it reads its data.
        commands.append(RedisCommand("PING"))
        return commands
    }

    /// Looks at the answers.
    ///
    /// - Parameter answers: one for each command.
    /// - Returns: what the server has said of itself.
    /// - Throws: ``RedisError`` for a server that can't be used.
    static func check(_ answers: [Result<RedisValue, RedisError>]) throws(RedisError) -> RedisValue {
        let greeting = try hello(answers[0])
        for answer in answers[1..<(answers.count - 1)] { _ = try answer.get() }
        // A user who may not run PING gets an answer as well.
        if case .failure(let error) = answers[answers.count - 1], error.kind != .noPermission { throw error }
        return greeting
    }

    private static func hello(_ answer: Result<RedisValue, RedisError>) throws(RedisError) -> RedisValue {
        switch answer {
        case .success(let greeting): return greeting
        case .failure(let error):
            guard error.kind == .noProtocol || error.kind == .general && error.message.contains("unknown command")
            else {
                throw error
            }
            throw RedisError(.malformed, "The server doesn't know RESP3: Redis 6 or later is needed. \(error.message)")
        }
    }
}
