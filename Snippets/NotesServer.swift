// An API in JSON: values in and out, an error of the app with its status, and a token for those who write.
import DuplexFoundation
import DuplexServer

struct Note: Codable, Sendable { var title: String }

enum NoteError: ProblemConvertible {
    case untitled
    var problem: Problem { Problem(.unprocessableContent, "A note needs a title.") }
}

actor Notes {
    private(set) var all = [1: Note(title: "The first")]

    func add(_ note: Note) throws {
        guard !note.title.isEmpty else { throw NoteError.untitled }
        all[all.count + 1] = note
    }
}

let notes = Notes()
var server = WebServer(port: 8080)
server.use(.requestID(), .accessLog())
server.get("/notes") { _ in await notes.all }
server.get("/notes/:id") { request in await notes.all[try request.parameters.require("id", as: Int.self)] }
server.post("/notes", .bearerAuth(realm: "notes") { $0 == "secret" ? "mia" : nil }) { request in
    try await notes.add(request.decode(Note.self))
    request.logger.info("added by \(request.user ?? "")")
    return Response(.created)
}
await server.runAndExit()
