// Messages of any length: a server that sends back what it gets while it comes, and counts it.
import DuplexServer

var server = WebServer(port: 8080)
server.webSocket("/upload") { socket in
    for try await message in socket.streamedMessages {
        var count = 0
        try await socket.send(message.kind) { writer in
            for try await piece in message {
                count += piece.count
                try await writer.write(piece)
            }
        }
        try await socket.send("These were \(count) bytes.")
    }
}
await server.runAndExit()
