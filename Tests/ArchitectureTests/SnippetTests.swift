// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import Foundation
import Testing

/// Runs the snippets that need no network but this machine's own: they are built beside these tests.
@Suite("The snippets without a server of their own do what they say")
struct SnippetTests {
    /// A client and a server in memory, once for each size of the pieces.
    private static let talk =
        "hello, once more, closed by this side with 1000 (normal closure); the peer answered 1000 (normal closure) true\n"
    private static let silence = "The peer has been silent for 20.0 seconds after a ping.\n"

    static let printed = [
        (name: "TestWithAClock", text: "the read ended: timedOut\nthe peer was refused\n"),
        (name: "TestAServer", text: "Hello world\nhi\n408\n"),
        (name: "TestUploads", text: "12 bytes\ngiven up: truncated\n400\ngiven up: timeout\n408\n"),
        (name: "TestEvents", text: "one\na comment\ntwo\nthe end\n204\n"),
        (name: "ServerInMemory", text: String(repeating: talk, count: 3) + silence),
        (name: "TestOverAPort", text: "hi\n1\n1001 (going away)\n"),
    ]

    @Test("What they print", arguments: printed)
    func prints(name: String, expected: String) throws {
        let runner = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let program = Process()
        program.executableURL = URL(filePath: runner).deletingLastPathComponent().appending(path: name)
        let output = Pipe()
        program.standardOutput = output
        try program.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        program.waitUntilExit()
        #expect(program.terminationStatus == 0)
        #expect(String(decoding: text, as: UTF8.self) == expected)
    }
}
#endif
