// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexTestProcesses
import DuplexTestTimes
import Foundation
import Glibc
import Testing

/// Runs the snippets that listen, each in a network of its own, where their ports are free, and talks to them.
@Suite("The snippets that listen, and those that talk to them, do what they say", .timeLimit(minutes: 5))
struct SnippetServersTests {
    /// A server, and what a client gets of it.
    struct Conversation: Sendable, CustomTestStringConvertible {
        let server: String
        /// A command of the shell instead of the snippet.
        var command: String?
        /// What it finds in its folder: made by a shell.
        var preparation = "true"
        var port = 8_080
        var isUDP = false
        /// A command of the shell; snippets are in `$snippets`.
        let client: String
        /// What the client prints, in this order, perhaps with more between.
        let expected: [String]

        var testDescription: String { "\(server): \(client)" }
    }

    private static let bye = "closed by this side with 1000 (normal closure); the peer answered 1000 (normal closure)"
    static let curl = "curl -s --max-time 20 http://localhost:8080"

    static let conversations = plainConversations + furtherConversations

    private static let plainConversations = [
        Conversation(server: "EchoServer", client: "$snippets/EchoClient", expected: ["hello\n", bye]),
        Conversation(server: "EchoServer", client: "$snippets/DelegatedClient", expected: ["hello\n", bye]),
        Conversation(server: "EchoServer", client: "$snippets/BlockingClient", expected: ["hello\n", bye]),
        Conversation(server: "EchoServer", client: "$snippets/ScopedClient", expected: ["hello\n", "round trip: 0."]),
        Conversation(
            server: "EchoServer",
            client: "$snippets/EventClient",
            expected: ["connected, subprotocol: none\n", "text: hello\n", "disconnected: " + bye]
        ),
        Conversation(server: "EchoServer", client: curl + "/hello/ann", expected: ["Hello ann"]),
        Conversation(
            server: "UDPEchoServer",
            port: 7_007,
            isUDP: true,
            client: "$snippets/UDPEchoClient",
            expected: ["hello 1\nhello 2\nhello 3\n"]
        ),
        Conversation(
            server: "StreamEchoServer",
            port: 7_000,
            client: "printf 'a line\\n' | socat -t 20 - TCP:localhost:7000",
            expected: ["a line\n"]
        ),
        Conversation(
            server: "DelegatedEchoServer",
            port: 7_002,
            client: "printf 'a line\\r\\n' | socat -t 20 - TCP:localhost:7002",
            expected: ["Welcome to the echo server\r\n", "a line\r\n"]
        ),
        Conversation(
            server: "LineServer",
            port: 7_001,
            client: "printf '1\\r\\nx\\r\\n2.5\\r\\n\\r\\n' | socat -t 20 - TCP:localhost:7001",
            expected: ["1.0\r\n", "That is no number.\r\n", "3.5\r\n", "Goodbye.\r\n"]
        ),
        Conversation(
            server: "EventFeedServer",
            client: "\(curl)/say -d 'it is so' -o /dev/null -w '%{http_code} '; \(curl)/",
            expected: ["204 ", "<title>Feed</title>"]
        ),
        Conversation(
            server: "OpenAPITransport",
            client: "\(curl)/notes/7?draft=1; \(curl)/notes -d text -w '%{http_code}'",
            expected: ["note 7 at /notes/7?draft=1\n", "4 bytes\n", "201"]
        ),
        Conversation(server: "FormServer", client: curl + "/", expected: ["<form"]),
        Conversation(
            server: "DynamicPages",
            preparation: "mkdir templates && echo 'Hello {{user}}!' > templates/index.mustache",
            client: curl + "/ --digest -u 'mia:a long password'",
            expected: ["Hello mia!"]
        ),
        Conversation(
            server: "WebDAVServer",
            preparation: "mkdir shared && echo text > shared/a.txt",
            client: curl + "/dav/a.txt -u mia:secret",
            expected: ["text\n"]
        ),
        Conversation(
            server: "UploaderServer",
            preparation: "mkdir shared && echo text > shared/a.txt",
            client: "\(curl)/files/ -u mia:secret; \(curl)/dav/a.txt -u mia:secret",
            expected: ["<!", "text\n"]
        ),
        Conversation(
            server: "SharedFolderServer",
            preparation: "mkdir pictures && echo text > pictures/a.txt",
            client: "\(curl)/pictures/a.txt; \(curl)/pictures.zip | bsdtar -tf -",
            expected: ["text\n", "a.txt\n"]
        ),
        Conversation(
            server: "UploadServer",
            client: "\(curl)/ -o /dev/null -w '%{http_code}'",
            expected: ["200"]
        ),
    ]

