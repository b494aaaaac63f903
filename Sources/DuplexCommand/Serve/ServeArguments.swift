// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexInspector
import DuplexServer
import DuplexSharing
import DuplexSockets
import DuplexWire
import Logging

extension DemoServer.HandlerStyle: ExpressibleByArgument {}

/// The options of `duplex serve`, each of which may stand in a file or in the environment, too; `nil` where it isn't given.
struct ServeArguments: ParsableArguments {
    @Option(name: .shortAndLong, help: "The port; 0 has the system choose one. Default: 8080.")
    var port: Int?

    @Option(
        help: ArgumentHelp(
            "localhost, * for all interfaces, or one address of this machine. Default: localhost.",
            valueName: "address"
        )
    )
    var host: String?

    @Option(help: ArgumentHelp("How many event loops. Default: one for each core.", valueName: "count"))
    var loops: Int?

    @Option(
        name: .customLong("echo"),
        help: ArgumentHelp("The path of the echo. Default: \(DemoPage.echoPath).", valueName: "path")
    )
    var echoPath: String?

    @Option(
        name: .customLong("handler"),
        help: """
            An echo on the loop, an echo in a task for each connection, or a broadcast to all of them. Default: async.
            """
    )
    var style: DemoServer.HandlerStyle?

    @Option(
        help: "Whether to have messages compressed (permessage-deflate) when clients offer it. Default: off."
    )
    var compression: CompressionArgument?

    @Option(
        name: [.customShort("s"), .customLong("subprotocol")],
        parsing: .singleValue,
        help: ArgumentHelp("A subprotocol to agree to, the preferred one first; may be repeated.", valueName: "name")
    )
    var subprotocols: [String] = []

    @Option(
        name: .customLong("origin"),
        parsing: .singleValue,
        help: ArgumentHelp(
            "An origin whose pages may open WebSockets, or * for any; may be repeated. Default: the server's own.",
            valueName: "url"
        )
    )
    var origins: [String] = []

    @Option(
        name: .customLong("cors"),
        parsing: .singleValue,
        help: ArgumentHelp(
            "An origin whose pages may make requests and read the answers, or * for any; may be repeated.",
            valueName: "url"
        )
    )
    var sharedOrigins: [String] = []

    @Option(
        name: .customLong("allowed-host"),
        parsing: .singleValue,
        help: ArgumentHelp(
            """
            A host that requests may be for, without a port, or * for any; may be repeated. Default: on loopback the \
            names of this machine, and else any.
            """,
            valueName: "name"
        )
    )
    var allowedHosts: [String] = []

    @Option(
        name: .customLong("public-host"),
        parsing: .singleValue,
        help: ArgumentHelp(
            """
            A host by which clients know the server behind a proxy that sends another one and no X-Forwarded-Host, for \
            --webdav; may be repeated, and may have a port.
            """,
            valueName: "name"
        )
    )
    var publicHosts: [String] = []

    @Option(
        name: .customLong("auth"),
        help: ArgumentHelp(
            "Ask for this name and this password (Basic) for everything.",
            discussion: """
                Other programs of the machine can see it in the list of processes; DUPLEX_AUTH and --auth-file hide it. \
                Without TLS everybody on the way can read it.
                """,
            valueName: "name:password"
        )
    )
    var password: PasswordArgument?

    @Option(
        name: .customLong("auth-file"),
        help: ArgumentHelp(
            "Ask for a name and a password of this file, as `htpasswd -B` makes it, for everything.",
            valueName: "file"
        )
    )
    var passwordFile: String?

    @Option(
        help: ArgumentHelp(
            "Log requests in the combined format in this file, which makes way for a new one at 100 MiB; - for standard output.",
            valueName: "file"
        )
    )
    var log: String?

    @Flag(help: "Compress responses (gzip) for clients that take it.")
    var compress = false

    @Option(
        help: ArgumentHelp(
            "Listen on this port in the clear as well, and redirect everything to TLS (308).",
            valueName: "port"
        )
    )
    var redirectHttps: Int?

    @Flag(
        help: """
            Share the folder by a page in which files are uploaded, moved, deleted and had back, in place of a listing.
            """
    )
    var upload = false

