// A server on two addresses, which takes new routes, a new certificate and a new log file at SIGHUP.
import DuplexServer
import DuplexSockets

@Sendable func addRoutes(to routes: inout some RouteBuilder) {
    routes.get("/") { request in "This is \(request.head.host)." }
    routes.host("api.example.com") { api in
        api.get("/version") { _ in "2" }
    }
    routes.match("scripts") {
        $0.path.hasSuffix(".cgi")
    } handler: { _ in
        HTTPResponse.Status.gone
    }
    routes.fallback { request in Response.text("Nothing is called \(request.path) here.", status: .notFound) }
}

let identities = try ReloadableTLSIdentity(reading: { [try .pem(certificates: "cert.pem", key: "key.pem")] })
let log = try AccessLogFile(path: "access.log")

var server = WebServer(host: .any, port: 8080)
server.listen(on: Listener(.tcp(host: .any, port: 8443), tls: TLSServerOptions(identities)))
server.use(.accessLog(.file(log)))
addRoutes(to: &server)
try await server.run(
    until: .terminate,
    .interrupt,
    onHangUp: { running in
        try identities.reload()
        log.reopen()
        try await running.replaceRoutes { addRoutes(to: &$0) }
    }
)