    /// Begins a server, waits until it listens, runs a client, and ends the server.
    private static let script = """
        set -e
        ip link set lo up
        cd "$folder"
        eval "$preparation"
        eval "exec $command" > server.txt 2>&1 &
        pid=$!
        until grep -qE "$listening" /proc/self/net/{tcp,udp}*; do kill -0 $pid || { cat server.txt; exit 1; }; done
        eval "$client" || true
        kill $pid || true
        wait $pid || true
        """

    /// What the client has printed.
    private static func output(of conversation: Conversation) throws -> String {
        let runner = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let folder = FileManager.default.temporaryDirectory.appending(path: "duplex-snippet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let port = String(conversation.port, radix: 16, uppercase: true)
        let program = Process()
        // Whatever hangs ends with the limit, as all processes of a namespace do with the first of them.
        program.executableURL = URL(filePath: "/usr/bin/timeout")
        let limit = Duration.limit(seconds: 60).components.seconds
        let namespaces = ["unshare", "--net", "--mount", "--mount-proc", "--pid", "--fork", "--kill-child"]
        program.arguments = ["--kill-after=5", "\(limit)"] + namespaces + ["bash", "-c", script]
        program.environment = ProcessInfo.processInfo.environment.merging([
            "snippets": URL(filePath: runner).deletingLastPathComponent().path(percentEncoded: false),
            "folder": folder.path(percentEncoded: false),
            "command": conversation.command ?? "$snippets/\(conversation.server)",
            "preparation": conversation.preparation, "client": conversation.client,
            // In the state of one that listens; those of UDP that wait have the state of a closed one.
            "listening": ":0*\(port) [0-9A-F:]+ \(conversation.isUDP ? "07" : "0A") ",
        ]) { $1 }
        let output = Pipe()
        program.standardOutput = output
        program.standardError = output
        try program.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        program.waitUntilExit()
        return String(decoding: text, as: UTF8.self)
    }

    /// Networks of one's own are for root.
    private static let canUnshare = geteuid() == 0 || Integration.isOn

    @Test("What is talked", .enabled(if: canUnshare, "It takes root."), arguments: conversations)
    func talks(conversation: Conversation) throws {
        let output = try Self.output(of: conversation)
        var rest = output[...]
        for text in conversation.expected {
            let range = try #require(rest.firstRange(of: text), "“\(text)” isn't in:\n\(output)")
            rest = rest[range.upperBound...]
        }
    }

    @Test("Every snippet is run here, or by SnippetTests")
    func allAreRun() {
        let snippets = Repository.paths(in: "Snippets").compactMap { $0.split(separator: "/").last?.dropLast(6) }
        let commands = Self.conversations.flatMap { [$0.server, $0.client] }
            .flatMap { $0.split { !$0.isLetter && !$0.isNumber } }
        let run = Set(commands + SnippetTests.printed.map { $0.name[...] } + ["UnixSocket"])
        #expect(snippets.filter { !run.contains($0) } == [])
    }

    @Test("A service on a Unix socket greets its client")
    func unixSocket() throws {
        let runner = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let program = Process()
        program.executableURL = URL(filePath: runner).deletingLastPathComponent().appending(path: "UnixSocket")
        let output = Pipe()
        program.standardOutput = output
        try program.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        program.waitUntilExit()
        #expect(program.terminationStatus == 0 && String(decoding: text, as: UTF8.self) == "Hello, world.\n")
    }
}
#endif
