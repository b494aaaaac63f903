// A site by TLS: the hosts that it answers for, what browsers guard, and how much a client may ask for.
import DuplexServer

var server = WebServer(host: .any, port: 80)
server.listen(on: Listener(.tcp(host: .any, port: 443), tls: try .pem(certificatesAt: "cert.pem", keyAt: "key.pem")))
server.allowedHosts = ["example.com", "www.example.com"]

var headers = SecurityHeaders()
headers.transportSecurity = .seconds(365 * 86_400)
headers.contentPolicy = "default-src 'self'; script-src 'nonce-{nonce}'; base-uri 'none'; frame-ancestors 'none'"

server.use(.redirectToHTTPS(), .securityHeaders(headers), .sameSite())
server.use(.rateLimit(.perSecond(20, burst: 100)), .timeLimit(.seconds(10)), .bodySize(.kibibytes(64)))

server.get("/") { request in
    let nonce = request[ContentNonce.self] ?? ""
    return Response.html("<!doctype html><title>Hello</title><script nonce=\"\(nonce)\">alert('Hello')</script>")
}
await server.runAndExit()