    @Flag(help: "Share the folder as a disk on the network (WebDAV), at \(SharedContent.webDAVPath).")
    var webdav = false

    @Flag(
        help: """
            Show names that begin with a dot, and let them be read: .sync, .~lock.name#, and .git and .env as well. With --upload and \
            --webdav they may be written, too. Names that begin with .duplex stay hidden.
            """
    )
    var hidden = false

    @Flag(
        help:
            "Let everybody on the network change the files, without a password: --upload and --webdav ask for one else."
    )
    var anyone = false

    @Flag(
        inversion: .prefixedNo,
        help: ArgumentHelp(
            """
            Show the address as a QR code, for phones. With --upload and --webdav that is done on a terminal, where others \
            than this machine reach the server.
            """
        )
    )
    var qr: Bool?

    @Flag(name: .shortAndLong, help: "Tell of transfers while they go, and of what is changed in the folder.")
    var verbose = false

    @Flag(help: "Serve the demo page beside a folder, at /demo. It shows the paths of the last requests.")
    var demo = false

    @Flag(
        help: """
            Show the server's insides in the browser, at \(InspectedServer.path): whoever has the printed address can look.
            """
    )
    var inspect = false

    @Option(
        name: .customLong("inspect-allow"),
        parsing: .singleValue,
        help: ArgumentHelp(
            "What may be changed by the inspector's page; may be repeated. Default: nothing.",
            valueName: "change"
        )
    )
    var inspectorChanges: [String] = []

    @Flag(
        help: """
            Let clients subscribe to topics, publish to them and be present there, at \(DemoTopics.path), as `duplex subscribe` and \
            `duplex publish` do. What is published to room/# is kept.
            """
    )
    var topics = false

    @Option(
        help: ArgumentHelp(
            "Join the topics, and the chat room, with those of other servers by this Redis; with --topics.",
            discussion: """
                Other programs of the machine can see a password in it in the list of processes; DUPLEX_REDIS and a file of --config hide \
                it.
                """,
            valueName: "redis://host:port"
        )
    )
    var redis: String?

    @Flag(help: "Print nothing but errors, and the address if the system chose the port.")
    var quiet = false

    @Option(
        name: .customLong("log-level"),
        help: ArgumentHelp(
            "How much is logged: error, notice, info with sums of what clients did wrong, debug with each of them.",
            valueName: "level"
        )
    )
    var logLevel: LogLevelArgument?

    @OptionGroup var tls: ServerTLSArguments

    @OptionGroup var limits: LimitOptions

    // MARK: What is otherwise

    var listeningPort: Int { port ?? 8_080 }
    var listeningHost: LocalHost { LocalHost(host ?? "localhost") }
    var echo: String { echoPath ?? DemoPage.echoPath }
    /// Whether clients may change what is in the folder.
    var sharesFolder: Bool { upload || webdav }
    private var asksForPassword: Bool { password != nil || passwordFile != nil }
    /// Whether only this machine reaches the server.
    var isLocal: Bool { ListenAddress.tcp(host: listeningHost, port: listeningPort).isLoopback }

    func validate() throws {
        guard port.map(Self.isPort) ?? true, redirectHttps.map(Self.isPort) ?? true else {
            throw ValidationError("A port is a number from 0 to 65535.")
        }
        guard inspectorChanges.allSatisfy({ InspectorChange(rawValue: $0) != nil }) else {
            let names = InspectorChange.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("What the inspector's page may change is one of \(names).")
        }
        guard loops ?? 1 >= 1 else { throw ValidationError("There must be one event loop at least.") }
        guard echo.hasPrefix("/") else { throw ValidationError("The path of the echo begins with a slash.") }
        guard !allowedHosts.contains(where: Self.hasPort) else {
            throw ValidationError("An allowed host is a name or an address without a port, an IPv6 one in brackets.")
        }
        guard publicHosts.allSatisfy(Self.isHost) else {
            throw ValidationError("A public host is a name or an address, perhaps with a port, such as files.example.")
        }
        guard echo != DemoPage.chatPath else { throw ValidationError("The chat room is at \(DemoPage.chatPath).") }
        if password != nil && passwordFile != nil {
            throw ValidationError("--auth and --auth-file exclude each other.")
        }
        if sharesFolder && !isLocal && !asksForPassword && !anyone {
            throw ValidationError(
                "Everybody on the network could change the files: give --auth or --auth-file, or --anyone if that is meant."
            )
        }
        if quiet && verbose { throw ValidationError("--quiet and --verbose exclude each other.") }
    }

