// A test of a server without a port, in a time that it moves.
import DuplexServer
import DuplexTesting

var server = WebServer(port: 8080)
server.get("/hello/:name") { request in "Hello \(request.parameters["name", default: "you"])" }
server.webSocket("/echo") { socket in
    for try await message in socket.messages { try await socket.send(message) }
}

try await server.test { client in
    print(try await client.get("/hello/world").text)

    // A real handshake, and a network that cuts everything into single bytes and then breaks.
    let socket = try await client.webSocket("/echo")
    client.faults = .split(every: 1, resetAfter: 40)
    try await socket.send("hi")
    print(try await socket.receive())
    client.faults = .none

    // A head that never comes whole; ten seconds pass at once.
    let connection = await client.connect()
    try await connection.send(raw: "GET /hello/world HTT")
    await client.clock.advance(by: .seconds(10))
    print(try await connection.response().status.code)
}
