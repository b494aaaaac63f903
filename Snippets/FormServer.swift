// Pages, forms, a redirect, and a response that is written bit by bit.
import DuplexServer

let form = """
    <!doctype html><title>Form</title>
    <form action="/" method="post">
    <label>Name <input name="name"></label> <button>Send</button>
    </form>
    """

var server = WebServer(port: 8080)
server.get("/") { _ in Response.html(form) }
server.post("/") { request in
    let fields = try await request.form()
    return "Hello \(fields["name"] ?? "you")"
}
server.get("/index.html") { _ in Response.redirect(to: "/", .permanentRedirect) }
server.get("/later") { request in
    try await request.connection.sleep(for: .seconds(1))
    return "This took a second, and kept nobody waiting."
}
server.get("/stream") { request in
    Response(type: .plainText) { writer in
        for number in 1...10 {
            try await writer.write("\(number)\n")
            try await request.connection.sleep(for: .seconds(1))
        }
    }
}
await server.runAndExit()
