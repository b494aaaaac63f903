// A WebSocket server that sends every message back, on http://localhost:8080/echo.
import DuplexServer

var server = WebServer(port: 8080)
server.get("/hello/:name") { request in "Hello \(request.parameters["name", default: "you"])" }
server.webSocket("/echo") { socket in
    for try await message in socket.messages {
        try await socket.send(message)
    }
}
await server.runAndExit()