    /// Takes from a file and the environment what the command line doesn't say.
    ///
    /// - Throws: ``Failure`` for a value that isn't one.
    mutating func fill(from configuration: inout ServeConfiguration) throws(Failure) {
        try configuration.fill(&port, "port", where: Self.isPort)
        try configuration.fill(&host, "host")
        try configuration.fill(&loops, "loops") { $0 >= 1 }
        try configuration.fill(&echoPath, "echo") { $0.hasPrefix("/") && $0 != DemoPage.chatPath }
        try configuration.fill(&style, "handler")
        try configuration.fill(&compression, "compression")
        try configuration.fill(&subprotocols, "subprotocol")
        try configuration.fill(&origins, "origin")
        try configuration.fill(&sharedOrigins, "cors")
        try configuration.fill(&allowedHosts, "allowed-host")
        try configuration.fill(&publicHosts, "public-host")
        // Whoever gives one of the two on the command line doesn't mean the other one of the file.
        let isGiven = password != nil || passwordFile != nil
        var (unusedPassword, unusedFile) = (password, passwordFile)
        try configuration.fill(&unusedPassword, "auth", isSecret: true)
        try configuration.fill(&unusedFile, "auth-file")
        if !isGiven { (password, passwordFile) = (unusedPassword, unusedFile) }
        try configuration.fill(&log, "log")
        try configuration.fill(&compress, "compress")
        try configuration.fill(&redirectHttps, "redirect-https", where: Self.isPort)
        try configuration.fill(&upload, "upload")
        try configuration.fill(&webdav, "webdav")
        try configuration.fill(&hidden, "hidden")
        try configuration.fill(&anyone, "anyone")
        try configuration.fill(&qr, "qr")
        try configuration.fill(&verbose, "verbose")
        try configuration.fill(&demo, "demo")
        try configuration.fill(&inspect, "inspect")
        try configuration.fill(&inspectorChanges, "inspect-allow")
        try configuration.fill(&topics, "topics")
        try configuration.fill(&redis, "redis", isSecret: true)
        try configuration.fill(&quiet, "quiet")
        try configuration.fill(&logLevel, "log-level")
        try configuration.fill(&tls.certificate, "tls.certificate")
        try configuration.fill(&tls.key, "tls.key")
        try fillLimits(from: &configuration)
    }

    private mutating func fillLimits(from configuration: inout ServeConfiguration) throws(Failure) {
        try configuration.fill(&limits.preset, "limits")
        try configuration.fill(&limits.maxMessage, "max-message")
        try configuration.fill(&limits.maxFragments, "max-fragments") { $0 >= 1 }
        try configuration.fill(&limits.messageRate, "message-rate") { $0 >= 1 }
        try configuration.fill(&limits.byteRate, "byte-rate") { $0.bytes >= 1 }
    }

    private static func isPort(_ port: Int) -> Bool { (0...65_535).contains(port) }

    private static func isHost(_ host: String) -> Bool {
        guard let url = try? WebSocketURL("ws://\(host)") else { return false }
        return url.requestTarget == "/" && url.userInfo == nil
    }

    private static func hasPort(_ host: String) -> Bool {
        host.contains(":") && !(host.hasPrefix("[") && host.hasSuffix("]"))
    }

    // MARK: The server

    /// The file of `--log`; `nil` for none, and for standard output.
    ///
    /// - Throws: `SocketError` when it can't be opened.
    func accessLogFile() throws -> AccessLogFile? {
        guard let log, log != "-" else { return nil }
        return try AccessLogFile(path: log)
    }

