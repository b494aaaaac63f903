// Pages from templates, for who has the password.
import DuplexMustache
import DuplexServer

let templates = try MustacheTemplates(folder: "templates", reloads: true)

var server = WebServer(port: 8080)
server.use(.digestAuth(realm: "Site", accounts: ["mia": "a long password"]), .throttleFailures())
server.get("/") { request in
    let user = request.user ?? ""
    return try templates.page("index", ["user": user, "agent": request.headers[.userAgent] ?? "no browser"])
}
await server.runAndExit()
