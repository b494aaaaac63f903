// A test of what needs a port: on one that the system chooses.
import DuplexServer

var server = WebServer(port: 0)
server.webSocket("/echo") { socket in
    for try await message in socket.messages { try await socket.send(message) }
}

let running = try await server.start()
let port = running.addresses[0].port
let socket = try await WebSocket.connect(to: "ws://localhost:\(port)/echo")
try await socket.send("hi")
print(try await socket.receive())
print(await running.counts.webSockets)

// The server shuts down gracefully: the client gets 1001.
await running.stop(within: .seconds(5))
print(await socket.closeReport.code)
