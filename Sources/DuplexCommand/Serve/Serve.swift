// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexServer
import DuplexSockets
import DuplexWire
import Logging

extension DemoServer.HandlerStyle: ExpressibleByArgument {}

/// `duplex serve`: a server to try things with.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve a page to talk to, an echo and a chat room.",
        discussion: """
            Open the printed address in a browser, or connect to it:

              duplex serve --port 9000
              duplex connect ws://localhost:9000/echo

            Every path that isn't the page's or the chat room's echoes. Ctrl-C closes all connections in order (1001) and \
            ends; pressed twice it ends at once. On loopback requests for other hosts are refused, as a page elsewhere \
            might have its name lead here: --allowed-host names those that are let in, behind a proxy for instance. With --tls-cert connections are secured; SIGHUP has the files be read \
            anew, for the connections that follow.

            With an address the bytes of streams are sent back as they come (RFC 862), without WebSockets:

              duplex serve tcp://localhost:7000
              duplex serve unix:/tmp/echo.sock
              duplex cert && duplex serve tls://localhost:7443 --tls-cert cert.pem --tls-key key.pem
            """
    )

    @Argument(
        help: ArgumentHelp(
            "tcp://host:port, tls://host:port or unix:path; a web server unless given.",
            valueName: "address"
        )
    )
    var stream: StreamAddress?

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

    @Option(
        name: .customLong("handler"),
        help: "An echo on the loop, an echo in a task for each connection, or a broadcast to all of them."
    )
    var style = DemoServer.HandlerStyle.async

    @Option(help: "Whether to have messages compressed (permessage-deflate) when clients offer it.")
    var compression = CompressionArgument.off

    @Option(
        name: .customLong("subprotocol"),
        parsing: .singleValue,
        help: ArgumentHelp("A subprotocol to agree to, the preferred one first; may be repeated.", valueName: "name")
    )
    var subprotocols: [String] = []

    @Option(
        name: .customLong("origin"),
        parsing: .singleValue,
        help: ArgumentHelp(
            "An origin whose pages may open WebSockets, or * for any; may be repeated. The server's own unless given.",
            valueName: "url"
        )
    )
    var origins: [String] = []

    @Option(
        name: .customLong("allowed-host"),
        parsing: .singleValue,
        help: ArgumentHelp(
            """
            A host that requests may be for, without a port, or * for any; may be repeated. On loopback only the names of \
            this machine unless given, and else any.
            """,
            valueName: "name"
        )
    )
    var allowedHosts: [String] = []

    @OptionGroup var tls: ServerTLSArguments

    @OptionGroup var limits: LimitOptions

    @Option(
        name: .customLong("log-level"),
        help: ArgumentHelp(
            "How much is logged: error, notice, info with sums of what clients did wrong, debug with each of them.",
            valueName: "level"
        ),
        transform: level
    )
    var logLevel: Logger.Level?

    @Flag(help: "Print nothing but errors, and the address if the system chose the port.")
    var quiet = false

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("A port is a number from 0 to 65535.") }
        if let stream, stream.isSecured != (tls.certificate != nil) {
            throw ValidationError("tls:// and --tls-cert go together; `duplex cert` makes a certificate.")
        }
        guard loops ?? 1 >= 1 else { throw ValidationError("There must be one event loop at least.") }
        guard echoPath.hasPrefix("/") else { throw ValidationError("The path of the echo begins with a slash.") }
        guard !allowedHosts.contains(where: Self.hasPort) else {
            throw ValidationError("An allowed host is a name or an address without a port, an IPv6 one in brackets.")
        }
        guard echoPath != DemoPage.chatPath else { throw ValidationError("The chat room is at \(DemoPage.chatPath).") }
    }

    func run() async throws {
        DescriptorLimit.raise()
        ConsoleLogHandler.install(level: logLevel ?? (quiet ? .error : .notice))
        do {
            let options = try tls.load()
            if let options { Interruption.shared.onHangUp { reload(options.identities) } }
            try await Interruption.shared.cancelling {
                if let stream { try await serve(stream, options) } else { try await serve(options) }
            }
        } catch {
            throw Failure(error)
        }
    }

    private func serve(_ options: TLSServerOptions?) async throws {
        var server = WebServer(host: ListenAddress.Host(host), port: port)
        server.limits = limits.server
        server.tls = options
        server.compression = compression.compression
        server.subprotocols = subprotocols
        if !origins.isEmpty { server.origins = origins.contains("*") ? .any : .allowed(origins) }
        if !allowedHosts.isEmpty { server.allowedHosts = allowedHosts }
        if let loops { server.group = try EventLoopGroup(loops: loops) }
        DemoServer.addRoutes(to: &server, echoPath: echoPath, style: style)
        try await server.runManaged { address in announce(address) }
    }

    private func serve(_ stream: StreamAddress, _ options: TLSServerOptions?) async throws {
        let group = try loops.map { try EventLoopGroup(loops: $0) } ?? .shared
        let server = StreamServer(address: stream.address, tls: options, group: group)
        try await server.run { address in
            let url = stream.url(of: address)
            if !quiet || stream.address.description.hasSuffix(":0") { Console.shared.print("Listening on \(url)") }
            if !quiet { Console.shared.print("  Try: duplex connect \(url). Ctrl-C ends.") }
        }
    }

    private static func hasPort(_ host: String) -> Bool {
        host.contains(":") && !(host.hasPrefix("[") && host.hasSuffix("]"))
    }

    private static func level(_ name: String) throws -> Logger.Level {
        guard let level = Logger.Level(rawValue: name) else {
            throw ValidationError("A level is one of \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        return level
    }

    /// Reads the certificate anew; what is wrong with it is told, and the old one stays.
    private func reload(_ identities: TLSIdentities) {
        do {
            try tls.reload(into: identities)
            if !quiet { Console.shared.complain("The certificate was read anew.") }
        } catch {
            Console.shared.complain("duplex: \(Failure(error).message)")
        }
    }

    private func announce(_ address: SocketAddress) {
        let authority = authority(address)
        let (page, socket) = tls.certificate == nil ? ("http", "ws") : ("https", "wss")
        if !quiet || port == 0 { Console.shared.print("Listening on \(page)://\(authority)") }
        if quiet { return }
        Console.shared.print("  Open it in a browser, or: duplex connect \(socket)://\(authority)\(echoPath)")
        Console.shared.print("  The chat room is at \(DemoPage.chatPath); every other path echoes. Ctrl-C ends.")
    }

    /// The host and port for a URL: the name that was asked for where that is one.
    private func authority(_ address: SocketAddress) -> String {
        switch ListenAddress.Host(host) {
        case .loopback, .any: "localhost:\(address.port)"
        case .address, .interface: "\(address)"
        }
    }
}
