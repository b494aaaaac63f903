// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexServer
import DuplexSockets
import Logging

extension DemoServer.EchoStyle: ExpressibleByArgument {}

/// `duplex serve`: a server to try things with.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve a page to talk to, an echo and a chat room.",
        discussion: """
            Open the printed address in a browser, or connect to it:

              duplex serve --port 9000
              duplex connect ws://localhost:9000/echo

            Every path that isn't the page's or the chat room's echoes. Ctrl-C closes all connections in order (1001) and \
            ends; pressed twice it ends at once.
            """
    )

    @Option(help: "The port; 0 has the system choose one.")
    var port = 8_080

    @Option(
        help: ArgumentHelp("localhost, * for all interfaces, or one address of this machine.", valueName: "address")
    )
    var host = "localhost"

    @Option(help: ArgumentHelp("How many event loops; one for each core unless given.", valueName: "count"))
    var loops: Int?

    @Option(name: .customLong("echo"), help: ArgumentHelp("The path of the echo.", valueName: "path"))
    var echoPath = DemoPage.echoPath

    @Option(name: .customLong("handler"), help: "How the echo handles its connections: on the loop, or in tasks.")
    var style = DemoServer.EchoStyle.async

    @OptionGroup var limits: LimitOptions

    @Flag(help: "Print nothing but errors, and the address if the system chose the port.")
    var quiet = false

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("A port is a number from 0 to 65535.") }
        guard loops ?? 1 >= 1 else { throw ValidationError("There must be one event loop at least.") }
        guard echoPath.hasPrefix("/") else { throw ValidationError("The path of the echo begins with a slash.") }
        guard echoPath != DemoPage.chatPath else { throw ValidationError("The chat room is at \(DemoPage.chatPath).") }
    }

    func run() async throws {
        DescriptorLimit.raise()
        ConsoleLogHandler.install(level: quiet ? .error : .notice)
        do {
            let server = try makeServer()
            try await Interruption.shared.cancelling {
                try await server.run { address in announce(address) }
            }
        } catch {
            throw Failure(error)
        }
    }

    private func makeServer() throws -> WebServer {
        var server = WebServer(host: ListenAddress.Host(host), port: port)
        server.limits = limits.limits
        if let loops { server.group = try EventLoopGroup(loops: loops) }
        DemoServer.addRoutes(to: &server, echoPath: echoPath, style: style)
        return server
    }

    private func announce(_ address: SocketAddress) {
        let authority = authority(address)
        if !quiet || port == 0 { Console.shared.print("Listening on http://\(authority)") }
        if quiet { return }
        Console.shared.print("  Open it in a browser, or: duplex connect ws://\(authority)\(echoPath)")
        Console.shared.print("  The chat room is at \(DemoPage.chatPath); every other path echoes. Ctrl-C ends.")
    }

    /// The host and port for a URL: the name that was asked for where that is one.
    private func authority(_ address: SocketAddress) -> String {
        switch ListenAddress.Host(host) {
        case .loopback, .any: "localhost:\(address.port)"
        case .address: "\(address)"
        }
    }
}
