// A web server with routes, values in JSON, a form with files, and what browsers guard.
import DuplexFoundation
import DuplexServer

struct Note: Codable, Sendable { var title: String }

var server = WebServer(port: 8080)
server.use(.requestID(), .securityHeaders(), .sameSite())

server.get("/notes/:id") { request in
    let id = try request.parameters.require("id", as: Int.self)
    guard id == 1 else { throw Problem(.notFound, "There is no note \(id).") }
    return try Response(json: Note(title: "The first"), headers: [.eTag: "\"1\""])
}
server.post("/notes") { request in
    try Response(.created, json: await request.decode(Note.self))
}
server.post("/files", .bodySize(.gibibytes(1))) { request in
    var names: [String] = []
    for try await part in try request.multipart() {
        var count = 0
        for try await piece in part { count += piece.count }
        names.append("\(part.safeFilename ?? part.name): \(count) bytes")
    }
    return names.joined(separator: "\n")
}
server.group("/admin", .basicAuth(realm: "Notes", accounts: ["mia": "a long password"])) { admin in
    admin.get("/") { request in "Hello \(request.user ?? "")" }
}
await server.runAndExit()
