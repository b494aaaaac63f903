// Logging in: by a password once, and by the cookie of a session from there on.
import DuplexServer
import Synchronization

let passwords = try PasswordFile(path: "passwords")
let sessions = Mutex<[String: String]>([:])

var server = WebServer(port: 8080)
server.use(.securityHeaders(), .sameSite())
server.get("/login", .basicAuth(realm: "Notes", file: passwords), .throttleFailures()) { request in
    let id = (1...4).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
    sessions.withLock { $0[id] = request.user }
    var response = Response.redirect(to: "/notes")
    response.setCookie(try SetCookie("__Host-session", id, maximumAge: .seconds(86_400)))
    return response
}

let needsSession = RouteOption.before { request in
    let id = request.cookies["__Host-session"] ?? ""
    guard let user = sessions.withLock({ $0[id] }) else { return .redirect(to: "/login", .seeOther) }
    request.user = user
    return nil
}
server.group("/notes", needsSession) { notes in
    notes.get("/") { request in "The notes of \(request.user ?? "nobody")." }
}
await server.runAndExit()
