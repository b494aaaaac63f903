// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import Foundation
import Testing

/// Type-checks programs against the modules that these tests were built with, as an app that imports nothing else.
@Suite("A program of a document needs no other import than those that it has")
struct ProgramTests {
    private static let folder: URL? = {
        let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return path.map { URL(filePath: $0).deletingLastPathComponent() }
    }()

    /// The maps of the modules in C, which each of ours needs.
    private static let maps: [URL] = {
        guard let folder else { return [] }
        let built = ["CDuplexSystem", "CDuplexPages"].map { folder.appending(path: "\($0).build/module.modulemap") }
        let checkouts = folder.deletingLastPathComponent().deletingLastPathComponent().appending(path: "checkouts")
        let others = [
            "GRDB.swift/Sources/GRDBSQLite/module.modulemap",
            "swift-numerics/Sources/_NumericsShims/include/module.modulemap",
        ]
        return built + others.map { checkouts.appending(path: $0) }
            + ["CDuplexOpenSSL", "CDuplexISAL", "CDuplexZlib", "CDuplexExpat", "CDuplexQRCode"].map {
                Repository.root.appending(path: "Sources/\($0)/module.modulemap")
            }
    }()

    /// What the compiler finds wrong; empty for nothing.
    private static func errors(in program: String, _ flags: [String]) throws -> String {
        let folder = try #require(folder)
        let file = FileManager.default.temporaryDirectory.appending(path: "duplex-\(UUID()).swift")
        try Data(program.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let compiler = Process()
        compiler.executableURL = URL(filePath: "/usr/bin/env")
        let maps = maps.flatMap { ["-Xcc", "-fmodule-map-file=" + $0.path(percentEncoded: false)] }
        let modules = ["-I", folder.appending(path: "Modules").path(percentEncoded: false)]
        compiler.arguments =
            ["swiftc", "-typecheck", "-swift-version", "6"] + flags + modules + maps
            + ["-module-name", "App", file.path(percentEncoded: false)]
        let output = Pipe()
        compiler.standardError = output
        compiler.standardOutput = output
        try compiler.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        compiler.waitUntilExit()
        return compiler.terminationStatus == 0 ? "" : String(decoding: text, as: UTF8.self)
    }

    private static let strict = ["-enable-upcoming-feature", "MemberImportVisibility"]

    @Test(
        "Where members are seen of what is imported by name only",
        arguments: Repository.paths(in: "Snippets").filter { $0.hasSuffix(".swift") }
    )
    func strictly(snippet: String) throws {
        let errors = try Self.errors(in: try Repository.text(of: snippet), Self.strict)
        #expect(errors == "")
    }

    @Test(
        "With default settings, as README.md shows it",
        arguments: try Markdown(Repository.text(of: "README.md")).codeBlocks("swift").filter {
            $0.contains("import Duplex")
        }
    )
    func byDefault(program: String) throws {
        #expect(try Self.errors(in: program, []) == "")
    }

    /// What a client is made of beyond what the snippets use.
    private static let client = """
        import DuplexWebSockets

        var options = WebSocketOptions()
        options.headers[.authorization] = "x"
        options.limits = .internet.with(messageSize: .kibibytes(1))
        options.pings = .every(.seconds(1), timeout: .seconds(1))
        options.logger = Logger(label: "app")
        options.tls.trust = .systemRoots
        let group = try EventLoopGroup(loops: 1)
        let socket = try await WebSocket.connect(to: "wss://localhost/", options: options, on: group)
        do {
            let message: Message = try await socket.receive()
            if case .text(let text) = message { try await socket.send(text) }
        } catch let error as WebSocketError {
            print(error.status == HTTPResponse.Status.notFound, (error.cause as? SocketError)?.code == .tls)
        }
        let code: CloseCode = .goingAway
        let report: CloseReport = await socket.close(code: code)
        print(report.error?.code == WebSocketProtocolError.Code.messageTooLarge, await socket.tls?.peerCertificates.first?.names ?? [])
        """

    @Test("A client that names what the others throw, log and count needs one import", arguments: [[], strict])
    func client(flags: [String]) throws {
        #expect(try Self.errors(in: Self.client, flags) == "")
    }

    /// Routes that answer with a value in JSON, without what makes it.
    private static let values = """
        import DuplexServer

        struct Note: Codable { var text = "" }
        var server = WebServer(port: 8080)
        server.get("/note") { _ in Note() }
        server.post("/note") { request in
            print(request.path)
            return Note()
        }
        """

    @Test("Values in JSON without the import for them are refused with its name", arguments: [[], strict])
    func missingImport(flags: [String]) throws {
        let errors = try Self.errors(in: Self.values, flags).split(separator: "\n").filter {
            $0.contains(".swift:") && $0.contains(": error: ")
        }
        #expect(errors.count == 2 && errors.allSatisfy { $0.contains("add 'import DuplexFoundation'") }, "\(errors)")
        let whole = Self.values.replacing("import DuplexServer", with: "import DuplexFoundation\nimport DuplexServer")
        #expect(try Self.errors(in: whole, flags) == "")
    }

    @Test("A program with a fault is found")
    func findsFaults() throws {
        #expect(try Self.errors(in: "import DuplexWire\nlet code: CloseCode = true", []).contains("error:"))
        #expect(try Self.errors(in: "import NoSuchModule", []).contains("NoSuchModule"))
    }
}
#endif