    /// Makes the server, which doesn't listen yet.
    ///
    /// - Parameters:
    ///   - target: the folder; `nil` for the demo page.
    ///   - tls: what secures connections.
    ///   - file: the file of requests.
    ///   - console: where transfers are printed.
    /// - Returns: the server with its routes.
    /// - Throws: when the folder, a file of passwords or the loops can't be had.
    func server(
        serving target: ServeTarget?,
        tls: TLSServerOptions?,
        log file: AccessLogFile?,
        console: Console = .shared
    ) throws -> WebServer {
        var server = WebServer(host: listeningHost, port: listeningPort)
        server.limits = limits.server
        server.tls = tls
        server.webSockets.compression = (compression ?? .off).compression
        server.webSockets.subprotocols = subprotocols
        if !origins.isEmpty { server.webSockets.origins = origins.contains("*") ? .any : .allowed(origins) }
        if !allowedHosts.isEmpty { server.allowedHosts = allowedHosts }
        if let loops { server.eventLoops = try EventLoopGroup(loops: loops) }
        try addSteps(to: &server, file)
        if verbose {
            server.use(.completed { TransferReport.line($0, $1).map(console.complain) })
        }
        var folder: String?
        if case .folder(let path) = target { folder = path }
        let shared = sharesFolder ? try folder.map { try share($0, console) } : nil
        DemoServer.addRoutes(
            to: &server,
            echoPath: echo,
            style: style ?? .async,
            folder: folder,
            showsHidden: hidden,
            shared: shared,
            showsPage: demo,
            isInspected: inspect,
            topics: try DemoTopics(redis: redis),
            offersTopics: topics
        )
        if inspect {
            InspectedServer(changes: inspectorChanges, folder: shared?.folder, console: console).add(to: &server)
        }
        return server
    }

    private func share(_ path: String, _ console: Console) throws -> SharedContent {
        var options = FolderOptions()
        options.showsHidden = hidden
        if verbose {
            options.after = { TransferReport.line($0).map(console.complain) }
        }
        var sharing = WebDAVOptions()
        sharing.publicHosts = publicHosts
        return SharedContent(
            folder: try SharedFolder(path, options: options),
            hasPage: upload,
            hasWebDAV: webdav,
            sharing: sharing
        )
    }

    /// What all requests go through.
    ///
    /// A redirect to TLS comes before anybody is asked for a password.
    private func addSteps(to server: inout WebServer, _ file: AccessLogFile?) throws {
        if let file { server.use(.accessLog(.file(file))) }
        if log == "-" { server.use(.accessLog(.lines { Console.shared.write($0) ? $0.count : 0 })) }
        if let redirectHttps {
            server.listen(on: Listener(.tcp(host: listeningHost, port: redirectHttps)))
            server.use(.redirectToHTTPS(port: listeningPort))
        }
        if !sharedOrigins.isEmpty { server.use(.cors(CORSPolicy(sharing))) }
        if let password { server.use(.basicAuth(realm: "duplex", accounts: [password.user: password.password])) }
        if let passwordFile { server.use(.basicAuth(realm: "duplex", file: try PasswordFile(path: passwordFile))) }
        if asksForPassword { server.use(.throttleFailures()) }
        if compress { server.use(.compressResponses()) }
    }

    private var sharing: CORSPolicy.Origins {
        if sharedOrigins.contains("*") { return .any }
        let origins = Set(sharedOrigins)
        return .matching { origins.contains($0) }
    }
}

/// A level of the log on the command line.
struct LogLevelArgument: ExpressibleByArgument, Sendable, Hashable {
    let level: Logger.Level

    init?(argument: String) {
        guard let level = Logger.Level(rawValue: argument) else { return nil }
        self.level = level
    }

    static var allValueStrings: [String] { Logger.Level.allCases.map(\.rawValue) }
}

/// A user and a password on the command line: `name:password`.
struct PasswordArgument: ExpressibleByArgument, Sendable, Hashable {
    let user: String
    let password: String

    /// Takes a name, a colon, and all that follows: a password may have colons, a name may not (RFC 7617 section 2).
    init?(argument: String) {
        guard let colon = argument.firstIndex(of: ":"), colon != argument.startIndex else { return nil }
        user = String(argument[..<colon])
        password = String(argument[argument.index(after: colon)...])
        if password.isEmpty { return nil }
    }
}
