// Events to all pages that are open; a page that comes back gets those that it has missed.
import DuplexServer

let feed = EventFeed(keeping: 1_000)
let page = """
    <!doctype html><title>Feed</title><ul id="list"></ul>
    <script>
    new EventSource("/feed").onmessage = event => {
        const item = document.createElement("li")
        item.textContent = event.data
        document.getElementById("list").append(item)
    }
    </script>
    """

var server = WebServer(port: 8080)
server.get("/") { _ in Response.html(page) }
server.events("/feed", of: feed)
server.post("/say", .sameSite(), .bodySize(.kibibytes(1))) { request in
    try feed.publish(await request.text())
    return Response(.noContent)
}
await server.runAndExit()
