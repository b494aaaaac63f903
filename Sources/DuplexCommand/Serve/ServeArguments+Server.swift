// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSharing
import DuplexSockets

// The web server that the options describe.

extension ServeArguments {
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
        server.compression = (compression ?? .off).compression
        server.subprotocols = subprotocols
        if !origins.isEmpty { server.origins = origins.contains("*") ? .any : .allowed(origins) }
        if !allowedHosts.isEmpty { server.allowedHosts = allowedHosts }
        if let loops { server.group = try EventLoopGroup(loops: loops) }
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
            folder: try SharedFolder(path, options),
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
