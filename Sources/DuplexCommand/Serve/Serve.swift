// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexInspector
import DuplexServer
import DuplexSockets
import DuplexWire
import Foundation
import Logging

/// `duplex serve`: a server to try things with, and for the files of a folder.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve a page to talk to, or a folder, with an echo, a chat room and events.",
        discussion: """
            Open the printed address in a browser, or connect to it:

              duplex serve --port 9000
              duplex connect ws://localhost:9000/echo
              duplex serve public --auth ann:secret --log -
              duplex serve shared --upload --webdav --host '*' --auth ann:secret -v

            A folder is served without its links and the files whose names begin with a dot. With --upload or --webdav clients \
            may change it; what is unfinished and what was deleted lies in its folder .duplex, which nobody sees. WebSockets echo at every path that \
            isn't the chat room's; events are at \(DemoPage.eventsPath). Ctrl-C closes all connections in order (1001) and \
            ends; pressed twice it ends at once. On loopback requests for other hosts are refused, as a page elsewhere might \
            have its name lead here: --allowed-host names those that are let in, behind a proxy for instance. With --tls-cert \
            connections are secured. SIGHUP has certificates be read anew, for the connections that follow, and opens the file \
            of --log anew.

            A file may have the options, with keys named like them, but tls.certificate and tls.key, and folder. So may the \
            environment: DUPLEX_PORT, DUPLEX_ALLOWED_HOST, DUPLEX_TLS_KEY. The command line comes first, then the environment, \
            then the file:

              duplex serve --config serve.yaml

            With an address the bytes of streams are sent back as they come (RFC 862), without WebSockets:

              duplex serve tcp://localhost:7000
              duplex serve unix:/tmp/echo.sock
              duplex cert && duplex serve tls://localhost:7443 --tls-cert cert.pem --tls-key key.pem
            """
    )

    @Argument(
        help: ArgumentHelp(
            "A folder; or tcp://host:port, tls://host:port or unix:path for an echo of streams. Default: a demo page.",
            valueName: "folder or address"
        )
    )
    var target: ServeTarget?

    @Option(
        help: ArgumentHelp(
            "A file with options, in JSON or YAML as its name says: .json, .yaml, .yml.",
            valueName: "file"
        )
    )
    var config: String?

    @OptionGroup var options: ServeArguments

    func validate() throws {
        guard let stream = target?.stream, options.port != nil || options.host != nil else { return }
        throw ValidationError("\(stream.text) says where to listen: --port and --host don't go with it.")
    }

    func run() async throws {
        let whole: Serve
        do {
            whole = try configured()
        } catch {
            throw Failure(error)
        }
        try whole.check()
        try await whole.serve()
    }

    /// With what the file and the environment say.
    ///
    /// - Parameter environment: the variables. Default: those of the process.
    /// - Returns: the command with all options.
    /// - Throws: ``Failure`` for a key that isn't known and a value that isn't one.
    func configured(environment: [String: String]? = nil) throws(Failure) -> Serve {
        var whole = self
        var configuration =
            if let environment {
                try ServeConfiguration(file: config, environment: environment)
            } else {
                try ServeConfiguration(file: config)
            }
        try whole.options.fill(from: &configuration)
        var folder: String?
        try configuration.fill(&folder, "folder")
        if let folder { whole.target = target ?? .folder(folder) }
        try configuration.checkKeys()
        return whole
    }

    /// Checks that need all arguments.
    private func check() throws {
        try options.validate()
        try options.tls.validate()
        if let stream = target?.stream, stream.isSecured != (options.tls.certificate != nil) {
            throw ValidationError("tls:// and --tls-cert go together; `duplex cert` makes a certificate.")
        }
        if options.sharesFolder {
            guard case .folder = target else {
                throw ValidationError("--upload and --webdav go with a folder.")
            }
        }
        if options.redis != nil && !options.topics { throw ValidationError("--redis goes with --topics.") }
        if options.redirectHttps != nil && (options.tls.certificate == nil || options.listeningPort == 0) {
            throw ValidationError("--redirect-https goes with --tls-cert and a port that is known.")
        }
    }

    private func serve() async throws {
        DescriptorLimit.raise()
        // An access log is more than an announcement.
        if options.log != "-" { Console.shared.makeReadersOptional() }
        let level = options.logLevel?.level ?? (options.quiet ? .error : .notice)
        ConsoleLogHandler.install(level: level, beside: options.inspect ? .command : nil)
        do {
            if options.inspect { try InspectorConsole.command.captureStreams() }
            let tls = try options.tls.load()
            if let stream = target?.stream {
                reloadOnHangUp(tls?.identities, nil)
                try await Interruption.shared.cancelling { try await serve(stream, tls) }
            } else {
                try refuseSecrets()
                let log = try options.accessLogFile()
                let server = try options.server(serving: target, tls: tls, log: log)
                reloadOnHangUp(tls?.identities, log)
                try await Interruption.shared.cancelling {
                    try await server.runManaged(watch: watch) { address in announce(address) }
                }
            }
        } catch {
            throw Failure(topics: error)
        }
    }

    /// Refuses a folder that has in it what nobody is to read, as the one has that `duplex cert` was called in.
    private func refuseSecrets() throws(Failure) {
        guard case .folder(let path) = target else { return }
        let folder = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let root = folder.hasSuffix("/") ? folder : folder + "/"
        let key = options.tls.key ?? options.tls.certificate
        for file in [key, options.passwordFile, options.log, config].compactMap(\.self) {
            let place = URL(fileURLWithPath: file).resolvingSymlinksInPath().path
            guard place.hasPrefix(root) else { continue }
            throw Failure(.failure, "“\(file.visible)” lies in the folder, where all could read it.")
        }
    }

    private func serve(_ stream: StreamAddress, _ tls: TLSServerOptions?) async throws {
        let group = try options.loops.map { try EventLoopGroup(loops: $0) } ?? .shared
        let server = StreamServer(address: stream.address, tls: tls, group: group)
        try await server.run { address in
            let url = stream.url(of: address)
            let isChosen = stream.address.description.hasSuffix(":0")
            if !options.quiet || isChosen { Console.shared.print("Listening on \(url)") }
            if !options.quiet { Console.shared.print("  Try: duplex connect \(url). Ctrl-C ends.") }
        }
    }

    /// Has SIGHUP read the certificate and open the log again; errors are printed, and the old ones stay.
    private func reloadOnHangUp(_ identities: ReloadableTLSIdentity?, _ log: AccessLogFile?) {
        if identities == nil && log == nil { return }
        let isQuiet = options.quiet
        Interruption.shared.onHangUp {
            log?.reopen()
            guard let identities else { return }
            do {
                try identities.reload()
                if !isQuiet { Console.shared.complain("The certificate was read anew.") }
            } catch {
                Console.shared.complain("duplex: \(Failure(error).message)")
            }
        }
    }

    /// What is done while the server runs: nothing, or printing transfers.
    private var watch: (@Sendable (RunningServer) async -> Void)? {
        guard options.verbose else { return nil }
        return { server in await TransferReport.follow(server, on: .shared) }
    }

    private func announce(_ address: SocketAddress) {
        let console = Console.shared
        let authority = authority(address)
        let (page, socket) = options.tls.certificate == nil ? ("http", "ws") : ("https", "wss")
        let here = "\(page)://\(authority)"
        if !options.quiet || options.listeningPort == 0 { console.print("Listening on \(here)") }
        if options.quiet { return }
        let far = farAddress(address).map { "\(page)://\($0)" }
        let widest = far ?? here
        if widest != here { console.print("  On the network: \(widest)") }
        if options.webdav { console.print("  As a disk (WebDAV): \(widest)\(SharedContent.webDAVPath)/") }
        if options.sharesFolder {
            console.print("  Ctrl-C ends.")
        } else {
            console.print("  Open it in a browser, or: duplex connect \(socket)://\(authority)\(options.echo)")
            console.print(
                "  The chat room is at \(DemoPage.chatPath), events at \(DemoPage.eventsPath); every other path echoes. "
                    + "Ctrl-C ends."
            )
        }
        let isWanted = options.qr ?? (options.sharesFolder && far != nil && console.isOutputTerminal)
        if isWanted { (QRCode(widest)?.lines ?? []).forEach(console.print) }
    }

    /// The host and port for a URL: the name that was asked for where that is one.
    private func authority(_ address: SocketAddress) -> String {
        switch options.listeningHost {
        case .loopback, .any: "localhost:\(address.port)"
        case .address, .interface: "\(address)"
        }
    }

    /// By what others on the network reach the server; `nil` where they don't.
    private func farAddress(_ address: SocketAddress) -> String? {
        switch options.listeningHost {
        case .loopback: nil
        case .any: (try? NetworkInterface.addressesForOthers(port: address.port))?.first?.description
        case .address, .interface: address.isLoopback ? nil : address.description
        }
    }
}
