// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Foundation

/// As much of a mail client and of a mail server as STARTTLS needs (RFC 5321, RFC 3207).
enum SMTPTalk {
    /// The other side answered with something else than what was to come.
    struct Unexpected: Error {
        let reply: [String]
    }

    // MARK: Client

    /// Reads a reply of one line or more.
    ///
    /// - Parameters:
    ///   - code: what it must begin with.
    ///   - socket: of the client.
    /// - Returns: its lines.
    /// - Throws: ``Unexpected``, or what the socket throws.
    @discardableResult
    static func reply(_ code: String, from socket: Socket) async throws -> [String] {
        var lines: [String] = []
        repeat {
            guard let line = try await socket.readLine() else { throw Unexpected(reply: lines) }
            lines.append(line)
        } while lines.last?.dropFirst(3).first == "-"
        guard lines.allSatisfy({ $0.hasPrefix(code) }) else { throw Unexpected(reply: lines) }
        return lines
    }

    /// Sends a line and reads the reply.
    ///
    /// - Parameters:
    ///   - command: the line without its end.
    ///   - code: what the reply must begin with.
    ///   - socket: of the client.
    /// - Returns: the lines of the reply.
    /// - Throws: ``Unexpected``, or what the socket throws.
    @discardableResult
    static func send(_ command: String, expecting code: String, on socket: Socket) async throws -> [String] {
        try await socket.write(command + "\r\n")
        return try await reply(code, from: socket)
    }

    /// Sends a message in a connection that has been greeted.
    ///
    /// - Parameters:
    ///   - message: its lines end with CR LF, and none begins with a dot.
    ///   - socket: of the client.
    /// - Throws: ``Unexpected``, or what the socket throws.
    static func mail(_ message: String, on socket: Socket) async throws {
        try await send("MAIL FROM:<sender@example.com>", expecting: "250", on: socket)
        try await send("RCPT TO:<one@example.com>", expecting: "250", on: socket)
        try await send("RCPT TO:<two@example.com>", expecting: "250", on: socket)
        try await send("DATA", expecting: "354", on: socket)
        try await socket.write(message + ".\r\n")
        try await reply("250", from: socket)
    }

    // MARK: Server

    /// Serves a client that begins TLS, until it quits.
    ///
    /// - Parameters:
    ///   - socket: of the client.
    ///   - options: what the server shows.
    /// - Returns: the commands that came in the clear, and those that came secured.
    /// - Throws: what the socket throws.
    static func serve(
        _ socket: Socket,
        _ options: TLSServerOptions
    ) async throws -> (plain: [String], secured: [String]) {
        var commands: (plain: [String], secured: [String]) = ([], [])
        var isSecured = false
        try await socket.write("220 mail.test ready\r\n")
        while let line = try await socket.readLine() {
            if isSecured { commands.secured.append(line) } else { commands.plain.append(line) }
            switch line.prefix(4).uppercased() {
            case "EHLO": try await socket.write(isSecured ? "250 mail.test\r\n" : "250-mail.test\r\n250 STARTTLS\r\n")
            case "STAR":
                try await socket.write("220 go on\r\n")
                try await socket.startTLS(options)
                isSecured = true
            case "QUIT":
                try await socket.write("221 bye\r\n")
                return commands
            default: try await socket.write("250 taken\r\n")
            }
        }
        return commands
    }
}
