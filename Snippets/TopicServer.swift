// A chat with a room for each path, and a feed of prices that a page may come back to.
import DuplexServer
import DuplexTopics

var options = TopicOptions()
try options.keep("prices/#", .init(count: 500, time: .seconds(600)))
let topics = Topics(options: options)

var server = WebServer(port: 8080)
server.webSocket("/rooms/:id") { socket, request in
    let room = topics["room/\(request.parameters["id"] ?? "lobby")"]
    try socket.subscribe(to: room, slow: .dropOldest(keeping: 100))
    for try await message in socket.messages { room.publish(message) }
}
server.events("/prices/gold", of: topics["prices/gold"], replay: 1)
server.post("/publish/:name", .sameSite(), .bodySize(.kibibytes(1))) { request in
    topics["prices/\(request.parameters["name"] ?? "")"].publish(try await request.text())
    return Response(.noContent)
}
server.topics("/topics", of: topics) { access in
    access.action == .subscribe && access.isWithin("prices")
}
await server.runAndExit()
