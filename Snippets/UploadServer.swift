// Files from browsers: kept once they are whole, under a name that leads nowhere else, and never over another file.
import DuplexServer
import DuplexSockets
import Foundation

let page = """
    <!doctype html><title>Files</title>
    <form action="/files" method="post" enctype="multipart/form-data">
    <input type="file" name="file" multiple> <button>Send</button>
    </form>
    """

var server = WebServer(port: 8080)
server.use(.securityHeaders(), .sameSite())
server.get("/") { _ in Response.html(page) }
server.post("/files", .bodySize(.gibibytes(1)), .bodyRate(.kibibytes(4))) { request in
    var names: [String] = []
    for try await part in try request.multipart(limits: MultipartLimits(partCount: 100)) {
        guard let name = part.safeFilename, !name.hasPrefix(".") else { continue }
        let file = try await part.file(in: "uploads")
        do {
            try await file.move(to: "uploads/\(name)")
        } catch let error as SocketError where error.errno == EEXIST {
            throw Problem(.conflict, "There is a file called \(name).")
        }
        names.append(name)
    }
    return Response.text(names.joined(separator: "\n"), status: .created)
}
await server.runAndExit()
