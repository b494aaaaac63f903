// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexInspector
import DuplexServer
import DuplexSockets
import DuplexWebSockets
import DuplexWire
import Foundation

/// `duplex inspect`: WebSockets on their way to a server, or a recording, looked at in the browser.
struct Inspect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look at WebSockets on their way to a server, or at a recording.",
        discussion: """
            Listens on this machine, forwards each WebSocket to the server, and shows every frame in the browser, at the \
            address that is printed:

              duplex inspect ws://example.com/chat --port 8081
              duplex connect ws://localhost:8081/

            A request for / goes to the path of the URL, every other one to the path that it names. What the client sends goes \
            along: subprotocols, cookies, authorization, the origin and other fields; the options name fields that take their \
            place. Each side answers pings by itself, and compression is agreed on with each side.

            With --har the page shows what is in an HTTP archive, by itself or beside the rest:

              duplex inspect --har recording.har

            \(CommandStatus.explanation)
            """
    )

    @Argument(
        help: ArgumentHelp(
            "The server: ws://host[:port]/path?query or wss://…; ws:// without a scheme",
            valueName: "url"
        ),
        transform: TargetArgument.webSocket
    )
    var url: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The port on this machine; 0 for any that is free.", valueName: "number")
    )
    var port = 8_081

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp("An HTTP archive (HAR 1.2) to look at; may be repeated.", valueName: "file")
    )
    var har: [String] = []

    @Option(
        name: .customLong("page"),
        parsing: .singleValue,
        help: ArgumentHelp(
            "An origin whose pages may connect, or * for any; may be repeated. Default: this one's.",
            valueName: "origin"
        )
    )
    var pages: [String] = []

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "What may be changed by the inspector's page, such as sending or replaying; may be repeated. Default: nothing.",
            valueName: "change"
        )
    )
    var allow: [String] = []

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        if url == nil && har.isEmpty { throw ValidationError("Name a server, or a recording with --har.") }
        if !(0...65_535).contains(port) { throw ValidationError("A port is a number from 0 to 65535.") }
        if !allow.allSatisfy({ InspectorChange(rawValue: $0) != nil }) {
            let names = InspectorChange.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--allow is one of \(names).")
        }
    }

    func run() async throws {
        Console.shared.makeReadersOptional()
        do {
            let server = try server()
            try await Interruption.shared.cancelling {
                try await server.runManaged { address in announce(address) }
            }
        } catch {
            throw Failure(error)
        }
    }

    /// The server, which doesn't listen yet.
    ///
    /// - Parameter console: where the inspector's address is printed.
    /// - Returns: the server with its routes.
    /// - Throws: ``Failure`` for a URL or a file that can't be read; `SocketError` for a certificate.
    func server(console: Console = .shared) throws -> WebServer {
        var server = WebServer(port: port)
        server.limits = connection.limits.server
        if !pages.isEmpty { server.webSockets.origins = pages.contains("*") ? .any : .allowed(pages) }
        if let url {
            let proxy = try InspectProxy(to: url, options: try connection.webSocketOptions)
            proxy.add(to: &server)
        }
        var options = InspectorOptions()
        options.allowedChanges = Set(allow.compactMap(InspectorChange.init))
        options.recordings = try har.map(Self.recording)
        options.onStart = { address in console.print("  The inspector: \(address)") }
        server.webSockets.compression = .enabled
        server.inspector(InspectedServer.path, options: options)
        return server
    }

    private static func recording(_ path: String) throws -> InspectorRecording {
        let file = URL(fileURLWithPath: path)
        do {
            let data = try Data(contentsOf: file)
            return try InspectorRecording(har: [UInt8](data), named: file.lastPathComponent)
        } catch let error as InspectorRecording.Refusal {
            throw Failure(.failure, "“\(path.visible)” can't be shown: \(error)")
        } catch {
            throw Failure(.failure, "“\(path.visible)” can't be read.")
        }
    }

    private func announce(_ address: SocketAddress) {
        guard let url else { return Console.shared.print("Looking at \(har.count) recordings. Ctrl-C ends.") }
        Console.shared.print("Forwarding ws://localhost:\(address.port)/ to \(url.visible). Ctrl-C ends.")
    }
}
