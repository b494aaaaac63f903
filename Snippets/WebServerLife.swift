// A server on two addresses, which takes new routes, a new certificate and a new log file at SIGHUP.
import DuplexServer

@Sendable func addRoutes(to routes: inout some RouteBuilder) {
    routes.get("/") { request in "This is \(request.head.host)." }
    routes.host("api.example.com") { api in
        api.get("/version") { _ in "2" }
    }
    routes.match("scripts") {
        $0.path.hasSuffix(".cgi")
    } handler: { _ in
        Response(.gone)
    }
    routes.fallback { request in Response.text("Nothing is called \(request.path) here.", status: .notFound) }
}

let log = try AccessLogFile(path: "access.log")

var server = WebServer(host: .any, port: 8080)
server.listen(on: Listener(.tcp(host: .any, port: 8443), tls: try .pem(certificatesAt: "cert.pem", keyAt: "key.pem")))
server.use(.accessLog(.file(log)))
addRoutes(to: &server)
await server.runAndExit(onHangUp: { running in
    log.reopen()
    try await running.replaceRoutes { addRoutes(to: &$0) }
})
