// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import DuplexWire
import Foundation
import HTTPTypes
import Testing

@testable import DuplexInspector

@Suite("A request as a command line for curl")
struct CurlCommandTests {
    @Test("A plain request is a plain command")
    func plain() throws {
        let command = try #require(CurlCommand(exchange()))
        #expect(
            command.text
                == "curl --globoff --path-as-is --url 'http://example.com/a?b=1' --header 'User-Agent:' --header 'Accept:'"
        )
        #expect(command.isWhole)
    }

    @Test(
        "Only HTTP with a method that is a token becomes a command",
        arguments: [
            ("file:///etc/passwd", "GET"), ("ws://a/", "GET"), ("-o x", "GET"), ("", "GET"), ("http://a/", "GET x"),
            ("http://a/", ""), ("http://a/", "a;b"),
        ]
    )
    func refuses(url: String, method: String) {
        #expect(CurlCommand(exchange(url, method)) == nil)
    }

    static let hostile = [
        "'; touch pwned; '", "$(touch pwned)", "`touch pwned`", "a\\'b\\", "\"", "@/etc/passwd", "-o pwned", "--next",
        "{1,2}[1-3]", "&touch pwned&", "!!", "~", "*", "#", "%s%n\\n", "ü 😀 \u{202E}", "",
    ]

    @Test("Whatever is in URL, fields and body comes to curl as it is", arguments: hostile)
    func quotes(text: String) async throws {
        var exchange = exchange("http://example.com/" + text.filter { !$0.isWhitespace && $0.isASCII }, "POST")
        exchange.requestHeaders = [.userAgent: text, .accept: "*/*", .contentType: "text/plain", .contentLength: "1"]
        exchange.requestBody = RecordedBytes(Array(text.utf8))
        let (words, input) = try await run(exchange)
        #expect(words.starts(with: ["--globoff", "--path-as-is", "--url", exchange.url, "--request", "POST"]))
        #expect(words.contains(text.isEmpty ? "User-Agent;" : "User-Agent: \(text)"))
        #expect(!words.contains { $0.hasPrefix("Content-Length") })
        if !text.isEmpty { #expect(words.suffix(2) == ["--data-raw", text]) }
        #expect(input == [])
    }

    @Test(
        "Bodies that no line can have go through a pipe, byte for byte",
        arguments: [
            Array(0...255), Array("a\nb\n".utf8), Array("\u{1B}[2J".utf8), Array("%d\\101'\n".utf8),
            [UInt8](repeating: 0x61, count: 70_000),
        ]
    )
    func pipes(body: [UInt8]) async throws {
        var exchange = exchange("http://example.com/", "PUT")
        exchange.requestBody = RecordedBytes(body)
        let (words, input) = try await run(exchange)
        #expect(words.suffix(2) == ["--data-binary", "@-"])
        #expect(words.contains("Content-Type:"))
        #expect(input == body)
    }

    @Test("No control character is in the line")
    func controls() throws {
        var exchange = exchange("http://example.com/\u{1B}[2J\n\u{7}ü", "POST")
        exchange.requestHeaders = [.userAgent: "a\tb"]
        exchange.requestBody = RecordedBytes([0, 10, 27])
        let text = try #require(CurlCommand(exchange)).text
        #expect(!text.utf8.contains { $0 < 0x20 || $0 == 0x7F })
        #expect(text.contains("'http://example.com/%1B[2J%0A%07%C3%BC'"))
    }

    @Test("It says when the body was cut")
    func cut() throws {
        var exchange = exchange("http://example.com/", "POST")
        exchange.requestBody = RecordedBytes([0x61], of: 2)
        #expect(try !#require(CurlCommand(exchange)).isWhole)
    }

    @Test("HEAD is curl's own option, which doesn't wait for a body")
    func head() throws {
        #expect(try #require(CurlCommand(exchange("http://a/", "HEAD"))).text.contains(" --head "))
    }

    private func exchange(_ url: String = "http://example.com/a?b=1", _ method: String = "GET") -> RecordedExchange {
        RecordedExchange(id: 1, began: 0, method: method, url: url)
    }

    /// Has a shell run the command with a function in the place of curl, which tells what it gets.
    private func run(_ exchange: RecordedExchange) async throws -> (words: [String], input: [UInt8]) {
        let command = try #require(CurlCommand(exchange))
        let script = """
            set -e
            cd "$(dirname "$0")/empty"
            hex() { od -An -v -tx1 | tr -d ' \\n'; echo; }
            curl() { for word; do printf %s "$word" | hex; done; echo =; case "$*" in *@-) hex;; esac; }
            \(command.text)
            test -z "$(ls)"
            """
        return try await withTestFolder { folder in
            let file = folder + "script"
            try Data(script.utf8).write(to: URL(filePath: file))
            try FileManager.default.createDirectory(atPath: folder + "empty", withIntermediateDirectories: true)
            let run = try await ProgramRun("sh", file)
            #expect(run.status == 0, "\(run.text)")
            let parts = run.text.split(separator: "=\n", omittingEmptySubsequences: false)
            let words = (parts.first ?? "").split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            let plain = words.compactMap { Base16.decode($0) }.map { String(decoding: $0, as: UTF8.self) }
            #expect(plain.count == words.count)
            return (plain, try #require(Base16.decode((parts.last ?? "").filter { $0 != "\n" })))
        }
    }
}
